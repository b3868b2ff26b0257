#!/usr/bin/env bash
# More threads than the BLAS was built for: it gives what it has, and that is what is recorded.
. "$(dirname "$0")/checks.sh"
ends_with 0 "$run" e.toml -o many.h5 --set blas_threads=100000 --set B=4 --set F=4
complains "asked the BLAS for 100000 threads, it uses "
used=$(sed -n 's/.*asked the BLAS for 100000 threads, it uses \([0-9]*\):.*/\1/p' err)
[ "$used" -lt 100000 ] || die "the BLAS claims $used threads"
reports many.h5 "$used thread"
reports many.h5 "warning (blas_threads, rank 0): asked the BLAS for 100000 threads, it uses $used"
