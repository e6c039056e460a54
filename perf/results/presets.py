#!/usr/bin/env python3
"""Presets of published machines beside the published figures: `make kernbench-table`,
`make wormhole-table`, `make vendor-table`. Each writes one table beside this file.

Usage: presets.py PROGRAM kernbench|wormhole|vendor. All times are simulated: the same on every
machine. The sources of the figures are in configs/README.md.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = sys.argv[1]


def run(*arguments):
    command = [PROGRAM, "run", "--no-data", "--quiet", *arguments, "--json", "-"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)["results"]


def write(name, lines):
    path = os.path.join(HERE, name)
    with open(path + ".new", "w") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(path + ".new", path)


def error(simulated, published):
    return "%+.2f %%" % (100 * (simulated / published - 1))


# ---- kernbench: ns by memory of the slots and bytes per PE

KERNBENCH = {
    "tcm": (1678.04, 1957.04, 4225.04, 12001.04),
    "sram": (1774.04, 2389.04, 7345.04, 24337.04),
    "hbm": (1858.04, 2389.04, 6673.04, 21361.04),
}
KERNBENCH_BYTES = (256, 2048, 16384, 65536)
KERNBENCH_ROOTS = (("centre", "center", 17200), ("corner", "3,3", 22000))


def all_reduce_ns(preset, size, *settings):
    arguments = [one for setting in settings for one in ("--set", setting)]
    return run("--preset", preset, "--n-elem", str(size // 2), *arguments)[0]["time_ns"]


def kernbench():
    presets = ("kernbench", "kernbench-effective")
    lines = ["| slots | bytes per PE | published (ns) | " +
             " | ".join("%s (ns) | error" % preset for preset in presets) + " |",
             "|---" * 7 + "|"]
    worst = [0.0, 0.0]
    for memory, published in KERNBENCH.items():
        for size, figure in zip(KERNBENCH_BYTES, published):
            cells = []
            for i, preset in enumerate(presets):
                time = all_reduce_ns(preset, size, "defaults.buffer_kind=" + memory)
                worst[i] = max(worst[i], abs(time / figure - 1))
                cells += ["%.2f" % time, error(time, figure)]
            lines.append("| %s | %d | %.2f | %s |" % (memory, size, figure, " | ".join(cells)))
    lines.append("| the largest error | | | | %.2f %% | | %.2f %% |" %
                 tuple(100 * one for one in worst))
    lines += ["", "Not fitted: slots in TCM, 98304 bytes per PE.", "",
              "| root | published (ns) | " +
              " | ".join("%s (ns) | error" % preset for preset in presets) + " |",
              "|---" * 6 + "|"]
    for name, root, figure in KERNBENCH_ROOTS:
        cells = []
        for preset in presets:
            time = all_reduce_ns(preset, 98304, "defaults.root=" + root,
                                 "algorithms.lrab_hierarchical_allreduce.root=" + root)
            cells += ["%.2f" % time, error(time, figure)]
        lines.append("| %s | %d | %s |" % (name, figure, " | ".join(cells)))
    write("kernbench.md", lines)


# ---- wormhole_t3k: a hop's latency, and the rate of a ring whose links are all busy

TILES = 1000


def wormhole():
    lines = ["| figure | published | simulated | error |", "|---" * 4 + "|"]
    for size, figure in ((16, 872), (4096, 1558)):
        row = run("--preset", "wormhole_t3k", "--bench", "ipcq_pingpong", "--from", "0.0.0", "--to",
                  "1.0.0", "--bytes", str(size))[0]
        time = row["time_ns"] / 2
        lines.append("| a hop, %d bytes (ns) | %d | %.1f | %s |" %
                     (size, figure, time, error(time, figure)))
    for size, figure in ((2048, 4.73), (4096, 9.25)):
        row = run("--preset", "wormhole_t3k", "--bench", "ipcq_shift", "--dir", "global_E",
                  "--tiles", str(TILES), "--ahead", "4", "--bytes", str(size))[0]
        rate = TILES * size / row["time_ns"]
        lines.append("| a link of the ring, packets of %d bytes (GB/s) | %.2f | %.3f | %s |" %
                     (size, figure, rate, error(rate, figure)))
    write("wormhole_t3k.md", lines)


# ---- a3_16_vendor: reduce-scatters under two sets of figures


def size_text(size):
    return "%d MiB" % (size >> 20) if size >= 1 << 20 else "%d KiB" % (size >> 10)


def vendor():
    algorithms = ("birs", "rhd", "mesh")
    presets = ("a3_16", "a3_16_vendor")
    times = {}
    for preset in presets:
        for algorithm in algorithms:
            for row in run("--bench", "ccl_reduce_scatter", "--preset", preset, "--algorithm",
                           algorithm, "--bytes", "64KiB:256MiB:x4"):
                times[row["bytes"], preset, algorithm] = row["time_ns"] / 1000
    lines = ["| input of each rank | " +
             " | ".join("%s: %s (us) | birs / rhd" % (preset, ", ".join(algorithms))
                        for preset in presets) + " |",
             "|---" * 5 + "|"]
    for size in sorted({key[0] for key in times}):
        cells = []
        for preset in presets:
            three = [times[size, preset, algorithm] for algorithm in algorithms]
            cells += [" / ".join("%.1f" % time for time in three), "%.2f" % (three[0] / three[1])]
        lines.append("| %s | %s |" % (size_text(size), " | ".join(cells)))
    write("a3_16_vendor.md", lines)


{"kernbench": kernbench, "wormhole": wormhole, "vendor": vendor}[sys.argv[2]]()
