#!/usr/bin/env python3
"""Studies on job arrays, as `cubewarp sweep --emit` writes them: on a Slurm of the test's own, and on GNU parallel. 200
points as an array of 10; two tasks are killed, submitted again, and the parts merged: row for row the database of
one sweep. Prints one line per test, as the unit tests do; without the programs it says that it is skipped and ends with
code 0.

    CUBEWARP=build/check/cubewarp test/cluster/test_arrays.py [NAME...]
"""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import slurm

TOP = pathlib.Path(__file__).resolve().parents[2]
CUBEWARP = str(pathlib.Path(os.environ.get("CUBEWARP", str(TOP / "build" / "cubewarp"))).resolve())
POINTS, TASKS, KILLED = 200, 10, (3, 7)
LIMIT_S = 300

STUDY = """study: array
base: {bytes: 128KiB, no-data: true}
axes:
  algorithm: [ring_allreduce, tree_allreduce, lrab_hierarchical_allreduce, lrab_pipelined_allreduce]
  system.sips.count: [4, 16]
  links.sip_link.bw_gbs: 10:50:+10
  iters: [4, 6, 8, 10, 12]
"""

# All but wall times, and `result`, which has some.
COMPARED = (
    "SELECT name, about, text, digest, points, file FROM study",
    "SELECT id, ordinal, digest, label, command, state, exit_code, message FROM point ORDER BY id",
    "SELECT * FROM axis ORDER BY point, position",
    "SELECT * FROM row ORDER BY point, ordinal",
    "SELECT * FROM link ORDER BY point, row, kind",
)


def rows(path, query):
    with sqlite3.connect(path, timeout=30) as db:
        return db.execute(query).fetchall()


def count_points(path):
    try:
        return rows(path, "SELECT count(*) FROM point")[0][0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def cubewarp(folder, *args, code=0):
    done = subprocess.run([CUBEWARP, *args], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == code, f"cubewarp {args}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def part(folder, task):
    return folder / f"array.{task}-of-{TASKS}.sqlite"


def wait_for(condition, message):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, message
        time.sleep(0.02)


def process_of(folder, task):
    """The process that runs a task: by the database in its command line. 0: there is none."""
    wanted = [b"sweep", f"array.{task}-of-{TASKS}.sqlite".encode()]
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) if words else 0
            if all(word in words for word in wanted) and os.readlink(entry / "cwd") == str(folder):
                above = pathlib.Path(f"/proc/{parent}/cmdline").read_bytes().split(b"\0")
                if wanted[1] not in above:  # else it is a worker
                    return int(entry.name)
        except (OSError, ValueError):
            continue
    return 0


def prepare(folder, engine):
    (folder / "array.yaml").write_text(STUDY)
    script = cubewarp(folder, "sweep", "array.yaml", "--emit", engine, "--tasks", str(TASKS), "--jobs", "1")
    (folder / "script.sh").write_text(script)
    return folder / "script.sh"


def merged_is_the_undisturbed(folder):
    out = cubewarp(folder, "sweep", "merge", "--db", "merged.sqlite", *(str(part(folder, t + 1)) for t in range(TASKS)))
    assert f"{POINTS} of {POINTS} points, {POINTS} done" in out, out
    cubewarp(folder, "sweep", "array.yaml", "--db", "alone.sqlite", "--quiet")
    for query in COMPARED:
        assert rows(folder / "merged.sqlite", query) == rows(folder / "alone.sqlite", query), query
    assert len(rows(folder / "merged.sqlite", "SELECT * FROM row")) == POINTS


def killed_tasks_are_partly_done(folder):
    for task in KILLED:
        done = count_points(part(folder, task))
        assert 0 < done < POINTS // TASKS, f"task {task} was killed with {done} points"


def slurm_runs_kills_and_resumes(folder):
    script = prepare(folder, "slurm")
    with slurm.Slurm(folder / "slurm", cpus=2) as cluster:
        job = cluster.submit(script)
        for task in KILLED:
            wait_for(lambda: count_points(part(folder, task)) > 2, f"task {task} does not begin")
            cluster.run("scancel", "--signal=KILL", "--full", f"{job}_{task}")
        cluster.wait(job, LIMIT_S)
        killed_tasks_are_partly_done(folder)
        cluster.wait(cluster.submit(script, "--array=" + ",".join(map(str, KILLED))), LIMIT_S)
    assert all(child.returncode is not None for child in cluster.children)
    merged_is_the_undisturbed(folder)


def parallel_runs_kills_and_resumes(folder):
    script = prepare(folder, "parallel")
    command = ["bash", str(script), "--will-cite", "--jobs", "2"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        for task in KILLED:
            wait_for(lambda: count_points(part(folder, task)) > 2, f"task {task} does not begin")
            os.kill(process_of(folder, task), signal.SIGKILL)
        assert running.wait(LIMIT_S) == len(KILLED)  # parallel counts the tasks that failed
    killed_tasks_are_partly_done(folder)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    merged_is_the_undisturbed(folder)


def parts_of_different_studies_do_not_merge(folder):
    (folder / "a.yaml").write_text("study: a\nbase: {preset: tiny, no-data: true}\naxes: {seed: [1, 2]}\n")
    (folder / "b.yaml").write_text("study: a\nbase: {preset: tiny, no-data: true}\naxes: {seed: [1, 3]}\n")
    cubewarp(folder, "sweep", "a.yaml", "--shard", "1/2", "--quiet")
    cubewarp(folder, "sweep", "b.yaml", "--shard", "2/2", "--quiet")
    cubewarp(folder, "sweep", "merge", "--db", "all.sqlite", "a.1-of-2.sqlite", "b.2-of-2.sqlite", code=2)
    assert not (folder / "all.sqlite").exists()
    cubewarp(folder, "sweep", "merge", "--db", "all.sqlite", "a.1-of-2.sqlite", code=3)  # a point is missing


TESTS = {slurm_runs_kills_and_resumes: slurm.missing(),
         parallel_runs_kills_and_resumes: [] if shutil.which("parallel") else ["parallel"],
         parts_of_different_studies_do_not_merge: []}


def main():
    failed = 0
    for test, missing in TESTS.items():
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        if missing:
            print(f"skipped {test.__name__}: there is no {', '.join(missing)}; make test-all installs them")
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cubewarp-arrays-"))
        folder.chmod(0o755)  # munged asks for it
        try:
            test(folder)
            print(f"[       OK ] {test.__name__}")
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print(f"[  FAILED  ] {test.__name__}")
            failed += 1
        shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
