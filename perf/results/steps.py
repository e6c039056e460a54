#!/usr/bin/env python3
"""Steps of GPTs beside measured ones: `make steps-table` writes steps.md beside this file.

Usage: steps.py PROGRAM [-j JOBS] [--seconds S] [--rows N]
S: longest run of a row (600). N: every N-th row alone, and no file is written.

The rows are those of vTrain (VIA-Research/vTrain, MICRO 2024): one iteration of Megatron-DeepSpeed in
fp16 on 1 to 8 A100 of a node (steps_node.csv, ms), and on nodes of 8 joined by InfiniBand
(steps_nodes.csv). Each row is one command `workload new` and one command `step`; all times are simulated,
the same on every machine.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = sys.argv[1]


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def model(row):
    return ["workload", "new", "gpt", "--vocab", "51200", "--dtype", "f16",
            "--layers", row["layers"], "--hidden", row["hidden"], "--heads", row["heads"],
            "--sequence", row["sequence"], "--micro-batch", row["micro_batch"],
            "--global-batch", row["global_batch"], "--tp", row["tensor_parallel"],
            "--dp", row["data_parallel"], "--pp", row["pipeline_parallel"]]


def machine(row):
    gpus = int(row["gpus"])
    if gpus <= 8:
        return ["--preset", "a100_8", "--set", "system.sips.count=%d" % gpus]
    return ["--preset", "a100_nodes", "--set",
            "system.sips={count: %d, topology: [{switch: 8, bw_gbs: 246}, "
            "{switch: %d, bw_gbs: 12.5, latency_ns: 2500}]}" % (gpus, gpus // 8)]


def simulated_ms(row):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.yaml")
        with open(path, "w") as file:
            subprocess.run([PROGRAM] + model(row), check=True, stdout=file)
        try:
            output = subprocess.run(
                [PROGRAM, "step", path, "--quiet", "--json", "-"] + machine(row), check=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=option("--seconds", 600)).stdout
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
    return json.loads(output)["step"]["step_ns"] / 1e6


COLUMNS = ["gpus", "global_batch", "micro_batch", "hidden", "layers", "sequence",
           "tensor_parallel", "data_parallel", "pipeline_parallel"]


def table(name, workers):
    with open(os.path.join(HERE, name)) as file:
        rows = list(csv.DictReader(file))[::option("--rows", 1)]
    with ThreadPoolExecutor(workers) as pool:
        times = list(pool.map(simulated_ms, rows))
    errors = [time and time / float(row["iteration_ms"]) - 1 for row, time in zip(rows, times)]
    lines = ["| GPUs | batch | micro-batch | hidden | layers | sequence | t | d | p | "
             "measured (ms) | simulated (ms) | error |", "|---" * 12 + "|"]
    for row, time, error in zip(rows, times, errors):
        lines.append("| %s | %.1f | %s |" % (
            " | ".join(row[column] for column in COLUMNS), float(row["iteration_ms"]),
            "%.1f | %+.1f %%" % (time, 100 * error) if time else "none | "))
    known = [abs(error) for error in errors if error is not None]
    return "%.2f %% of %d of %d rows" % (100 * sum(known) / max(len(known), 1), len(known),
                                         len(rows)), lines


def main():
    workers = option("-j", 1)
    node, node_lines = table("steps_node.csv", workers)
    nodes, nodes_lines = table("steps_nodes.csv", workers)
    lines = ["Mean absolute errors: %s of one node, %s of many. Rows without a time failed, or "
             "took too long." % (node, nodes),
             "t, d, p: tensor, data and pipeline parallelism.", "", "## One node", ""]
    lines += node_lines + ["", "## Many nodes", ""] + nodes_lines
    if "--rows" in sys.argv:
        print(lines[0])
        return
    path = os.path.join(HERE, "steps.md")
    with open(path + ".new", "w") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(path + ".new", path)


main()
