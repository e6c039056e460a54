#!/bin/sh
# The tables of options in bench/COMMANDS.md, between their markers, from the manual pages that the program
# generates out of its option table.
#
#     bench/options/option_tables.sh PROGRAM           writes them (make commands-md)
#     bench/options/option_tables.sh --check PROGRAM   says which lines differ; exit code 1 if some do
#
# A marker names a command, `<!-- options: run -config -->`, and commands whose options are left out (-config)
# or the only ones that stand in the table (+check). --help is always left out.
set -eu
cd "$(dirname "$0")/../.."
check=false
[ "$1" != --check ] || { check=true; shift; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --generate man "$folder"

# A row for each option of a command: the option as it is typed, a tab, its meaning.
rows() {
    sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$folder/cubewarp-$1.1" | awk '
        function plain(text) {
            gsub(/\\f[BIR]/, "", text); gsub(/\\-/, "-", text); gsub(/\\&/, "", text); gsub(/\\e/, "\\", text)
            gsub(/\|/, "\\|", text)
            return text
        }
        function join(text) { meaning = meaning (meaning == "" || meaning ~ /:$/ ? "" : ";") (meaning == "" ? "" : " ") text }
        # The choices, where the text does not name each of them.
        function flush(  i, missing) {
            for (i = 1; i <= choices; i++)
                if (index(meaning, choice[i]) == 0) missing = 1
            sub(/\.$/, "", list)
            if (missing && meaning !~ /default/) join("one of " list)
            if (name != "") print name "\t" meaning
            name = meaning = list = ""
            choices = 0
        }
        /^\.RS/ { inside = 1; next }
        /^\.RE/ { inside = 0; next }
        /^\.SH/ { flush(); next }
        /^\.br/ { next }
        /^\.TP/ { if (!inside) flush(); heading = 1; listing = 0; next }
        heading && inside { join("`" plain($0) "`:"); heading = 0; next }
        heading { name = "`" plain($0) "`"; sub(/, --/, "`, `--", name); heading = 0; next }
        /^One of$/ { listing = 1; next }
        listing { text = plain($0); list = list (list == "" ? "" : " ") text; sub(/[,.]$/, "", text); choice[++choices] = text; next }
        /^A whole number from/ {
            sub(/\.$/, "", $7)
            if (length($7) < 10) join($5 " to " $7)
            next
        }
        { meaning = meaning (meaning == "" ? "" : " ") plain($0) }
    ' | grep -v '`-h`, `--help`\|^`--help`'
}

table() {
    rows "$1" >"$folder/table"
    shift
    for other in "$@"; do
        rows "${other#?}" | cut -f1 >"$folder/names"
        case $other in
        -*) awk -F '\t' 'NR == FNR { known[$1]; next } !($1 in known)' "$folder/names" "$folder/table" ;;
        *) awk -F '\t' 'NR == FNR { known[$1]; next } $1 in known' "$folder/names" "$folder/table" ;;
        esac >"$folder/chosen"
        mv "$folder/chosen" "$folder/table"
    done
    printf '| option | meaning |\n|---|---|\n'
    awk -F '\t' '{ print "| " $1 " | " $2 " |" }' "$folder/table"
}

inside=false
while IFS= read -r line; do
    [ "$line" != '<!-- end of options -->' ] || inside=false
    $inside || printf '%s\n' "$line"
    case $line in
    '<!-- options: '*)
        inside=true
        words=${line#<!-- options: }
        # Without quotes: each command is a word.
        table ${words% -->}
        ;;
    esac
done <bench/COMMANDS.md >"$folder/COMMANDS.md"
if $check; then
    diff bench/COMMANDS.md "$folder/COMMANDS.md" || { echo "bench/COMMANDS.md: other options; make commands-md"; exit 1; }
else
    cat "$folder/COMMANDS.md" >bench/COMMANDS.md
fi
