#!/bin/bash
# `shardline predict --from` and --models: forecasts from files of machines that are known, against files of the machine asked about.
. "$(dirname "$0")/checks.sh"
cd "$scratch" || exit 1
machine="alpha=5e-5 allreduce_efficiency=0.7"
"$make_file" two.h5 $machine || fail "make_synthetic_file"

# value EXPRESSION: of the JSON in $out, called j
value() { printf '%s' "$out" | python3 -c 'import json, sys; j = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
within() { python3 -c 'import sys; a, b, part = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > part)' "$@"; }

# A machine that was not measured, forecast, and then measured
for case in "P=4|-P 4" "P=8|--ranks 8" "W=2.4e8|--bandwidth-factor 2" "W=4e7|-W 40MB/s" "wire=bf16|--wire bf16" "B=2048|--B 2048" \
    "P=4 W=4.8e8 wire=f64|-P 4 --bandwidth-factor 4 --wire f64"; do
    "$make_file" truth.h5 seed=9 $machine ${case%|*} || fail "make_synthetic_file $case"
    ends_with 0 "$shardline" report truth.h5 --json -
    truth=$(value 'j["crossovers"][0]["D_obs"]')
    ends_with 0 "$shardline" predict --from two.h5 ${case#*|} --json
    within "$(value 'j["strategies"][0]["D_star"]')" "$truth" 0.1 || fail "$case: $(value 'j["strategies"][0]["D_star"]') instead of $truth"
    [ "$(value 'j["asked"] != j["measured"]')" = True ] || fail "$case: nothing else was asked"
done
ends_with 0 "$shardline" predict --from two.h5 --json
[ "$(value 'j["asked"] == j["measured"] and not j["notes"]')" = True ] || fail "not the case that was measured"

# The text
ends_with 0 "$shardline" predict --from two.h5 -P 4 --bandwidth-factor 2
for words in "Forecast for B = 1024, F = 1024, P = 4" "from two.h5" D_law "D* if fixed" mpi_allreduce "as in a ring"; do says "$words"; done
[ "$(printf '%s\n' "$out" | python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in sys.stdin))')" -le 80 ] || fail "wider than 80 columns"
"$make_file" strategies.h5 $machine strategies=mpi_allreduce:0,pipelined_thread:0.9
ends_with 0 "$shardline" predict --from strategies.h5 --D 5000 --json
[ "$(value 'min(j["strategies"], key=lambda s: s["steps"][0]["t_step_s"])["strategy"]')" = pipelined_thread ] || fail "the best strategy: $out"
ends_with 0 "$shardline" predict --from strategies.h5 --D 5000
says "pipelined_thread"

# Models
ends_with 0 "$shardline" predict --from two.h5 --models --B 8192 --json
[ "$(value 'len(j["layers"]) >= 72 and {l["P"] for l in j["layers"]} == {2, 4, 8} and {l["B"] for l in j["layers"]} == {8192}')" = True ] || fail "layers"
[ "$(value 'all((l["D"] > l["D_star"]) == (l["bound"] == "compute") for l in j["layers"])')" = True ] || fail "sides of layers"
[ "$(value 'len({round(l["D_star"]) for l in j["layers"] if l["F"] == 4096 and l["P"] == 4})')" = 1 ] || fail "D* of layers of one width"
ends_with 0 "$shardline" predict --from two.h5 --models
says "MLP down"
says "llama-3.1-405b"
ends_with 0 "$shardline" report two.h5 --models --tokens 4096
says "a batch of 4096 tokens"
says "llama-2-7b"
says "Verdict"
[ "$(printf '%s\n' "$out" | python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in sys.stdin))')" -le 80 ] || fail "wider than 80 columns"
ends_with 0 "$shardline" report two.h5
case $out in *llama*) fail "models that nobody asked for" ;; esac
# D* = 8755.56 on two chips: 4096 elements of D are 0.47 of it, and 11008 are 1.26
ends_with 0 "$shardline" predict --hardware tpu-v5e --models
printf '%s\n' "$out" | grep -Eq 'llama-2-7b +attention out +4096 +4096 +0.47 comm' || fail "a layer by the law: $out"
printf '%s\n' "$out" | grep -Eq 'llama-2-7b +MLP down +11008 +4096 +1.26 comp' || fail "a layer by the law: $out"

# Presets of a user's own
mkdir mine wrong
printf '[[hardware]]\nname = "\\u001B[31mlab"\nC_f32_flop_per_s = 1e11\nW_bytes_per_s = 1e8\n[[model]]\nname = "own"\nhidden = 100\nffn = 400\n' >mine/mine.toml
ends_with 0 "$shardline" predict --presets mine --list-hardware
says '\x1b[31mlab'
says h100
ends_with 0 "$shardline" predict --presets mine --hardware $'\e[31mlab' --wire f32
says "4000.00"
case $out in *$'\e'*) fail "an escape of a preset's name" ;; esac
ends_with 0 "$shardline" report two.h5 --models --presets mine
says "own"
echo 'x = 1' >wrong/x.toml
refuses "wrong/x.toml:1" "$shardline" predict --presets wrong --hardware h100 --ranks 1
refuses "cannot read the presets in nowhere" "$shardline" predict --presets nowhere --list-hardware

# What cannot be
refuses "--flops is given with --from" "$shardline" predict --from two.h5 --flops 1
refuses "--bandwidth-factor is given without --from" "$shardline" predict --hardware tpu-v5e --bandwidth-factor 2
refuses "the link asked for is beyond what numbers hold" "$shardline" predict --from two.h5 --bandwidth-factor 1e305
refuses "--bandwidth-factor is '0'" "$shardline" predict --from two.h5 --bandwidth-factor 0
refuses "--tokens or --presets is given without --models" "$shardline" report two.h5 --tokens 5
refuses "one rank has nothing to sum" "$shardline" predict --from two.h5 -P 1
"$make_file" single.h5 P=1
refuses "no sweep" "$shardline" predict --from single.h5
"$make_file" uncalibrated.h5 calibrated=0
refuses "give a run with calibration" "$shardline" predict --from uncalibrated.h5
refuses "missing.h5" "$shardline" predict --from missing.h5
refuses "--models is given without a link" "$shardline" predict --flops 1e12 --ranks 1 --models

finish
