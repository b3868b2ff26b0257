#!/usr/bin/env bash
# Installs what is missing, builds shardline and its tests, and runs every test. Arguments go to ctest: ./runtests.sh -L unit
set -euo pipefail

case ${1-} in
  -h | --help)
    echo "usage: runtests.sh [CTEST-OPTION]..."
    echo "Builds into build/release and runs every test, or those that ctest selects:"
    echo "  runtests.sh -L unit   only unit tests (all labels are listed by"
    echo "                        ctest --test-dir build/release --print-labels)"
    exit 0 ;;
esac

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
exec </dev/null   # nothing here asks, and mpirun hangs where there is no stdin at all
scripts/install-packages.sh --with-tests
cmake --preset release -D SHARDLINE_TESTS=ON
cmake --build build/release --parallel "$(nproc)"
# Two at a time: tests say how many processors they take, and more of them at once would only disturb each other.
exec ctest --test-dir build/release --output-on-failure -j 2 "$@"
