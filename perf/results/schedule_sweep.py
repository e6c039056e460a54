#!/usr/bin/env python3
"""The automatic choice beside all that it could have taken: schedule_choice.csv, and schedule_choice.md
from it.

    perf/results/schedule_sweep.py PROGRAM [-j N] [--quick] [--only COLLECTIVE:TOPOLOGY:RANKS]
    perf/results/schedule_sweep.py PROGRAM [-j N] --placements

Times are simulated, so the table is the same on any machine. A schedule that does not fit in a
machine's memory is left out. A candidate is not simulated where it must be slower than the choice: the
growth of its time from one size to the next never decreases, so its next time is at least the last one
times the last growth. --quick writes nothing: it runs some of the rows again and compares them with the
table. --placements makes placement_choice.csv and placement_choice.md instead: sizes of a rank, whose
placement is chosen, too, beside all candidates on each placement. --keep FILE keeps the times of runs,
so that an interrupted sweep can resume.
"""
import argparse
import concurrent.futures
import csv
import io
import json
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "schedule_choice.csv"
PAGE = HERE / "schedule_choice.md"
COLUMNS = ("collective", "topology", "ranks", "bytes", "taken", "taken_us", "best", "best_us")
TOPOLOGIES = ("ring_1d", "torus_2d", "torus_3d", "mesh_2d_no_wrap", "switch", "fully_connected",
              "pair_switch")
RANKS = (4, 16, 64, 256)
SIZES = tuple(1024 << 2 * i for i in range(9))  # 1 KiB ... 64 MiB
COLLECTIVES = {
    "all_reduce": (("ring_rs_ag", {"rings": 1}), ("ring_rs_ag", {"rings": 4}), ("torus_rs_ag", {}),
                   ("direct_rs_ag", {}), ("halving_doubling", {}), ("recursive_doubling", {}),
                   ("double_binary_tree", {})),
    "reduce_scatter": (("rings_reduce_scatter", {"rings": 1}),
                       ("rings_reduce_scatter", {"rings": 4}), ("torus_reduce_scatter", {}),
                       ("direct_reduce_scatter", {}), ("halving_reduce_scatter", {})),
    "all_gather": (("rings_all_gather", {"rings": 1}), ("rings_all_gather", {"rings": 4}),
                   ("torus_all_gather", {}), ("direct_all_gather", {}),
                   ("doubling_all_gather", {})),
    "all_to_all": tuple(("pairwise_all_to_all", {"threads": n}) for n in (8, 32, 64)),
}
BENCH = {"all_reduce": "ccl_allreduce"}
# The last sizes; runs beyond take too long for one target.
LARGEST = {("all_reduce", 256): 16 << 20, ("reduce_scatter", 256): 16 << 20,
           ("all_gather", 256): 16 << 20, ("all_to_all", 64): 16 << 20, ("all_to_all", 256): 1 << 20}
QUICK = {"ranks": (4, 16), "largest": 1 << 20}
LIMIT = 1.10


# The choice of the placement: sizes of a rank, which each mapper's PEs share.
PLACEMENT_TABLE = HERE / "placement_choice.csv"
PLACEMENT_PAGE = HERE / "placement_choice.md"
PLACEMENT_COLUMNS = ("collective", "topology", "ranks", "bytes_per_rank", "taken", "placement",
                     "taken_us", "best", "best_placement", "best_us")
PLACEMENTS = ("leader_only", "pe0_all_cubes", "all_pes")
PLACEMENT_RANKS = (4, 16, 64)
PLACEMENT_SIZES = tuple(1024 << 4 * i for i in range(4))  # 1 KiB ... 4 MiB


NEAR = 1.5  # at 64 ranks, only what is at most so far from the best at 16, of some size, is tried


