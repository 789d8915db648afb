# SPDX-License-Identifier: MIT
# What the scripts of this folder do alike with their command line. A script reads it before it changes its folder:
#
#   . "$(dirname "$0")/usage.sh"
#
# With -h or --help as the first word the script prints the comment at its head and ends with status 0. refuse TEXT ends it with
# one line on standard error and status 2: the command line is wrong, or names what cannot be used.
case ${1-} in -h | --help)
    sed -n '3,${/^#/!q;s/^# \{0,1\}//;p}' "$0"
    exit 0
    ;;
esac

refuse() {
    printf '%s\n' "tools/$(basename "$0"): $*" >&2
    exit 2
}

# options_none WORD...: refuses each word that looks like an option.
options_none() {
    local word
    for word; do
        case $word in -*) refuse "$word: unknown option: see tools/$(basename "$0") --help" ;; esac
    done
}

# words_most N WORD...: refuses more than N words.
words_most() {
    local most=$1
    shift
    [ $# -le "$most" ] || refuse "${*:most + 1}: one word too many: see tools/$(basename "$0") --help"
}

# folder DIR: makes DIR. Refuses it if it cannot be made or written.
folder() {
    mkdir -p -- "$1" 2>/dev/null && [ -w "$1" ] && [ -x "$1" ] || refuse "$1: it is no folder that can be written: name another"
}

# program BUILD NAME: refuses BUILD if the program BUILD/bin/NAME is not there.
program() {
    [ -x "$1/bin/$2" ] || refuse "$1: bin/$2 is not there: build it (cmake -S . -B $1 && cmake --build $1), or name its build directory"
}

# own_folder DIR: makes DIR, or empties it if an earlier run made it. Refuses any other folder with files in it.
own_folder() {
    local mark
    mark=.made-by-$(basename "$0")
    folder "$1"
    [ -z "$(ls -A -- "$1")" ] || [ -e "$1/$mark" ] ||
        refuse "$1: it has files that this did not write, and would be emptied: name a new folder"
    find "$1" -mindepth 1 -delete
    : >"$1/$mark"
}
