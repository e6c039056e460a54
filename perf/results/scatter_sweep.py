#!/usr/bin/env python3
"""The sweep of the reduce-scatters on paired dies: `make scatter-sweep`.

Runs birs, rhd and mesh on the preset a3_16 from 16 KiB to 256 MiB per rank, without data, and
writes beside this file:
- reduce_scatter.tsv, a line per size and algorithm with the simulated time and the share of it that
  sio and hccs links were busy; reduce_scatter.svg, its plot;
- reduce_scatter_speeds.md, times at 64 MiB where a speed is another;
- reduce_scatter_gain.md, by how much birs is shorter than rhd, by ranks, size and contention mode;
- reduce_scatter_inter.md, birs_inter and rhd for more than 16 ranks, powers of two or not;
- reduce_scatter_choice.md, auto's algorithm, and its time over that of the best.
All figures are simulated: the same on every machine.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/cubewarp"
ALGORITHMS = ("birs", "rhd", "mesh")
SPEEDS = (
    ("as in the preset", ()),
    ("sio 135 GB/s (half)", ("links.sio.bw_gbs=135",)),
    ("sio 540 GB/s (twice)", ("links.sio.bw_gbs=540",)),
    ("hccs 98 GB/s (half)", ("links.hccs.bw_gbs=98",)),
    ("hccs 392 GB/s (twice)", ("links.hccs.bw_gbs=392",)),
    ("HBM 1,600 GB/s each way (twice)", ("links.hbm.bw_gbs=1600",)),
)

PLOT = """
set terminal svg size 900,760 font 'sans-serif,13' background rgb 'white' noenhanced
set output '{svg}'
set logscale x 2
set xtics ('16 KiB' 16384, '256 KiB' 262144, '4 MiB' 4194304, '64 MiB' 67108864, '256 MiB' 268435456)
set xrange [12000:360000000]
set grid lc rgb '#dddddd'
set key top left
set multiplot layout 2,1
set ylabel 'bus bandwidth, GB/s'
set title 'Reduce-scatter on 16 paired dies (preset a3_16)'
plot {bandwidth}
unset title
set xlabel 'input of each rank'
set ylabel 'share of the time that links are busy, %'
set yrange [0:100]
plot {links}
unset multiplot
"""


MIB = 1 << 20
BLOCKS = ("fabric.contention=message",)  # each put holds a link as one block


def run(algorithm, sizes, sets=()):
    size = ("--bytes", sizes) if isinstance(sizes, str) else ("--n-elem", str(sizes // 2))
    command = [PROGRAM, "run", "--bench", "ccl_reduce_scatter", "--preset", "a3_16", "--no-data",
               "--algorithm", algorithm, *size, "--json", "-"]
    for one in sets:
        command += ["--set", one]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["results"]


def busy(row, kind):
    return next((k["busy"] for k in row["link_kinds"] if k["kind"] == kind), 0)


def write(name, text):
    path = os.path.join(HERE, name)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def sweep():
    lines = ["# bytes\talgorithm\ttime_us\tbusbw_gbs\tsio_busy\thccs_busy"]
    for algorithm in ALGORITHMS:
        for row in run(algorithm, "16KiB:256MiB:x2"):
            lines.append("%d\t%s\t%.6f\t%.3f\t%.4f\t%.4f" % (
                row["bytes"], algorithm, row["time_ns"] / 1000, row["busbw_gbs"],
                busy(row, "sio"), busy(row, "hccs")))
        lines.append("\n")  # gnuplot: the next one is another data set
    write("reduce_scatter.tsv", "\n".join(lines).rstrip() + "\n")


def plot():
    table = os.path.join(HERE, "reduce_scatter.tsv")
    colours = {"birs": "#1b6ca8", "rhd": "#c8553d", "mesh": "#6a994e"}
    bandwidth = ", ".join(
        "'%s' index %d using 1:4 with linespoints lw 2 pt 7 ps 0.5 lc rgb '%s' title '%s'"
        % (table, i, colours[a], a) for i, a in enumerate(ALGORITHMS))
    links = ", ".join(
        "'%s' index %d using 1:(100*$%d) with lines lw 2 dt %d lc rgb '%s' title '%s: %s'"
        % (table, i, column, dash, colours[a], a, kind)
        for i, a in enumerate(ALGORITHMS[:2])
        for kind, column, dash in (("sio", 5, 2), ("hccs", 6, 1)))
    svg = os.path.join(HERE, "reduce_scatter.svg.new")
    subprocess.run(["gnuplot"], input=PLOT.format(svg=svg, bandwidth=bandwidth, links=links),
                   text=True, check=True)
    os.replace(svg, svg[:-4])


def speeds():
    lines = ["| 64 MiB per rank | birs (us) | rhd (us) | mesh (us) | birs / rhd |",
             "|---|---|---|---|---|"]
    for name, sets in SPEEDS:
        us = [run(a, "64MiB", sets)[0]["time_ns"] / 1000 for a in ALGORITHMS]
        lines.append("| %s | %.1f | %.1f | %.1f | %.2f |" % (name, *us, us[0] / us[1]))
    write("reduce_scatter_speeds.md", "\n".join(lines) + "\n")


def ranks(count):
    return ("system.sips.count=%d" % count,)


def gain():
    """Of the time of rhd: by how much birs is shorter."""
    sizes = (1, 4, 16, 64, 256)
    lines = ["| ranks | contention | " + " | ".join("%d MiB" % size for size in sizes) + " |",
             "|---|---" + "|---" * len(sizes) + "|"]
    for count in (4, 8, 16):
        for name, sets in (("chunk, as in the preset", ()), ("message", BLOCKS)):
            cells = []
            for size in sizes:
                birs, rhd = (run(a, size * MIB, sets + ranks(count))[0]["time_ns"]
                             for a in ("birs", "rhd"))
                cells.append("%.1f %%" % (100 * (1 - birs / rhd)))
            lines.append("| %d | %s | %s |" % (count, name, " | ".join(cells)))
    write("reduce_scatter_gain.md", "\n".join(lines) + "\n")


def inter():
    """Each cell: birs_inter / rhd, in us. A size is the next one that the ranks divide."""
    sizes = (1, 4, 16, 64)
    lines = ["| ranks | " + " | ".join("%d MiB" % size for size in sizes) + " |",
             "|---" * (len(sizes) + 1) + "|"]
    for count in (18, 24, 32, 40, 48, 64, 96, 128, 256, 512):
        cells = []
        for size in sizes:
            whole = -(-size * MIB // (2 * count)) * 2 * count
            cells.append(" / ".join("%.1f" % (run(a, whole, ranks(count))[0]["time_ns"] / 1000)
                                    for a in ("birs_inter", "rhd")))
        lines.append("| %d | %s |" % (count, " | ".join(cells)))
    write("reduce_scatter_inter.md", "\n".join(lines) + "\n")


def size_text(size):
    return "%d MiB" % (size // MIB) if size >= MIB else "%d KiB" % (size // 1024)


def choice():
    """What auto takes from 1 KiB to 256 MiB, and its time over the least of all algorithms'."""
    counts, sizes, worst = (4, 8, 16, 32, 64, 128), "1KiB:256MiB:x2", 0
    columns = []
    for count in counts:
        best = ("birs" if count <= 16 else "birs_inter",) + ALGORITHMS[1:]
        rows = [run(algorithm, sizes, ranks(count)) for algorithm in best]
        cells = []
        for i, taken in enumerate(run("auto", sizes, ranks(count))):
            ratio = taken["time_ns"] / min(row[i]["time_ns"] for row in rows)
            worst = max(worst, ratio)
            cells.append("%s %.3f" % (taken["algorithm"], ratio))
        columns.append(cells)
    lines = ["| input of each rank | " + " | ".join("%d ranks" % count for count in counts) + " |",
             "|---" * (len(counts) + 1) + "|"]
    for i, cells in enumerate(zip(*columns)):
        lines.append("| %s | %s |" % (size_text(1024 << i), " | ".join(cells)))
    lines.append("")
    lines.append("The largest: %.3f." % worst)
    write("reduce_scatter_choice.md", "\n".join(lines) + "\n")


sweep()
speeds()
gain()
inter()
choice()
plot()
