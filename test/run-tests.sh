#!/usr/bin/env bash
# Runs the test programs named on the command line and closes with one line that counts their
# tests: 'N passed, N failed'. Each prints its own report (cmocka). Exit code 1 if any failed.
set -uo pipefail
passed=0 failed=0
for program in "$@"; do
    log=$(mktemp)
    "$program" >"$log" 2>&1
    status=$?
    p=$(grep -c '^\[       OK \]' "$log")
    f=$(grep -c '^\[  FAILED  \] [^0-9]' "$log")
    if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then
        f=1 # it ended before it could report
    elif [ $status -ne 0 ]; then
        f=$(grep '^\[  FAILED  \] [^0-9]' "$log" | sort -u | wc -l)
    fi
    passed=$((passed + p)) failed=$((failed + f))
    if [ $status -ne 0 ]; then
        cat "$log"
        echo "FAILED $program (exit code $status)"
    else
        echo "ok $program ($p)"
    fi
    rm -f "$log"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
