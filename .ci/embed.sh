#!/usr/bin/env bash
# embed.sh FOLDER FILE...: writes rows of a C table, {"NAME", TEXT, BYTES}, one for each file of the
# folder, sorted by name: what a program has compiled in. TEXT is an array of unsigned char, with a
# 0 at its end that BYTES does not count.
set -euo pipefail
folder=$1
shift
for file in $(printf '%s\n' "$@" | LC_ALL=C sort); do
    printf '{"%s", (const unsigned char[]){' "${file#"$folder"/}"
    od -An -v -tu1 "$file" | sed 's/  */,/g; s/^,//; s/$/,/'
    printf '0}, %d},\n' "$(wc -c <"$file")"
done
