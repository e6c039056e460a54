#!/usr/bin/env bash
# Checks what a compiler does not: that include arrows point one way, that clang-format agrees with
# the layout, that cppcheck finds nothing.
#   test/lint.sh [FILE]...    layout and cppcheck of these files alone; the rest looks at all
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() {
    echo "lint: $*"
    failed=1
}

# Which folders each folder may include (ARCHITECTURE.md).
declare -A may=(
    [core]="core"
    [hw]="hw"
    [lp]="lp hw core"
    [partition]="partition core hw"
    [collectives]="collectives lp partition hw core"
    [perf]="perf collectives lp partition hw core"
    [bench]="bench perf workload collectives lp partition hw core"
    [workload]="workload collectives lp partition hw core"
)
for folder in "${!may[@]}"; do
    while IFS=: read -r file line text; do
        target=$(sed -E 's/.*"([a-z]+)\/.*/\1/' <<<"$text")
        [[ " ${may[$folder]} " == *" $target "* ]] ||
            complain "$file:$line: $folder may not include $target ($text)"
    done < <(grep -rnE --include='*.[ch]' '^#include "[a-z]+/' "$folder" 2>/dev/null)
done

sources=$(git ls-files --cached --others --exclude-standard '*.c' '*.h')
checked=$sources
product="core hw lp partition collectives workload bench perf"
if [ $# -gt 0 ]; then
    checked=$(printf '%s\n' "$@" | grep '\.[ch]$')
    product=$(grep -E '^(core|hw|lp|partition|collectives|workload|bench|perf)/.*\.c$' <<<"$checked")
fi

# is_version PROGRAM VERSION: whether it is the one whose layout and findings count, Debian 12's.
is_version() {
    [[ "$($1 --version)." =~ " $2." ]] && return
    echo "lint: $1 is left out: $2 counts, and this is $($1 --version)"
    return 1
}
is_version clang-format 14 || checked=
is_version cppcheck 2.10 || product=
[ -z "$checked" ] || clang-format --dry-run --Werror $checked || complain "clang-format would lay out something else: make format"
for file in $sources; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || echo "lint: $file has $lines lines: is it still one subject?"
    head -1 "$file" | grep -q '^/\*' || complain "$file does not begin with a paragraph"
done

# Every built-in algorithm has its row in the registry.
for name in $(grep -hoE '^const struct ccl_algorithm ccl_[a-z0-9_]+' collectives/algorithms/*.c | sed 's/.* ccl_//'); do
    grep -q "^ALGORITHM($name)$" collectives/algorithms/registry.h ||
        complain "collectives/algorithms/registry.h has no row ALGORITHM($name)"
done

# The table of decisions names files, what is in them, and tests that are there.
decisions=collectives/DECISIONS.md
for name in $(grep -oE '`[a-z]+/[a-z_0-9/]+\.[a-z]+`' $decisions | tr -d '`' | sort -u); do
    [ -f "$name" ] || complain "$decisions: there is no $name"
done
while IFS='|' read -r file name; do
    grep -qw -- "$name" "$file" || complain "$decisions: there is no $name in $file"
done < <(grep -oE '`[a-z]+/[a-z_0-9/]+\.[ch]` \(`[a-z_ ]+`' $decisions | sed -E 's/`([^`]+)` \(`([^`]+)`/\1|\2/')
for name in $(grep -oE '`test_[a-z_0-9]+:[a-z_0-9]+`' $decisions | tr -d '`' | sort -u); do
    grep -q "^static void ${name#*:}(void \*\*state)" test/*/"${name%%:*}.c" test/unit/*/"${name%%:*}.c" 2>/dev/null ||
        complain "$decisions: there is no test $name"
done

# Rooms, pairs, circles, arrows between rooms, invariants, citations (ARCHITECTURE.md, test/QUALITY.md).
test/structure.py --check || complain "the structure is not what ARCHITECTURE.md says"
test/symbols.py --check "${BUILD:-build}/check/obj" || complain "modules use each other in a circle"

# Each planted bug still names text of the sources.
misfits=$(test/mutants/run.py --check) || complain "planted bugs that cannot be planted: $misfits"

# With a folder of its own it reads again only the files that changed.
results=${BUILD:-build}/cppcheck
mkdir -p "$results"
[ -z "$product" ] || cppcheck --quiet --std=c11 --language=c --enable=warning,portability --inline-suppr \
    --cppcheck-build-dir="$results" --suppressions-list=test/cppcheck.txt --error-exitcode=1 -j2 -I. \
    $product || complain "cppcheck found something"
[ $failed -eq 0 ] && echo "lint: ok, $(wc -w <<<"$sources") files"
exit $failed
