#!/usr/bin/python3
"""Commands of `cubewarp run`, drawn by a fixed seed from the product of benches, algorithms, mappers, machines, sizes and
types: bytes, bandwidths, bounds and efficiencies of every row, compared with those of figures.py. A command that is
refused is not counted. Prints one line per test, as the unit tests do.

    FIGURES_SEED=7 FIGURES_COMMANDS=1000 CUBEWARP=build/check/cubewarp test/figures/test_figures.py [NAME...]
"""
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import traceback
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import figures  # pylint: disable=wrong-import-position

TOP = pathlib.Path(__file__).resolve().parents[2]
CUBEWARP = os.environ.get("CUBEWARP", str(TOP / "build" / "cubewarp"))
SEED = int(os.environ.get("FIGURES_SEED", "1"))
COMMANDS = int(os.environ.get("FIGURES_COMMANDS", "100"))

SUMS = ["lrab_hierarchical_allreduce", "lrab_pipelined_allreduce", "intercube_allreduce", "pe_hierarchical_allreduce",
        "hierarchical", "ring_allreduce", "tree_allreduce", "ring_rs_ag", "torus_rs_ag", "direct_rs_ag", "halving_doubling",
        "recursive_doubling", "double_binary_tree", "birs_allreduce", "auto"]
ALGORITHMS = {
    "ccl_allreduce": SUMS,
    "ccl_reduce_scatter": ["rings_reduce_scatter", "torus_reduce_scatter", "direct_reduce_scatter", "halving_reduce_scatter",
                           "mesh", "rhd", "birs", "birs_inter", "auto"],
    "ccl_all_gather": ["ring_all_gather", "rings_all_gather", "torus_all_gather", "direct_all_gather", "doubling_all_gather", "auto"],
    "ccl_all_to_all": ["pairwise_all_to_all", "auto"],
    "ccl_broadcast": ["relay_broadcast"],
    "ccl_barrier": ["relay_barrier"]}
COLLECTIVES = {"ccl_allreduce": "all_reduce", "ccl_reduce_scatter": "reduce_scatter", "ccl_all_gather": "all_gather",
               "ccl_all_to_all": "all_to_all", "ccl_broadcast": "broadcast", "ccl_barrier": "barrier"}
MAPPERS = [None, None, "leader_only", "pe0_all_cubes", "all_pes", "rank_per_pe"]
PRESETS = ["tiny", "six_3x2", "kernbench", "kernbench-effective", "a3_4", "a3_8", "a3_16", "a3_16_vendor", "mi300x_8",
           "wormhole_t3k", "default"]
TOPOLOGIES = ["ring_1d", "torus_2d", "torus_3d", "mesh_2d_no_wrap", "fully_connected", "switch", "pair_switch", *["levels"] * 5]
LINKS = ["hbm", "pe_noc", "noc", "noc_ucie", "ucie", "sip_link", "sio", "hccs", "tcm", "hub"]
RATES = [0.5, 5, 12.5, 33, 70, 300, 1000]


def draw_levels(rng):
    """A topology of one to four levels, of at most 24 SIPs, and their number."""
    while True:
        levels, count = [], 1
        for _ in range(rng.choice([1, 2, 2, 3, 4])):
            kind = rng.choice(["ring_1d", "torus_2d", "torus_3d", "mesh_2d_no_wrap", "fully_connected", "switch"])
            sizes = [rng.choice([1, 2, 3]) for _ in range({"torus_2d": 2, "mesh_2d_no_wrap": 2, "torus_3d": 3}.get(kind, 1))]
            if len(sizes) == 1:
                sizes = [rng.choice([2, 2, 3, 5])]
            own = "".join(f", {key}: {rng.choice(values)}" for key, values, share in (
                ("bw_gbs", RATES, 0.6), ("latency_ns", [0, 50, 300], 0.2), ("distance_mm", [0, 10, 900], 0.2)) if rng.random() < share)
            levels.append(f"{{{kind}: {sizes if len(sizes) > 1 else sizes[0]}{own}}}")
            count *= math.prod(sizes)
        if count <= 24:
            return f"[{', '.join(levels)}]", count


