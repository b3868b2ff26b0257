# Sourced by vcluster: a Slurm of its own for a virtual cluster. The controller runs on the switch, as host `login`; a slurmd on every
# other host. Needs no systemd, no accounting database and no control groups.
#
# Added to the state directory: slurm/etc (configuration), slurm/state, slurm/log, slurm/munge (the socket; one
# munged serves all hosts, as a Unix socket crosses network namespaces), slurm/local and slurm/spool (on each host another tmpfs).
# shellcheck shell=bash disable=SC2154  # dir, name, subnet, self: vcluster's

slurm_mode() { [ -d "$dir/slurm" ]; }

need_slurm() {
  local missing=() p
  for p in slurmctld slurmd sbatch srun scontrol sinfo munged nsenter; do
    command -v "$p" >/dev/null || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] ||
    fail 2 "cannot find ${missing[*]} (--slurm needs them): install slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins libpmix-dev, as scripts/install-packages.sh --with-tests does"
}

# Process 1 of a host, as seen from here; nothing where the host is off. It is looked up each time, so that no number goes stale.
first_process_of() {   # first_process_of NAMESPACE
  local pid
  for pid in $(ip netns pids "$1" 2>/dev/null); do
    if grep -qs $'^NSpid:.*\t1$' "/proc/$pid/status"; then
      printf '%s' "$pid"
      return
    fi
  done
}

# For `down`: nothing here needs time to say goodbye.
end_slurm_hosts() {
  local ns first
  while read -r ns; do
    if ! netns_exists "$ns" || ! netns_is_ours "$ns"; then continue; fi
    first=$(first_process_of "$ns")
    if [ -n "$first" ]; then kill -s KILL "$first" 2>/dev/null || true; fi
  done <"$dir/netns"
}

# Replaces this shell by a command on a host, which sees what the jobs on it see.
enter_slurm_host() {   # enter_slurm_host HOST COMMAND...
  local first host=$1
  shift
  first=$(first_process_of "$(field_of "$host" ns)")
  [ -n "$first" ] || fail 1 "host $host is off: vcluster --name $name on $host"
  export SLURM_CONF=$dir/slurm/etc/slurm.conf
  export SHARDLINE_SITE=${SHARDLINE_SITE:-virtual-cluster}
  exec nsenter --target "$first" --net --uts --ipc --pid --mount --wd="$PWD" -- taskset -c "$(field_of "$host" core)" "$@"
}

