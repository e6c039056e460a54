#!/usr/bin/env python3
"""A sweep of thousands of points that is killed again and again.

    test/long/killed_sweep.py [CUBEWARP] [--points N] [--kills K] [--jobs J] [--seed S]

One sweep runs undisturbed. The same one, with another database, gets SIGKILL for all its processes at
K random moments, and is started again each time. After each kill the database must be whole, and must
have all points that it had before. At the end each point is there once, and all that a point says of
the simulation is as in the undisturbed sweep.
"""
import argparse
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

os.environ["CUBEWARP_SHORTCUTS"] = "off"  # points take their time

TOP = pathlib.Path(__file__).resolve().parents[2]
SEEDS = 25
OF_EACH_SEED = 4  # two machines, two algorithms

STUDY = """study: killed
base:
  no-data: true
  sip.cube_mesh.w: 1
  sip.cube_mesh.h: 1
axes:
  system.sips.count: [2, 3]
  algorithm: [ring_rs_ag, direct_rs_ag]
  seed: {seeds}
  bytes: {sizes}
"""

# Without columns that differ from one undisturbed run to the next: times, tries, database keys.
TABLES = {
    "point": "SELECT ordinal, digest, label, command, state, exit_code, message FROM point",
    "axis": "SELECT p.ordinal, a.position, a.name, a.value FROM axis a JOIN point p ON p.id = a.point",
    "row": "SELECT p.ordinal AS point_ordinal, r.* FROM row r JOIN point p ON p.id = r.point",
    "link": "SELECT p.ordinal AS point_ordinal, l.* FROM link l JOIN point p ON p.id = l.point",
}
HALVES = """SELECT (SELECT count(*) FROM point WHERE state = 'done' AND id NOT IN (SELECT point FROM row))
 + (SELECT count(*) FROM point WHERE id NOT IN (SELECT point FROM axis))
 + (SELECT count(*) FROM point WHERE state <> 'done' OR result IS NULL)"""


def study_text(points):
    sizes = points // (SEEDS * OF_EACH_SEED)
    return STUDY.format(seeds=list(range(1, SEEDS + 1)), sizes=[256 * (k + 1) for k in range(sizes)])


def contents(path):
    """Each table's rows, in order, without the keys of the database."""
    tables = {}
    with sqlite3.connect(path) as database:
        for name, query in TABLES.items():
            cursor = database.execute(query)
            names = [column[0] for column in cursor.description]
            keep = [i for i, column in enumerate(names) if column != "point"]
            tables[name] = sorted(tuple(map(repr, (row[i] for i in keep))) for row in cursor)
    database.close()
    return tables


def whole_points(path):
    """How many points there are; ends the test if the database is not whole."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    database = sqlite3.connect(path)
    try:
        if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            return 0
        check = database.execute("PRAGMA integrity_check").fetchone()[0]
        halves = database.execute(HALVES).fetchone()[0]
        points = database.execute("SELECT count(*) FROM point").fetchone()[0]
    finally:
        database.close()
    if check != "ok" or halves != 0:
        sys.exit(f"killed_sweep: {path}: integrity {check}, {halves} half points")
    return points


class Sweep:
    """A process group that sweeps into a database."""

    def __init__(self, program, study, database, jobs):
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [program, "sweep", study, "--db", database, "-j", str(jobs), "--quiet"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            cwd=TOP, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.returncode is None:
            self.kill()

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def end(self):
        """Waits for it. Returns the seconds that it took."""
        error = self.process.communicate()[1]
        if self.process.returncode != 0:
            sys.exit(f"killed_sweep: exit code {self.process.returncode}: {error}")
        return time.monotonic() - self.begun

    def kill_after(self, seconds):
        """Whether it was still running then. Ends the test if it has failed by itself."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return True
        self.end()
        return False


def kill_often(sweep, count, points, seconds, database, draw):
    """Returns the points that were there after each kill. Where the machine has become faster since the
    undisturbed sweep, a sweep may be over before the last kill: there are fewer kills then."""
    found = [0]
    while len(found) <= count:
        # Less than a kill's share of the time that is left, so that the last one meets the sweep too.
        share_s = seconds * (1 - found[-1] / points) / (count + 1 - len(found))
        with sweep() as running:
            if not running.kill_after(draw.uniform(0, 0.8 * share_s)):
                break
        found.append(whole_points(database))
        if found[-1] < found[-2]:
            sys.exit(f"killed_sweep: {found[-2]} points before a kill, {found[-1]} after it")
    if len(found) == 1:
        sys.exit("killed_sweep: it was over before the first kill; try more points")
    return found[1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="build/cubewarp")
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.points < 1 or arguments.points % (SEEDS * OF_EACH_SEED) != 0:
        parser.error(f"--points {arguments.points}: expected a multiple of {SEEDS * OF_EACH_SEED}")
    program = str(pathlib.Path(arguments.program).resolve())
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        study = folder / "study.yaml"
        study.write_text(study_text(arguments.points))
        calm, killed = folder / "calm.sqlite", folder / "killed.sqlite"
        with Sweep(program, study, calm, arguments.jobs) as sweep:
            seconds = sweep.end()
        points = whole_points(calm)
        if points != arguments.points:
            sys.exit(f"killed_sweep: {points} points undisturbed, not {arguments.points}")
        found = kill_often(lambda: Sweep(program, study, killed, arguments.jobs), arguments.kills, points,
                           seconds, killed, draw)
        with Sweep(program, study, killed, arguments.jobs) as sweep:
            sweep.end()
        expected, got = contents(calm), contents(killed)
        differ = [name for name in TABLES if expected[name] != got[name]]
        print(f"{points} points, {seconds:.0f} s undisturbed; killed {len(found)} times, with"
              f" {', '.join(map(str, found))} points; " +
              (f"tables that differ: {', '.join(differ)}" if differ else "all results are the same"))
        return 1 if differ or whole_points(killed) != points else 0


if __name__ == "__main__":
    sys.exit(main())
