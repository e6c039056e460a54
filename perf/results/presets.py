#!/usr/bin/env python3
"""Presets of published machines beside the published figures: `make kernbench-table`,
`make wormhole-table`, `make vendor-table`, `make mi300x-table`, `make a100-table`, `make v100-table`. Each writes one table beside this file.

Usage: presets.py PROGRAM kernbench|wormhole|vendor|mi300x|a100|v100. All times are simulated: the same on every
machine. The sources of the figures are in configs/README.md.
"""
import json
import os
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


# ---- mi300x_8: rccl-tests with MSCCL algorithms, us, in place

SIZES = [1 << shift for shift in (10, 14, 16, 18, 20, 22, 24, 26, 28, 30)]
MI300X = [
    ("all-gather, ring, LL, 1 channel", "all_gather", "ring", "LL", 1,
     (18.7, 19.6, 43.9, 149.9, 597.5, 2377, 9384, 37265, 150316, 598562)),
    ("all-gather, ring, Simple, 8 channels", "all_gather", "ring", "Simple", 8,
     (34.9, 34.8, 36.0, 49.4, 100.0, 300.7, 1069, 1867, 5833, 21591)),
    ("all-gather, all pairs, Simple, 1 channel", "all_gather", "pairs", "Simple", 1,
     (10.7, 10.9, 11.1, 13.0, 24.1, 60.8, 206.2, 804.6, 3183, 12753)),
    ("all-reduce, all pairs, LL, 8 channels", "all_reduce", "pairs", "LL", 8,
     (18.6, 13.7, 13.9, 16.1, 32.5, 103.7, 395.6, 1552, 6014, 23983)),
]
GPUS = 8


def step(kind, src, dst, count=1, wait=None, awaited=False):
    buffers = "srcbuf=\"%s\" srcoff=\"%d\" dstbuf=\"%s\" dstoff=\"%d\"" % (src + dst)
    return "type=\"%s\" %s cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"" % (
        (kind, buffers, count) + (wait or (-1, -1)) + (awaited,))


def nop(wait):
    return step("nop", ("i", -1), ("o", -1), 0, wait)


def ring(rank, channels):
    """A rank's thread blocks: (peer to send to, to receive from, channel, steps). Chunk c goes by
    channel c modulo the channels, as msccl-tools' allgather_ring.py has it."""
    for c in range(channels):
        steps = []
        for k in range(GPUS):
            owner = (rank - k) % GPUS
            if owner % channels == c:
                kind = "s" if k == 0 else "rcs" if k < GPUS - 1 else "r"
                steps.append(step(kind, ("o", owner), ("o", owner)))
        yield (rank + 1) % GPUS, (rank - 1) % GPUS, c, steps


def gather_pairs(rank, channels):
    for peer in (peer for peer in range(GPUS) if peer != rank):
        for c in range(channels):
            yield peer, peer, c, [step("s", ("i", c), ("o", rank * channels + c)),
                                  step("r", ("i", c), ("o", peer * channels + c))]


def reduce_pairs(rank, channels):
    """Each of a channel's thread blocks, one for each peer and one more, adds up one piece."""
    peers = [peer for peer in range(GPUS) if peer != rank]

    def block(k, c):
        return c * GPUS + k

    def part(owner, c):
        return (owner * channels + c) * GPUS

    def scratch(k, c):
        return (k * channels + c) * GPUS

    for c in range(channels):
        for k in range(GPUS):
            local = k == GPUS - 1
            peer = -1 if local else peers[k]
            steps = [] if local else [
                step("s", ("i", part(peer, c)), ("s", 0), GPUS),
                step("r", ("i", 0), ("s", scratch(k, c)), GPUS, awaited=True)]
            steps += [nop((block(q, c), 1)) for q in range(GPUS - 1) if q != k]
            steps += [step("re", ("s", scratch(q, c) + k), ("i", part(rank, c) + k),
                           awaited=q == GPUS - 2) for q in range(GPUS - 1)]
            if not local:
                steps += [nop((block(q, c), added(q))) for q in range(GPUS) if q != k]
                steps += [step("s", ("i", part(rank, c)), ("i", part(rank, c)), GPUS),
                          step("r", ("i", 0), ("i", part(peer, c)), GPUS)]
            yield peer, peer, c, steps


def added(block):
    """The step of a block after which its piece is added up."""
    before = 0 if block == GPUS - 1 else 2
    waits = GPUS - 1 if block == GPUS - 1 else GPUS - 2
    return before + waits + GPUS - 1 - 1


def msccl(collective, shape, protocol, channels):
    reduces = collective == "all_reduce"
    blocks = ring if shape == "ring" else reduce_pairs if reduces else gather_pairs
    pieces = 1 if shape == "ring" else channels * (GPUS if reduces else 1)
    chunks = GPUS * pieces
    lines = ["<algo name=\"%s\" proto=\"%s\" nchannels=\"%d\" nchunksperloop=\"%d\" "
             "ngpus=\"%d\" coll=\"%s\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" "
             "maxBytes=\"0\">" % (shape, protocol, channels, chunks, GPUS,
                                    collective.replace("_", ""))]
    for rank in range(GPUS):
        lines.append("<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\">" % (
            (rank,) + ((chunks, 0, chunks - chunks // GPUS) if reduces else (pieces, chunks, 0))))
        for number, (to, source, channel, steps) in enumerate(blocks(rank, channels)):
            lines.append("<tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">" % (
                number, to, source, channel))
            lines += ["<step s=\"%d\" %s/>" % item for item in enumerate(steps)]
            lines.append("</tb>")
        lines.append("</gpu>")
    return "\n".join(lines + ["</algo>", ""])


def mi300x():
    lines = ["Simulated and measured times in us, and the errors.", "",
             "| | %s |" % " | ".join(size_text(size) for size in SIZES),
             "|---" * (len(SIZES) + 1) + "|"]
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for title, collective, shape, protocol, channels, measured in MI300X:
            path = os.path.join(folder, "algorithm.xml")
            with open(path, "w") as file:
                file.write(msccl(collective, shape, protocol, channels))
            times = []
            for size in SIZES:
                row, = run("--preset", "mi300x_8", "--algorithm", path, "--bytes", str(size))
                times.append(row["time_ns"] / 1000)
            errors += [time / known - 1 for time, known in zip(times, measured)]
            lines.append("| %s | %s |" % (title, " | ".join(
                "%.1f / %.1f, %+.0f %%" % (time, known, 100 * (time / known - 1))
                for time, known in zip(times, measured))))
    lines += ["", spread_of(errors, 0)]
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
