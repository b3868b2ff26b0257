#!/usr/bin/env bash
# D = "auto" on a tiny shape: the run ends by itself, and its points lie on both sides of the crossover or it says why not.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment e 'D = "auto"' 'passes = 3' 'max_passes = 3'
ends_with 0 "$launch" 2 "$run" e.toml -o auto.h5
[ "$(examine status auto.h5)" = complete ] || die "the run is $(examine status auto.h5)"
[ "$(examine swept auto.h5 | wc -l)" -ge 5 ] || die "few points: $(examine swept auto.h5)"
says "D_law"
code=0
"$shardline" report auto.h5 --json report.json >out || code=$?
"$python" - "$code" <<'END'
import json, sys
code, report = int(sys.argv[1]), json.load(open("report.json"))
crossover = report["crossovers"][0]
bracketed = crossover.get("D_obs") is not None
if not bracketed and (code != 3 or not crossover["reason"]):
    sys.exit(f"not bracketed, and no reason given: {crossover}")
END
