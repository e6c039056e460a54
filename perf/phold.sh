#!/usr/bin/env bash
# Measures the engine against bare loops (baseline.c), in alternation, and prints medians of
# millions of committed events per second. A shared machine changes its speed within minutes, so
# only the ratios of one call of this script mean anything.
#
#   make perf && perf/phold.sh [ROUNDS]      ROUNDS: 5 or more; default 7
#   BUILD=folder perf/phold.sh               another build folder than build/
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
rounds=${1:-7}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

engine() { # name, options of cubewarp phold
    local name=$1
    shift
    "$build/cubewarp" phold "$@" --json - |
        sed -n 's/.*"committed_events_per_s": \([0-9.e+]*\).*/\1/p' |
        awk '{printf "%.3f\n", $1 / 1e6}' >>"$results/$name"
}

bare() { # name, arguments of baseline
    local name=$1
    shift
    "$build/perf/baseline" "$@" | awk '{print $3}' >>"$results/$name"
}

median() { sort -n "$results/$1" | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

for ((round = 0; round < rounds; round++)); do
    engine engine-64k --end 200
    bare calendar-64k calendar random 4096 16 200
    bare heap-64k heap random 4096 16 100
    engine engine-1m --lps 65536 --end 20
    bare calendar-1m calendar random 65536 16 10
    bare heap-1m heap random 65536 16 10
    engine engine-mesh --traffic mesh --end 12
    bare heap-mesh heap mesh 4096 16 6
done

echo "# $(date -u +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, medians of $rounds"
printf '%-44s %8s %8s %8s %10s %10s\n' "# PHOLD, millions of events per second" engine calendar heap \
    "/calendar" "/heap"
report() { # what, engine, calendar or -, heap
    local e c=- h rc=-
    e=$(median "$2")
    h=$(median "$4")
    if [ "$3" != - ]; then
        c=$(median "$3")
        rc=$(awk "BEGIN {printf \"%.2f\", $e / $c}")
    fi
    printf '%-44s %8s %8s %8s %10s %10s\n' "$1" "$e" "$c" "$h" "$rc" \
        "$(awk "BEGIN {printf \"%.2f\", $e / $h}")"
}
report "65,536 pending (4,096 LPs x 16)" engine-64k calendar-64k heap-64k
report "1,048,576 pending (65,536 LPs x 16)" engine-1m calendar-1m heap-1m
report "65,536 pending, lock-step mesh traffic" engine-mesh - heap-mesh
