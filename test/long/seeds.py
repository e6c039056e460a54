#!/usr/bin/env python3
"""Random models and schedules in large numbers, in parts that can be done one by one.

    test/long/seeds.py [--seeds N] [--kinds KIND...] [--seconds S] [--jobs J] [--part I/N]
    test/long/seeds.py --report

Each kind has the seeds from 1 to N (100,000), in shards of so many that one takes some seconds. Of
each random model three runs are drawn (RANDOM_RUNS), with their modes, workers and limits. A shard
that has ended is a line in the ledger (--ledger, build/seeds.tsv): commit, kind, first seed, how
many, result, processor seconds, date, and the hash of the program. A shard that has passed at this
commit, with this program, is not run again. So a run may end at any moment, by --seconds too, and
the next one goes on. Several machines each take a part (--part 2/4); their ledgers, one behind the
other, are one ledger. --report sums up by commit and kind.

Builds nothing: `make nightly-seeds` does. Exit code 1: a shard has failed; its replay is printed.
A tree with changes is named by its commit and `+`: its sources cannot be had again.
"""
import argparse
import concurrent.futures
import datetime
import hashlib
import os
import pathlib
import subprocess
import sys
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
HANG_S = 1800  # of a shard, wall time: threads that wait for each other crawl on a busy machine
TAIL_LINES = 12

# kind: program, the beginning of its variables' names, seeds of a shard
KINDS = {
    "schedules": ("build/explore/test/stress/test_explore", "EXPLORE", 2000),
    "schedules-harsh": ("build/explore/test/stress/test_explore_harsh", "HARSH", 4000),
    "schedules-ties": ("build/explore/test/stress/test_explore_ties", "TIES", 4000),
    "models-harsh": ("build/check/test/unit/core/test_core_harsh", "HARSH", 200),
    "models": ("build/check/test/unit/core/test_core_parallel", "PARALLEL", 50),
    "programs": ("build/check/test/unit/collectives/test_dist_programs", "PROGRAM", 100),
    "messages": ("build/check/test/unit/collectives/test_dist_messages", "MESSAGES", 50),
}
RUNS = "3"  # of each random model
COLUMNS = ("commit", "kind", "first", "count", "result", "cpu_s", "date", "program")


def commit():
    def git(*line):
        return subprocess.run(["git", *line], cwd=TOP, check=True, stdout=subprocess.PIPE,
                              text=True).stdout.strip()
    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain") else "")


def program_hash(program):
    return hashlib.sha256((TOP / program).read_bytes()).hexdigest()[:12]


def read_ledger(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return [dict(zip(COLUMNS, line.split("\t"))) for line in lines
            if len(line.split("\t")) == len(COLUMNS)]


class Ledger:
    """Appends a whole line at a time, so that a run that is killed leaves no half shard."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, *values):
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write("\t".join(map(str, values)) + "\n")
            file.flush()
            os.fsync(file.fileno())


def run_shard(kind, first, count):
    """The result, processor seconds, and the last lines of the output."""
    program, name, _ = KINDS[kind]
    environment = {**os.environ, f"{name}_SEED": str(first), f"{name}_SEEDS": str(count),
                   "EXPLORE_TEST": "models", "PARALLEL_TEST": "models", "RANDOM_RUNS": RUNS}
    process = subprocess.Popen([str(TOP / program)], cwd=TOP, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    watch = threading.Timer(HANG_S, process.kill)
    watch.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    hung = not watch.is_alive()
    watch.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    result = "hang" if hung else "ok" if process.returncode == 0 else "failed"
    said = "\n".join(output.splitlines()[-TAIL_LINES:])
    return result, usage.ru_utime + usage.ru_stime, said


def shards_left(options, done):
    """Of all kinds in turn, each as far as the others: a run that ends early has some of each."""
    part, parts = map(int, options.part.split("/"))
    left = []
    for kind in options.kinds:
        size = KINDS[kind][2]
        firsts = list(range(1, options.seeds + 1, size))
        for i, first in enumerate(firsts):
            count = min(size, options.seeds + 1 - first)
            if i % parts == part - 1 and (kind, str(first), str(count)) not in done:
                left.append((i / len(firsts), kind, first, count))
    return [shard[1:] for shard in sorted(left)]


def report(ledger):
    groups = {}
    for line in read_ledger(ledger):
        groups.setdefault((line["commit"], line["kind"]), {})[
            line["first"], line["count"], line["program"]] = line
    print(f"{'commit':<14} {'kind':<16} {'seeds':>9} {'failed':>7} {'cpu s':>9} {'seeds/cpu s':>12}")
    for (at, kind), shards in sorted(groups.items()):
        seeds = sum(int(shard["count"]) for shard in shards.values())
        failed = sum(shard["result"] != "ok" for shard in shards.values())
        cpu_s = sum(float(shard["cpu_s"]) for shard in shards.values())
        print(f"{at:<14} {kind:<16} {seeds:>9} {failed:>7} {cpu_s:>9.0f} "
              f"{seeds / cpu_s if cpu_s > 0 else 0:>12.1f}")


def run_all(options, at):
    hashes = {kind: program_hash(KINDS[kind][0]) for kind in options.kinds}
    done = {(line["kind"], line["first"], line["count"]) for line in read_ledger(options.ledger)
            if line["commit"] == at and line["result"] == "ok"
            and line["program"] == hashes.get(line["kind"])}
    ledger, begun, bad = Ledger(options.ledger), time.monotonic(), []

    def one(shard):
        kind, first, count = shard
        if options.seconds and time.monotonic() - begun > options.seconds:
            return
        result, cpu_s, said = run_shard(kind, first, count)
        ledger.add(at, kind, first, count, result, f"{cpu_s:.1f}",
                   datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                   hashes[kind])
        if result != "ok":
            bad.append(shard)
            print(f"{kind}, seeds {first} to {first + count - 1}: {result}\n{said}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, shards_left(options, done)))
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100000, help="of each kind (100000)")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=0, help="begin no shard later (0: all)")
    parser.add_argument("--jobs", type=int, default=1, help="shards at a time (1)")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th shard from the I-th on")
    parser.add_argument("--ledger", type=pathlib.Path, default=TOP / "build/seeds.tsv")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        report(options.ledger)
        return 0
    code = run_all(options, commit())
    report(options.ledger)
    return code


if __name__ == "__main__":
    sys.exit(main())
