#!/usr/bin/env bash
# Runs each fuzzer named on the command line for FUZZ_SECONDS, from its kept corpus and from what
# earlier runs found. What is found stays in the build folder; an input that fails is written
# there, and its path is the argument that replays it.
set -euo pipefail
cd "$(dirname "$0")/../.."
for fuzzer in "$@"; do
    name=$(basename "$fuzzer")
    found=$(dirname "$fuzzer")/corpus/$name
    mkdir -p "$found"
    echo "fuzz: $name, ${FUZZ_SECONDS:-60} s"
    "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -rss_limit_mb=2048 -max_len=4096 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix="$found-" \
        -detect_leaks=1 "$found" "test/fuzz/corpus/${name#fuzz_}" 2>&1 |
        grep -vE '^(INFO|Done|stat::(new_units|slowest|peak)|#|"|\t)' || [ "${PIPESTATUS[0]}" -eq 0 ]
done
