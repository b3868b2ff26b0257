#!/usr/bin/env bash
# installed.sh CMAKE BUILD: installs as a user without root does, moves the tree, and uses it from another folder, without sources.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/run/checks.sh"
for variable in $(compgen -e | grep -E '^(SLURM|PBS|LSB|SHARDLINE_(SITE|RANKS|NODES|LAUNCHER|BIND|RESULTS|ROOT|EXPERIMENT))' || true); do unset "$variable"; done
"$1" --install "$2" --prefix "$scratch/first" >installed || die "cmake --install fails: $(cat installed)"
mv first moved
prefix=$scratch/moved
share=$prefix/share/shardline
unset SHARDLINE_BIN SHARDLINE_SOURCE
mkdir elsewhere
cd elsewhere

# Nothing of the tree points to where it was built, or was installed first.
! grep -rlF -e "$scratch/first" "$prefix/share" >where || die "the first place is written in: $(cat where)"

ends_with 0 "$prefix/bin/shardline" predict --hardware tpu-v5e --ranks 2
says 8755.56   # so the presets are found
export SHARDLINE_SITE=workstation
ends_with 0 "$share/hpc/measure" --print experiments/links.toml
says "$share/scripts/launch.sh 2 $prefix/bin/shardline-run -o $PWD/results/"
says " $share/experiments/links.toml"
experiment e
ends_with 0 "$share/hpc/measure" e.toml
file=$(echo results/crossover-*.h5)
ends_with 3 "$share/hpc/report" "$file"   # too few samples for a verdict
says "Verdict: "

(
  . "$prefix/share/bash-completion/completions/shardline"
  complete -p shardline
) >out 2>err || die "completions cannot be sourced"
