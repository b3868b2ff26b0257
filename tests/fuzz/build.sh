#!/usr/bin/env bash
# usage: build.sh FOLDER   builds the fuzz targets there, as preset `fuzz` does in build/fuzz
set -euo pipefail
source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)

skip() { printf 'SKIPPED: %s\n' "$1"; exit 77; }

command -v clang++ >/dev/null || skip "clang++ is not there (scripts/install-packages.sh --with-tests installs it where it can)"
printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null ||
  skip "this clang++ has no libFuzzer or no sanitizers (Debian: libclang-rt-dev)"
cmake -S "$source" -B "$1" -G Ninja -D CMAKE_BUILD_TYPE=Debug -D CMAKE_C_COMPILER=clang -D CMAKE_CXX_COMPILER=clang++ \
  -D CMAKE_UNITY_BUILD=ON -D SHARDLINE_FUZZ=ON
exec cmake --build "$1" --parallel "$(nproc)"
