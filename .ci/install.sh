#!/usr/bin/env bash
# install.sh install|uninstall: what `make install` puts where, and its removal. The folders come in
# the environment: DESTDIR, PREFIX, BINDIR, LIBDIR, INCLUDEDIR, DATADIR, MANDIR; so do OUT, the
# folder of the build, VERSION, and ABI, in which the shared library's name ends. The list of what was installed is DATADIR/cubewarp/installed; uninstall
# removes exactly that, and the folders of cubewarp's own.
set -euo pipefail
cd "$(dirname "$0")/.."
own=$DATADIR/cubewarp
list=$DESTDIR$own/installed

# put MODE SOURCE FOLDER [NAME]
put() {
    local target=$3/${4:-$(basename "$2")}
    install -D -m "$1" "$2" "$DESTDIR$target"
    echo "$target" >>"$list"
}

# link TEXT FOLDER NAME
link() {
    ln -sfn "$1" "$DESTDIR$2/$3"
    echo "$2/$3" >>"$list"
}

# fill TEMPLATE FOLDER: a .pc file, with the folders in it.
fill() {
    local name
    name=$(basename "$1" .in)
    sed -e "s|@PREFIX@|$PREFIX|; s|@LIBDIR@|$LIBDIR|; s|@INCLUDEDIR@|$INCLUDEDIR|" \
        -e "s|@VERSION@|$VERSION|" "$1" >"$OUT/obj/$name"
    put 644 "$OUT/obj/$name" "$2"
}

# completion SHELL FOLDER NAME: written by the program itself, from its tables of options. RUN runs a
# program that was built for another machine.
completion() {
    ${RUN:-} "$OUT/cubewarp" --generate "$1" >"$OUT/obj/completion.$1"
    put 644 "$OUT/obj/completion.$1" "$2" "$3"
}

# The manual's pages, by the program, too.
pages() {
    local page
    rm -rf "$OUT/obj/man"
    mkdir -p "$OUT/obj/man"
    ${RUN:-} "$OUT/cubewarp" --generate man "$OUT/obj/man"
    for page in "$OUT"/obj/man/*.1; do
        put 644 "$page" "$MANDIR/man1"
    done
}

uninstall() {
    [ -f "$list" ] || { echo "uninstall: there is no $list" >&2; exit 1; }
    local file
    while read -r file; do
        rm -f "$DESTDIR$file"
    done <"$list"
    rm -f "$list"
    for folder in "$INCLUDEDIR/cubewarp" "$own"; do
        [ ! -d "$DESTDIR$folder" ] || find "$DESTDIR$folder" -depth -type d -empty -delete
    done
}

install_all() {
    [ ! -f "$list" ] || uninstall # what an earlier version had and this one has not
    mkdir -p "$(dirname "$list")"
    : >"$list"
    put 755 "$OUT/cubewarp" "$BINDIR"
    put 755 "$OUT/libcubewarp-engine.so.$VERSION" "$LIBDIR"
    link "libcubewarp-engine.so.$VERSION" "$LIBDIR" "libcubewarp-engine.so.$ABI"
    link "libcubewarp-engine.so.$ABI" "$LIBDIR" libcubewarp-engine.so
    put 644 "$OUT/libcubewarp-engine.a" "$LIBDIR"
    local header
    for header in core/cw.h core/cw_tuning.h core/cw_inline.h; do
        put 644 "$header" "$INCLUDEDIR/cubewarp"
    done
    for header in $(${CC:-cc} -std=gnu17 -I. -MM -x c collectives/plugin.h | tr -d '\\' | sed 's/^[^:]*://'); do
        put 644 "$header" "$INCLUDEDIR/cubewarp/plugin/$(dirname "$header")"
    done
    fill core/cubewarp-engine.pc.in "$LIBDIR/pkgconfig"
    fill collectives/cubewarp-plugin.pc.in "$LIBDIR/pkgconfig"
    local config
    for config in configs/*.yaml configs/presets/*.yaml configs/studies/*.yaml configs/workloads/*.yaml configs/README.md; do # to read and to copy
        put 644 "$config" "$own/$(dirname "$config")"
    done
    put 644 core/example/tandem.c "$own/example"
    pages
    completion bash "$DATADIR/bash-completion/completions" cubewarp
    completion zsh "$DATADIR/zsh/site-functions" _cubewarp
    completion fish "$DATADIR/fish/vendor_completions.d" cubewarp.fish
}

case $1 in
install) install_all ;;
uninstall) uninstall ;;
esac
