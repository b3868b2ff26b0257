#!/bin/bash
# `shardline predict`: the numbers of the law's source, what it says beside them, and what it refuses.
. "$(dirname "$0")/checks.sh"

# Reference numbers
ends_with 0 "$shardline" predict --flops 1.97e14 --bandwidth 4.5e10 --wire bf16 --ranks 2
says "D*    8755.56"
says "D*/P  4377.78"
[ -z "$err" ] || fail "messages without a reason: $err"
ends_with 0 "$shardline" predict --hardware h100 --ranks 1 --B 10000 --D 10000 --F 5000
says "1.01 ms"
says "295"
says "nothing to sum"
ends_with 0 "$shardline" predict --hardware tpu-v6e --ranks 1 --B 10000 --D 10000 --F 5000
says "1.10 ms"
ends_with 0 "$shardline" predict --hardware tpu-v5e
says "240.2 FLOP/B"
says "long bf16 dot product: memory-bound"
ends_with 0 "$shardline" predict --hardware tpu-v5e --weights int8
says "120.1"
ends_with 0 "$shardline" predict --hardware tpu-v5e --compute int8 --B 1 --D 100000 --F 100000
says "one rank's shard: memory-bound"
ends_with 0 "$shardline" predict --hardware tpu-v5e --B 4096 --D 8192 --F 8192
says "one rank's shard: not memory-bound"

# s is the wire's, P - 1 its multiple
ends_with 0 "$shardline" predict --flops 1e11 --bandwidth 1e8 --wire f64 --ranks 4
says "24000.00"
ends_with 0 "$shardline" predict --flops 1e11 --bandwidth 1e8
says "4000.00"

# Times, bounds, side, start-up, memory
ends_with 0 "$shardline" predict --flops 2e11 --bandwidth 119MB/s --ranks 2 --B 1024 --D 4096 --F 1024
for word in t_comp t_comm t_step "communication-bound"; do says "$word"; done
ends_with 0 "$shardline" predict --flops 2e11 --bandwidth 1Gbit/s --alpha 4e-5 --B 1024 --F 1024
says "start-up"
says "D* ring"
ends_with 0 "$shardline" predict --hardware tpu-v5e --B 1024 --D 16384 --F 4096 --memory 16GB
says "fit"
says "of 16 GB (GB = 10^9"
ends_with 0 "$shardline" predict --hardware tpu-v5e --B 1024 --D 16384 --F 4096 --memory 1MiB
says "do not fit"

# JSON
ends_with 0 "$shardline" predict --hardware tpu-v5e --B 8 --D 8 --F 8 --json
echo "$out" | python3 -c '
import json, sys
p = json.load(sys.stdin)
assert p["schema"] == "shardline-prediction" and p["schema_version"] == 1
assert abs(p["D_star"] - 8755.5556) < 1e-3 and p["bound"] == "communication"
assert p["inputs"]["C_flop_per_s"] == 1.97e14 and p["memory"]["fits"] is None' || fail "JSON of predict"
ends_with 0 "$shardline" predict --hardware tpu-v5e --json "$scratch/p.json"
says "8755.56"
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$scratch/p.json" || fail "JSON file of predict"
ends_with 0 "$shardline" predict --list-hardware --json
echo "$out" | python3 -c '
import json, sys
names = [h["name"] for h in json.load(sys.stdin)["hardware"]]
assert names == ["h100", "tpu-v5e", "tpu-v6e"], names' || fail "JSON of --list-hardware"

# Nonsense is refused by name, in every option that takes a number
ok=(--flops 1e11 --bandwidth 1e8 --B 8 --D 8 --F 8)
for nonsense in -1 0 nan inf -inf 1e999 abc ''; do
    for option in --flops --bandwidth --memory-bandwidth --alpha --memory --ranks --B --D --F; do
        arguments=("$option" "$nonsense")
        for ((i = 0; i < ${#ok[@]}; i += 2)); do
            [ "${ok[i]}" = "$option" ] || arguments+=("${ok[i]}=${ok[i + 1]}")
        done
        refuses "$option is '$nonsense'" "$shardline" predict "${arguments[@]}"
    done
done
for hexadecimal in 0x10 0X10; do refuses "--flops is '$hexadecimal' (not a number" "$shardline" predict --flops $hexadecimal --bandwidth 1; done
refuses "D* is beyond what numbers hold" "$shardline" predict --flops 1e308 --bandwidth 1e-300
refuses "t_comp is beyond what numbers hold" "$shardline" predict --flops 1e-308 --bandwidth 1e-300 --B 100 --D 100 --F 100
refuses "D* is beyond what numbers hold" "$shardline" predict --flops 1e-300 --bandwidth 1e300 --json
refuses "--bandwidth is '1e308GB' (too large" "$shardline" predict --flops 1 --bandwidth 1e308GB
refuses "--ranks is '2.5'" "$shardline" predict --flops 1 --bandwidth 1 --ranks 2.5
refuses "--wire is 'int8'" "$shardline" predict "${ok[@]}" --wire int8
refuses "--compute is 'f16'" "$shardline" predict "${ok[@]}" --compute f16
refuses "--weights is ''" "$shardline" predict "${ok[@]}" --weights ''
refuses "--hardware is 'h200'" "$shardline" predict --hardware h200

# What is missing is named with the option that gives it
refuses "give --flops" "$shardline" predict
refuses "give --bandwidth" "$shardline" predict --flops 1e11
refuses "h100 has no link bandwidth" "$shardline" predict --hardware h100
refuses "h100 has no rate of int8 matmuls" "$shardline" predict --hardware h100 --ranks 1 --compute int8
refuses "give both" "$shardline" predict --flops 1 --bandwidth 1 --B 3
refuses "give both" "$shardline" predict --flops 1 --bandwidth 1 --alpha 3
refuses "give --B, --D and --F" "$shardline" predict --flops 1 --bandwidth 1 --memory 3

# Usage
refuses "--help" "$shardline" predict --flopps 1
refuses "--help" "$shardline" predict --flops
refuses "--help" "$shardline" predict word

finish
