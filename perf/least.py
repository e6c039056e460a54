#!/usr/bin/env python3
"""Of `cubewarp perf run --set matrix --json FILE`: the ratios of two threads over one, least first.

    perf/least.py FILE [COUNT]      # the COUNT least ones, 20 by default; exit code 1 if one is below 0.95
"""
import json
import statistics
import sys

LEAST = 0.95


def rates(path):
    """Events per second of each case, round by round."""
    found = {}
    for row in json.load(open(path))["benchmarks"]:
        if row.get("run_type", "iteration") == "iteration":
            found.setdefault(row["name"], []).append(row["items_per_second"])
    return found


def main():
    found = rates(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    ratios = []
    for name, one in found.items():
        model, mode, _ = name.split("/")
        two = found.get(f"{model}/adaptive/2")
        if mode == "sequential" and two:
            ratios.append((statistics.median(b / a for a, b in zip(one, two)), model,
                           statistics.median(one), statistics.median(two)))
    ratios.sort()
    print(f"{'model':32} {'one':>8} {'two':>8} {'ratio':>6}   M events/s, medians of {len(one)}")
    for ratio, model, one, two in ratios[:count]:
        print(f"{model:32} {one / 1e6:8.2f} {two / 1e6:8.2f} {ratio:6.3f}")
    below = sum(ratio < LEAST for ratio, *_ in ratios)
    print(f"{len(ratios)} models, {below} below {LEAST}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
