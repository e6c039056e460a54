#!/usr/bin/env python3
"""The automatic choice beside all that it could have taken: schedule_choice.csv, and schedule_choice.md
from it.

    perf/results/schedule_sweep.py PROGRAM [-j N] [--quick] [--only COLLECTIVE:TOPOLOGY:RANKS]
    perf/results/schedule_sweep.py PROGRAM [-j N] --placements
    perf/results/schedule_sweep.py PROGRAM [-j N] --graphs [GRAPH | COLLECTIVE] [--quick]

Times are simulated, so the table is the same on any machine. A schedule that does not fit in a
machine's memory is left out. A candidate is not simulated where it must be slower than the choice: the
growth of its time from one size to the next never decreases, so its next time is at least the last one
times the last growth. --quick writes nothing: it runs some of the rows again and compares them with the
table. --placements makes placement_choice.csv and placement_choice.md instead: sizes of a rank, whose
placement is chosen, too, beside all candidates on each placement. --graphs makes graph_choice.csv and
graph_choice.md: the same on graphs. --keep FILE keeps the times of runs, so that an interrupted sweep
can resume.
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


# Graphs (hw/HARDWARE.md, section 17), 8 to 64 SIPs. Of links 50 GB/s where nothing is said.
GRAPH_TABLE = HERE / "graph_choice.csv"
GRAPH_PAGE = HERE / "graph_choice.md"
NODE = "switches: [{name: nvs, count: 4, latency_ns: 100}], classes: {nv: {bw_gbs: 112.5, latency_ns: 100}"
GRAPHS = {
    "ring 8": "grid: [8]",
    "line 8": "grid: {size: [8], wrap: false}",
    "torus 4 x 4": "grid: [4, 4]",
    "torus 8 x 8": "grid: [8, 8]",
    "torus 4 x 4 x 4": "grid: [4, 4, 4]",
    "mesh 4 x 4": "grid: {size: [4, 4], wrap: false}",
    "mesh 6 x 5": "grid: {size: [6, 5], wrap: false}",
    "hypercube 8": "hypercube: 3",
    "hypercube 32": "hypercube: 5",
    "fat tree 16": "fat_tree: {k: 4}",
    "fat tree 16, 2:1": "fat_tree: {k: 4, taper: 2}",
    "fat tree 54": "fat_tree: {k: 6}",
    "fat tree 54, 3:1": "fat_tree: {k: 6, taper: 3}",
    "fat tree 8, two levels": "fat_tree: {k: 4, levels: 2}",
    "fat tree 32, two levels, 2:1": "fat_tree: {k: 8, levels: 2, taper: 2}",
    "fat tree 64, slow top": "fat_tree: {k: 8, pods: 4}, classes: {up_3: {bw_gbs: 20}}",
    "dragonfly 36": "dragonfly: {a: 4, h: 2, g: 9, p: 1}",
    "dragonfly 20": "dragonfly: {a: 2, h: 2, g: 5, p: 2}",
    "dragonfly 40": "dragonfly: {a: 4, h: 1, g: 5, p: 2}",
    "dragonfly 24, valiant": "dragonfly: {a: 4, h: 1, g: 3, p: 2}, routes: valiant",
    "slim fly 18": "slim_fly: {q: 3, p: 1}",
    "slim fly 50": "slim_fly: {q: 5, p: 1}",
    "rails 32": "rail: {nodes: 4, sips: 8}",
    "rails 64": "rail: {nodes: 8, sips: 8}",
    "rails 16, four to a node": "rail: {nodes: 4, sips: 4}",
    "full 8": "product: [{fully_connected: 8}]",
    "full 4 x torus 2 x 2": "product: [{fully_connected: 4}, {torus_2d: [2, 2]}]",
    "switch 8 x ring 4, slow": "product: [{switch: 8}, {ring_1d: 4, bw_gbs: 12.5}]",
    "full 8 x switch 8, slow": "product: [{fully_connected: 8}, {switch: 8, bw_gbs: 12.5}]",
    "node of 8, listed":
        "sips: 8, " + NODE + "}, links: [{from: 0-7, to: nvs, class: nv}], transit: false",
    "node of 8, hashed": "sips: 8, " + NODE + "}, links: [{from: 0-7, to: nvs, class: nv}], "
                         "transit: false, routes: minimal",
    "eight share one card": "sips: 16, switches: [{name: card, count: 2}, {name: net}], classes: "
                            "{pcie: {bw_gbs: 32, latency_ns: 200}, net: {bw_gbs: 50, latency_ns: "
                            "1000}}, links: [{from: 0-7, to: card.0, class: pcie}, {from: 8-15, to: "
                            "card.1, class: pcie}, {from: card, to: net, class: net}], transit: false",
    "two rings, one bridge": "sips: 12, classes: {a: {bw_gbs: 100}, b: {bw_gbs: 10}}, links: ["
                             + ", ".join(f"{{from: {g + i}, to: {g + (i + 1) % 6}, class: a}}"
                                         for g in (0, 6) for i in range(6))
                             + ", {from: 0, to: 6, class: b}]",
    "star of chains": "sips: 13, links: [{from: 0, to: [1, 4, 7, 10]}, "
        + ", ".join(f"{{from: {i}, to: {i + 1}}}" for i in (1, 2, 4, 5, 7, 8, 10, 11)) + "]",
    "ring of shuffled numbers": "sips: 16, links: [" + ", ".join(
        f"{{from: {5 * i % 16}, to: {5 * (i + 1) % 16}}}" for i in range(16)) + "]",
    "torus with double cables": "sips: 8, links: [" + ", ".join(
        f"{{from: {i}, to: {(i + 1) % 8}, cables: 2}}" for i in range(8))
        + ", {from: 0, to: 4}, {from: 2, to: 6}]",
    "uneven leaves": "sips: 10, switches: [{name: leaf, count: 3}, {name: top}], links: [{from: 0-4, "
                     "to: leaf.0}, {from: 5-7, to: leaf.1}, {from: 8-9, to: leaf.2}, {from: leaf, to: "
                     "top}]",
    "binary tree": "sips: 15, links: [" + ", ".join(
        f"{{from: {(i - 1) // 2}, to: {i}}}" for i in range(1, 15)) + "]",
    "two slow nodes": "sips: 16, switches: [{name: node, count: 2}], classes: {in: {bw_gbs: 200}, "
                      "out: {bw_gbs: 6.25, latency_ns: 2000}}, links: [{from: 0-7, to: node.0, class: "
                      "in}, {from: 8-15, to: node.1, class: in}, {from: node.0, to: node.1, class: "
                      "out, cables: 4}], transit: false",
    "Petersen": "sips: 10, links: [" + ", ".join(
        f"{{from: {i}, to: {(i + 1) % 5}}}, {{from: {i}, to: {i + 5}}}, {{from: {i + 5}, to: "
        f"{(i + 2) % 5 + 5}}}" for i in range(5)) + "]",
}


# SIPs, where their number is no power of two: other collectives than all-reduces have blocks of one size.
GRAPH_SIPS = {"mesh 6 x 5": 30, "fat tree 54": 54, "fat tree 54, 3:1": 54, "dragonfly 36": 36,
              "dragonfly 20": 20, "dragonfly 40": 40, "dragonfly 24, valiant": 24, "slim fly 18": 18,
              "slim fly 50": 50, "two rings, one bridge": 12, "star of chains": 13,
              "uneven leaves": 10, "binary tree": 15, "Petersen": 10}
# A shard's block has an f16 at least: on leader_only, on pe0_all_cubes, on all_pes.
GRAPH_UNITS = (2, 2 * 16, 2 * 128, 2 * 128)


NEAR = 1.5  # at 64 ranks, only what is at most so far from the best at 16, of some size, is tried


def graph_sizes(collective, graph):
    """PLACEMENT_SIZES, or the next ones that the ranks divide."""
    ranks = 1 if collective == "all_reduce" else GRAPH_SIPS.get(graph, 1)
    return [-(-size // (unit * ranks)) * unit * ranks
            for size, unit in zip(PLACEMENT_SIZES, GRAPH_UNITS)]


def placement_run(program, collective, topology, ranks, algorithm, parameters, mapper,
                  sizes=PLACEMENT_SIZES):
    """{size: (time in us, algorithm, placement)}; mapper None: it is chosen, too. ranks None: the
    topology is a graph, which says how many there are."""
    machine = ([f"system.sips.topology={{graph: {{{topology}}}}}"] if ranks is None else
               [f"system.sips.count={ranks}", f"system.sips.topology={topology}"])
    command = [program, "run", "--bench", BENCH.get(collective, "ccl_" + collective), "--algorithm",
               algorithm, "--no-data", "--quiet", "--json", "-", "--bytes-per-rank",
               ",".join(map(str, sizes))]
    command += [word for setting in machine for word in ("--set", setting)]
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


def graph_rows(kept, program, collective, graph):
    """Rows of a graph: each candidate on each placement."""
    sizes, text = graph_sizes(collective, graph), GRAPHS[graph]
    chosen = placement_run(program, collective, text, None, "auto_" + collective, {}, None, sizes)
    more = () if sizes == list(PLACEMENT_SIZES) else (sizes,)
    times = [(candidate, kept.run(placement_run, program, collective, text, None, *candidate, *more))
             for candidate in candidates_on(collective)]
    rows = []
    for size in map(str, sizes):
        of_size = [(runs[size][0], label(*candidate[:2]), candidate[2])
                   for candidate, runs in times if size in runs]
        if size not in chosen or not of_size:
            continue
        taken_us, algorithm, placement = chosen[size]
        best_us, best, best_placement = min(of_size)
        if taken_us <= best_us:
            best_us, best, best_placement = taken_us, algorithm, placement
        rows.append((collective, graph, int(size), algorithm, placement, f"{taken_us:.3f}", best,
                     best_placement, f"{best_us:.3f}"))
        print(rows[-1], f"{100 * (taken_us / best_us - 1):.1f} %", flush=True)
    return rows


GRAPH_COLUMNS = ("collective", "graph", "bytes_per_rank", "taken", "placement", "taken_us", "best",
                 "best_placement", "best_us")
QUICK_GRAPHS = ("line 8", "node of 8, hashed", "uneven leaves", "Petersen")


def compare_graphs(rows):
    """Ends the program: 1 where rows are not the table's."""
    with open(GRAPH_TABLE, encoding="utf-8", newline="") as table:
        known = set(map(tuple, csv.reader(table)))
    wrong = [row for row in rows if tuple(map(str, row)) not in known]
    print("\n".join(map(str, wrong)) or f"all {len(rows)} rows are those of the table")
    sys.exit(1 if wrong or not rows else 0)


