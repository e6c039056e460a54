#!/usr/bin/python3
"""Estimates of runs beside the runs: 300 points, drawn by a fixed seed from benches, algorithms, mappers, presets, topologies,
sizes, types, products and options. points.csv has each point's settings, as a study takes them, with the events and the
memory that its run had; estimates come from `sweep --dry-run`. Events and memory are estimated within a factor of 2 for 95 %
of the points, and within 3 for all. Prints one line per test, as the unit tests do.

    CUBEWARP=build/check/cubewarp test/estimates/test_estimates.py              a sample of the points
    CUBEWARP=build/check/cubewarp test/estimates/test_estimates.py --all        runs all points again
    CUBEWARP=build/check/cubewarp test/estimates/test_estimates.py --draw       writes points.csv anew
    CUBEWARP=build/check/cubewarp test/estimates/test_estimates.py --show       the estimates that miss
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "figures"))
sys.dont_write_bytecode = True
from test_figures import ALGORITHMS, LINKS, SUMS, TOPOLOGIES  # pylint: disable=wrong-import-position

CUBEWARP = os.environ.get("CUBEWARP", str(TOP / "build" / "cubewarp"))
os.environ["CUBEWARP_SHORTCUTS"] = "off"  # events and memory are those of whole machines
POINTS = TOP / "test" / "estimates" / "points.csv"
SEED, COUNT, SAMPLED, SAMPLE = 41, 300, 60, 20
SECONDS_MOST = 4.0
PRESETS = ["tiny", "six_3x2", "kernbench", "a3_4", "a3_8", "a3_16", "mi300x_8", "wormhole_t3k", "default", "pod64", "torus_4x4x4",
           "dragonfly_64", "fat_tree_64", "rail_128", "pod1024"]
LARGE = ["[{torus_2d: [4, 4]}, {switch: 4, bw_gbs: 50}]", "torus_2d", "torus_3d", "ring_1d", "switch", "fully_connected"]
MAPPERS = [None, None, None, "leader_only", "pe0_all_cubes", "all_pes"]
BENCHES = [*ALGORITHMS, *ALGORITHMS, "ccl_allreduce", "ccl_allreduce", "ipcq_pingpong", "ipcq_shift", "raw_store", "gemm", "gemm_allreduce"]
TYPES = ["f16", "f16", "bf16", "f32", "f64", "fp8_e4m3", "int8", "int32"]


def draw_machine(rng):
    if rng.random() < 0.5:
        settings = {"preset": rng.choice(PRESETS)}
    else:
        topology = rng.choice(TOPOLOGIES if rng.random() < 0.7 else LARGE)
        sides = re.findall(r": \[?([\d, ]+)[\],}]", re.sub(r"(bw_gbs|latency_ns|distance_mm): [\d.]+", "", topology))
        count = 1
        for side in (int(side) for group in sides for side in group.split(",") if side.strip()):
            count *= side
        if topology[0] != "[":
            count = rng.choice([1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 32, 64])
        settings = {"system.sips.topology": topology, "system.sips.count": count}
        if rng.random() < 0.6:
            settings |= {"sip.cube_mesh.w": rng.choice([1, 2, 3, 4]), "sip.cube_mesh.h": rng.choice([1, 2, 4])}
        if rng.random() < 0.2:
            settings["cube.pe_layout.pe_per_corner"] = rng.choice([1, 3])
    if rng.random() < 0.15:
        settings[f"links.{rng.choice(LINKS)}.bw_gbs"] = rng.choice([12.5, 70, 300])
    if rng.random() < 0.1:
        settings["fabric.contention"] = rng.choice(["none", "chunk"])
    if rng.random() < 0.1:
        settings["defaults.buffer_kind"] = rng.choice(["sram", "hbm"])
    if rng.random() < 0.1:
        settings["defaults.slot_size"] = rng.choice([1024, 2048, 16384])
    return settings


def draw(rng):
    """The settings of a point, in the order in which a study gives them."""
    settings = draw_machine(rng)
    bench = rng.choice(BENCHES)
    settings["bench"] = bench
    algorithms = ALGORITHMS.get(bench, [one for one in SUMS if one != "auto"] if bench == "gemm_allreduce" else None)
    if algorithms and rng.random() < 0.85:
        algorithm = rng.choice(algorithms)
        mapper = rng.choice(MAPPERS)
        settings["algorithm"] = algorithm
        if mapper and algorithm not in ("auto", "relay_broadcast", "ring_all_gather", "relay_barrier"):
            settings[f"algorithms.{algorithm}.mapper"] = mapper
    settings["dtype"] = rng.choice(TYPES)
    size = rng.choice([64, 1000, 720 * rng.randrange(1, 40)]) if rng.random() < 0.2 else 1 << rng.randrange(4, 24)
    sizes = ",".join(str(size * factor) for factor in ([1, 4, 16] if rng.random() < 0.15 else [1]))
    if bench in ("ipcq_pingpong", "ipcq_shift", "raw_store"):
        settings["bytes"] = min(size, 2048)
    elif bench not in ("ccl_barrier", "gemm") and rng.random() < 0.95:
        settings["bytes-per-rank" if rng.random() < 0.5 else "bytes"] = sizes
    if bench in ("ipcq_pingpong", "raw_store"):
        for end in ("from", "to"):
            settings[end] = f"{rng.choice([0, 0, 1, 2])}.{rng.choice([0, 0, 1, 3])}.{rng.choice([0, 0, 1, 3])}"
    if bench == "ipcq_shift":
        settings |= {"dir": rng.choice(["N", "S", "E", "W", "global_E", "global_N", "intra_E", "intra_N"]), "tiles": rng.choice([1, 2, 5, 40])}
    if bench in ("gemm", "gemm_allreduce"):
        settings["gemm"] = "x".join(str(rng.choice([16, 64, 128, 200, 512])) for _ in range(3))
        if rng.random() < 0.5:
            settings["gemm-tile"] = rng.choice([16, 32, 64])
    if bench == "gemm" and rng.random() < 0.5:
        settings["gemm-operands"] = rng.choice(["streamed", "pinned", "loaded"])
    if rng.random() < 0.15:
        settings["iters"] = rng.choice([2, 5, 20])
    if rng.random() < 0.1:
        settings["warmup_iters"] = rng.choice([1, 3])
    kind = rng.random()
    if kind < 0.4:
        settings["no-data"] = True
    elif kind < 0.6:
        settings["verify-data"] = True
    if rng.random() < 0.1:
        settings["explain"] = True
    return settings


def words(settings):
    """The arguments of `run` for a point."""
    line = []
    for name, value in settings.items():
        if "." in name:
            line += ["--set", f"{name}={value}"]
        else:
            line += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return line


def run(settings, seconds=60.0):
    """Events, the peak of the process in MiB, and seconds. None: refused, or too long."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "result.json")
        begun = time.monotonic()
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            child = subprocess.Popen([CUBEWARP, "run", "--quiet", *words(settings), "--json", str(path)], stdout=nowhere, stderr=nowhere, cwd=TOP)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() - begun > seconds:
                child.kill()
                child.wait()
                return None
            time.sleep(0.002)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1) or not path.exists():
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
    if not document["results"] or any(row["not_run"] is not None for row in document["results"]):
        return None
    return document["engine"]["events_committed"], document["engine"]["peak_rss_bytes"] / 1048576, usage.ru_utime + usage.ru_stime


