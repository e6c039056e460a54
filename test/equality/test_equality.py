#!/usr/bin/python3
"""Runs with shortcuts beside runs without: every figure of every row and every link is the same, to the picosecond. The lines
are those of test/reference/cases.json, of the table of choices (perf/results/schedule_sweep.py), and drawn: machines with slow
parts, odd sizes, every contention, memory of slots and mode of credits, and steps of several calls on several sets of groups.

    EQUALITY_SEED=7 CUBEWARP=build/check/cubewarp test/equality/test_equality.py [--all] [--from I] [--count N] [SET...]
    test/equality/test_equality.py --all --keep FILE --write perf/results/equality.md

--all compares every reference case, the whole table, 2,000 drawn machines and 500 drawn steps; else a sample of each. Each line
is drawn by its number, so --from and --count compare some of a set. --keep FILE has the outcomes, and what is there is not
compared again: a long comparison resumes. --write FILE writes them as a table: how many rows fold, and why others do not.
Prints one line per set, as the unit tests do.
"""
import argparse
import collections
import concurrent.futures
import itertools
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
COMPARED = {"reference": None, "table": None, "drawn": 2000, "steps": 500}  # how many lines; None: all that there are
SAMPLE = {"reference": 6, "table": 0, "drawn": 8, "steps": 4}
LARGEST = 2 << 20  # bytes of all ranks of a line of the table
LINKS = ["hbm", "pe_noc", "noc", "noc_ucie", "ucie", "sip_link", "sio", "hccs", "tcm", "hub"]


def sets(settings):
    return [word for key, value in settings for word in ("--set", f"{key}={value}")]


# ---- lines ----------------------------------------------------------------------------------------


def reference_lines():
    for case in json.loads((TOP / "test" / "reference" / "cases.json").read_text(encoding="utf-8")):
        if case["args"][0] == "run":
            yield case["args"][1:]


def table_lines():
    """The candidates of each collective, on each machine that the table of choices has, up to LARGEST."""
    for collective, candidates in table.COLLECTIVES.items():
        for topology, ranks in itertools.product(table.TOPOLOGIES, table.RANKS):
            sizes = [size for size in table.SIZES if size * ranks <= LARGEST]
            for algorithm, parameters in candidates:
                yield ["--bench", table.BENCH.get(collective, "ccl_" + collective), "--algorithm", algorithm,
                       "--bytes", ",".join(map(str, sizes)),
                       *sets([("system.sips.count", ranks), ("system.sips.topology", topology),
                              *((f"algorithms.{algorithm}.{key}", value) for key, value in parameters.items())])]


def draw_places(rng, count):
    """A part of one SIP, one cube; every k-th SIP, a row of them."""
    divisors = [k for k in range(1, count) if count % k == 0]
    step = rng.choice(divisors or [1])
    first = rng.randrange(count // step) * step
    return rng.choice([f"{rng.randrange(count)}", f"{rng.randrange(count)}.0", f"0-{count - 1}/{step}", f"{rng.randrange(step)}-{count - 1}/{step}",
                       f"{first}-{first + step - 1}"])


def draw_late(rng, count):
    """Slow parts, as jitter that no operation draws: everywhere, in some places, or drawn for each part."""
    kind = rng.choice([f"links.{link}" for link in LINKS] + [f"nodes.{node}" for node in ("pe_cpu", "pe_dma", "pe_math", "m_cpu", "router",
                                                                                             "io_cpu", "pe_scheduler")])
    settings = [(f"jitter.{kind}.distribution", "fixed"), (f"jitter.{kind}.mean_ns", rng.choice([1, 13, 250]))]
    if rng.random() < 0.3:
        group, _, name = kind.partition(".")
        settings = [(f"faults.slow.{group}", name), ("faults.slow.slower", rng.choice([10, 100]))]
        if rng.random() < 0.8:
            settings.append(("faults.slow.at", draw_places(rng, count)))
        return settings
    how = rng.random()
    if how < 0.15:
        settings = [(f"jitter.{kind}.distribution", "uniform"), (f"jitter.{kind}.mean_ns", 13), (f"jitter.{kind}.spread_ns", 1),
                    (f"jitter.{kind}.each", "instance")]
    elif how < 0.85:
        settings.append((f"jitter.{kind}.only", draw_places(rng, count)))
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
                               ("defaults.rank_invariant", ["true"], 0.1), ("defaults.root", ["corner", "0,0"], 0.1),
                               ("nodes.pe_dma.queue_depth", [1, 2, 16], 0.1), ("defaults.coarse", ["16KiB"], 0.05)):
        if rng.random() < share:
            settings.append((key, rng.choice(values)))
    return count, settings + (draw_late(rng, count) if rng.random() < 0.3 else [])


