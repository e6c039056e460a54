#!/usr/bin/env bash
# Runs the test programs named on the command line, JOBS at a time (default: one per core), and
# closes with one line that counts their tests: 'N passed, N failed'. Each prints its own report
# (cmocka), which is shown if one of its tests failed; of the others a line says how many tests passed,
# and the seconds by the clock and of the processors. RUN: what runs a program that was built for
# another machine. Exit code 1 if any failed.
set -uo pipefail
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# cpu_seconds: what programs took, from the output of `times`.
cpu_seconds() {
    awk -F '[ms ]' 'NR == 2 { printf "%.0f", 60 * ($1 + $4) + $2 + $5 }'
}

# run_one PROGRAM: leaves "PASSED FAILED" in the folder of logs, and says how it went.
run_one() {
    local program=$1 log status p f begun=$SECONDS
    log=$logs/${program//\//_}
    $RUN "$program" >"$log" 2>&1
    status=$?
    times >"$log.times" # in this shell, not in a pipe's: of the programs that it has waited for
    p=$(grep -c '^\[       OK \]' "$log")
    f=$(grep '^\[  FAILED  \] [^0-9]' "$log" | sort -u | wc -l)
    [ $status -ne 0 ] && [ "$f" -eq 0 ] && f=1 # it ended before it could report
    echo "$p $f" >"$log.count"
    if [ $status -ne 0 ]; then
        echo "$(cat "$log")
FAILED $program (exit code $status)"
    else
        echo "ok $program ($p, $((SECONDS - begun)) s, $(cpu_seconds <"$log.times") s of CPU)"
    fi
}
export -f run_one cpu_seconds
export logs RUN=${RUN:-}
printf '%s\0' "$@" | xargs -0 -n1 -P "${JOBS:-$(nproc)}" bash -c 'run_one "$1"' run_one
counts=$(cat "$logs"/*.count)
passed=$(awk '{ p += $1 } END { print p + 0 }' <<<"$counts")
failed=$(awk '{ f += $2 } END { print f + 0 }' <<<"$counts")
unrun=$(($# - $(wc -l <<<"$counts")))
failed=$((failed + unrun))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