write_slurm_configuration() {
  local etc=$dir/slurm/etc host ns address core rate nodes=
  while read -r host ns address core rate; do
    [ "$host" = login ] || nodes+="NodeName=$host NodeAddr=$address"$'\n'
  done <"$dir/table"

  cat >"$etc/slurm.conf" <<END
ClusterName=$name
SlurmctldHost=login(${subnet%.0/24}.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# How long a requeued job waits is the credentials' lifetime (120 s by default).
AuthInfo=socket=$dir/slurm/munge/socket,cred_expire=5
StateSaveLocation=$dir/slurm/state
SlurmctldPidFile=$dir/slurm/state/slurmctld.pid
SlurmctldLogFile=$dir/slurm/log/slurmctld
SlurmdSpoolDir=$dir/slurm/spool/%n
SlurmdPidFile=$dir/slurm/state/slurmd.%n.pid
SlurmdLogFile=$dir/slurm/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/slurm/log/jobs
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
# An eligible time that passes starts no scheduling by itself.
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PropagateResourceLimits=NONE
MailProg=/bin/true
ReturnToService=2
JobRequeue=1
KillWait=10
MinJobAge=3600
SlurmdTimeout=10
BatchStartTimeout=20
MessageTimeout=20
UnkillableStepTimeout=30
# What hosts claim to be, whatever they are: so that jobs can ask for sockets, cores and hardware threads.
SlurmdParameters=config_overrides
NodeName=DEFAULT Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=100000 State=UNKNOWN
${nodes}PartitionName=cluster Nodes=ALL Default=YES DefaultTime=10 MaxTime=UNLIMITED State=UP
# Files are named by job: those of a later cluster get other numbers.
FirstJobId=$((1 + $(date +%s) / 10 % 10000000))
END

  # slurmd loads a plugin for control groups whatever else is chosen, and finds none by itself in a network namespace. Version 1
  # loads without touching anything.
  printf '%s\n' CgroupPlugin=cgroup/v1 CgroupAutomount=no >"$etc/cgroup.conf"
  # srun's PMIx makes a folder of the same name on every node, so it has to be the node's own.
  echo "PMIxCliTmpDirBase=$dir/slurm/local" >"$etc/mpi.conf"
  cat >"$etc/openmpi-mca-params.conf" <<END
btl = tcp,self
pml = ob1
osc = ^ucx,pt2pt
btl_tcp_if_include = $subnet
oob_tcp_if_include = $subnet
# Several hosts may share a core.
mpi_yield_when_idle = 1
orte_tmpdir_base = $dir/slurm/local
END
}

# Starts process 1 of a host, which goes on by itself.
start_slurm_host() {   # start_slurm_host HOST
  local ns core
  ns=$(field_of "$1" ns)
  core=$(field_of "$1" core)
  (
    exec </dev/null >>"$dir/slurm/log/hosts" 2>&1
    export SHARDLINE_VCLUSTER_NAME=$name   # to tell whose a process is
    [ -z "${lock_fd-}" ] || exec {lock_fd}<&-
    exec setsid ip netns exec "$ns" unshare --uts --ipc --pid --fork --kill-child --mount-proc -- \
      "$(dirname "$self")/slurm-node" "$dir" "$1" "$core"
  ) &
}

idle_hosts() {
  (enter login sinfo --noheader --states=idle --format=%D) 2>/dev/null || true
}

start_slurm() {   # after the hosts are made
  local host hosts=0 tries
  mkdir -m 0755 "$dir/slurm" "$dir/slurm/"{etc,munge,local,spool}   # where users' jobs look
  mkdir -m 0700 "$dir/slurm/"{state,log}
  (umask 077; head -c 128 /dev/urandom >"$dir/slurm/munge.key")
  write_slurm_configuration
  chmod 0755 "$dir"   # users other than root find the configuration and the socket
  start_slurm_host login
  for host in $(cut -d' ' -f1 "$dir/table"); do
    [ "$host" != login ] || continue
    hosts=$((hosts + 1))
    start_slurm_host "$host"
  done
  for ((tries = 0; tries < 600; tries++)); do
    [ "$(idle_hosts)" != "$hosts" ] || return 0
    sleep 0.1
  done
  tail -n 5 "$dir/slurm/log/"* >&2 || true
  fail 1 "Slurm did not come up within a minute (its logs end as above): try again on a machine with less to do"
}

# Nobody is told: the processes and the link are gone at once.
cmd_off() {
  local ns first
  [ $# -eq 1 ] || fail 2 "off takes a host (got '$*'): for example vcluster off n1"
  need_up
  ns=$(field_of "$1" ns) || fail 2 "no host '$1' in cluster '$name': see vcluster status"
  [ "$1" != login ] || fail 2 "the host login is the switch: vcluster down takes all of it down"
  ip -n "$ns" link set eth0 down
  first=$(first_process_of "$ns")
  if [ -n "$first" ]; then kill -s KILL "$first" 2>/dev/null || true; fi
  end_processes 0 ip netns pids "$ns" || fail 1 "processes on $1 do not end (stuck in the kernel?)"
}

cmd_on() {
  local ns
  [ $# -eq 1 ] || fail 2 "on takes a host (got '$*'): for example vcluster on n1"
  need_up
  ns=$(field_of "$1" ns) || fail 2 "no host '$1' in cluster '$name': see vcluster status"
  ip -n "$ns" link set eth0 up
  if slurm_mode && [ -z "$(first_process_of "$ns")" ]; then start_slurm_host "$1"; fi
}
