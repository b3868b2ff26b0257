#!/usr/bin/env bash
# Runs a fuzz target from its seeds; --help says how.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: fuzz.sh TARGET FOLDER [LIBFUZZER-OPTION]...

Runs the fuzz target `experiment` or `file`, built in FOLDER, from its seeds. Without options the run is short and always the
same: a test. With options, a search whose inputs stay in FOLDER/corpus/TARGET, and those that fail in FOLDER/failures/TARGET:

  fuzz.sh file build/fuzz -max_total_time=1800
  build/fuzz/bin/file_fuzzer build/fuzz/failures/file/crash-...      # once more

Exit codes: 0 no input failed, 77 the target is not built, otherwise libFuzzer's.
EOF
}

[[ ${1-} == @(experiment|file) && $# -ge 2 ]] || { usage >&2; exit 2; }
target=$1
folder=$(readlink -m "$2")
shift 2
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
[ -x "$folder/bin/${target}_fuzzer" ] || { echo "SKIPPED: $folder/bin/${target}_fuzzer is not built (test fuzz_build says why)"; exit 77; }

case $target in
  experiment)
    seeds=("$here/experiment_seeds" "$here/../../experiments")
    options=(-dict="$here/experiment.dict" -max_len=4096)
    short=(-runs=40000) ;;
  file)
    command -v h5repack >/dev/null || { echo "SKIPPED: h5repack is not there (Debian: hdf5-tools)"; exit 77; }
    seeds=("$folder/file_seeds")
    "$here/make_file_seeds.sh" "$folder/bin/make_synthetic_file" "${seeds[0]}"
    options=(-max_len=400000 -timeout=120)
    short=(-runs=600) ;;
esac
failures=$folder/failures/$target
mkdir -p "$failures"
options+=(-artifact_prefix="$failures/" -print_final_stats=1)
if [ $# -eq 0 ]; then # libFuzzer writes what it finds new into the first folder
  corpus=$(mktemp -d)
  trap 'rm -rf "$corpus"' EXIT
  "$folder/bin/${target}_fuzzer" -seed=1 "${short[@]}" "${options[@]}" "$corpus" "${seeds[@]}"
  exit
fi
mkdir -p "$folder/corpus/$target"
exec "$folder/bin/${target}_fuzzer" "${options[@]}" "$@" "$folder/corpus/$target" "${seeds[@]}"
