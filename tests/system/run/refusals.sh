#!/usr/bin/env bash
# Usage and input errors: exit 2, one message, nothing on standard output, nothing measured, no data harmed, no file left behind.
. "$(dirname "$0")/checks.sh"
experiment e
one=("$run")   # most of it needs no launcher
two=("$launch" 2 "$run")

# refuses_file NAME MESSAGE COMMAND...: the same, and there is no file NAME nor a part of it
refuses_file() {
    refuses "${@:2}"
    [ -z "$(compgen -G "$1*")" ] || die "files left behind: $(compgen -G "$1*")"
}

# The command line. Only one of several ranks may speak, however quickly the others end.
refuses "EXPERIMENT" "${one[@]}" -o out.h5
refuses "-o FILE.h5" "${one[@]}" e.toml
refuses "--nonsense" "${one[@]}" e.toml -o out.h5 --nonsense
refuses "--time-budget" "${one[@]}" e.toml -o out.h5 --time-budget soon
refuses "--time-budget" "${one[@]}" e.toml -o out.h5 --time-budget 0s
refuses "--time-budget" "${one[@]}" e.toml -o out.h5 --time-budget -5m
refuses "--resume" "${one[@]}" --resume some.h5 -o out.h5
refuses "--resume" "${one[@]}" --resume some.h5 --dry-run
refuses "--resume" "${one[@]}" --resume some.h5 --force
for _ in 1 2 3; do refuses "--nonsense" "${two[@]}" e.toml -o out.h5 --nonsense; done

# The experiment
experiment unknown_key 'rows = 3'
experiment wrong_type 'B = "many"'
experiment B0 'B = 0'
printf 'B = \n' >not_toml.toml
printf '"two\\nlines" = 3\n' >two_lines.toml
for start in one two; do
    declare -n ranks=$start
    refuses_file out.h5 "missing.toml" "${ranks[@]}" missing.toml -o out.h5
    refuses_file out.h5 "'rows'" "${ranks[@]}" unknown_key.toml -o out.h5
done
refuses_file out.h5 "wrong_type.toml:" "${one[@]}" wrong_type.toml -o out.h5
refuses_file out.h5 "'B'" "${one[@]}" B0.toml -o out.h5
refuses_file out.h5 'two\nlines' "${one[@]}" two_lines.toml -o out.h5   # still one line
refuses_file out.h5 "not_toml.toml:" "${one[@]}" not_toml.toml -o out.h5
refuses_file out.h5 "--set nonsense" "${one[@]}" e.toml -o out.h5 --set nonsense
refuses_file out.h5 "'C'" "${one[@]}" e.toml -o out.h5 --set C=1
refuses_file out.h5 "'D'" "${one[@]}" e.toml -o out.h5 --set D=sometimes
refuses_file out.h5 "inject.rank" "${two[@]}" e.toml -o out.h5 --set inject.what=slow_rank --set inject.rank=2
refuses_file out.h5 "." "${one[@]}" . -o out.h5   # a folder in the experiment's place

mkfifo pipe
refuses_file out.h5 "pipe: cannot be read (it is a device or pipe)" "${one[@]}" pipe -o out.h5
refuses_file out.h5 "cannot be read (it is a folder)" "${two[@]}" . -o out.h5
refuses_file out.h5 "did you mean 'wire_type'" "${one[@]}" e.toml -o out.h5 --set wire=bf16

# Where the results cannot go
ln -s not-there.h5 link.h5
for force in "" --force; do refuses "link.h5 (it is a symbolic link to nothing)" "${one[@]}" e.toml -o link.h5 $force; done
rm link.h5
refuses "nowhere" "${one[@]}" e.toml -o nowhere/out.h5
refuses "nowhere" "${two[@]}" e.toml -o nowhere/out.h5
refuses "/dev/full" "${one[@]}" e.toml -o /dev/full
mkdir folder
refuses "folder" "${one[@]}" e.toml -o folder
touch plain
refuses "plain/out.h5" "${one[@]}" e.toml -o plain/out.h5

# A file that exists is left as it is, whatever is wrong besides, unless --force is given and the run can begin.
echo "results of another day" >taken.h5
cp taken.h5 before
refuses "taken.h5" "${one[@]}" e.toml -o taken.h5
refuses "taken.h5" "${two[@]}" e.toml -o taken.h5
refuses "missing.toml" "${one[@]}" missing.toml -o taken.h5 --force
refuses "--set B=0" "${two[@]}" e.toml -o taken.h5 --force --set B=0
if ! grep -q 'compute_type.*available' <("$run" e.toml --dry-run --set compute_type=bf16 2>&1); then
    echo "this BLAS multiplies bf16: nothing to refuse"
else
    refuses "cblas_sbgemm" "${two[@]}" e.toml -o taken.h5 --force --set compute_type=bf16
    refuses_file out.h5 "cblas_sbgemm" "${one[@]}" e.toml -o out.h5 --set compute_type=bf16
fi
cmp taken.h5 before || die "an older file was harmed"
ends_with 0 "${one[@]}" e.toml -o taken.h5 --force
if cmp -s taken.h5 before; then die "--force did not overwrite"; fi
"$shardline" report taken.h5 >/dev/null || [ $? -eq 3 ] || die "no report after --force"

# Files to resume that cannot be resumed
refuses "nothing.h5" "${one[@]}" --resume nothing.h5
refuses "before" "${two[@]}" --resume before
