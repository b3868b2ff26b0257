#!/usr/bin/env bash
# Installs what is missing, builds shardline and its tests, and runs every test. Arguments go to ctest: ./runtests.sh -L unit
set -euo pipefail

preset=release
case ${1-} in
  -h | --help)
    echo "usage: runtests.sh [--sanitize] [CTEST-OPTION]..."
    echo "Builds into build/release and runs every test, or those that ctest selects:"
    echo "  runtests.sh -L unit   only unit tests (all labels are listed by"
    echo "                        ctest --test-dir build/release --print-labels)"
    echo "  --sanitize            in build/sanitize, with address and undefined-behaviour"
    echo "                        sanitizers: slow"
    exit 0 ;;
  --sanitize)
    preset=sanitize
    shift ;;
esac

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
exec </dev/null   # nothing here asks, and mpirun hangs where there is no stdin at all
scripts/install-packages.sh --with-tests
cmake --preset $preset -D SHARDLINE_TESTS=ON
cmake --build build/$preset --parallel "$(nproc)"
# Two processors' worth at a time (cmake/ShardlineTest.cmake counts halves): more tests at once would only disturb each other.
exec ctest --preset $preset --output-on-failure -j 4 "$@"
