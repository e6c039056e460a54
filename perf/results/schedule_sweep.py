#!/usr/bin/env python3
"""auto_all_reduce beside all schedules that it could have taken: perf/results/schedule_choice.md.

    perf/results/schedule_sweep.py PROGRAM [--ranks 4,16] [-j N]

Times are simulated, so the table is the same on any machine. A schedule that a machine has no room
for is left out. Sizes end where a run takes minutes.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TOPOLOGIES = ("ring_1d", "torus_2d", "torus_3d", "mesh_2d_no_wrap", "switch", "fully_connected",
              "pair_switch")
CANDIDATES = (("ring_rs_ag", 1), ("ring_rs_ag", 4), ("torus_rs_ag", 0), ("direct_rs_ag", 0),
              ("halving_doubling", 0), ("recursive_doubling", 0), ("double_binary_tree", 0))
LARGEST = {4: "32MiB", 16: "32MiB", 64: "4MiB", 256: "64KiB"}
LIMIT = 1.10


def run(program, topology, ranks, algorithm, rings):
    """{bytes: time in us}, and the choices on standard error: {bytes: name}."""
    command = [program, "run", "--algorithm", algorithm, "--no-data", "--bytes",
               f"1KiB:{LARGEST[ranks]}:x8", "--set", f"system.sips.count={ranks}",
               "--set", f"system.sips.topology={topology}"]
    if rings > 1:
        command += ["--set", f"algorithms.{algorithm}.rings={rings}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    times = {int(row[0]): float(row[1]) for row in re.findall(
        r"^ +(\d+) +\d+ +\w+ +\w+ +([\d.]+) ", done.stdout, re.M)}
    chosen = {int(row[1]): row[0] for row in re.findall(
        r"takes (.*?): (\d+) bytes per shard", done.stderr)}
    return times, chosen


def label(algorithm, rings):
    return f"{algorithm}, {rings} rings" if rings > 1 else algorithm


def rows_of(jobs, topology, ranks):
    times, chosen = jobs[topology, ranks, "auto_all_reduce", 0].result()
    others = {label(*c): jobs[(topology, ranks) + c].result()[0] for c in CANDIDATES}
    for size, taken_us in sorted(times.items()):
        best = min((t[size], name) for name, t in others.items() if size in t)
        yield topology, ranks, size, chosen[size], taken_us, best[1], best[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--ranks", default="4,16,64")
    parser.add_argument("-j", type=int, default=2)
    options = parser.parse_args()
    ranks = [int(n) for n in options.ranks.split(",")]
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for n in ranks:
            for topology in TOPOLOGIES:
                for c in (("auto_all_reduce", 0),) + CANDIDATES:
                    jobs[(topology, n) + c] = pool.submit(run, options.program, topology, n, *c)
        rows = [row for n in ranks for t in TOPOLOGIES for row in rows_of(jobs, t, n)]
    worst = max(row[4] / row[6] for row in rows)
    over = sum(row[4] / row[6] > LIMIT for row in rows)
    with open(HERE / "schedule_choice.md", "w", encoding="utf-8") as out:
        print("# The choice of auto_all_reduce\n", file=out)
        print("Made by `make schedule-sweep`. One shard per rank, the preset `default` with other "
              "numbers of SIPs and topologies. Times in µs. Beside what `auto_all_reduce` takes "
              "is the best of all that it could have taken (`collectives/algorithms/ALGORITHMS.md`, "
              "section 12).\n", file=out)
        print(f"In {len(rows)} cases the choice is at most {100 * (worst - 1):.1f} % slower than "
              f"the best; in {over} of them it is more than {100 * (LIMIT - 1):.0f} % slower.\n",
              file=out)
        print("| topology | ranks | bytes | taken | time | best | time | slower by |", file=out)
        print("|---|---|---|---|---|---|---|---|", file=out)
        for topology, n, size, taken, taken_us, best, best_us in rows:
            print(f"| {topology} | {n} | {size} | {taken} | {taken_us:.3f} | {best} | "
                  f"{best_us:.3f} | {100 * (taken_us / best_us - 1):.1f} % |", file=out)


if __name__ == "__main__":
    main()
