#!/usr/bin/env bash
# Without root every verb says so in one line and ends with 2.
. "$(dirname "$0")/common.sh"

as_user=()
if [ "$(id -u)" -eq 0 ]; then
  command -v setpriv >/dev/null || skip "needs setpriv"
  as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  # The checkout may lie where only root can read.
  cp "$(dirname "$vcluster")"/{vcluster,*.sh} "$scratch"
  vcluster=$scratch/vcluster
  "${as_user[@]}" test -x "$vcluster" || skip "another user cannot read $scratch"
fi

for verb in 'up 2 1gbit' 'run -- hostname' 'exec n0 hostname' status down; do
  rc=0
  # shellcheck disable=SC2086  # a verb and its arguments
  ${as_user[@]+"${as_user[@]}"} "$vcluster" --name "$name" $verb >"$scratch/out" 2>"$scratch/err" || rc=$?
  [ "$rc" -eq 2 ] || die "'$verb' without root ends with $rc: $(cat "$scratch/err")"
  [ ! -s "$scratch/out" ] || die "'$verb' without root prints: $(cat "$scratch/out")"
  [ "$(wc -l <"$scratch/err")" -eq 1 ] || die "'$verb' without root says more than one line: $(cat "$scratch/err")"
  grep -q 'root' "$scratch/err" || die "'$verb' without root does not say that root is needed: $(cat "$scratch/err")"
done
[[ $(${as_user[@]+"${as_user[@]}"} "$vcluster" --help) == *'Needs root'* ]] || die "--help does not work without root"
