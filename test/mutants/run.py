#!/usr/bin/env python3
"""Plants one engine bug after the other and reports which test finds it.

    test/mutants/run.py [NAME...]     all mutants, or those whose names begin so
    test/mutants/run.py --list
    test/mutants/run.py --check       builds nothing: does each fit its file? `make lint` asks

The bugs are in the *.mutants files beside this one. The sources are copied to a scratch folder,
in which everything is built once; a mutant is then built, and tested until a test fails, a crash
and a hang included. Exit code 1 if one survives all tests, or could not be planted.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = TOP / "build" / "mutants"
HANG_S_MIN, HANG_FACTOR = 60, 10
hang_s = {}  # (variant, program): how long it may take, from how long it takes unchanged

# (variant, program, environment), the cheap ones first. For core/ those of core/ only: no test of a
# model has to find the bugs that these miss.
UNIT = ["memory", "arrivals", "exchange", "errors", "host_errors", "pin", "each_worker", "sim",
        "rng", "pending", "random", "stress", "lazy_cancel", "recorder", "balance", "gather", "first_mode", "listen",
        "contract"]
SLOW_UNIT = ["worker_records", "phold"]


def unit_tests(names):
    return [("asan", f"test/unit/core/test_core_{name}", {}) for name in names]


TESTS = unit_tests(UNIT) + [
    ("explore-asan", "test/stress/test_explore", {"EXPLORE_SEEDS": "300"}),
    ("explore-asan", "test/stress/test_explore_ties", {"TIES_SEEDS": "300"}),
    ("explore-asan", "test/stress/test_alloc_faults", {"FAULTS_SEEDS": "1"}),
] + unit_tests(SLOW_UNIT) + [
    ("asan", "test/unit/core/test_core_parallel", {"PARALLEL_SEEDS": "10"}),
    ("explore", "test/stress/test_explore", {"EXPLORE_SEEDS": "16000"}),
    ("tsan", "test/race/test_race", {}),
]
# Of the data pass: these must find the bugs in collectives/data.
DATA = "test/unit/collectives/test_data_"
DATA_TESTS = [
    ("asan", DATA + "pass", {}),
    ("asan", DATA + "commit", {"COMMIT_SEEDS": "30"}),
    ("tsan", DATA + "commit", {"COMMIT_SEEDS": "10"}),
]
# Of schedules, and of the files that they come from.
SCHEDULE_ROOMS = ("collectives/schedule/", "collectives/choice/", "collectives/msccl/",
                  "collectives/algorithms/scheduled/", "collectives/verify/")
SCHEDULE_TESTS = [("asan", "test/unit/schedule/test_" + name, {})
                  for name in ("schedule_check", "msccl_xml", "expect_schedule",
                               "schedule_program", "scheduled", "hierarchy")] + [
    ("asan", "test/integration/test_" + name, {"CUBEWARP": "build/asan/cubewarp"})
    for name in ("msccl", "schedules")]
# Of the machine: bugs in lp/.
LP = "test/unit/lp/test_lp_"
LP_TESTS = [("asan", LP + name, {})
            for name in ("operands", "unreceived", "futures", "tiles", "ipcq", "failures",
                         "install", "maps", "rings", "endpoint", "credits", "one_sided")]
# Of the hardware's times: bugs in hw/.
HW_TESTS = [("asan", "test/unit/hw/test_hw_" + name, {})
            for name in ("dma", "timing", "structure", "route", "phys_addr")]


def tests_of(mutant):
    """The test that the mutant names comes first; the others only if it does not find the bug."""
    return mutant.tests + [test for test in tests_for(mutant) if test not in mutant.tests]


def tests_for(mutant):
    if mutant.file.startswith("lp/"):
        return LP_TESTS
    if mutant.file.startswith("hw/"):
        return HW_TESTS
    if mutant.file.startswith(SCHEDULE_ROOMS):
        return SCHEDULE_TESTS
    return DATA_TESTS if mutant.file.startswith("collectives/") else TESTS


class Mutant:
    def __init__(self, name):
        self.name, self.file, self.breaks, self.old, self.new = name, "", "", "", ""
        self.tests = []


def parse_test(text):
    """VARIANT PROGRAM [NAME=VALUE...]; a PROGRAM.py is not built."""
    variant, program, *environment = text.split()
    return variant, program, dict(pair.split("=", 1) for pair in environment)


def parse(path):
    """== NAME / file PATH / breaks TEXT / [test TEST] / --- / old text / +++ / new text, up to the next ==."""
    mutants, part = [], None
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        if line.startswith("== "):
            mutants.append(Mutant(line[3:].strip()))
            part = None
        elif line in ("---\n", "+++\n") and mutants:
            part = "old" if line == "---\n" else "new"
        elif part is not None:
            setattr(mutants[-1], part, getattr(mutants[-1], part) + line)
        elif line.startswith("test ") and mutants:
            mutants[-1].tests.append(parse_test(line[5:]))
        elif line.startswith(("file ", "breaks ")) and mutants:
            key, value = line.rstrip("\n").split(" ", 1)
            setattr(mutants[-1], key, value)
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{path}:{number}: not understood: {line.rstrip()}")
    for mutant in mutants:
        mutant.old, mutant.new = mutant.old.rstrip("\n"), mutant.new.rstrip("\n")
        if not (mutant.file and mutant.breaks and mutant.old):
            sys.exit(f"{path}: {mutant.name}: needs file, breaks and the text to replace")
    return mutants


def copy_sources():
    """The tree as git sees it; unchanged files keep their time, so that make builds less."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP, check=True, stdout=subprocess.PIPE).stdout.decode()
    names = {name for name in listed.split("\0") if name and (TOP / name).is_file()}
    for name in names:
        to, data = SCRATCH / name, (TOP / name).read_bytes()
        if to.is_file() and to.read_bytes() == data:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
        shutil.copymode(TOP / name, to)
    for old in SCRATCH.rglob("*.[ch]"):
        if old.relative_to(SCRATCH).parts[0] != "build" and \
                str(old.relative_to(SCRATCH)) not in names:
            old.unlink()


