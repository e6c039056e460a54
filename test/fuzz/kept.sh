#!/usr/bin/env bash
# kept.sh unpack FORMAT FOLDER: the kept inputs of a format, as files in FOLDER.
# kept.sh pack FORMAT FOLDER: the files in FOLDER become the kept inputs, all of them: the same files
# give the same archive, byte for byte.
set -euo pipefail
archive=$(dirname "$0")/corpus/$2.tar.gz
mkdir -p "$3"
case $1 in
unpack) tar -xzf "$archive" -C "$3" ;;
pack)
    (cd "$3" && find . -type f -printf '%P\n') | LC_ALL=C sort |
        tar -cf - -C "$3" --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -T - |
        gzip -9n >"$archive.new"
    mv "$archive.new" "$archive"
    ;;
*) echo "usage: kept.sh unpack|pack FORMAT FOLDER" >&2 && exit 2 ;;
esac
