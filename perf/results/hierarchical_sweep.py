#!/usr/bin/env python3
"""hierarchical beside the other all-reduces on cubes: perf/results/hierarchical.md.

    perf/results/hierarchical_sweep.py PROGRAM [-j N]

Times are simulated, so the table is the same on any machine.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
RANKS = (4, 16, 64)
SIZES = ("16KiB", "256KiB", "32MiB")
OVERLAP = "lrab_pipelined_allreduce, overlap_exchange"
OTHERS = {
    "lrab_hierarchical_allreduce": ["--algorithm", "lrab_hierarchical_allreduce"],
    "lrab_pipelined_allreduce": ["--algorithm", "lrab_pipelined_allreduce"],
    OVERLAP: ["--algorithm", "lrab_pipelined_allreduce", "--set", "defaults.overlap_exchange=true"],
}
BETWEEN = ("ring_rs_ag", "ring_rs_ag_4", "torus_rs_ag", "direct_rs_ag", "halving_doubling",
           "recursive_doubling", "double_binary_tree")
INSIDE = ("lrab", "lines", "direct")


def run(program, ranks, size, options):
    """The time in us and the choice; None: refused."""
    command = [program, "run", "--no-data", "--json", "-", "--bytes", size, "--set",
               f"system.sips.count={ranks}"] + options
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return None
    row = json.loads(done.stdout)["results"][0]
    taken = re.fullmatch(r"hierarchical \((.*)\)", row["algorithm"])
    return row["time_ns"] / 1000, taken[1] if taken else ""


def hierarchical(**parameters):
    options = ["--algorithm", "hierarchical"]
    for key, value in parameters.items():
        options += ["--set", f"algorithms.hierarchical.{key}={value}"]
    return options


def cell(result):
    return f"{result[0]:.3f}" if result else "–"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-j", type=int, default=2)
    options = parser.parse_args()
    kinds = dict(OTHERS, hierarchical=hierarchical())
    forms = [(inside, between) for inside in INSIDE for between in BETWEEN]
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for ranks in RANKS:
            for size in SIZES:
                for name, own in kinds.items():
                    jobs[ranks, size, name] = pool.submit(run, options.program, ranks, size, own)
                for inside, between in forms if size != "32MiB" else []:
                    own = hierarchical(inside=inside, between=between)
                    jobs[ranks, size, inside, between] = pool.submit(
                        run, options.program, ranks, size, own)
    result = {key: job.result() for key, job in jobs.items()}
    with open(HERE / "hierarchical.md", "w", encoding="utf-8") as out:
        print("# All-reduces on cubes\n", file=out)
        print("Made by `make hierarchical-sweep`. The preset `default` (`torus_2d`, 4 × 4 cubes in "
              "a SIP) with other numbers of SIPs; f16, sum; bytes per cube. Times in µs.\n",
              file=out)
        print("| SIPs | bytes | " + " | ".join(f"`{name}`" for name in kinds) +
              " | taken | times as fast as the best other |", file=out)
        print("|---|---|" + "---|" * (len(kinds) + 2), file=out)
        for ranks in RANKS:
            for size in SIZES:
                own = result[ranks, size, "hierarchical"]
                best = min(result[ranks, size, name][0] for name in OTHERS)
                print(f"| {ranks} | {size} | " +
                      " | ".join(cell(result[ranks, size, name]) for name in kinds) +
                      f" | {own[1]} | {best / own[0]:.1f} |", file=out)
        print("\n## Each way inside with each schedule between\n", file=out)
        print("Threads and turns by estimate.\n", file=out)
        print("| SIPs | bytes | inside | " + " | ".join(f"`{b}`" for b in BETWEEN) + " |", file=out)
        print("|---|---|---|" + "---|" * len(BETWEEN), file=out)
        for ranks in RANKS:
            for size in SIZES[:2]:
                for inside in INSIDE:
                    print(f"| {ranks} | {size} | {inside} | " +
                          " | ".join(cell(result[ranks, size, inside, b]) for b in BETWEEN) + " |",
                          file=out)
        worst = max(result[r, s, "hierarchical"][0] /
                    min(result[r, s, i, b][0] for i, b in forms if result[r, s, i, b])
                    for r in RANKS for s in SIZES[:2])
        print(f"\nThe choice is at most {100 * (worst - 1):.1f} % slower than the best of these.",
              file=out)


if __name__ == "__main__":
    main()
