#!/usr/bin/python3
"""Runs with shortcuts beside runs without: every figure of every row is the same, to the picosecond. The lines are those of
test/reference/cases.json, of the table of choices (perf/results/schedule_sweep.py), and drawn by a fixed seed: machines with
slow parts, odd sizes, every contention, memory of slots and mode of credits.

    EQUALITY_SEED=7 EQUALITY_CASES=1000 CUBEWARP=build/check/cubewarp test/equality/test_equality.py [--all] [--table] [NAME...]

--all runs every reference case, the whole table and 2,000 drawn lines; --table prints how many of them fold, and for what
reasons the others do not. Without --all a sample runs. Prints one line per test, as the unit tests do.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import traceback

TOP = pathlib.Path(__file__).resolve().parents[2]
CUBEWARP = os.environ.get("CUBEWARP", str(TOP / "build" / "cubewarp"))
SEED = int(os.environ.get("EQUALITY_SEED", "1"))
LIMIT_S = 600

sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "perf" / "results"))
import schedule_sweep as table  # pylint: disable=wrong-import-position

ALGORITHMS = {
    "ccl_allreduce": ["lrab_hierarchical_allreduce", "lrab_pipelined_allreduce", "intercube_allreduce", "pe_hierarchical_allreduce",
                      "hierarchical", "ring_allreduce", "tree_allreduce", "ring_rs_ag", "torus_rs_ag", "direct_rs_ag",
                      "halving_doubling", "recursive_doubling", "double_binary_tree", "birs_allreduce", "auto"],
    "ccl_reduce_scatter": ["rings_reduce_scatter", "torus_reduce_scatter", "direct_reduce_scatter", "halving_reduce_scatter",
                           "mesh", "rhd", "birs", "birs_inter", "auto"],
    "ccl_all_gather": ["ring_all_gather", "rings_all_gather", "torus_all_gather", "direct_all_gather", "doubling_all_gather", "auto"],
    "ccl_all_to_all": ["pairwise_all_to_all", "auto"],
    "ccl_broadcast": ["relay_broadcast"],
    "ccl_reduce": ["relay_reduce"],
    "ccl_barrier": ["relay_barrier"]}
COUNTS = {"ring_1d": [2, 3, 4, 5, 8, 16], "torus_2d": [4, 6, 8, 9, 12, 16, 20], "torus_3d": [8, 12, 18, 27],
          "mesh_2d_no_wrap": [4, 6, 9], "fully_connected": [2, 3, 4, 6, 8, 16], "switch": [2, 3, 4, 6, 8, 12, 16],
          "pair_switch": [4, 8, 16]}
LEVELS = [("[{ring_1d: 4}, {switch: 4}]", 16), ("[{torus_2d: [2, 4]}, {switch: 2}]", 16), ("[{fully_connected: 4}, {ring_1d: 3}]", 12),
          ("[{switch: 4}, {torus_2d: [2, 3]}]", 24), ("[{ring_1d: 3}, {mesh_2d_no_wrap: [2, 2]}]", 12),
          ("[{fully_connected: 2}, {switch: 4}, {ring_1d: 2}]", 16), ("[{torus_3d: [2, 2, 3]}, {fully_connected: 2}]", 24)]
RATES = [0.5, 5, 33, 70, 300]
LINKS = ["hbm", "pe_noc", "noc", "noc_ucie", "ucie", "sip_link", "sio", "hccs", "tcm", "hub"]


def sets(settings):
    return [word for key, value in settings for word in ("--set", f"{key}={value}")]


# ---- lines ----------------------------------------------------------------------------------------


def reference_lines():
    for case in json.loads((TOP / "test" / "reference" / "cases.json").read_text(encoding="utf-8")):
        if case["args"][0] == "run":
            yield case["args"][1:]


def table_lines(largest):
    """The candidates of each collective, in each machine that the table of choices has, up to a number of ranks and of bytes
    together."""
    for collective, candidates in table.COLLECTIVES.items():
        for topology in table.TOPOLOGIES:
            for ranks in table.RANKS:
                sizes = [size for size in table.SIZES if size * ranks <= largest]
                for algorithm, parameters in candidates if sizes else []:
                    yield ["--bench", table.BENCH.get(collective, "ccl_" + collective), "--algorithm", algorithm,
                           "--bytes", ",".join(map(str, sizes)),
                           *sets([("system.sips.count", ranks), ("system.sips.topology", topology),
                                  *((f"algorithms.{algorithm}.{key}", value) for key, value in parameters.items())])]


def draw_late(rng, count):
    """Slow parts, as jitter that no operation draws: everywhere, on a SIP, a cube, or drawn for each part."""
    kind = rng.choice([f"links.{link}" for link in LINKS] + [f"nodes.{node}" for node in ("pe_dma", "pe_math", "m_cpu", "router")])
    settings = [(f"jitter.{kind}.distribution", "fixed"), (f"jitter.{kind}.mean_ns", rng.choice([1, 13, 250]))]
    how = rng.random()
    if how < 0.2:
        settings[0] = (f"jitter.{kind}.distribution", "uniform")
        settings += [(f"jitter.{kind}.spread_ns", 1), (f"jitter.{kind}.each", "instance")]
    elif how < 0.8:
        place = f"{rng.randrange(count)}" + rng.choice(["", ".0"])
        settings.append((f"jitter.{kind}.only", place))
    return settings


def draw_machine(rng):
    if rng.random() < 0.25:
        topology, count = rng.choice(LEVELS)
    else:
        topology = rng.choice(list(COUNTS))
        count = rng.choice(COUNTS[topology])
    settings = [("system.sips.topology", topology), ("system.sips.count", count), ("sip.cube_mesh.w", rng.choice([1, 2, 2, 3, 4])),
                ("sip.cube_mesh.h", rng.choice([1, 2, 2, 4])), ("cube.pe_layout.pe_per_corner", rng.choice([1, 1, 2]))]
    for link in rng.sample(LINKS, rng.choice([0, 0, 1, 2])):
        settings.append((f"links.{link}.bw_gbs", rng.choice(RATES)))
    for key, values, share in (("fabric.contention", ["chunk", "chunk", "none"], 0.4), ("defaults.wiring", ["pe0"], 0.05),
                               ("defaults.slot_size", [64, 1000, 8192], 0.3), ("defaults.n_slots", [1, 2, 3, 8], 0.3),
                               ("defaults.recv_blocks_on_credit", ["false"], 0.3), ("defaults.buffer_kind", ["tcm", "hbm", "sram"], 0.4),
                               ("defaults.credit_return_mode", ["fabric", "fast_path"], 0.4), ("defaults.backpressure", ["poll"], 0.2),
                               ("defaults.vc", ["single"], 0.2), ("defaults.vc_chunk_size", [64, 200, 4096], 0.2),
                               ("defaults.recv_fairness", ["strict"], 0.2), ("defaults.protocol", ["ll", "ll128"], 0.15),
                               ("defaults.host_copy", ["simulated"], 0.1), ("launch_together", ["true"], 0.2),
                               ("defaults.rank_invariant", ["true"], 0.1)):
        if rng.random() < share:
            settings.append((key, rng.choice(values)))
    return settings + (draw_late(rng, count) if rng.random() < 0.25 else [])


def draw(rng):
    settings = draw_machine(rng)
    bench = rng.choice([*ALGORITHMS, "ccl_allreduce", "ccl_allreduce", "ccl_reduce_scatter", "ccl_all_gather"])
    algorithm = rng.choice(ALGORITHMS[bench])
    mapper = rng.choice([None, None, "leader_only", "pe0_all_cubes", "all_pes"])
    if mapper and algorithm not in ("auto", "relay_broadcast", "relay_reduce", "relay_barrier", "ring_all_gather"):
        settings.append((f"algorithms.{algorithm}.mapper", mapper))
    count = rng.choice([1, 7, 64, 360, 1000, 720 * rng.randrange(1, 12), rng.randrange(1, 20000), 1 << rng.randrange(3, 14)])
    line = ["--bench", bench, "--algorithm", algorithm, *sets(settings), "--dtype", rng.choice(["f16", "f32", "int8"])]
    if bench != "ccl_barrier":
        line += ["--n-elem", f"{count},{3 * count}" if rng.random() < 0.3 else str(count)]
    if rng.random() < 0.3:
        line += ["--iters", str(rng.choice([2, 3, 12])), "--warmup_iters", str(rng.choice([0, 1]))]
    return line


# ---- runs -----------------------------------------------------------------------------------------


def run(line, shortcuts):
    """The document of a run; its refusal or its failure as a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "result.json")
        command = [CUBEWARP, "run", *line, "--no-data", "--quiet", "--json", str(path), *shortcuts]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TOP, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return f"longer than {LIMIT_S} s"
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr.strip()}"
        return json.loads(path.read_text(encoding="utf-8"))


