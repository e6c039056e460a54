#!/usr/bin/env python3
"""Runs that last: memory stays flat, and two threads commit the same events as one.

    test/long/long_runs.py [CUBEWARP] [--minutes M] [--case NAME]

Each case is first run for some seconds, to learn how much of it fills its share of the minutes.
Then it runs on two threads, and sequentially, beside each other where --beside is given. Resident
memory is read every second. A case fails if its memory grows: the most of the second half of the
run may exceed the most of the first half, after a tenth for warming up, by 1 % or 1 MiB. It fails
if the trace hashes differ, and if a run does not end with exit code 0.

`optimistic` without a limit cannot be tested so: a worker whose neighbour has lost its core speculates
on, up to 65,536 events, and the memory of the greatest such burst stays the engine's. Its case has
a limit. That bounds the window (core/ENGINE.md, "Window"), and the bound is reached at once. So
the memory that a burst takes is the same early and late, and memory that grows is a leak.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

os.environ["CUBEWARP_SHORTCUTS"] = "off"  # runs are to be long

TOP = pathlib.Path(__file__).resolve().parents[2]
WARM_UP = 0.1
GROWTH_PERCENT = 1.0
GROWTH_MIN_BYTES = 1 << 20
TRIAL_SECONDS = 3
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Case:
    """A line of the program whose length one number sets."""

    def __init__(self, name, line, option, first, two_threads):
        self.name, self.option, self.first = name, option, first
        self.line, self.two_threads = line.split(), two_threads.split()


CASES = (
    Case("phold-adaptive", "phold --lps 4096 --population 16 --remote 50%", "--end", 40,
         "--sync adaptive"),
    Case("phold-optimistic", "phold --lps 4096 --population 4 --lookahead 0.01 --remote 50%",
         "--end", 40, "--sync optimistic --max-memory 32MiB"),
    Case("phold-conservative", "phold --lps 4096 --population 16 --lookahead 1 --remote 50%",
         "--end", 40, "--sync conservative"),
    Case("all-reduce", "run --preset pod64 --n-elem 1024 --no-data", "--iters", 4,
         "--sync adaptive"),
    Case("all-reduce-data", "run --n-elem 8192 --verify-data", "--iters", 20, "--sync adaptive"),
)


def resident_bytes(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0


class Run:
    """A process, its memory over time, and its figures at its end."""

    def __init__(self, program, case, length, engine, scratch):
        self.result = scratch / f"{case.name}-{engine[-1].strip('-')}.json"
        line = [program, *case.line, case.option, str(length), *engine, "--json", str(self.result)]
        self.line = " ".join(line)
        self.samples, self.begun = [], time.monotonic()
        self.process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, cwd=TOP)

    def look(self):
        """Takes a sample; whether the process goes on."""
        if self.process.poll() is not None:
            return False
        self.samples.append((time.monotonic() - self.begun, resident_bytes(self.process.pid)))
        return True

    def end(self):
        error = self.process.stderr.read()
        self.seconds = time.monotonic() - self.begun
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.line}: exit code {self.process.returncode}\n{error}")
        engine = json.loads(self.result.read_text())["engine"]
        self.hash, self.events = engine["trace_hash"], engine["events_committed"]

    def growth(self):
        """The most memory of either half, warmed up."""
        warm = [(at, size) for at, size in self.samples
                if at >= WARM_UP * self.seconds and size > 0]
        middle = (1 + WARM_UP) / 2 * self.seconds
        return (max((size for at, size in warm if at < middle), default=0),
                max((size for at, size in warm if at >= middle), default=0))


def finish(runs):
    going = list(runs)
    while going:
        going = [run for run in going if run.look()]
        time.sleep(0.05 if time.monotonic() - runs[0].begun < 20 else 1)
    for run in runs:
        run.end()


def length_for(program, case, seconds, scratch):
    """How long the case has to be to run for so many seconds on two threads."""
    length = case.first
    while True:
        trial = Run(program, case, length, [*case.two_threads, "--threads", "2"], scratch)
        finish([trial])
        if trial.seconds >= min(TRIAL_SECONDS, seconds):
            return max(length, int(length * seconds / trial.seconds))
        length *= 4


def check(program, case, seconds, beside, scratch):
    length = length_for(program, case, seconds, scratch)
    two = Run(program, case, length, [*case.two_threads, "--threads", "2"], scratch)
    if not beside:
        finish([two])
    one = Run(program, case, length, ["--sync", "sequential"], scratch)
    finish([two, one] if beside else [one])
    wrong = []
    for run in (two, one):
        first, second = run.growth()
        if second > first * (1 + GROWTH_PERCENT / 100) and second > first + GROWTH_MIN_BYTES:
            wrong.append(f"memory grows from {first / 2**20:.1f} to {second / 2**20:.1f} MiB")
    if (two.hash, two.events) != (one.hash, one.events):
        wrong.append(f"{two.events} events, {two.hash} are not {one.events}, {one.hash}")
    memory = " / ".join(f"{first / 2**20:.1f}, {second / 2**20:.1f}"
                        for first, second in (two.growth(), one.growth()))
    print(f"{case.name:<20} {case.option} {length:<8} {two.events:>14} events, "
          f"{two.seconds:.0f} s / {one.seconds:.0f} s, MiB {memory}, {two.hash}: "
          f"{'; '.join(wrong) or 'ok'}", flush=True)
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default=str(TOP / "build/cubewarp"))
    parser.add_argument("--minutes", type=float, default=120, help="of all cases on two threads")
    parser.add_argument("--case", choices=[case.name for case in CASES])
    parser.add_argument("--beside", action="store_true",
                        help="run both at the same time, on three cores or more")
    options = parser.parse_args()
    cases = [case for case in CASES if options.case in (None, case.name)]
    scratch = TOP / "build/long"
    scratch.mkdir(parents=True, exist_ok=True)
    print("two threads / sequential: seconds, and the most memory of the first and second half")
    seconds = 60 * options.minutes / len(cases)
    program = str(pathlib.Path(options.program).resolve())
    good = [check(program, case, seconds, options.beside, scratch) for case in cases]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