def quoted(value):
    return "true" if value is True else json.dumps(value) if isinstance(value, str) and value[0] != "[" else str(value)


UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "B": 1 / 1048576, "KiB": 1 / 1024, "MiB": 1, "GiB": 1024, "TiB": 1048576,
         "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def estimates(points):
    """Of each point, events, MiB and seconds, as `sweep --dry-run` lists them; None where it says that it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(folder, "points.yaml")
        lines = ["study: points", "axes:", "  case:"]
        lines += [f"    p{i}: {{{', '.join(f'{name}: {quoted(value)}' for name, value in settings.items())}}}" for i, settings in enumerate(points)]
        study.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run([CUBEWARP, "sweep", str(study), "--dry-run", "--db", f"{folder}/points.sqlite"], capture_output=True, text=True, check=False, cwd=TOP)
    found = [None] * len(points)
    for line in done.stdout.splitlines():
        match = re.match(r" *(\d+) +([\d.e+]+)( [kMGT])? +([\d.e+]+) (\w+) +([\d.e+]+) (\w+)", line)
        if match:
            at, events, unit, size, of_size, seconds, of_seconds = match.groups()
            found[int(at)] = (float(events) * UNITS[(unit or "").strip()], float(size) * UNITS[of_size], float(seconds) * UNITS[of_seconds])
    assert done.returncode == 0 and any(found), f"{done.returncode}: {done.stdout}{done.stderr}"
    return found


def read_points():
    with open(POINTS, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return [({name: True if value == "true" else value for name, value in json.loads(row["settings"]).items()},
             float(row["events"]), float(row["MiB"]), float(row["seconds"])) for row in rows]


def write_points(rows):
    with open(POINTS, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=";", lineterminator="\n")
        out.writerow(["settings", "events", "MiB", "seconds", "events estimated", "MiB estimated"])
        estimated = estimates([row[0] for row in rows])
        for (settings, events, mib, seconds), estimate in zip(rows, estimated):
            out.writerow([json.dumps(settings), events, f"{mib:.1f}", f"{seconds:.2f}",
                          *(("-", "-") if estimate is None else (f"{estimate[0]:.0f}", f"{estimate[1]:.1f}"))])


def draw_points():
    rng = random.Random(SEED)
    rows, seen = [], set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while len(rows) < COUNT:
            drawn = []
            while len(drawn) < 16:
                settings = draw(rng)
                if json.dumps(settings) not in seen:
                    seen.add(json.dumps(settings))
                    drawn.append(settings)
            for settings, result in zip(drawn, pool.map(lambda settings: run(settings, SECONDS_MOST), drawn)):
                if result is not None and len(rows) < COUNT:
                    rows.append((settings, *result))
    write_points(rows)


def factor(a, b):
    return max(a / b, b / a)


def misses(rows, which, most):
    """The points whose estimate is off by more than a factor, worst first."""
    found = []
    for (settings, *actual), estimate in zip(rows, estimates([row[0] for row in rows])):
        off = float("inf") if estimate is None else factor(max(estimate[which], 1e-9), actual[which])
        if off > most:
            found.append((off, estimate and estimate[which], actual[which], settings))
    return sorted(found, key=lambda one: -one[0])


def lines_of(found):
    return "\n".join(f"  {off:6.2f}  estimated {estimate if estimate is None else f'{estimate:.4g}'}, actual {actual:.4g}: {' '.join(words(settings))}"
                     for off, estimate, actual, settings in found)


NAMES = ["events", "MiB"]


def show(rows):
    estimated = estimates([row[0] for row in rows])
    for which, name in enumerate(NAMES):
        beyond = misses(rows, which, 2)
        three = [one for one in beyond if one[0] > 3]
        worst = max(factor(max(one[which], 1e-9), row[1 + which]) for row, one in zip(rows, estimated) if one is not None)
        print(f"{name}: {len(rows)} points, {len(rows) - len(beyond)} within 2, {len(rows) - len(three)} within 3, worst {worst:.2f}")
        print(lines_of(beyond))


def estimates_are_near(rows):
    for which, name in enumerate(NAMES):
        beyond = misses(rows, which, 2)
        assert len(beyond) * 20 <= len(rows), f"{name}: {len(beyond)} of {len(rows)} points beyond a factor of 2:\n{lines_of(beyond)}"
        assert not beyond or beyond[0][0] <= 3, f"{name}: beyond a factor of 3:\n{lines_of([one for one in beyond if one[0] > 3])}"


def estimates_are_near_new_runs(rows):
    """What the list says of runs may have changed with what an automatic choice takes."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(zip(rows, pool.map(lambda row: run(row[0]), rows)))
    refused = [" ".join(words(row[0])) for row, result in found if result is None]
    assert not refused, "refused, or without an end:\n" + "\n".join(refused)
    estimates_are_near([(row[0], *result) for row, result in found])


def names_its_algorithm(settings):
    return settings.get("algorithm", "auto") != "auto" or settings["bench"] not in ALGORITHMS


def main():
    if sys.argv[1:] == ["--draw"]:
        draw_points()
        return 0
    rows = read_points()
    if sys.argv[1:] == ["--show"]:
        show(rows)
        return 0
    quick = [row for row in rows if row[3] < 0.3]
    again = rows if sys.argv[1:] == ["--all"] else random.Random(SEED).sample(quick, SAMPLE)
    named = random.Random(SEED).sample([row for row in quick if names_its_algorithm(row[0])], SAMPLED)
    failed = 0
    for test, points in ((estimates_are_near, named), (estimates_are_near_new_runs, again)):
        try:
            test(points)
            print(f"[       OK ] {test.__name__}")
        except AssertionError as error:
            print(error)
            print(f"[  FAILED  ] {test.__name__}")
            failed += 1
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
