#!/bin/bash
# The bash completion knows every option that --help lists, every subcommand, and which files go where.
. "$(dirname "$0")/checks.sh"
. "$SHARDLINE_SOURCE/completions/shardline.bash"
cd "$scratch" || exit 1
PATH=$SHARDLINE_BIN:$PATH

# completed WORD...: what the last word of a command line may become, a line each
completed() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    "$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
    printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"}
}

# Each option of a help, told by another way than the completion does: python reads the text.
options_of() {
    "$@" --help | python3 -c '
import re, sys
for line in sys.stdin:
    if line.startswith("  -"):
        print("\n".join(line.split()[0].split(",")))'
}

subcommands=$("$shardline" --help | python3 -c '
import re, sys
print(" ".join(re.findall(r"^  (\w+)", sys.stdin.read().split("Subcommands:")[1].split("\n\n")[0], re.MULTILINE)))')
[ "$(wc -w <<<"$subcommands")" -ge 5 ] || fail "no subcommands in the help: $subcommands"
[ "$(completed shardline '' | sort | xargs)" = "$(tr ' ' '\n' <<<"$subcommands" | sort | xargs)" ] || fail "subcommands: $(completed shardline '' | xargs)"
[ "$(completed shardline rep)" = report ] || fail "rep: $(completed shardline rep)"

for command in "shardline" "shardline-run" $(printf 'shardline:%s ' $subcommands); do
    command=${command/:/ }
    wanted=$(options_of $command | sort -u)
    [ "$(wc -l <<<"$wanted")" -ge 2 ] || fail "no options in the help of $command"
    found=$(completed $command - | sort -u)
    [ "$found" = "$wanted" ] || fail "$command: $(diff <(echo "$wanted") <(echo "$found"))"
done
[ "$(completed shardline report --tol)" = --tolerance ] || fail "--tol: $(completed shardline report --tol)"

touch a.h5 b.toml c.txt 'with space.h5'
mkdir folder
[ "$(completed shardline report '' | sort | xargs -d '\n' -n1 echo | tr '\n' '|')" = "a.h5|folder/|with space.h5|" ] || fail "files: $(completed shardline report '')"
[ "$(completed shardline-run b)" = b.toml ] || fail "an experiment: $(completed shardline-run b)"
[ "$(completed shardline-run --resume a)" = a.h5 ] || fail "--resume: $(completed shardline-run --resume a)"
[ "$(completed shardline predict --wire b)" = bf16 ] || fail "--wire: $(completed shardline predict --wire b)"
[ "$(completed shardline predict --hardware h)" = h100 ] || fail "--hardware: $(completed shardline predict --hardware h)"
completed shardline-run --allow '' | grep -qx ranks_share_core || fail "--allow: $(completed shardline-run --allow '')"
[ "$(completed shardline report --csv f)" = folder ] || fail "--csv: $(completed shardline report --csv f)"

finish
