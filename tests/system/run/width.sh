#!/usr/bin/env bash
# A terminal of 80 columns shows every --help, the plan, and what predict prints, without a line that breaks.
. "$(dirname "$0")/checks.sh"
experiment e 'D = [1, 2, 3, 100, 101, 1000, 10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000, 90000]'

# fits COMMAND...: its standard output
fits() {
    ends_with 0 "$@"
    "$python" - "$*" <<'END' || die "wider than 80 columns: $*"
import sys
lines = open("out", encoding="utf-8").read().splitlines()
wide = [line for line in lines if len(line) > 80]
sys.exit("\n".join(wide) if wide or not lines else 0)
END
}

"$python" -c '' 2>/dev/null || skip "needs $python"
fits "$run" --help
fits "$shardline" --help
for subcommand in $("$shardline" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do fits "$shardline" "$subcommand" --help; done
for script in quickstart.sh runtests.sh scripts/launch.sh scripts/install-packages.sh hpc/virtual-cluster/vcluster \
    hpc/measure hpc/report hpc/slurm/chain; do
    fits "$SHARDLINE_SOURCE/$script" --help
done
fits "$run" e.toml --dry-run
fits "$run" e.toml --doctor
fits "$shardline" predict --list-hardware
fits "$shardline" predict --flops 1.97e14 --bandwidth 4.5e10 --wire bf16 --ranks 2 --alpha 4e-5 --B 1024 --D 8192 --F 8192 \
    --memory 80GB --memory-bandwidth 1e12
fits "$shardline" predict --flops 1.2345678e30 --bandwidth 1 --ranks 2000000000 --alpha 1e30 --B 1 --D 1 --F 1 \
    --memory 1 --memory-bandwidth 1 --weights int8
