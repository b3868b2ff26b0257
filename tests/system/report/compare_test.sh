#!/bin/bash
# What has changed between two runs, and what bounds one.
. "$(dirname "$0")/checks.sh"
cd "$scratch" || exit 1
D=D=1600,2400,3200,4800,6400,9600,12800
"$make_file" monday.h5 seed=1 $D && "$make_file" tuesday.h5 seed=2 $D && "$make_file" slower.h5 seed=3 $D comm_factor_in_sweep=1.3 ||
    fail "make_synthetic_file"

# --- compare ----------------------------------------------------------------------------------------
ends_with 0 "$shardline" compare monday.h5 tuesday.h5
says "No change"
ends_with 1 "$shardline" compare monday.h5 slower.h5
says "Changed"
says "t_comm"
echo "$out" | grep -q "t_comp" && fail "the matmul has not changed"
[ "$(awk 'length > 80' "$scratch/out" | wc -l)" -eq 0 ] || fail "wider than 80 columns"
ends_with 0 "$shardline" compare monday.h5 slower.h5 --threshold 60
ends_with 1 "$shardline" compare monday.h5 tuesday.h5 --against slower.h5
says "Changed"

refuses "same launch" "$shardline" compare monday.h5 monday.h5
refuses "BASE.h5 NEW.h5" "$shardline" compare monday.h5
refuses "--threshold is 'x'" "$shardline" compare monday.h5 tuesday.h5 --threshold x
"$make_file" larger.h5 seed=4 P=3 D=1602,2400,3201
refuses "ranks: 2 / 3" "$shardline" compare monday.h5 larger.h5
ends_with 3 "$shardline" compare monday.h5 larger.h5 --different
says "Nothing could be compared"
refuses "cannot read" "$shardline" compare monday.h5 missing.h5

# --- explain ----------------------------------------------------------------------------------------
ends_with 0 "$shardline" explain monday.h5
says "waits for the network, above it for its own arithmetic"
says "One strategy was measured"
refuses "missing.h5" "$shardline" explain missing.h5
refuses "--at" "$shardline" explain monday.h5 --at 0

finish
