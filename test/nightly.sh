#!/usr/bin/env bash
# Random models and schedules in large numbers, from seeds that are new every day; the failing one
# is printed with the command that replays it. NIGHTLY_SEED and NIGHTLY_SCALE (1: about half an
# hour on two cores) choose others; with NIGHTLY_ROUNDS=0 it goes on with new seeds until something
# fails. Builds nothing: `make nightly` does.
set -uo pipefail
cd "$(dirname "$0")/.."
seed=${NIGHTLY_SEED:-$(($(date +%s) / 86400 * 1000000))}
scale=${NIGHTLY_SCALE:-1}
failed=0
try() {
    echo "nightly: $*"
    "$@" >build/nightly.log 2>&1
    local status=$?
    [ $status -eq 0 ] && return
    cat build/nightly.log
    echo "FAILED $* (exit code $status)"
    failed=1
}
round_from() {
    export PARALLEL_SEED=$1 EXPLORE_SEED=$1 FAULTS_SEED=$1 HARSH_SEED=$1 TIES_SEED=$1
    export MESSAGES_SEED=$1 PROGRAM_SEED=$1 STEP_SEED=$1 FOLD_SEED=$1 GRAPH_SEED=$1
    try env EXPLORE_SEEDS=$((200000 * scale)) build/explore/test/stress/test_explore
    try env EXPLORE_SEEDS=$((20000 * scale)) build/explore-asan/test/stress/test_explore
    try env HARSH_SEEDS=$((200000 * scale)) build/explore/test/stress/test_explore_harsh
    try env HARSH_SEEDS=$((20000 * scale)) build/explore-asan/test/stress/test_explore_harsh
    try env TIES_SEEDS=$((100000 * scale)) build/explore/test/stress/test_explore_ties
    try env TIES_SEEDS=$((10000 * scale)) build/explore-asan/test/stress/test_explore_ties
    try env FAULTS_SEEDS=$((20 * scale)) build/explore-asan/test/stress/test_alloc_faults
    try env PARALLEL_SEEDS=$((1000 * scale)) build/check/test/unit/core/test_core_parallel
    try env PARALLEL_SEEDS=$((200 * scale)) build/asan/test/unit/core/test_core_parallel
    for variant in check asan tsan; do
        try env CW_SEEDS=$((40 * scale)) build/$variant/test/unit/core/test_core_snapshot
        try env CW_SEEDS=$((40 * scale)) build/$variant/test/unit/core/test_core_listen
    done
    try env PARALLEL_SEEDS=$((50 * scale)) build/tsan/test/unit/core/test_core_parallel
    try env MESSAGES_SEEDS=$((300 * scale)) build/check/test/unit/collectives/test_dist_messages
    try env FOLD_SEEDS=$((20000 * scale)) build/check/test/unit/collectives/test_fold_times
    try env PROGRAM_SEEDS=$((3000 * scale)) build/check/test/unit/collectives/test_dist_programs
    try env PROGRAM_SEEDS=$((200 * scale)) build/asan/test/unit/collectives/test_dist_programs
    try env PROGRAM_SEEDS=$((50 * scale)) build/tsan/test/unit/collectives/test_dist_programs
    try env STEP_SEEDS=$((3000 * scale)) build/check/test/unit/workload/test_workload_programs
    try env STEP_SEEDS=$((300 * scale)) build/asan/test/unit/workload/test_workload_programs
    try env STEP_SEEDS=$((100 * scale)) build/tsan/test/unit/workload/test_workload_programs
    try env CUBEWARP=build/check/cubewarp GRAPH_SEEDS=$((1000 * scale)) \
        build/check/test/integration/test_graph_files
    try env HARSH_SEEDS=$((1000 * scale)) build/check/test/unit/core/test_core_harsh
    try env HARSH_SEEDS=$((200 * scale)) build/asan/test/unit/core/test_core_harsh
    try env HARSH_SEEDS=$((50 * scale)) build/tsan/test/unit/core/test_core_harsh
}
rounds=${NIGHTLY_ROUNDS:-1}
round_from "$seed"
try env FOLD_SIZES=30 build/check/test/unit/collectives/test_fold_rules
try env CUBEWARP=build/check/cubewarp BOUNDS_EVERY=1 build/check/test/integration/test_bounds
try env CUBEWARP=build/check/cubewarp GRAPH_RUNS=all build/check/test/integration/test_graph_files
try env GRAPH_PODS=64 build/check/test/unit/hw/test_hw_graph
try env CUBEWARP=build/check/cubewarp GROUPS_EVERY=1 \
    build/check/test/integration/test_group_algorithms
try env CUBEWARP=build/check/cubewarp GROUPS_EVERY=1 build/check/test/integration/test_group_times
try env CUBEWARP=build/check/cubewarp SWEEP_SPEEDS=$((167 * scale)) SWEEP_KILLS=10 \
    build/check/test/integration/test_sweep
try env CUBEWARP=build/check/cubewarp test/estimates/test_estimates.py --all
try env CUBEWARP=build/check/cubewarp EQUALITY_SEED="$seed" test/equality/test_equality.py --all
try perf/results/schedule_sweep.py build/check/cubewarp --graphs --quick
try test/mutants/run.py
for ((round = 1; failed == 0 && (rounds == 0 || round < rounds); round++)); do
    round_from $((seed + round * 1000000000))
done
[ $failed -eq 0 ] && echo "nightly: ok, from seed $seed"
exit $failed
