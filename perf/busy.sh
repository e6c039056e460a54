#!/usr/bin/env bash
# Runs a command while two loops keep two cores busy, and ends them.
#   perf/busy.sh cubewarp perf run --set matrix-short
set -u
loops=()
for _ in 1 2; do
    (while :; do :; done) &
    loops+=($!)
done
trap 'kill "${loops[@]}"' EXIT
"$@"
