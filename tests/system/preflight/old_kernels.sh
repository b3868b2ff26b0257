#!/usr/bin/env bash
# Kernels that use nothing of what the processor has, here asked for; and the newest that it can have.
. "$(dirname "$0")/checks.sh"
grep -qw avx512vl /proc/cpuinfo || skip "needs a processor with AVX-512"
OPENBLAS_CORETYPE=Nehalem ends_with 0 "$run" e.toml -o old.h5
reports old.h5 "BLAS kernels Nehalem" # else the library has no choice of kernels
reports old.h5 "warning (blas_kernel_old, rank 0)"
OPENBLAS_CORETYPE=SkylakeX ends_with 0 "$run" e.toml -o new.h5
lacks new.h5 blas_kernel_old