def simulated(document):
    """What a shortcut must not change."""
    if isinstance(document, str):
        return {"failure": document}
    whole = {key: document[key] for key in ("sim_time_ns", "init_time_ns", "credit_wait_ns")}
    for i, row in enumerate(document["results"]):
        whole |= {f"row {i} {key}": value for key, value in row.items() if key not in ("shortcuts", "explain")}
    return whole


def compare(line):
    """(what differs, each as a text; of each row how it folded, or why not)"""
    off = run(line, ["--fold", "off", "--repeat", "off"])
    if isinstance(off, str) and off.startswith("exit code 2:"):
        return [], ["refused"]
    on = run(line, [])
    a, b = simulated(off), simulated(on)
    differ = [f"{key}: {json.dumps(b.get(key))}, without shortcuts {json.dumps(a.get(key))}" for key in {**a, **b} if a.get(key) != b.get(key)]
    if isinstance(on, str):
        return differ, ["failed"]
    ways = []
    for row in on["results"]:
        taken = row["shortcuts"]
        way = f"by {taken['fold']}" if taken["fold"] else re.sub(r"\d+", "N", taken["why_not"] or "no reason said")
        if taken["fold"] and taken["sips_simulated"] > 1:
            way += ", in part"
        ways.append(way)
    return differ, ways


