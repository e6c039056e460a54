#!/usr/bin/env bash
# run.sh FUZZER FORMAT...: fuzzes each format for FUZZ_SECONDS, from its kept corpus, the shipped
# files and all that earlier runs found. New inputs stay in the build folder; an input that fails is
# written there (README.md says how to replay it). FUZZ_LOG=FILE: a line for each format is added to
# it: time, format, seconds of processor time, inputs, exit code. FUZZ_TIMEOUT: seconds for one input
# (20); more where other programs have the cores.
set -uo pipefail
cd "$(dirname "$0")/../.."
fuzzer=$1
seconds=${FUZZ_SECONDS:-60}
failed=0
shift
for name in "$@"; do
    found=$(dirname "$fuzzer")/found/$name
    options=(-max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-20}" -rss_limit_mb=2048
        -max_len="${FUZZ_MAX_LEN:-16384}" -print_final_stats=1 -artifact_prefix="$found-" -detect_leaks=1)
    kept=$(dirname "$fuzzer")/kept/$name
    rm -rf "$kept"
    test/fuzz/kept.sh unpack "$name" "$kept"
    seeds=("$kept")
    [ ! -d "test/fuzz/base/$name" ] || seeds+=("test/fuzz/base/$name")
    case $name in
    config) seeds+=(configs test/records) ;;
    study) seeds+=(configs/studies) ;;
    workload) seeds+=(configs/workloads) ;;
    esac
    [ ! -f "test/fuzz/dictionaries/$name" ] || options+=("-dict=test/fuzz/dictionaries/$name")
    mkdir -p "$found"
    echo "fuzz: $name, $seconds s"
    TIMEFORMAT='cpu %U %S'
    { time FUZZ_FORMAT=$name "$fuzzer" "${options[@]}" "$found" "${seeds[@]}" >"$found.log" 2>&1; } 2>"$found.time"
    code=$?
    [ $code -eq 0 ] || failed=1
    grep -aE '^(stat::(number_of_executed|average_exec|peak_rss)|SUMMARY|artifact_prefix)|: not so: ' "$found.log"
    [ -z "${FUZZ_LOG:-}" ] ||
        echo "$(date -u +%FT%TZ) $name $(awk '$1 == "cpu" { print $2 + $3 }' "$found.time")" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") $code" >>"$FUZZ_LOG"
done
exit $failed