def draw_machine(rng):
    presets, settings = [], []
    if rng.random() < 0.4:
        presets = rng.sample(PRESETS, 1 if rng.random() < 0.9 else 2)
    else:
        topology, count = rng.choice(TOPOLOGIES), rng.choice([1, 2, 3, 4, 5, 6, 8, 9, 12])
        if topology == "levels":
            topology, count = draw_levels(rng)
        settings += [("system.sips.topology", topology), ("system.sips.count", str(count)),
                     ("sip.cube_mesh.w", str(rng.choice([1, 2, 3, 4]))), ("sip.cube_mesh.h", str(rng.choice([1, 2, 4])))]
        if rng.random() < 0.3:
            settings += [("cube.pe_layout.pe_per_corner", str(rng.choice([1, 3])))]
        if rng.random() < 0.2:
            settings += [("cube.pe_layout.corners", rng.choice(["[SE]", "[NE, SW]", "[SE, NW, NE, SW]", "[SW, NE, NW]"]))]
        if rng.random() < 0.3:
            settings += [("cube.noc.w", str(rng.choice([1, 3, 4]))), ("cube.noc.h", str(rng.choice([1, 2, 3])))]
    for link in rng.sample(LINKS, rng.choice([0, 0, 1, 2, 3])):
        settings.append((f"links.{link}.bw_gbs", str(rng.choice(RATES))))
    for key in rng.sample(["links.hub.latency_ns", "links.ucie.distance_mm", "nodes.router.overhead_ns", "nodes.io_hub.overhead_ns",
                           "nodes.pe_dma.overhead_ns", "nodes.switch.overhead_ns"], rng.choice([0, 0, 0, 1, 2])):
        settings.append((key, str(rng.choice([0, 7, 200]))))
    for key, value, share in (("fabric.contention", "chunk", 0.1), ("fabric.contention", "none", 0.05), ("defaults.wiring", "pe0", 0.05),
                              ("defaults.slot_size", "1000", 0.1), ("defaults.recv_blocks_on_credit", "false", 0.1)):
        if rng.random() < share:
            settings.append((key, value))
    return presets, settings


