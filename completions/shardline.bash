# Completion for bash: shardline and shardline-run. Options and subcommands are what the program's own --help lists, so that
# nothing here has to follow them.

# _shardline_options COMMAND...: every option of its help, a line each
_shardline_options() {
    "$@" --help 2>/dev/null </dev/null | sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n'
}

_shardline_subcommands() {
    "$1" --help 2>/dev/null </dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# _shardline_files SUFFIX: folders, and files of that suffix
_shardline_files() {
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -X "!*.$1" -- "$current"; compgen -d -S / -- "$current")
    compopt -o nospace -o filenames 2>/dev/null || true
}

_shardline_words() {
    local word
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$current")
}

# Values of the option before the cursor; fails where it takes none, or none that can be told.
_shardline_value() {
    case $previous in
    --wire) _shardline_words "f32 f64 bf16" ;;
    --compute | --weights) _shardline_words "f32 f64 bf16 int8" ;;
    --hardware) _shardline_words "$("$program" predict --list-hardware 2>/dev/null </dev/null | sed '1d; s/ .*//')" ;;
    --allow) _shardline_words "$("$program" --help 2>/dev/null </dev/null | sed -n 's/.*NAME:{\(.*\)}.*/\1/p' | tr ',' ' ')" ;;
    --from | --against | --resume) _shardline_files h5 ;;
    --json | --junit | --html | --allreduce-rules | -o | --output) _shardline_files '*' ;;
    --csv | --figures | --presets)
        local folder
        while IFS= read -r folder; do COMPREPLY+=("$folder"); done < <(compgen -d -- "$current")
        compopt -o filenames 2>/dev/null || true
        ;;
    *) return 1 ;;
    esac
}

_shardline() {
    local program=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} word subcommand=
    COMPREPLY=()
    _shardline_value && return
    if [[ ${program##*/} == shardline-run ]]; then
        if [[ $current == -* ]]; then _shardline_words "$(_shardline_options "$program")"; else _shardline_files toml; fi
        return
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -* ]] || { subcommand=$word; break; }
    done
    if [[ $current == -* ]]; then
        _shardline_words "$(_shardline_options "$program" $subcommand)"
    elif [[ -z $subcommand ]]; then
        _shardline_words "$(_shardline_subcommands "$program")"
    else
        _shardline_files h5
    fi
}

complete -F _shardline shardline shardline-run
