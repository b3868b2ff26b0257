# Sourced by measure and report: the site, the programs and the folder of results.
# shellcheck shell=bash

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
fail() { say "$1"; exit 2; }

# The batch system's name for this job; nothing outside of one. An element of an array is named like one, JOB_ELEMENT: the plain number
# of Slurm's first (or last) element may stand for the whole array, and LSF's elements all have the same.
job_id() {
  local id
  if [ -n "${SLURM_ARRAY_JOB_ID-}" ]; then printf '%s' "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  elif [ -n "${SLURM_JOB_ID-}" ]; then printf '%s' "$SLURM_JOB_ID"
  elif [ -n "${PBS_JOBID-}" ]; then
    id=${PBS_JOBID%%.*}   # 12.server, 12[3].server
    id=${id/[/_}
    printf '%s' "${id%]}"
  elif [ -n "${LSB_JOBID-}" ]; then
    printf '%s' "$LSB_JOBID"
    if [ "${LSB_JOBINDEX:-0}" -ne 0 ]; then printf '_%s' "$LSB_JOBINDEX"; fi
  fi
}

job_name() {
  local name
  if [ -n "${LSB_JOBNAME-}" ]; then
    name=${LSB_JOBNAME%%[[ ]*}   # law[1-3]; without bsub -J the command and its arguments
    name=${name##*/}
  else
    name=${SLURM_JOB_NAME:-${PBS_JOBNAME:-crossover}}
  fi
  printf '%s' "${name//\//_}"
}

default_site() {
  if [ -n "${SLURM_JOB_ID-}" ] || command -v sbatch >/dev/null; then printf slurm-openmpi
  elif [ -n "${PBS_JOBID-}" ] || command -v qsub >/dev/null; then printf pbs-openmpi
  elif [ -n "${LSB_JOBID-}" ] || command -v bsub >/dev/null; then printf lsf-openmpi
  else printf workstation
  fi
}

load_site() {
  local site=${SHARDLINE_SITE:-$(default_site)} file
  case $site in */*) file=$site ;; *) file=$root/hpc/sites/$site.sh ;; esac
  [ -r "$file" ] ||
    fail "cannot read the site file $file (SHARDLINE_SITE=$site): take one of $(cd "$root/hpc/sites" && printf '%s ' *.sh)or copy one and change it"
  # Environment modules are written without -u and -e in mind.
  set +eu
  # shellcheck disable=SC1090
  . "$file"
  set -eu
  # Installed, these scripts lie in PREFIX/share/shardline, beside PREFIX/bin: what they write then goes where the user is.
  if [ -x "$root/../../bin/shardline-run" ]; then
    bin=${SHARDLINE_BIN:-$(readlink -f "$root/../../bin")}
    results=${SHARDLINE_RESULTS:-${SLURM_SUBMIT_DIR:-${PBS_O_WORKDIR:-${LS_SUBCWD:-$PWD}}}/results}
  else
    bin=${SHARDLINE_BIN:-$root/build/release/bin}
    results=${SHARDLINE_RESULTS:-$root/results}
  fi
}

# need_program NAME: its path in the variable program
need_program() {
  program=$bin/$1
  [ -x "$program" ] || program=$(command -v "$1") ||
    fail "cannot find $1 (neither in $bin nor on PATH): build it (README.md), or set SHARDLINE_BIN to its folder"
}
