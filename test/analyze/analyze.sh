#!/usr/bin/env bash
# Runs cppcheck, clang-tidy and gcc's analyzer over each C source, or those that are named, and says
# what they find beyond what is accepted with a reason. `make analyze` starts it. `clang` is clang's
# analyzer.
#
#   test/analyze/analyze.sh [cppcheck | clang-tidy | clang | gcc]... [-- FILE...]
#
# The findings of a file stay in build/analyze/TOOL, under a hash of the preprocessed source, the
# settings and the tool: a second run looks at changed files only. JOBS: how many files at a time.
set -uo pipefail
export LC_ALL=C.UTF-8 # gcc's quotes
cd "$(dirname "$0")/../.."
here=test/analyze
kept=${BUILD:-build}/analyze

# Clang's analyzer takes the engine's invariants for given, as a build with assertions does.
CLANG_MORE=-DCW_ASSERT

# A source's flags, as in mk/variants.mk; the included files that are made are those of the variant check.
flags_of() {
    flags=(-std=gnu17 -I. -I"${BUILD:-build}/check/obj" -I"$kept/include" -pthread)
    [ "$(uname -m)" != x86_64 ] || flags+=(-march=x86-64-v3 -mprfchw)
    flags+=(-D{FAULTS_PROGRAM,FAULTS_SHIM,FUZZ_PLUGIN}_BUILT='""' -DCW_COMMIT='""' -DCW_FLAGS='""')
    case $1 in
    test/stress/*) flags+=(-DSYNC_EXPLORE) ;;
    test/race/*) flags+=(-D__SANITIZE_THREAD__) ;;
    esac
}

# The lines of a file of settings, without the comments that say why.
settings() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$1"; }

version_of() {
    case $1 in
    gcc) gcc --version ;;
    cppcheck) cppcheck --version ;;
    clang*) clang-tidy --version ;;
    esac
}

# The nearest .clang-tidy counts, and those that it inherits from.
settings_of() {
    case $1 in
    gcc) cat $here/gcc.txt $here/gcc_tests.txt $here/assume.h ;;
    cppcheck) cat $here/cppcheck.txt $here/known.cfg ;;
    clang) cat .clang-tidy test/.clang-tidy $here/assume.h; echo "$CLANG_MORE" ;;
    clang-tidy) cat .clang-tidy test/.clang-tidy ;;
    esac
}

findings_of() {
    local more=()
    [ "$2" = core/error.c ] || more+=(-include $here/assume.h)
    case $1 in
    gcc)
        [[ $2 != test/* ]] || mapfile -t -O ${#more[@]} more < <(settings $here/gcc_tests.txt)
        # shellcheck disable=SC2046
        gcc "${flags[@]}" -O1 -g -fdiagnostics-plain-output $(settings $here/gcc.txt) "${more[@]}" \
            -c -o /dev/null "$2" 2>&1
        ;;
    cppcheck)
        # shellcheck disable=SC2046
        cppcheck --quiet --std=c11 --language=c --platform=unix64 --inline-suppr --template=gcc \
            $(settings $here/cppcheck.txt | grep '^--') \
            --suppressions-list=<(settings $here/cppcheck.txt | grep -v '^--') -I. "$2" 2>&1
        ;;
    clang*)
        # Clang's analyzer is most of the time, so it has a turn of its own.
        local checks=-clang-analyzer-*
        [ "$1" = clang-tidy ] || checks=$(clang-tidy --list-checks "$2" -- 2>/dev/null |
            awk '/clang-analyzer/ { list = list "," $1 } END { print "-*" list }')
        if [ "$1" = clang ]; then more+=($CLANG_MORE); else more=(); fi
        clang-tidy --quiet --checks="$checks" "$2" -- "${flags[@]}" "${more[@]}" 2>&1 |
            grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed '
        ;;
    esac
}

one() {
    local tool=$1 file=$2 key
    flags_of "$file"
    key=$({ version_of "$tool"; settings_of "$tool"; gcc "${flags[@]}" -E "$file" 2>&1; } | sha256sum | cut -c1-32)
    local log=$kept/$tool/${file//\//+}.$key
    if [ ! -e "$log" ]; then
        rm -f "$kept/$tool/${file//\//+}".*
        findings_of "$tool" "$file" >"$kept/part.$$"
        mv "$kept/part.$$" "$log"
    fi
}

if [ "${1:-}" = --one ]; then
    one "$2" "$3"
    exit 0
fi

tools=() files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    tools+=("$1")
    shift
done
[ ${#tools[@]} -gt 0 ] || tools=(cppcheck clang-tidy gcc)
[ $# -gt 0 ] && shift && files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files '*.c')

# Findings of gcc that are accepted: by file, function and check (accepted.txt).
not_accepted() {
    awk '
        NR == FNR { if ($1 !~ /^#/ && NF >= 3) accepted[$1, $2, $3] = 1; next }
        /: In function / { split($0, part, ":"); file = part[1]; function_line = $0
                           match($0, /‘[^’]*’/); name = substr($0, RSTART, RLENGTH); gsub(/[‘’]/, "", name)
                           next }
        / warning: / { match($0, /\[-W[a-z-]*\]$/); check = substr($0, RSTART + 3, RLENGTH - 4)
                       shown = !((file, name, check) in accepted)
                       if (shown) print function_line }
        / (fatal )?error: / { shown = 1 }
        /^In file included from|^ +from / { next }
        shown { print }' $here/accepted.txt -
}

# The example is a program outside: it includes the headers that are installed.
mkdir -p "$kept/include/cubewarp"
ln -sfn "$PWD"/core/cw*.h "$kept/include/cubewarp/"

failed=0
for tool in "${tools[@]}"; do
    mkdir -p "$kept/$tool"
    printf '%s\n' "${files[@]}" | xargs -P "${JOBS:-$(nproc)}" -n 1 "$0" --one "$tool" || failed=1
    left=0
    for file in "${files[@]}"; do
        log=$(echo "$kept/$tool/${file//\//+}".*)
        shown=$(if [ "$tool" = gcc ]; then not_accepted <"$log"; else cat "$log"; fi)
        [ -n "$shown" ] || continue
        printf '%s\n' "$shown"
        left=$((left + $(grep -cE '(warning|error|style|performance|portability):' <<<"$shown")))
    done
    echo "analyze: $tool: ${#files[@]} files, $left findings"
    [ $left -eq 0 ] || failed=1
done
exit $failed