def draw_ranks(rng, presets, settings):
    """How many PEs are ranks: of SIP 0, of some SIPs, or all."""
    machine = figures.Machine(figures.configuration(presets, settings))
    of_sip = machine.cubes * machine.pes
    few = [2, 3, of_sip // 2 + 1, of_sip + 1, of_sip + of_sip // 2, 2 * of_sip]
    every = [] if of_sip * machine.sips > 64 else [of_sip * machine.sips] * 3
    return str(rng.choice([n for n in (*few, *every) if 2 <= n <= min(of_sip * machine.sips, 64)] or [2]))


def draw(rng):
    """A command: the presets, the values of --set, and the options of the bench as a dictionary."""
    presets, settings = draw_machine(rng)
    bench = rng.choice([*ALGORITHMS, *ALGORITHMS, "ccl_allreduce", "ccl_all_to_all", "ipcq_pingpong", "ipcq_shift", "raw_store", "gemm",
                        "gemm_allreduce"])
    options = {"--bench": bench, "--dtype": rng.choice(list(figures.ITEM))}
    algorithms = ALGORITHMS.get(bench, SUMS[:4] if bench == "gemm_allreduce" else None)
    if algorithms and rng.random() < 0.9:
        options["--algorithm"] = rng.choice(algorithms)
        mapper = rng.choice(MAPPERS)
        # On the machine's own queues each cube has a shard, whatever the mapper.
        if options["--algorithm"] in ("relay_broadcast", "ring_all_gather", "relay_barrier"):
            mapper = None
        entry = options["--algorithm"]
        if entry == "auto":
            # What a file gives for the automatic choice; rank_per_pe is not for it.
            entry, mapper = f"auto_{COLLECTIVES[bench]}", None if mapper == "rank_per_pe" else mapper
        if mapper == "rank_per_pe":
            settings.append(("defaults.world_size", draw_ranks(rng, presets, settings)))
        if mapper:
            settings.append((f"algorithms.{entry}.mapper", mapper))
    count = rng.choice([1, 7, 64, 360, 1000, 720 * rng.randrange(1, 20), rng.randrange(1, 60000), 1 << rng.randrange(3, 17)])
    if bench in ("ipcq_pingpong", "ipcq_shift", "raw_store"):
        count = min(count, 256)
    if bench not in ("ccl_barrier", "gemm"):
        options["--n-elem"] = f"{count},{3 * count}" if rng.random() < 0.3 else str(count)
        how = rng.random()
        if bench not in ("ipcq_pingpong", "ipcq_shift", "raw_store") and how < 0.5:
            del options["--n-elem"]
            size = count * figures.ITEM[options["--dtype"]]
            if how < 0.3:
                options["--bytes-per-rank"] = str(size * rng.choice([1, 16, 128]))
            else:
                options |= {"-b": str(rng.choice([0, size])), "-e": str(4 * size), "-f" if rng.random() < 0.5 else "-i": str(4 * size)}
                if "-f" in options:
                    options["-f"] = "4"
    if rng.random() < 0.05:
        options |= {"--iters": "2", "--warmup_iters": "1"}
    if rng.random() < 0.1 and bench in ("ccl_allreduce", "ccl_reduce_scatter"):
        options["--op"] = rng.choice(["max", "avg", "premulsum"])
    if bench in ("ipcq_pingpong", "raw_store"):
        for end in ("--from", "--to"):
            options[end] = f"{rng.choice([0, 0, 1, 2, 5])}.{rng.choice([0, 0, 1, 2, 5])}.{rng.choice([0, 0, 1, 4, 7])}"
    if bench == "ipcq_shift":
        options["--dir"] = rng.choice(["N", "S", "E", "W", "global_E", "global_N", "global_S", "global_W", "intra_E", "intra_N"])
        options["--tiles"] = str(rng.choice([1, 2, 5]))
    if bench in ("gemm", "gemm_allreduce"):
        options["--gemm"] = "x".join(str(rng.choice([16, 40, 64, 128, 200])) for _ in range(3))
        options["--gemm-tile"] = str(rng.choice([16, 24, 32, 64]))
    if bench == "gemm":
        options["--gemm-operands"] = rng.choice(["streamed", "pinned", "loaded"])
    return presets, settings, options


def words(command):
    presets, settings, options = command
    return ([word for preset in presets for word in ("--preset", preset)] +
            [word for key, value in settings for word in ("--set", f"{key}={value}")] +
            [word for item in options.items() for word in item])


def run(command):
    """The result of a command as JSON, and the rows of its table; None where it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "result.json")
        done = subprocess.run([CUBEWARP, "run", "--no-data", "--quiet", *words(command), "--json", str(path)],
                              capture_output=True, text=True, check=False, cwd=TOP)
        if done.returncode in (2, 4):
            return None
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr.strip()}", []
        document = json.loads(path.read_text(encoding="utf-8"))
    return document, [line.split() for line in done.stdout.splitlines() if line and line[0] != "#"]


def expected(command, row, beside):
    """The figures of one row, but for its time; beside: those of the all-reduce before it."""
    presets, settings, options = command
    machine = figures.Machine(figures.configuration(presets, settings))
    dtype, bench = options["--dtype"], options["--bench"]
    collective = row["collective"].removesuffix("_beside_gemm")
    algorithm = entry = options.get("--algorithm", row["algorithm"])
    if algorithm == "auto" and not (bench == "ccl_reduce_scatter" and machine.is_of_paired_dies()):
        entry = f"auto_{collective}"
    if bench in COLLECTIVES or collective == "all_reduce":
        if algorithm in ("relay_broadcast", "ring_all_gather") and "--algorithm" not in options:
            # Beside the configured algorithm: its shards.
            algorithm = entry = machine.tree["defaults"]["algorithm"]
        mapper = row.get("placement") or machine.tree["algorithms"].get(entry, {}).get("mapper")
        return figures.of_collective(machine, collective, algorithm, mapper, row["count"], dtype)
    return figures.of_bench(machine, row, options, beside)


def near(a, b, digits):
    return abs(Fraction(a) - Fraction(b)) <= Fraction(1, 10**digits) + abs(Fraction(b)) / 10**9


def differences(command, result):
    """What differs, a line each."""
    document, table = result
    if isinstance(document, str):
        return [document]
    found, want = [], None
    rows = [row for row in document["results"] if row["not_run"] is None]
    for row, cells in zip(rows, table):
        # A row of no bytes has no algorithm.
        row["algorithm"] = row["algorithm"] or rows[-1]["algorithm"]
        want = expected(command, row, want)
        time = Fraction(str(row["time_ns"]))
        algbw = Fraction(want["S"]) / time if time else 0
        want |= {"algbw_gbs": algbw, "busbw_gbs": algbw * want["factor"]}
        for key in ("bytes", "count", "shards_per_rank", "bytes_per_rank"):
            if row[key] != want[key]:
                found.append(f"{row['collective']} {key}: {row[key]}, not {want[key]}")
        for key in ("algbw_gbs", "busbw_gbs"):
            if not near(str(row[key]), want[key], 5):
                found.append(f"{row['collective']} {key}: {row[key]}, not {float(want[key]):.6f}")
        if not near(str(row["bound_ns"]), Fraction(want["bound"]) / 1000, 3):
            found.append(f"{row['collective']} bound_ns: {row['bound_ns']} ({row['bound_by']}), not {float(want['bound']) / 1000:.3f}")
        elif cells[8] == "-":
            if want["bound"]:
                found.append(f"{row['collective']} has no efficiency")
        elif time and not near(cells[8], 100 * Fraction(want["bound"]) / 1000 / time, 2):
            found.append(f"{row['collective']} efficiency: {cells[8]}, not {float(100 * Fraction(want['bound']) / 1000 / time):.2f}")
    return found


def a_hundred_commands_have_the_figures_of_the_document():
    rng = random.Random(SEED)
    compared, wrong = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while compared < COMMANDS:
            commands = [draw(rng) for _ in range(8)]
            for command, result in zip(commands, pool.map(run, commands)):
                if result is None or compared == COMMANDS:
                    continue
                compared += 1
                found = differences(command, result)
                if found:
                    line = " ".join(word if re.fullmatch(r"[\w.,=-]+", word) else f"'{word}'" for word in words(command))
                    wrong.append("\n    ".join([f"cubewarp run {line}", *found]))
    assert not wrong, f"{len(wrong)} of {compared} commands differ (FIGURES_SEED={SEED}):\n" + "\n".join(wrong)


def a_barrier_has_one_bound_whether_or_not_its_algorithm_is_named():
    commands = [([], [], {"--bench": "ccl_barrier", **more}) for more in ({}, {"--algorithm": "relay_barrier"})]
    first, second = (run(command)[0]["results"][0]["bound_ns"] for command in commands)
    assert first == second, f"{first} and {second}"


def the_longest_path_of_a_shift_counts():
    """In levels SIPs have neighbours at different distances: global_S from SIP 2 crosses two links, from SIP 0 one."""
    topology = "[{ring_1d: 2}, {fully_connected: 2, latency_ns: 900}, {mesh_2d_no_wrap: [1, 2], distance_mm: 900}]"
    for side in "NESW":
        command = ([], [("system.sips.topology", topology), ("system.sips.count", "8")],
                   {"--bench": "ipcq_shift", "--dtype": "f16", "--n-elem": "64", "--dir": f"global_{side}", "--tiles": "1"})
        assert differences(command, run(command)) == []


TESTS = [the_longest_path_of_a_shift_counts, a_hundred_commands_have_the_figures_of_the_document, a_barrier_has_one_bound_whether_or_not_its_algorithm_is_named]


def main():
    failed = 0
    for test in TESTS:
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        try:
            test()
            print(f"[       OK ] {test.__name__}")
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stdout)
            print(f"[  FAILED  ] {test.__name__}")
            failed += 1
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