def placement_run(program, collective, topology, ranks, algorithm, parameters, mapper):
    """{size: (time in us, algorithm, placement)}; mapper None: it is chosen, too."""
    command = [program, "run", "--bench", BENCH.get(collective, "ccl_" + collective), "--algorithm",
               algorithm, "--no-data", "--quiet", "--json", "-", "--bytes-per-rank",
               f"{PLACEMENT_SIZES[0]}:{PLACEMENT_SIZES[-1]}:x16",
               "--set", f"system.sips.count={ranks}", "--set", f"system.sips.topology={topology}"]
    for key, value in {**parameters, **({"mapper": mapper} if mapper else {})}.items():
        command += ["--set", f"algorithms.{algorithm}.{key}={value}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = json.loads(done.stdout)["results"] if done.returncode == 0 else []
    return {str(row["bytes_per_rank"]): (row["time_ns"] / 1000, row["algorithm"],
                                         row.get("placement"))
            for row in rows if row["not_run"] is None}


def candidates_on(collective):
    """(algorithm, its parameters, placement), each once: lanes have one thread each."""
    return [(name, parameters, mapper) for mapper in PLACEMENTS
            for name, parameters in COLLECTIVES[collective]
            if mapper == "leader_only" or "threads" not in parameters or parameters["threads"] == 32]


def placement_rows(kept, program, collective, topology):
    rows, near = [], None
    for ranks in PLACEMENT_RANKS:
        chosen = placement_run(program, collective, topology, ranks, "auto_" + collective, {}, None)
        all_of = candidates_on(collective)
        times = {i: kept.run(placement_run, program, collective, topology, ranks, *candidate)
                 for i, candidate in enumerate(all_of) if ranks < 64 or i in near}
        near = set()
        for size in map(str, PLACEMENT_SIZES):
            of_size = {i: runs[size][0] for i, runs in times.items() if size in runs}
            if size not in chosen or not of_size:
                continue
            taken_us, algorithm, placement = chosen[size]
            best = min(of_size, key=of_size.get)
            best_us = min(of_size[best], taken_us)
            near |= {i for i, us in of_size.items() if us <= NEAR * best_us}
            best_name = ((algorithm, placement) if best_us < of_size[best] else
                         (label(*all_of[best][:2]), all_of[best][2]))
            rows.append((collective, topology, ranks, int(size), algorithm, placement,
                         f"{taken_us:.3f}", *best_name, f"{best_us:.3f}"))
            print(rows[-1], f"{100 * (taken_us / best_us - 1):.1f} %", flush=True)
    return rows


def placements(kept, program, jobs):
    cases = [(collective, topology) for collective in COLLECTIVES for topology in TOPOLOGIES]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rows = [row for some in pool.map(lambda case: placement_rows(kept, program, *case), cases)
                for row in some]
    with open(PLACEMENT_TABLE, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(PLACEMENT_COLUMNS)
        writer.writerows(rows)
    losses = sorted(((float(row[6]) / float(row[9]) - 1, row) for row in rows), reverse=True)
    text = ("# The choice of the algorithm and its placement\n\nMade by `make placement-sweep`; "
            "`placement_choice.csv` has every case. The preset `default` with other topologies and 4, "
            "16 and 64 SIPs, 1 KiB, 16 KiB, 256 KiB and 4 MiB per rank. Each choice is compared with "
            "the fastest of all candidates on the placements `leader_only`, `pe0_all_cubes` and "
            "`all_pes`; at 64 SIPs, with those that are at most 1.5 times slower than the fastest at "
            "16, at some size.\n\n"
            f"Of {len(rows)} choices {sum(loss <= 0.02 for loss, _ in losses)} are at most 2 % slower, "
            f"and {sum(1 + loss > LIMIT for loss, _ in losses)} more than {100 * (LIMIT - 1):.0f} %. "
            "The ten worst, times in µs:\n\n| collective | topology | ranks | bytes per rank | taken | "
            "time | fastest | time | slower by |\n|---|---|---|---|---|---|---|---|---|\n")
    for loss, (collective, topology, ranks, size, name, placement, taken_us, best, best_placement,
               best_us) in losses[:10]:
        text += (f"| {collective} | {topology} | {ranks} | {size} | {name} on {placement} | {taken_us} "
                 f"| {best} on {best_placement} | {best_us} | {100 * loss:.1f} % |\n")
    PLACEMENT_PAGE.write_text(text, encoding="utf-8")


def label(algorithm, parameters):
    return algorithm + "".join(f", {value} {key}" for key, value in parameters.items()
                               if value != 1)


class Kept:
    """What runs gave, by their arguments."""

    def __init__(self, path):
        self.path, self.lock, self.known = path, threading.Lock(), {}
        if path is not None and path.exists():
            for row in path.read_text(encoding="utf-8").splitlines():
                key, given = json.loads(row)
                self.known[key] = given

    def run(self, function, program, *arguments):
        key = json.dumps(arguments)
        if key not in self.known:
            self.known[key] = function(program, *arguments)
            if self.path is not None:
                with self.lock, open(self.path, "a", encoding="utf-8") as out:
                    print(json.dumps((key, self.known[key])), file=out)
        return self.known[key]


def run(program, collective, topology, ranks, size, algorithm, parameters):
    """The time in us, None: it cannot be run; and the schedule that ran."""
    command = [program, "run", "--bench", BENCH.get(collective, "ccl_" + collective), "--json", "-",
               "--algorithm", algorithm, "--no-data", "--bytes", str(size),
               "--set", f"system.sips.count={ranks}", "--set", f"system.sips.topology={topology}"]
    for key, value in parameters.items():
        command += ["--set", f"algorithms.{algorithm}.{key}={value}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return None, None
    row = json.loads(done.stdout)["results"][0]
    return round(row["time_ns"] / 1000, 3), row["algorithm"]


def rows_of(kept, program, collective, topology, ranks, sizes):
    """Rows of one machine and collective, size after size."""
    rows = []
    names = [label(*candidate) for candidate in COLLECTIVES[collective]]
    least, growth, last = dict.fromkeys(names, 0), dict.fromkeys(names, 1), {}
    for size in sizes:
        taken_us, taken = kept.run(run, program, collective, topology, ranks, size,
                                   "auto_" + collective, {})
        times = {taken: taken_us}
        for name, candidate in zip(names, COLLECTIVES[collective]):
            if name != taken and least[name] < taken_us:
                times[name] = kept.run(run, program, collective, topology, ranks, size, *candidate)[0]
        times = {name: time for name, time in times.items() if time is not None}
        for name in names:  # from the least of this size to that of the next
            if name in times:
                growth[name] = max(1, times[name] / last.get(name, times[name]))
            least[name] = times.get(name, least[name]) * growth[name]
        last = times
        best_us, best = min((time, name) for name, time in times.items())
        rows.append((topology, ranks, size, taken, taken_us, best, best_us))
        print(f"{collective} {rows[-1]} {100 * (taken_us / best_us - 1):.1f} %", flush=True)
    return rows


def sizes_of(collective, ranks, quick):
    largest = LARGEST.get((collective, ranks), SIZES[-1])
    largest = min(largest, QUICK["largest"]) if quick else largest
    return [size for size in SIZES if size <= largest]


def table_of(rows):
    """The lines of the CSV file for {collective: rows}."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for collective, of_collective in rows.items():
        for topology, ranks, size, taken, taken_us, best, best_us in of_collective:
            writer.writerow((collective, topology, ranks, size, taken, f"{taken_us:.3f}", best,
                             f"{best_us:.3f}"))
    return out.getvalue()


def slower(row):
    return row[4] / row[6] - 1


def page_of(rows):
    """The page on {collective: rows}."""
    every = [row for of_collective in rows.values() for row in of_collective]
    text = ("# The automatic choice\n\nMade by `make schedule-sweep`; `schedule_choice.csv` has every "
            "case. One shard per rank, the preset `default` with other topologies and numbers of SIPs, 1 "
            "KiB to 64 MiB (the larger of input and output). Each choice is compared with the fastest of "
            "all schedules that it could have taken (`collectives/algorithms/ALGORITHMS.md`, section "
            f"12).\n\nIn {len(every)} cases the choice is at most {100 * max(map(slower, every)):.1f} % "
            "slower than the fastest.\n\n| collective | cases | fastest taken | at most 2 % slower | more "
            f"than {100 * (LIMIT - 1):.0f} % slower | slowest choice |\n|---|---|---|---|---|---|\n")
    for collective, of_collective in rows.items():
        losses = [slower(row) for row in of_collective]
        text += (f"| {collective} | {len(losses)} | {sum(loss == 0 for loss in losses)} | "
                 f"{sum(loss <= 0.02 for loss in losses)} | "
                 f"{sum(1 + loss > LIMIT for loss in losses)} | {100 * max(losses):.1f} % |\n")
    text += ("\nThe ten worst, times in µs:\n\n| collective | topology | ranks | bytes | taken | time | "
             "fastest | time | slower by |\n|---|---|---|---|---|---|---|---|---|\n")
    worst = sorted(((slower(row), collective, row) for collective in rows for row in rows[collective]),
                   key=lambda case: -case[0])[:10]
    for loss, collective, (topology, ranks, size, taken, taken_us, best, best_us) in worst:
        text += (f"| {collective} | {topology} | {ranks} | {size} | {taken} | {taken_us:.3f} | {best} | "
                 f"{best_us:.3f} | {100 * loss:.1f} % |\n")
    text += "\nNot simulated, since it takes too long: " + "; ".join(
        f"{collective} of {ranks} ranks above {largest >> 20} MiB"
        for (collective, ranks), largest in LARGEST.items()) + ".\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--placements", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", default="", help="COLLECTIVE:TOPOLOGY:RANKS; nothing is written")
    parser.add_argument("--to", type=int, default=SIZES[-1], help="with --only: the last size")
    options = parser.parse_args()
    if options.placements:
        placements(Kept(options.keep), options.program, options.j)
        return
    only = (options.only + "::").split(":")[:3] if options.only else ("", "", "")
    kept = Kept(options.keep)
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for ranks in sorted(QUICK["ranks"] if options.quick else RANKS, reverse=True):
            for collective in COLLECTIVES:
                for topology in TOPOLOGIES:
                    if all(wanted in ("", str(is_)) for wanted, is_ in
                           zip(only, (collective, topology, ranks))):
                        sizes = [size for size in sizes_of(collective, ranks, options.quick)
                                 if size <= options.to]
                        jobs[collective, ranks, topology] = pool.submit(
                            rows_of, kept, options.program, collective, topology, ranks, sizes)
    if options.only:
        return
    rows = {collective: [row for ranks in RANKS for topology in TOPOLOGIES
                         if (collective, ranks, topology) in jobs
                         for row in jobs[collective, ranks, topology].result()]
            for collective in COLLECTIVES}
    if options.quick:
        known = set(TABLE.read_text(encoding="utf-8").splitlines())
        wrong = [line for line in table_of(rows).splitlines() if line not in known]
        print("\n".join(wrong) or "all rows are those of the table")
        sys.exit(1 if wrong else 0)
    TABLE.write_text(",".join(COLUMNS) + "\n" + table_of(rows), encoding="utf-8")
    PAGE.write_text(page_of(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