def draw_count(rng):
    return rng.choice([1, 7, 64, 127, 360, 1000, 720 * rng.randrange(1, 12), rng.randrange(1, 20000), 1 << rng.randrange(3, 14)])


def draw_iterations(rng):
    return ["--iters", str(rng.choice([2, 3, 12, 40])), "--warmup_iters", str(rng.choice([0, 1]))] if rng.random() < 0.3 else []


def draw_run(rng, _):
    count, settings = draw_machine(rng)
    bench = rng.choice([*ALGORITHMS, *["ccl_allreduce"] * 6, *["ccl_reduce_scatter", "ccl_all_gather"] * 2, "ccl_all_to_all"])
    algorithm = rng.choice(ALGORITHMS[bench])
    mapper = rng.choice([None, None, "leader_only", "pe0_all_cubes", "all_pes"])
    if mapper and algorithm not in ("auto", "relay_broadcast", "relay_reduce", "relay_barrier", "ring_all_gather"):
        settings.append((f"algorithms.{algorithm}.mapper", mapper))
    line = ["--bench", bench, "--algorithm", algorithm, *sets(settings), "--dtype", rng.choice(["f16", "f32", "int8"])]
    if bench != "ccl_barrier":
        elements = draw_count(rng)
        line += ["--n-elem", f"{elements},{3 * elements}" if rng.random() < 0.3 else str(elements)]
    return line + draw_iterations(rng)


def draw_operation(rng, of):
    """One of the step, and how many ranks it needs in its groups."""
    kind = rng.random()
    late = rng.choice([{}, {}, {"overlap": True}, {"after": []}])
    if kind < 0.25:
        return {**rng.choice([{"flops": rng.randrange(1, 10**6), "bytes": draw_count(rng)}, {"time": rng.choice([0, 17, 1000, 2500])},
                              {"product": [64, 32, rng.choice([1, 128])]}]), **late}
    if kind < 0.4:
        of = of if of != "all" else rng.choice(["tp", "dp"])
        hops, tag = rng.choice([1, 1, 2]), rng.randrange(1000)
        size = 2 * draw_count(rng)
        return {"ops": [{"send": size, "of": of, "to": f"({of}_rank + {hops}) % {of}", "tag": tag, "overlap": True},
                        {"recv": size, "of": of, "from": f"({of}_rank + {of} - {hops}) % {of}", "tag": tag}]}
    collective = rng.choice(["all_reduce"] * 4 + ["all_gather", "reduce_scatter", "all_to_all", "all_to_all", "broadcast", "reduce", "barrier"])
    operation = {"collective": collective, "of": of, **late}
    if collective != "barrier":
        operation["bytes"] = f"{rng.choice([2, 2, 16])} * {min(draw_count(rng), 4096)} * ranks"
    if collective in ("broadcast", "reduce"):
        operation["root"] = rng.randrange(2)
    return operation