def graphs(kept, program, jobs, only, quick):
    cases = [(collective, graph) for graph in GRAPHS for collective in COLLECTIVES
             if only in ("", graph, collective) and not (quick and graph not in QUICK_GRAPHS)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rows = [row for some in pool.map(lambda case: graph_rows(kept, program, *case), cases)
                for row in some]
    if quick:
        compare_graphs(rows)
    if only:
        return
    with open(GRAPH_TABLE, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(GRAPH_COLUMNS)
        writer.writerows(rows)
    losses = sorted(((float(row[5]) / float(row[8]) - 1, row) for row in rows), reverse=True)
    text = ("# The choice on graphs\n\nMade by `make graph-sweep`; `graph_choice.csv` has every case. "
            f"{len(GRAPHS)} graphs of 8 to 64 SIPs (`schedule_sweep.py` has them), the preset `default` "
            "otherwise, 1 KiB, 16 KiB, 256 KiB and 4 MiB per rank, or the next size that the ranks "
            "divide. Each choice is compared with the fastest of all candidates on the placements "
            "`leader_only`, `pe0_all_cubes` and `all_pes`.\n\n"
            f"Of {len(rows)} choices {sum(loss <= 0.02 for loss, _ in losses)} are at most 2 % slower, "
            f"and {sum(1 + loss > LIMIT for loss, _ in losses)} more than {100 * (LIMIT - 1):.0f} %. "
            "The ten worst, times in µs:\n\n| collective | graph | bytes per rank | taken | time | "
            "fastest | time | slower by |\n|---|---|---|---|---|---|---|---|\n")
    for loss, (collective, graph, size, name, placement, taken_us, best, best_placement,
               best_us) in losses[:10]:
        text += (f"| {collective} | {graph} | {size} | {name} on {placement} | {taken_us} | {best} on "
                 f"{best_placement} | {best_us} | {100 * loss:.1f} % |\n")
    GRAPH_PAGE.write_text(text, encoding="utf-8")


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
    parser.add_argument("--graphs", nargs="?", const="", metavar="ONLY",
                        help="a graph or a collective; then nothing is written")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", default="", help="COLLECTIVE:TOPOLOGY:RANKS; nothing is written")
    parser.add_argument("--to", type=int, default=SIZES[-1], help="with --only: the last size")
    options = parser.parse_args()
    if options.placements:
        placements(Kept(options.keep), options.program, options.j)
        return
    if options.graphs is not None:
        graphs(Kept(options.keep), options.program, options.j, options.graphs, options.quick)
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
