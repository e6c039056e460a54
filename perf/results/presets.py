#!/usr/bin/env python3
"""Presets of published machines beside the published figures: `make kernbench-table`,
`make wormhole-table`, `make vendor-table`, `make mi300x-table`, `make a100-table`, `make v100-table`. Each writes one table beside this file.

Usage: presets.py PROGRAM kernbench|wormhole|vendor|mi300x|a100|v100. All times are simulated: the same on every
machine. The sources of the figures are in configs/README.md.
"""
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

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


def spread_of(errors, places):
    sizes = sorted(abs(one) for one in errors)
    quoted = sizes[len(sizes) // 2], sizes[len(sizes) * 9 // 10 - 1], sizes[-1]
    return "Of %d errors half are at most %s %%, nine in ten at most %s %%, all at most %s %%." % (
        (len(sizes),) + tuple("%.*f" % (places, 100 * one) for one in quoted))


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
    if size >= 1 << 30:
        return "%d GiB" % (size >> 30)
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


# ---- mi300x_8: rccl-tests with MSCCL XML files, us, in place

SIZES = [1 << shift for shift in range(10, 31, 2)]
MI300X = os.path.join(HERE, "mi300x")


def percentile(errors, part):
    sizes = sorted(abs(one) for one in errors)
    return 100 * sizes[min(len(sizes) - 1, int(len(sizes) * part))]


def measured_times(name):
    """Times in us by bytes."""
    with open(os.path.join(MI300X, name + ".csv")) as file:
        return {int(size): float(time)
                for size, time in (line.split(",") for line in file.read().split()[1:])}


def algorithm_file(name, folder):
    """The path of the XML file, which may be packed."""
    path = os.path.join(MI300X, name + ".xml")
    if os.path.exists(path):
        return path
    unpacked = os.path.join(folder, name + ".xml")
    with lzma.open(path + ".xz") as packed, open(unpacked, "wb") as file:
        shutil.copyfileobj(packed, file)
    return unpacked


def divides(path, size):
    """Whether the elements, of four bytes, divide into the file's chunks."""
    with open(path) as file:
        chunks = int(re.search('nchunksperloop="([0-9]+)"', file.read()).group(1))
    return size // 4 % chunks == 0


def mi300x():
    lines = ["Simulated and measured times in us, and the errors, by file and size of the larger buffer.",
             "", "| | %s | half | nine in ten |" % " | ".join(size_text(size) for size in SIZES),
             "|---" * (len(SIZES) + 3) + "|"]
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(name[:-4] for name in os.listdir(MI300X) if name.endswith(".csv")):
            path, known, cells, own = algorithm_file(name, folder), measured_times(name), [], []
            for size in SIZES:
                if not divides(path, size):
                    cells.append("/ %.1f" % known[size])
                    continue
                row, = run("--preset", "mi300x_8", "--algorithm", path, "--bytes", str(size))
                time = row["time_ns"] / 1000
                own.append(time / known[size] - 1)
                cells.append("%.1f / %.1f, %+.0f %%" % (time, known[size], 100 * own[-1]))
            errors += own
            lines.append("| %s | %s | %.1f %% | %.1f %% |" % (
                name, " | ".join(cells), percentile(own, 0.5), percentile(own, 0.9)))
    lines += ["", spread_of(errors, 1) + " Where elements do not divide into the file's chunks, the "
              "library does not take the file."]
    write("mi300x_8.md", lines)


# ---- a100_8, v100_8: nccl-tests of vTrain, all-reduce (float, sum), ns out of place

NCCL_SIZES = [1 << shift for shift in range(20, 31)]
NCCL = {
    ("a100_8", 2): (
        44210, 53430, 61180, 86900, 131900, 230000, 404700, 763600, 1455800, 2838400,
        5442800),
    ("a100_8", 8): (
        92790, 93250, 95800, 134300, 232400, 358100, 579900, 1162000, 2162300, 4191500,
        8193000),
    ("v100_8", 8): (
        79930, 101300, 150900, 237900, 273800, 479300, 911300, 1777100, 3527400, 7004400,
        13969000),
}


def nccl(preset):
    lines = ["Simulated and measured times in us, and the errors.", "",
             "| GPUs | %s |" % " | ".join(size_text(size) for size in NCCL_SIZES),
             "|---" * (len(NCCL_SIZES) + 1) + "|"]
    errors = []
    for (of, gpus), measured in NCCL.items():
        if of != preset:
            continue
        rows = run("--preset", preset, "--set", "system.sips.count=%d" % gpus, "--dtype", "f32",
                   "--bytes-per-rank", ",".join(map(str, NCCL_SIZES)))
        pairs = [(row["time_ns"] / 1000, known / 1000) for row, known in zip(rows, measured)]
        errors += [time / known - 1 for time, known in pairs]
        lines.append("| %d | %s |" % (gpus, " | ".join(
            "%.1f / %.1f, %+.1f %%" % (time, known, 100 * (time / known - 1))
            for time, known in pairs)))
    lines += ["", spread_of(errors, 1)]
    write(preset + ".md", lines)


{"kernbench": kernbench, "wormhole": wormhole, "vendor": vendor,
 "mi300x": mi300x, "a100": lambda: nccl("a100_8"), "v100": lambda: nccl("v100_8")}[sys.argv[2]]()
