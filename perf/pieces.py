#!/usr/bin/env python3
"""The ratios of two threads over one for all models of a set, measured in pieces.

    perf/pieces.py FILE SECONDS [SET] [ROUNDS]   # measures for so long, or until all rounds are there; keeps them in FILE
    perf/pieces.py FILE                          # the ratios, least first; exit code 1 if one is below 0.95

Each line of FILE is a measurement: the model, the round, events per second on one thread and on two. A model's two
runs follow each other at once; the order of the two changes from round to round. The models with the least ratios are
measured first, so that a run that is cut short has most rounds of them.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

LEAST = 0.95
SHOWN = 20
PAUSE_S = 0.08  # before a run: Linux gives other programs 50 ms of each second, here and not within the run
PROGRAM = os.environ.get("CUBEWARP", "build/cubewarp")


def models_of(set_name):
    """Of each model: the command for one thread, and that for two."""
    text = subprocess.run([PROGRAM, "perf", "run", "--set", set_name, "--list"], capture_output=True, text=True,
                          check=True).stdout
    found = {}
    for line in text.splitlines():
        name, *command = line.split()
        found.setdefault(name.split("/")[0], []).append(command)
    return found


def events_per_s(command):
    time.sleep(PAUSE_S)
    text = subprocess.run([PROGRAM, *command[1:]], env={**os.environ, "CUBEWARP_SHORTCUTS": "off"}, capture_output=True, text=True, check=True).stdout
    found = re.search(r"events/s ([\d.e+]+)", text) or re.search(r"^ +\w+ +\d+ +\d+ +([\d.e+]+)", text, re.M)
    return float(found.group(1))


def read(path):
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def ratios_of(path):
    """Of each model that has been measured: the median of its ratios."""
    found = {}
    for row in read(path):
        found.setdefault(row["model"], []).append(row["two"] / row["one"])
    return {model: statistics.median(ratios) for model, ratios in found.items()}


def measure(path, seconds, set_name, rounds):
    done = {(row["model"], row["round"]) for row in read(path)}
    models = models_of(set_name)
    end = time.monotonic() + seconds
    with open(path, "a") as file:
        for turn in range(rounds):
            so_far = ratios_of(path)
            for model, commands in sorted(models.items(), key=lambda item: so_far.get(item[0], 0)):
                if (model, turn) in done:
                    continue
                if time.monotonic() > end:
                    return
                order = (0, 1) if turn % 2 == 0 else (1, 0)
                rates = {i: events_per_s(commands[i]) for i in order}
                file.write(json.dumps({"model": model, "round": turn, "one": rates[0], "two": rates[1]}) + "\n")
                file.flush()


def show(path):
    rows = {}
    for row in read(path):
        rows.setdefault(row["model"], []).append((row["one"], row["two"]))
    ratios = sorted((statistics.median(two / one for one, two in pairs), model,
                     *(statistics.median(pair[i] for pair in pairs) for i in (0, 1)), len(pairs))
                    for model, pairs in rows.items())
    print(f"| {'model':24} | one thread | two | ratio | rounds |\n|---|---|---|---|---|")
    for ratio, model, one, two, count in ratios[:SHOWN]:
        print(f"| {model:24} | {one / 1e6:6.2f} | {two / 1e6:6.2f} | {ratio:.3f} | {count} |")
    below = sum(row[0] < LEAST for row in ratios)
    print(f"\n{len(ratios)} models, {below} below {LEAST}; million events per second, medians")
    return 1 if below else 0


def main():
    path, *rest = sys.argv[1:]
    if not rest:
        return show(path)
    measure(path, float(rest[0]), rest[1] if len(rest) > 1 else "matrix", int(rest[2]) if len(rest) > 2 else 3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