def build(variant, program):
    return subprocess.run(
        # A planted bug may leave a variable unused: a test must find the bug, not the compiler.
        ["make", "-s", "-j", str(os.cpu_count()), f"VARIANT={variant}", "CFLAGS=-Wno-error",
         f"build/{variant}/{program}"],
        cwd=SCRATCH, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def find(tests):
    """The test that finds the mutant; '' if none does. Raises the compiler's messages."""
    for variant, program, environment in tests:
        script = program.endswith(".py")
        for wanted in ["cubewarp"] * ("CUBEWARP" in environment) + [program] * (not script):
            built = build(variant, wanted)
            if built.returncode != 0:
                raise RuntimeError(built.stdout)
        how = f"{variant} {program.rsplit('/', 1)[1]}"
        start = time.monotonic()
        try:
            done = subprocess.run(
                [program if script else f"build/{variant}/{program}"], cwd=SCRATCH,
                timeout=hang_s.get((variant, program)),
                env={**os.environ, **environment}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, errors="replace", text=True)
        except subprocess.TimeoutExpired:
            return how + " (hang)"
        if done.returncode != 0:
            failed = [line.split("] ", 1)[1].strip() for line in done.stdout.splitlines()
                      if line.startswith("[  FAILED  ] ")]
            failed = [name for name in failed if not name[:1].isdigit()]
            return how + ": " + (failed[0] if failed else f"exit code {done.returncode}")
        took = HANG_FACTOR * (time.monotonic() - start)
        hang_s.setdefault((variant, program), max(HANG_S_MIN, took))
    return ""


def occurrences(mutant, root):
    """How often the text that the mutant replaces stands in its file."""
    path = root / mutant.file
    return path.read_text().count(mutant.old) if path.is_file() else 0


def misfits(mutant):
    """Why the mutant cannot be planted in the sources as they are, or its test not be run."""
    count = occurrences(mutant, TOP)
    if count != 1:
        yield (f"its text occurs {count} times in {mutant.file}; it must occur exactly once, "
               "so change it as the source was changed")
    if mutant.old == mutant.new:
        yield "it replaces its text by the same text"
    for _, program, _ in mutant.tests:
        source = program if program.endswith(".py") else f"{program}.c"
        if not (TOP / source).is_file():
            yield f"its test {program} has no source {source}"


def plant(mutant):
    """Returns the file's own text; None: the mutant does not fit it."""
    if occurrences(mutant, SCRATCH) != 1:
        return None
    path = SCRATCH / mutant.file
    text = path.read_text()
    path.write_text(text.replace(mutant.old, mutant.new))
    return text


def main():
    mutants = [m for path in sorted(TOP.glob("test/mutants/*.mutants")) for m in parse(path)]
    names = [m.name for m in mutants]
    if len(set(names)) != len(names):
        sys.exit("mutants: a name stands twice")
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    unknown = [a for a in sys.argv[1:] if a.startswith("-") and a not in ("--list", "--check")]
    if unknown:
        print(__doc__)
        return 0 if unknown[0] in ("-h", "--help") else 2
    if wanted:
        mutants = [m for m in mutants if m.name.startswith(tuple(wanted))]
    if "--list" in sys.argv:
        for mutant in mutants:
            print(f"{mutant.name:32} {mutant.file:20} {mutant.breaks}")
        return 0
    if "--check" in sys.argv:
        wrong = [f"mutant {m.name}: {why}" for m in mutants for why in misfits(m)]
        print("\n".join(wrong + [f"{len(mutants)} mutants, {len(wrong)} do not fit"]))
        return 1 if wrong else 0
    SCRATCH.mkdir(parents=True, exist_ok=True)
    copy_sources()
    try:
        named = [test for m in mutants for test in m.tests]
        rest = [test for m in mutants if not m.tests for test in tests_for(m)]
        found = find(list({str(test): test for test in named + rest}.values()))
    except RuntimeError as error:
        sys.exit(f"mutants: the unchanged sources do not build:\n{error}")
    if found:
        sys.exit(f"mutants: the unchanged sources fail: {found}")
    bad = 0
    for mutant in mutants:
        start, text = time.monotonic(), plant(mutant)
        if text is None:
            result = f"DOES NOT FIT: its text must occur exactly once in {mutant.file}"
        else:
            try:
                result = find(tests_of(mutant)) or "SURVIVED"
            except RuntimeError as error:
                result = f"DOES NOT BUILD:\n{error}"
            finally:
                (SCRATCH / mutant.file).write_text(text)
        bad += result.startswith(("DOES NOT", "SURVIVED"))
        print(f"{mutant.name:32} {time.monotonic() - start:5.1f} s  {result}", flush=True)
    print(f"{len(mutants)} mutants, {len(mutants) - bad} found, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
