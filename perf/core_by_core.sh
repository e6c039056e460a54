#!/usr/bin/env bash
# The same run on one core after the other, round by round: a core whose other hardware thread is
# taken by a neighbour is slower for seconds to minutes (perf/README.md, "Slow minutes").
#   perf/core_by_core.sh [ROUNDS] [PROGRAM]
set -eu
rounds=${1:-10}
program=${2:-build/cubewarp}
cores=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
for ((round = 1; round <= rounds; round++)); do
    for core in $cores; do
        rate=$(taskset -c "$core" "$program" run --preset pod64 --n-elem 8192 --iters 12 --no-data \
            --threads 1 --no-pin --quiet | sed -nE 's/.*events\/s ([0-9.e+]+),.*/\1/p')
        printf 'core %s: %5.1f M/s   ' "$core" "$(awk "BEGIN { print $rate / 1e6 }")"
    done
    printf '\n'
done
