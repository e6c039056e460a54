#!/usr/bin/env bash
# What a change of minutes must pass: layout and lint of the files that changed, then the unit tests
# of their layers and of those above them. A change is what differs from BASE (default: where the
# branch left its upstream; without one, the last commit), uncommitted files included.
set -uo pipefail
cd "$(dirname "$0")/.."
base=${BASE:-$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)}
mapfile -t changed < <({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | sort -u)
test/lint.sh "${changed[@]}" || exit 1

# The layers that see a change of each (ARCHITECTURE.md); folders of test/unit.
declare -A above=(
    [core]="core lp partition collectives schedule workload perf bench"
    [hw]="hw lp partition collectives schedule workload bench"
    [lp]="lp partition collectives schedule workload bench"
    [partition]="partition collectives schedule workload bench"
    [collectives]="partition collectives schedule workload bench"
    [workload]="workload bench"
    [perf]="perf bench"
    [bench]="bench"
)
folders=
for file in "${changed[@]}"; do
    case $file in
    test/unit/*/*) folders+=" $(cut -d/ -f3 <<<"$file")" ;;
    test/support/*) folders+=" ${!above[*]} schedule" ;;
    *) folders+=" ${above[${file%%/*}]:-}" ;;
    esac
done
folders=$(tr ' ' '\n' <<<"$folders" | grep . | sort -u | tr '\n' ' ')
[ -n "$folders" ] || { echo "quick: ${#changed[@]} files changed, none that a unit test sees" && exit 0; }
echo "quick: unit tests of $folders"
PARALLEL_SEEDS=${PARALLEL_SEEDS:-4} ${MAKE:-make} unit FOLDER="$folders"
