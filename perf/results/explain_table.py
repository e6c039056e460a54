#!/usr/bin/env python3
"""Holds the limits that `run --explain` names against runs with that thing twice as fast.

    perf/results/explain_table.py [-j N] build/cubewarp

For each case: the program names the limit of the critical path and predicts the time with the limit
twice as fast, or half as slow where `jitter` makes it slow. Then the case runs again with the
settings that make it so. The table is perf/results/explain.md. Exit code 1 if the parts of a path do not sum to the time, or if fewer
savings are within 5 % of the prediction than GOOD_MIN, of the machines with a slow part SLOW_MIN.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOOD_PERCENT, GOOD_MIN, SLOW_MIN = 5, 36, 18

CASES = [
    "--n-elem 8192",
    "--bytes 64KiB",
    "--bytes 64KiB --set defaults.recv_blocks_on_credit=false",
    "--n-elem 8192 --set fabric.contention=chunk",
    "--n-elem 8192 --set fabric.contention=none",
    "--n-elem 8192 --set defaults.buffer_kind=hbm",
    "--n-elem 8192 --set defaults.buffer_kind=sram",
    "--n-elem 8192 --set defaults.credit_return_mode=fabric",
    "--n-elem 8192 --set defaults.backpressure=poll",
    "--algorithm lrab_pipelined_allreduce --bytes 256KiB",
    "--algorithm pe_hierarchical_allreduce --bytes 16KiB --set launch_together=true",
    "--algorithm ring_allreduce --bytes 1KiB",
    "--algorithm ring_allreduce --bytes 256KiB",
    "--algorithm ring_allreduce --bytes 64KiB --set system.sips.topology=ring_1d "
    "--set system.sips.count=16",
    "--algorithm tree_allreduce --bytes 16KiB",
    "--algorithm ring_rs_ag --bytes 64KiB",
    "--algorithm ring_rs_ag --bytes 1MiB",
    "--algorithm torus_rs_ag --bytes 64KiB --set system.sips.count=16",
    "--algorithm recursive_doubling --bytes 16KiB",
    "--algorithm halving_doubling --bytes 64KiB --set system.sips.count=16",
    "--algorithm double_binary_tree --bytes 64KiB",
    "--algorithm direct_rs_ag --bytes 64KiB --set system.sips.topology=switch",
    "--algorithm direct_rs_ag --bytes 1MiB --set system.sips.topology=fully_connected",
    "--bench ccl_all_gather --bytes 64KiB",
    "--bench ccl_broadcast --bytes 64KiB",
    "--bench ccl_broadcast --bytes 64KiB --set system.sips.topology=ring_1d",
    "--bench ccl_all_to_all --bytes 64KiB",
    "--bench ccl_barrier",
    "--bench ipcq_shift --tiles 16 --bytes 4096",
    "--bench gemm",
    "--bench gemm_allreduce",
    "--preset tiny --bytes 4KiB",
    "--preset pod64 --bytes 16KiB",
    "--preset pod64 --algorithm ring_rs_ag --bytes 64KiB",
    "--preset pod64 --algorithm lrab_pipelined_allreduce --bytes 64KiB",
    "--preset torus_4x4x4 --bytes 4KiB",
    "--preset six_3x2 --bytes 4KiB",
    "--preset a3_16 --bench ccl_allreduce --algorithm birs_allreduce --bytes 64KiB",
    "--preset a3_8 --bench ccl_reduce_scatter --algorithm mesh --bytes 64KiB",
    "--preset a3_16 --bench ccl_reduce_scatter --bytes 1MiB",
    "--preset a3_16_vendor",
    "--preset kernbench --bytes 4KiB",
    "--preset wormhole_t3k --bytes 4KiB",
    "--preset mi300x_8 --bytes 64KiB",
]

# One SIP's slow links, HBM or block: what it adds is that part's.
SLOW = [
    ("--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.count=16", "links.sip_link", 5, 100),
    ("--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.count=16", "links.sip_link", 5, 300),
    ("--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=all_pes --bytes-per-rank 1MiB", "links.sip_link", 1, 100),
    ("--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=pe0_all_cubes --bytes-per-rank 1MiB", "links.sip_link", 2, 200),
    ("--algorithm direct_rs_ag --set algorithms.direct_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.topology=fully_connected", "links.sip_link", 3, 400),
    ("--algorithm ring_allreduce --bytes 64KiB", "links.sip_link", 1, 900),
    ("--algorithm ring_allreduce --bytes 256KiB", "links.sip_link", 2, 1900),
    ("--bench ccl_broadcast --bytes 64KiB", "links.sip_link", 0, 100),
    ("--bench ccl_broadcast --bytes 64KiB --set system.sips.topology=ring_1d", "links.sip_link", 1, 300),
    ("--algorithm tree_allreduce --bytes 16KiB", "links.sip_link", 1, 900),
    ("--algorithm ring_allreduce --bytes 256KiB", "links.ucie", 1, 1900),
    ("--algorithm ring_rs_ag --bytes 1MiB", "links.hbm", 2, 900),
    ("--algorithm ring_allreduce --bytes 256KiB", "links.hbm", 1, 1900),
    ("--algorithm tree_allreduce --bytes 16KiB", "links.hbm", 1, 1900),
    ("--bench gemm", "links.hbm", 1, 300),
    ("--bench gemm", "links.hbm", 2, 900),
    ("--algorithm ring_allreduce --bytes 64KiB", "nodes.pe_math", 1, 1900),
    ("--algorithm tree_allreduce --bytes 16KiB", "nodes.pe_math", 1, 1900),
    ("--bench gemm", "nodes.pe_gemm", 1, 900),
    ("--n-elem 8192", "nodes.pe_math", 1, 900),
]
CASES += [f"{line} --set faults.slow.{part.replace('.', '=')} --set faults.slow.slower={percent} --set faults.slow.at={sip}"
          for line, part, sip, percent in SLOW]


# One slow cable: the two SIPs of a link, and how much slower.
CABLES = [
    ("--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.count=16", "5-6", 100),
    ("--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.count=16", "0-1", 300),
    ("--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.count=16", "10->14", 900),
    ("--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.count=9", "4-5", 200),
    ("--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=all_pes --bytes-per-rank 1MiB", "0-1", 100),
    ("--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=all_pes --bytes-per-rank 1MiB", "1-3", 400),
    ("--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=pe0_all_cubes --bytes-per-rank 1MiB", "0-2", 200),
    ("--algorithm ring_rs_ag --set system.sips.topology=ring_1d --set system.sips.count=8 --bytes 1MiB", "3-4", 1900),
    ("--algorithm direct_rs_ag --set algorithms.direct_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.topology=fully_connected", "0-3", 400),
    ("--algorithm direct_rs_ag --set algorithms.direct_rs_ag.mapper=all_pes --bytes-per-rank 1MiB --set system.sips.topology=fully_connected", "1->2", 900),
    ("--algorithm ring_allreduce --bytes 64KiB", "0-1", 1900),
    ("--algorithm ring_allreduce --bytes 256KiB --set system.sips.topology=ring_1d", "1->2", 1900),
    ("--algorithm ring_allreduce --bytes 256KiB --set system.sips.topology=ring_1d", "2-3", 1900),
    ("--algorithm tree_allreduce --bytes 16KiB", "0-1", 1900),
    ("--algorithm tree_allreduce --bytes 64KiB", "0-2", 1900),
    ("--bench ccl_broadcast --bytes 64KiB", "0-1", 400),
    ("--bench ccl_broadcast --bytes 64KiB --set system.sips.topology=ring_1d", "1->2", 900),
    ("--bench ccl_all_gather --bytes 64KiB", "0-1", 900),
    ("--bench ccl_all_to_all --bytes 64KiB", "2-3", 900),
    ("--bench ccl_reduce_scatter --algorithm rings_reduce_scatter --bytes 256KiB", "0-1", 1900),
]
CASES += [f"{line} --set faults.slow.links={link} --set faults.slow.slower={percent}" for line, link, percent in CABLES]


# Why a prediction is off, by case, found by comparing the path of the faster machine, leg by
# leg, with the times that were predicted for the same events.
REASONS = {
    "--n-elem 8192 --set defaults.credit_return_mode=fabric":
        "The last tile waits for another transfer, which comes after it on the faster machine.",
    "--algorithm pe_hierarchical_allreduce --bytes 16KiB --set launch_together=true":
        "The tiles pass a faster pe_noc more quickly than ucie takes them, and queue there; on the "
        "slower machine none waited.",
    "--n-elem 8192 --set defaults.backpressure=poll":
        "A kernel looks every 20 ns; the prediction moves its looks by any amount. The error is 10 ns for each hop.",
    "--algorithm torus_rs_ag --bytes 64KiB --set system.sips.count=16":
        "Reads reach the HBM in another order: what waited for another read comes before it.",
    "--algorithm direct_rs_ag --bytes 64KiB --set system.sips.topology=switch":
        "Transfers reach the links from the switch in another order; the prediction keeps the old one.",
    "--bench ccl_all_to_all --bytes 64KiB":
        "A chain that leaves the path at two queues becomes the longest (rivals of rivals are not "
        "timed), and a transfer meets another one at a sip_link, for which it did not wait: 46 ns.",
    "--bench ccl_all_gather --bytes 64KiB":
        "A chain that leaves the path at two queues becomes the longest; rivals of rivals are not "
        "timed.",
    "--preset tiny --bytes 4KiB":
        "What is left of another operation in PE_DMA's engine is not known exactly: 3 of 36 ns.",
    "--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --bytes-per-rank 1MiB "
    "--set system.sips.count=16 --set faults.slow.links=sip_link --set faults.slow.slower=100 "
    "--set jitter.links.sip_link.only=5":
        "Transfers reach the slow links in another order; the prediction keeps the old one.",
    "--algorithm ring_allreduce --bytes 64KiB --set faults.slow.nodes=pe_math --set faults.slow.slower=1900 "
    "--set jitter.nodes.pe_math.only=1":
        "SIP 1 then waits for tiles that had been there early; a receive without a wait has no rival.",
}


def run(program, words):
    done = subprocess.run([program, "run", "--no-data", "--quiet", "--json", "-", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["results"][0]


def measure(program, case):
    """A row of the table."""
    words = case.split()
    explain = run(program, words + ["--explain"])["explain"]
    path = explain["path"]
    if path is None:
        sys.exit(f"{case}: {explain['sentence']}")
    if abs(sum(part["time_ns"] for part in path["parts"]) - explain["time_ns"]) > 0.0005:
        sys.exit(f"{case}: the parts do not sum to the time")
    limit = path["limits"][0]
    settings = [word for one in limit["twice_as_fast_set"].split() for word in ("--set", one)]
    faster = run(program, words + settings + ["--explain"])["explain"]
    before, after, predicted = explain["time_ns"], faster["time_ns"], limit["twice_as_fast_ns"]
    saved, promised = before - after, before - predicted
    off = 100 * abs(promised - saved) / saved if saved > 0 else 0 if promised == 0 else 999
    return {"case": case, "limit": limit["limit"], "share": 100 * limit["time_ns"] / before,
            "us": before / 1000, "promised": 100 * promised / before,
            "saved": 100 * saved / before, "off": off, "legs": path["legs"]}


def write(rows):
    good, slow = (sum(row["off"] <= GOOD_PERCENT for row in rows if ("jitter" in row["case"]) == is_slow)
                  for is_slow in (False, True))
    with open(HERE / "explain.md", "w", encoding="utf-8") as out:
        out.write(
            "# The limits that `run --explain` names, compared with faster machines\n\n"
            "`make explain-table` makes this table again. For each case the program names the limit "
            "of the critical path, its share of the time, and the time with the limit twice as fast, or, "
            "where `jitter` makes it slow in one SIP, with half of the slowness. Then the case runs with the settings that make it so.\n\n"
            "- **predicted, saved**: the part of the time that goes, by the path and in the run.\n"
            "- **off**: the difference between the two, as a percentage of the saving.\n\n"
            f"{good} of {len(rows) - len(SLOW)} savings are within {GOOD_PERCENT} % of the prediction; "
            f"so are {slow} of {len(SLOW)} where a part of one SIP is slow (`jitter`), at the end of the "
            "table. The reasons for the others are below. The parts of all paths sum to the time, to the picosecond.\n\n"
            "| `cubewarp run --no-data` | us | limit | share % | predicted % | saved % | off % | legs |\n"
            "|---|---:|---|---:|---:|---:|---:|---:|\n")
        for row in rows:
            out.write(f"| `{row['case']}` | {row['us']:.3f} | {row['limit']} | {row['share']:.1f} | "
                      f"{row['promised']:.2f} | {row['saved']:.2f} | {row['off']:.1f} | "
                      f"{row['legs']} |\n")
        out.write("\nWhy a prediction is off:\n")
        for row in rows:
            if row["off"] > GOOD_PERCENT:
                out.write(f"- `{row['case']}`: {REASONS.get(row['case'], 'not known yet.')}\n")
    return good, slow


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("program")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        rows = list(pool.map(lambda case: measure(options.program, case), CASES))
    good, slow = write(rows)
    print(f"{good} and {slow} of {len(rows)} within {GOOD_PERCENT} %: perf/results/explain.md")
    return 0 if good >= GOOD_MIN and slow >= SLOW_MIN else 1


if __name__ == "__main__":
    sys.exit(main())
