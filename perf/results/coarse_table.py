#!/usr/bin/env python3
"""Coarse tiles beside exact runs: perf/results/coarse.md.

    perf/results/coarse_table.py PROGRAM [-j N]

Times are simulated, so the table is the same on any machine.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
COARSE = "64KiB"
SIZES = ("1MiB", "16MiB", "64MiB")
SCHEDULES = ("ring_rs_ag", "torus_rs_ag", "halving_doubling", "recursive_doubling",
             "double_binary_tree", "hierarchical")


def cases():
    """Machine, collective, algorithm, placement, options, sizes."""
    for name in SCHEDULES:
        for mapper in ("all_pes", "pe0_all_cubes", "leader_only"):
            if name == "hierarchical" and mapper == "leader_only":
                continue
            sizes = SIZES[:2] if mapper == "leader_only" else SIZES
            own = ["--algorithm", name, "--set", f"algorithms.{name}.mapper={mapper}"]
            yield "default", "ccl_allreduce", name, mapper, own, sizes
    for name, place in (("lrab_hierarchical_allreduce", "pe0_all_cubes"),
                        ("lrab_pipelined_allreduce", "pe0_all_cubes"),
                        ("pe_hierarchical_allreduce", "all_pes"),
                        ("ring_allreduce", "leader_only"), ("tree_allreduce", "leader_only")):
        sizes = ("1MiB", "4MiB") if place == "leader_only" else SIZES[:2]
        yield "default", "ccl_allreduce", name, place, ["--algorithm", name], sizes
    for bench, name in (("ccl_all_gather", "rings_all_gather"),
                        ("ccl_reduce_scatter", "rings_reduce_scatter"),
                        ("ccl_all_to_all", "pairwise_all_to_all")):
        own = ["--algorithm", name, "--set", f"algorithms.{name}.mapper=all_pes"]
        yield "default", bench, name, "all_pes", own, SIZES
    yield ("default", "ccl_all_to_all", "pairwise_all_to_all", "as it comes",
           ["--algorithm", "pairwise_all_to_all"], SIZES[:2])
    yield "default", "ccl_all_gather", "ring_all_gather", "as it comes", [
        "--algorithm", "ring_all_gather"], SIZES[:2]
    yield "default", "ccl_broadcast", "relay_broadcast", "as it comes", [
        "--algorithm", "relay_broadcast"], SIZES[:2]
    for name in ("birs", "rhd", "mesh"):
        yield ("a3_16", "ccl_reduce_scatter", name, "leader_only", ["--algorithm", name],
               ("1MiB", "8MiB"))
    for name in ("ring_rs_ag", "torus_rs_ag", "hierarchical"):
        own = ["--algorithm", name, "--set", f"algorithms.{name}.mapper=all_pes"]
        yield "pod64", "ccl_allreduce", name, "all_pes", own, ("16MiB", "64MiB")
    yield ("pod64", "ccl_allreduce", "ring_rs_ag", "pe0_all_cubes", [
        "--algorithm", "ring_rs_ag", "--set", "algorithms.ring_rs_ag.mapper=pe0_all_cubes"],
           ("16MiB",))


MACHINES = {
    "default": [],
    "pod64": ["--preset", "pod64"],
    "a3_16": ["--preset", "a3_16", "--set", "defaults.slot_size=4096", "--set",
              "defaults.n_slots=8"],
}


def run(program, machine, bench, size, options):
    """Time in ns and events; None: refused."""
    command = [program, "run", "--no-data", "--fold", "off", "--json", "-", "--bench", bench, "--bytes-per-rank",
               size] + MACHINES[machine] + options
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(" ".join(command), done.stderr.split("\n")[0])
        return None
    found = json.loads(done.stdout)
    return found["results"][0]["time_ns"], found["engine"]["events_committed"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-j", type=int, default=2)
    options = parser.parse_args()
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for machine, bench, name, place, own, sizes in cases():
            for size in sizes:
                both = [pool.submit(run, options.program, machine, bench, size, own + coarse)
                        for coarse in ([], ["--coarse", COARSE])]
                rows.append((machine, bench, name, place, size, both))
        rows = [row[:5] + tuple(job.result() for job in row[5]) for row in rows]
    rows = [row for row in rows if row[5] and row[6]]
    errors = [100 * (row[6][0] / row[5][0] - 1) for row in rows]
    on_all = [abs(error) for row, error in zip(rows, errors) if row[3] == "all_pes"]
    with open(HERE / "coarse.md", "w", encoding="utf-8") as out:
        print("# Coarse tiles\n", file=out)
        print(f"Made by `make coarse-table`. `--coarse {COARSE}` beside exact runs, f16, sum; tiles "
              "of 4 KiB, 8 slots. Error: of the time. Events: "
              "exact for each coarse one.\n", file=out)
        print(f"Shards on all PEs: {sum(error <= 3 for error in on_all)} of {len(on_all)} rows "
              f"within 3 %, at most {max(on_all):.1f} %. All rows: "
              f"{sum(abs(error) <= 3 for error in errors)} of {len(errors)} within 3 %, at most "
              f"{max(abs(error) for error in errors):.1f} %.\n", file=out)
        print("| machine | algorithm | shards on | bytes per rank | exact (us) | coarse (us) | "
              "error (%) | events |", file=out)
        print("|---|---|---|---:|---:|---:|---:|---:|", file=out)
        for (machine, _, name, place, size, exact, coarse), error in zip(rows, errors):
            print(f"| {machine} | `{name}` | {place} | {size} | {exact[0] / 1000:.1f} | "
                  f"{coarse[0] / 1000:.1f} | {error:+.1f} | {exact[1] / coarse[1]:.1f} |", file=out)


if __name__ == "__main__":
    main()