def quoted(line):
    return " ".join(word if re.fullmatch(r"[\w.,=:-]+", word) else f"'{word}'" for word in line)


WAYS = collections.Counter()


def compare_all(lines, wrong):
    """How many lines are no refusals; `wrong` gets those that differ."""
    compared = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line, (differ, ways) in zip(lines, pool.map(compare, lines)):
            compared += ways != ["refused"]
            WAYS.update(ways)
            if differ:
                wrong.append("\n    ".join([f"cubewarp run --no-data {quoted(line)}", *differ[:4]]))
    return compared


def expect_equal(compared, wrong):
    assert not wrong, f"{len(wrong)} of {compared} lines differ (EQUALITY_SEED={SEED}):\n" + "\n".join(wrong)


# ---- tests ----------------------------------------------------------------------------------------


def reference_cases_are_the_same(options):
    lines, wrong = list(reference_lines()), []
    expect_equal(compare_all(lines if options.all else lines[::4], wrong), wrong)


def the_table_of_choices_is_the_same(options):
    wrong = []
    if options.all:
        expect_equal(compare_all(list(table_lines(64 << 20)), wrong), wrong)


def drawn_runs_are_the_same(options):
    rng = random.Random(SEED)
    wanted = int(os.environ.get("EQUALITY_CASES", "2000" if options.all else "12"))
    compared, wrong = 0, []
    while compared < wanted:
        compared += compare_all([draw(rng) for _ in range(min(100, wanted))], wrong)
    expect_equal(compared, wrong)


TESTS = [reference_cases_are_the_same, the_table_of_choices_is_the_same, drawn_runs_are_the_same]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failed = 0
    for test in TESTS:
        if options.names and test.__name__ not in options.names:
            continue
        try:
            test(options)
            print(f"[       OK ] {test.__name__}")
        except Exception as problem:  # pylint: disable=broad-except
            print(problem if isinstance(problem, AssertionError) else traceback.format_exc())
            print(f"[  FAILED  ] {test.__name__}")
            failed += 1
        sys.stdout.flush()
    if options.table:
        print("| rows | fold |\n|---|---|")
        for way, count in WAYS.most_common():
            print(f"| {count:,} | {way} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