def draw_step(rng, folder):
    """A step of computations, messages and collectives of two sets of groups that cross, and of all ranks."""
    count, settings = draw_machine(rng)
    tp = rng.choice([k for k in range(1, count + 1) if count % k == 0])
    step = {"parallel": {"tp": tp, "dp": count // tp, "order": rng.choice(["tp-cp-ep-dp-pp", "dp-tp-cp-ep-pp"])},
            "ops": [draw_operation(rng, rng.choice(["tp", "tp", "dp", "all"])) for _ in range(rng.randrange(1, 7))]}
    for of, share in (("tp", 0.4), ("dp", 0.4), ("all", 0.2)):
        if rng.random() < share:
            step.setdefault("algorithms", {})[of] = rng.choice(["ring_allreduce", "ring_rs_ag", "halving_doubling", "torus_rs_ag", "tree_allreduce"])
    if rng.random() < 0.3:
        step["ops"] = [{"repeat": rng.choice([2, 5]), "ops": step["ops"]}]
    path = pathlib.Path(folder, "step.json")
    path.write_text(json.dumps({"workload": step}), encoding="utf-8")
    modes = [word for option, value, share in (("--concurrency", "one", 0.1), ("--launch-order", "program", 0.2), ("--launches", "free", 0.2))
             if rng.random() < share for word in (option, value)]
    return ["--bench", "step", "--workload", str(path), *sets(settings), *modes]


# ---- runs -----------------------------------------------------------------------------------------

OFF = {"run": ["--fold", "off", "--repeat", "off"], "step": ["--fold", "off", "--replay", "off"]}
ON = {"run": [[]], "step": [[], ["--replay", "on"], ["--fold", "off", "--replay", "on"]]}


def bench_of(line):
    return "step" if line[:2] == ["--bench", "step"] else "run"


def run(line, shortcuts, folder, with_links=True):
    """The documents of a run, its result and its links; its refusal or its failure as a text."""
    result, links = pathlib.Path(folder, "result.json"), pathlib.Path(folder, "links.json")
    command = [CUBEWARP, "run", *line, *(["--no-data"] if bench_of(line) == "run" else []), "--quiet", "--json", str(result), *shortcuts,
               *(["--links", str(links)] if with_links else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TOP, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"longer than {LIMIT_S} s"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    sizes = json.loads(links.read_text(encoding="utf-8"))["sizes"] if with_links else []
    return {**json.loads(result.read_text(encoding="utf-8")), "links": sizes}


def simulated(document):
    """What a shortcut must not change."""
    if isinstance(document, str):
        return {"failure": document}
    whole = {key: document[key] for key in ("sim_time_ns", "init_time_ns", "credit_wait_ns")} | document.get("step", {})
    for i, row in enumerate(document["results"]):
        whole |= {f"row {i} {key}": value for key, value in row.items() if key not in ("shortcuts", "explain")}
    for i, size in enumerate(document["links"]):
        whole |= {f"size {i} {link['at']} {link['name']}": link for link in size["links"]}
        whole |= {f"size {i} {key}": value for key, value in size.items() if key != "links"}
    return whole


def numberless(why):
    return re.sub(r"\d+", "#", why)


def ways_of(line, document, asked, folder):
    """Of each row, how much of it was simulated and why not less."""
    turns = "turns"
    if "switch" in " ".join(line) and any(row["shortcuts"]["fold"] for row in document["results"]):
        # Other than by translations, machines fold on the sequential engine alone.
        other = run(line, ["--sync", "conservative", "--threads", "1"], folder)
        if not isinstance(other, str) and not other["results"][0]["shortcuts"]["fold"]:
            turns = "other turns"
    alone = "there is one SIP" if document["topology"]["sips"] == 1 else ""
    rows = document["results"][:1] if "step" in document else [row for row in document["results"] if row["not_run"] is None]
    ways = []
    for row in rows:
        taken = row["shortcuts"]
        why = taken["why_not"] or ("--fold off was asked for" if "--fold" in asked else alone)
        ways.append({"fold": taken["fold"] and f"{taken['fold']}, {turns}", "sips": taken["sips_simulated"], "why": numberless(why),
                     "repeats": taken["iterations_simulated"] is not None, "replays": taken["operations_simulated"] is not None})
    return ways


def refusal_differs(line, why, folder):
    """`--fold on` of what does not fold is refused, for the reason that `auto` says."""
    said = run(line, ["--fold", "on"], folder)
    if isinstance(said, str) and said.startswith("exit code") and why in numberless(said):
        return []
    return [f"--fold on says {said if isinstance(said, str) else 'nothing'}, auto: {why}"]


def compare(line, folder, number):
    """(what differs, each as a text; of each row how it folded, or why not); None: no such run"""
    bench = bench_of(line)
    asked = ON[bench][number % len(ON[bench])]
    with_links = "--replay" not in asked  # which would follow all events
    off = run(line, OFF[bench], folder, with_links)
    if isinstance(off, str) and off.startswith("exit code 2:"):
        return None
    on = run(line, asked, folder, with_links)
    if isinstance(on, str) and "--replay on:" in on:  # such a step does not replay
        asked = []
        on = run(line, asked, folder, with_links)
    a, b = simulated(off), simulated(on)
    differ = [f"{key}: {json.dumps(b.get(key))}, without shortcuts {json.dumps(a.get(key))}" for key in {**a, **b} if a.get(key) != b.get(key)]
    if isinstance(on, str):
        return differ, [{"fold": None, "why": "the run fails", "sips": None, "repeats": False, "replays": False}]
    ways = ways_of(line, on, asked, folder)
    if asked == [] and on["topology"]["sips"] > 1 and not any(way["fold"] for way in ways) and len({way["why"] for way in ways}) == 1 and ways[0]["why"]:
        differ += refusal_differs(line, ways[0]["why"], folder)
    return differ, ways


def quoted(line):
    return " ".join(word if re.fullmatch(r"[\w.,=:/-]+", word) else f"'{word}'" for word in line)


def compare_drawn(name, number, drawn):
    """The line of that number: the first of its draws that is a run at all."""
    for attempt in range(1000):
        with tempfile.TemporaryDirectory() as folder:
            line = drawn(random.Random(f"{SEED} {name} {number} {attempt}"), folder)
            outcome = compare(line, folder, number)
            if outcome and outcome[0] and name == "steps":
                outcome[0].append(pathlib.Path(folder, "step.json").read_text(encoding="utf-8"))
        if outcome:
            return {"set": name, "seed": SEED, "number": number, "line": quoted(line), "differ": outcome[0][:5], "ways": outcome[1]}
    raise AssertionError(f"no run in 1,000 draws of {name} {number}")


def compare_listed(name, number, line):
    with tempfile.TemporaryDirectory() as folder:
        differ, ways = compare(line, folder, number) or ([], [])
    return {"set": name, "seed": 0, "number": number, "line": quoted(line), "differ": differ[:5], "ways": ways}


# ---- sets -----------------------------------------------------------------------------------------

LISTED = {"reference": reference_lines, "table": table_lines}
DRAWN = {"drawn": draw_run, "steps": draw_step}


class Kept:
    """Outcomes, in a file if one is given."""

    def __init__(self, path):
        self.path = path
        self.outcomes = {}
        if path and path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                self.add(json.loads(text))

    def add(self, outcome):
        self.outcomes[outcome["set"], outcome["seed"], outcome["number"]] = outcome

    def has(self, name, number):
        return (name, SEED if name in DRAWN else 0, number) in self.outcomes

    def keep(self, outcome):
        self.add(outcome)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome) + "\n")


def numbers_of(name, options, lines):
    whole = COMPARED[name] or len(lines)
    if options.first is not None or options.count is not None:
        first = options.first or 0
        return range(first, min(whole, first + (options.count or whole)))
    if options.all:
        return range(whole)
    sample = SAMPLE[name]
    return range(0, whole, max(1, whole // sample)) if name in LISTED and sample else range(sample)


def compare_set(name, options, kept):
    lines = list(LISTED[name]()) if name in LISTED else None
    numbers = numbers_of(name, options, lines)

    def one(number):
        if name in LISTED:
            return compare_listed(name, number, lines[number])
        return compare_drawn(name, number, DRAWN[name])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(one, [number for number in numbers if not kept.has(name, number)]):
            kept.keep(outcome)
    seed = SEED if name in DRAWN else 0
    outcomes = [kept.outcomes[name, seed, number] for number in numbers]
    wrong = ["\n    ".join([f"{o['number']}: cubewarp run {o['line']}", *o["differ"]]) for o in outcomes if o["differ"]]
    assert not wrong, f"{len(wrong)} of {len(outcomes)} lines differ (EQUALITY_SEED={SEED}):\n" + "\n".join(wrong)


# ---- the table ------------------------------------------------------------------------------------


def kind_of(way):
    if not way["fold"]:
        return "not folded"
    return ("one SIP simulated, by " if way["sips"] == 1 else "some SIPs simulated, by ") + way["fold"]


def reason_of(way):
    """Without the algorithm, the part and the operation."""
    why = re.sub(r"^(group # of \w+: )?[\w ,#]+( \([\w ,#]+\))?(, # (turns|rings|threads))?: ", "", way["why"] or "the topology has no wider fold")
    why = re.sub(r" a late \w+", " a late part", re.sub(r"jitter of \w+", "jitter of a part", why))
    why = re.sub(r"(torus|mesh)_#d(_no_wrap)?|levels", "the topology", re.sub(r"^group # of \w+ becomes", "a group becomes", why))
    return re.sub(r"^rank #'s [\w ]+ \(\S+\)", "rank #'s operation", re.sub(r"^\w+ is a kernel", "the algorithm is a kernel", why))


MET = "events of different SIPs meet on one part at one instant"


def counts_table(title, names, counts):
    """Rows in each set of lines; the most frequent first."""
    total = collections.Counter()
    for counter in counts.values():
        total.update(counter)
    return "\n".join([f"| {title} | " + " | ".join(names) + " |", "|---|" + "---|" * len(names),
                      *(f"| {key} | " + " | ".join(f"{counts[name][key]:,}" for name in names) + " |" for key, _ in
                        sorted(total.items(), key=lambda item: (-item[1], item[0])))]) + "\n"


def page(kept):
    names = list(COMPARED)
    ways, folds, why_part, why_not = ({name: collections.Counter() for name in names} for _ in range(4))
    size = {name: COMPARED[name] or len(list(LISTED[name]())) for name in names}
    for outcome in kept.outcomes.values():
        name = outcome["set"]
        ways[name]["lines"] += 1
        ways[name]["lines that differ"] += bool(outcome["differ"])
        for way in outcome["ways"]:
            ways[name]["rows"] += 1
            ways[name]["rows of which some iterations were simulated"] += way["repeats"]
            ways[name]["steps of which some operations were simulated"] += way["replays"]
            folds[name][kind_of(way)] += 1
            if not way["fold"]:
                why_not[name][reason_of(way)] += 1
            elif way["sips"] > 1:
                why_part[name][reason_of(way)] += 1
    seeds = sorted({outcome["seed"] for outcome in kept.outcomes.values() if outcome["set"] in DRAWN})
    every = [way for outcome in kept.outcomes.values() for way in outcome["ways"]]
    other = sum("other turns" in (way["fold"] or "") for way in every)
    met = sum(MET in way["why"] for way in every)
    return f"""# Runs with shortcuts beside runs without

Made by `EQUALITY_SEED={','.join(map(str, seeds))} test/equality/test_equality.py --all --keep FILE --write perf/results/equality.md`. Each line runs twice, with `--fold`, `--repeat` and `--replay` at their defaults and with all of them off. Compared are all figures of all rows (times, waits, phases, bounds), every link's bytes, busy times and queues, and of a step its times' hash. `reference`: the cases of the design records. `table`: all candidates of the table of choices (`schedule_choice.md`), up to {LARGEST >> 20} MiB of all ranks together. `drawn`: machines × algorithms × sizes × iterations. `steps`: computations, messages and collectives of two sets of groups that cross, and of all ranks. Numbers in reasons are written as #.

Lines in the sets: {", ".join(f"`{name}` {size[name]:,}" for name in names)}.

{counts_table("compared", names, ways)}
A row is a size of a line, or a step. Of the steps a third run with `--replay on`, and a third with `--replay on` and `--fold off`.

{counts_table("rows", names, folds)}
Turns that are no translations are watched: {other} rows kept them, and {met} ran again without, since events of different SIPs met (HARDWARE.md, "Folded machines").

Why more than one SIP was simulated:

{counts_table("reason", names, why_part)}
Why nothing folded:

{counts_table("reason", names, why_not)}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--from", dest="first", type=int)
    parser.add_argument("--count", type=int)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("sets", nargs="*")
    options = parser.parse_args()
    kept = Kept(options.keep)
    failed = 0
    for name in options.sets or COMPARED:
        try:
            compare_set(name, options, kept)
            print(f"[       OK ] {name}")
        except Exception as problem:  # pylint: disable=broad-except
            print(problem if isinstance(problem, AssertionError) else traceback.format_exc())
            print(f"[  FAILED  ] {name}")
            failed += 1
        sys.stdout.flush()
    if options.write:
        options.write.write_text(page(kept), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
