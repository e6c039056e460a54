#!/usr/bin/env python3
"""The studies that ship: `make studies`.

Usage: studies.py PROGRAM FOLDER. Sweeps each of configs/studies into FOLDER, with a page for each (NAME.html), and writes
below perf/results/studies/ the figures that the documents show, as SVG, and their data as CSV. A study that has been
swept into FOLDER does not run again. All figures are simulated: the same on every machine.
"""
import csv
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
OUT = HERE / "studies"
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(TOP / "build" / "cubewarp")
FOLDER = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else TOP / "build" / "studies")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
HEAD = """set terminal svg size {width},{height} font 'sans-serif,13' background rgb 'white' noenhanced
set output '{path}'
set title '{title}'
set xlabel '{x}'
set ylabel '{y}'
set grid lc rgb '#dddddd'
"""
SHARES = ("load", "store", "math", "calls", "wait for an asynchronous move")


def sweep(name):
    """The database of a study, as rows of figures with the axes beside them."""
    database = FOLDER / f"{name}.sqlite"
    subprocess.run([PROGRAM, "sweep", TOP / "configs" / "studies" / f"{name}.yaml", "--db", database], check=True, cwd=TOP)
    subprocess.run([PROGRAM, "report", database, "-o", FOLDER / f"{name}.html"], check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(database) as db:
        db.row_factory = sqlite3.Row
        axes = {}
        for point, axis, value in db.execute("SELECT point, name, value FROM axis ORDER BY point, position"):
            axes.setdefault(point, {})[axis] = value
        rows = [{**row, "axes": axes.get(row["point"], {})} for row in db.execute("SELECT * FROM row ORDER BY point, ordinal")]
        for row in rows:
            text = db.execute("SELECT result FROM point WHERE id = ?", (row["point"],)).fetchone()[0]
            result = json.loads(text)
            row["json"], row["step"] = result["results"][row["ordinal"]], result.get("step")
            row["switches"], row["changed"] = result["topology"].get("switches"), result["provenance"]["changed"]
        return [row for row in rows if row["not_run"] is None]


def write_csv(name, columns, rows):
    with open(OUT / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def gnuplot(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size:g} B"


def curves(name, title, x, y, series, logs="xy", sizes=False, height=420):
    """series: {label: [(x, y), ...]}."""
    script = HEAD.format(width=900, height=height, path=OUT / f"{name}.svg", title=title, x=x, y=y)
    script += "set key outside right\n" + "".join(f"set logscale {axis}\n" for axis in logs)
    xs = sorted({px for points in series.values() for px, _ in points})
    ticks = xs if len(xs) < 13 else xs[::2]
    if "x" in logs:
        script += "set xtics rotate by -40 (" + ", ".join(f"'{size_text(px) if sizes else f'{px:g}'}' {px:.9g}" for px in ticks) + ")\n"
    script += f"set xrange [{xs[0] / 1.2 if 'x' in logs else xs[0]:.9g}:{xs[-1] * 1.2:.9g}]\n"
    for i, points in enumerate(series.values()):
        script += f"$d{i} << END\n" + "".join(f"{px:.9g} {py:.9g}\n" for px, py in points) + "END\n"
    script += "plot " + ", ".join(f"$d{i} with linespoints lw 2 pt {i + 4} lc rgb '{COLOURS[i % 7]}' title '{label}'"
                                  for i, label in enumerate(series)) + "\n"
    gnuplot(script)


def bars(name, title, y, labels, series, stacked=False):
    """series: {label: [a figure for each of labels]}."""
    script = HEAD.format(width=900, height=420, path=OUT / f"{name}.svg", title=title, x="product m x n x k", y=y)
    script += f"set key outside {'top center horizontal' if stacked else 'right'}\nset style data histograms\nset style fill solid 0.9 border rgb 'white'\nset boxwidth 0.8\n"
    script += f"set style histogram {'rowstacked' if stacked else 'clustered gap 1'}\n"
    script += f"set yrange [0:{'100' if stacked else ''}]\n$d << END\n"
    for i, label in enumerate(labels):
        script += f'"{label}" ' + " ".join(f"{figures[i]:.9g}" for figures in series.values()) + "\n"
    script += f"END\nset xtics rotate by {-90 if len(labels) > 12 else -40}\nplot " + ", ".join(
        f"$d using {i + 2}:xtic(1) lc rgb '{COLOURS[i % 7]}' title '{label}'" for i, label in enumerate(series)) + "\n"
    gnuplot(script)


def group(rows, key, x, y):
    series = {}
    for row in rows:
        series.setdefault(key(row), []).append((x(row), y(row)))
    return {label: sorted(points) for label, points in series.items()}


def allreduce_latency():
    rows = sweep("allreduce_latency")
    write_csv("allreduce_latency", ("algorithm", "sip_topology", "n_sips", "n_elem", "bytes_per_pe", "bytes_per_sip", "latency_ns"),
              [(r["algorithm"], r["axes"]["sip_topology"], r["sips"], r["count"], r["bytes"], r["bytes_per_rank"], r["time_ns"])
               for r in rows])
    for topology in ("ring_1d", "torus_2d", "mesh_2d_no_wrap"):
        own = [r for r in rows if r["axes"]["sip_topology"] == topology]
        curves(f"allreduce_latency_{topology}", f"All-reduce of 6 SIPs, {topology}", "bytes per PE", "latency (us)",
               {"time": [(r["bytes"], r["time_ns"] / 1000) for r in own], "lower bound": [(r["bytes"], r["bound_ns"] / 1000) for r in own]},
               sizes=True)
        sides = ["--set", "system.sips.w=null", "--set", "system.sips.h=null"] if topology == "ring_1d" else []
        subprocess.run([PROGRAM, "topo", "--preset", "kernbench", "--set", f"system.sips.topology={topology}", *sides, "--svg",
                        OUT / f"topology_{topology}.svg"], check=True, stdout=subprocess.DEVNULL)


def allreduce_memory():
    rows = sweep("allreduce_memory")
    write_csv("allreduce_memory", ("buffer_kind", "n_sips", "n_elem", "bytes_per_pe", "bytes_per_sip", "latency_ns"),
              [(r["axes"]["defaults.buffer_kind"], r["sips"], r["count"], r["bytes"], r["bytes_per_rank"], r["time_ns"]) for r in rows])
    curves("allreduce_memory", "All-reduce of 6 SIPs, 3 x 2 torus, by the memory of the slots", "bytes per PE", "latency (us)",
           group(rows, lambda r: r["axes"]["defaults.buffer_kind"], lambda r: r["bytes"], lambda r: r["time_ns"] / 1000), sizes=True)


def gemm():
    table = []
    for row in sweep("gemm"):
        shape, operands = row["axes"]["gemm"], row["axes"]["gemm-operands"]
        m, n, k = map(int, shape.split("x"))
        explain = row["json"]["explain"]
        table.append({"shape": shape, "operands": operands, "m": m, "n": n, "k": k, "ns": row["time_ns"], "rate": 2 * m * n * k / row["time_ns"],
                      "blocks": {block: explain["blocks"][block]["busy_share"] for block in ("pe_gemm", "pe_dma", "pe_fetch_store")},
                      "shares": explain["mean"]["shares_ns"], "phases": {p["name"]: p["mean_ns"] for p in row["json"]["phases"]},
                      "limit": explain["sentence"]})
    shapes, ways = list(dict.fromkeys(r["shape"] for r in table)), list(dict.fromkeys(r["operands"] for r in table))
    of = {(r["shape"], r["operands"]): r for r in table}
    write_csv("gemm", ("product", "m", "n", "k", "operands", "time_ns", "load_operands_ns", "gflops_per_pe", "pe_gemm_busy", "pe_dma_busy",
                       "pe_fetch_store_busy", *(f"{share.replace(' ', '_')}_ns" for share in SHARES), "limited_by"),
              [(r["shape"], r["m"], r["n"], r["k"], r["operands"], r["ns"], r["phases"].get("load operands", ""), f"{r['rate']:.3f}",
                *(f"{v:.4f}" for v in r["blocks"].values()), *(r["shares"].get(s, 0.0) for s in SHARES), r["limit"]) for r in table])
    bars("gemm_stages", "The stages of a PE, by operands: s(treamed), p(inned), l(oaded)", "share of the time (%)",
         [f"{shape} {way[0]}" for shape in shapes for way in ways],
         {share: [100 * of[shape, way]["shares"].get(share, 0) / sum(of[shape, way]["shares"].values()) for shape in shapes for way in ways]
          for share in SHARES}, stacked=True)
    bars("gemm_occupancy", "How long PE_GEMM is busy", "busy (%)", shapes,
         {way: [100 * of[shape, way]["blocks"]["pe_gemm"] for shape in shapes] for way in ways})
    bars("gemm_flops", "Rate of a PE", "GFLOP/s", shapes, {way: [of[shape, way]["rate"] for shape in shapes] for way in ways})


def scaling():
    rows = sweep("scaling")
    write_csv("scaling", ("sip_topology", "n_sips", "algorithm", "bytes_per_rank", "latency_ns", "busbw_gbs"),
              [(r["axes"]["system.sips.topology"], r["sips"], r["axes"]["algorithm"], r["bytes_per_rank"], r["time_ns"], r["busbw_gbs"])
               for r in rows])
    for topology in ("ring_1d", "torus_2d", "mesh_2d_no_wrap", "switch"):
        curves(f"scaling_{topology}", f"All-reduce of 64 KiB per rank, {topology}", "SIPs", "time (us)",
               group([r for r in rows if r["axes"]["system.sips.topology"] == topology], lambda r: r["axes"]["algorithm"],
                     lambda r: r["sips"], lambda r: r["time_ns"] / 1000))


def scaling_million():
    rows = sweep("scaling_million")
    write_csv("scaling_million", ("machine", "n_sips", "latency_ns", "bound_ns", "sips_simulated", "fold"),
              [(r["axes"]["machine"], r["sips"], r["time_ns"], r["bound_ns"], r["sips_simulated"], r["fold"]) for r in rows])
    curves("scaling_million", "All-reduce of 24 MiB per rank by torus_rs_ag", "SIPs", "time (us)",
           group(rows, lambda r: r["axes"]["machine"], lambda r: r["sips"], lambda r: r["time_ns"] / 1000))


def link_speeds():
    rows = sweep("link_speeds")
    for topology in ("ring_1d", "torus_2d", "switch"):
        curves(f"link_speeds_{topology}", f"All-reduce of 256 KiB, 16 SIPs, {topology}", "GB/s of a link between SIPs", "time (us)",
               group([r for r in rows if r["axes"]["system.sips.topology"] == topology], lambda r: r["axes"]["algorithm"],
                     lambda r: float(r["axes"]["links.sip_link.bw_gbs"]), lambda r: r["time_ns"] / 1000))


def slow_pe():
    rows = sweep("slow_pe")
    least = {}
    for r in rows:
        key = (r["axes"]["algorithm"], r["axes"]["faults.slow.at"])
        least[key] = min(least.get(key, r["time_ns"]), r["time_ns"])
    curves("slow_pe", "All-reduce of 64 SIPs, 16 KiB: one PE whose PE_MATH is slower", "that PE slower by (%)", "all-reduce longer by (%)",
           group(rows, lambda r: f"{r['axes']['algorithm']}, PE {r['axes']['faults.slow.at']}",
                 lambda r: float(r["axes"]["faults.slow.slower"]),
                 lambda r: 100 * (r["time_ns"] / least[r["axes"]["algorithm"], r["axes"]["faults.slow.at"]] - 1)), logs="")


def reduce_scatter():
    rows = sweep("reduce_scatter")
    for preset in ("a3_4", "a3_8", "a3_16"):
        curves(f"reduce_scatter_{preset}", f"Reduce-scatter on paired dies, {preset}", "input of each rank", "busbw (GB/s)",
               group([r for r in rows if r["axes"]["preset"] == preset], lambda r: r["axes"]["algorithm"],
                     lambda r: r["bytes"], lambda r: r["busbw_gbs"]), logs="x", sizes=True)


def tensor_data():
    rows = sweep("tensor_data")
    write_csv("tensor_data", ("sip_topology", "dp_lanes", "calls", "collective", "time_ns", "begin_ns", "end_ns", "alone_ns"),
              [(r["axes"]["system.sips.topology"], r["axes"]["groups.dp.lanes"], r["axes"]["call"], r["collective"], r["time_ns"],
                *(r["json"].get("groups", {}).get(key) for key in ("begin_ns", "end_ns", "alone_ns"))) for r in rows])


def plans_175b():
    rows = [row for row in sweep("plans_175b") if row["collective"] == "step"]
    write_csv("plans_175b", ("tp", "pp", "dp", "step_ns", "utilisation", "limited_by", "fits"),
              [(*(row["axes"][key] for key in ("tp", "pp", "dp")), row["time_ns"], round(row["step"]["utilisation"], 6),
                row["step"]["critical_path"]["limited_by"], row["step"]["memory"]["fits"]) for row in rows])


def plans():
    rows = [row for row in sweep("plans") if row["collective"] == "step"]
    write_csv("plans", ("tp", "pp", "dp", "step_ns", "utilisation", "limited_by"),
              [(*(row["axes"][f"workload.parallel.{key}"] for key in ("tp", "pp", "dp")), row["time_ns"],
                round(row["step"]["utilisation"], 6), row["step"]["critical_path"]["limited_by"]) for row in rows])


def equal_cost():
    rows = sweep("equal_cost")
    write_csv("equal_cost", ("budget", "machine", "bytes_per_rank", "algorithm", "time_ns", "links_built", "switches", "link_scale", "cost",
                             "time_cost_us", "watts", "joules", "joules_per_byte"),
              [(r["axes"]["budget"], r["axes"]["machine"], r["bytes_per_rank"], r["algorithm"], r["time_ns"], r["links_built"], r["switches"],
                r["changed"]["links.scale"], *(r[key] for key in ("cost", "time_cost_us", "watts", "joules", "joules_per_byte"))) for r in rows])
    subprocess.run([PROGRAM, "report", FOLDER / "equal_cost.sqlite", "--pareto", OUT / "equal_cost.svg"], check=True)


def main():
    OUT.mkdir(exist_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.chdir(FOLDER)
    for study in (allreduce_latency, allreduce_memory, gemm, scaling, scaling_million, link_speeds, slow_pe, reduce_scatter, tensor_data, plans, plans_175b,
                  equal_cost):
        study()
    print(f"figures and their data: {OUT}\npages: {FOLDER}/*.html")


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(PROGRAM).resolve())
    FOLDER = FOLDER.resolve()
    main()
