#!/usr/bin/env python3
"""Plants bugs in core/ by rule, and reports which test finds each.

    test/mutants/plant.py --count 100 [--seed 1] [--out FILE]   bugs by rule, drawn from the seed
    test/mutants/plant.py --named [NAME...]                     those of the *.mutants files
    test/mutants/plant.py --again FILE                          the survivors in a file of --out

The rules: a comparison is flipped, by one or into its opposite; `and` becomes `or`; a negation goes;
a statement is left out; a constant is off by one; a loop goes on or ends; a result is the opposite.

Only core/ is built, as a shared library that the test programs find where LD_LIBRARY_PATH says: so a
bug costs one object, one link, and the tests up to the first that fails. Real threads (`plain`) and
schedules (`explore`) have the engine's assertions on. run.py is slower, and has sanitizers besides.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build" / "plant"
SLOTS = 2
CC = ["ccache", "gcc"] if shutil.which("ccache") else ["gcc"]
FLAGS = ("-std=gnu17 -g1 -w -I. -pthread -ffp-contract=off -O1 -fPIC -march=x86-64-v3 -mprfchw "
         "-DCW_ASSERT").split()
VARIANTS = {"plain": ["-DUNDO_BLOCK_BYTES=2048u", "-DPURGE_MIN=8"],
            "explore": ["-DUNDO_BLOCK_BYTES=8192u", "-DPURGE_MIN=8", "-DSLAB_BYTES_ONLY=2048",
                        "-DARRAYS_BEGIN_AT=1", "-DQUOTA_MIN=8", "-DQUOTA_MAX=24",
                        "-DSYNC_EXPLORE"]}
LIBS = "-lcmocka -lxxhash -lhwloc -ljemalloc -lm -ldl".split()
# Not in the library of the schedules: the explorer has its own (test/stress/explorer.c).
NOT_EXPLORED = {"core/os/threads.c"}
UNIT, STRESS = "test/unit/core/test_core_", "test/stress/test_"

# (variant, program, environment), the quick ones first.
TESTS = [("plain", UNIT + name, {}) for name in
         ("memory", "arrivals", "exchange", "pending", "errors", "host_errors", "sim", "rng",
          "invariants", "interval_log", "balance", "lazy_cancel", "watermarks", "bounds",
          "contract")] + [
    ("explore", STRESS + "explore_harsh", {"HARSH_SEEDS": "400"}),
    ("explore", STRESS + "explore", {"EXPLORE_SEEDS": "400"}),
    ("explore", STRESS + "explore_ties", {"TIES_SEEDS": "400"}),
    ("plain", UNIT + "listen", {"CW_SEEDS": "5"}),
    ("plain", UNIT + "random", {}),
    ("plain", UNIT + "gather", {}),
    ("plain", UNIT + "first_mode", {}),
    ("plain", UNIT + "stop", {}),
    ("explore", STRESS + "alloc_faults", {"FAULTS_SEEDS": "1"}),
    ("explore", STRESS + "explore_harsh", {"HARSH_SEED": "1000", "HARSH_SEEDS": "4000"}),
]
# With --threads: programs whose threads wait for each other, which crawl on a machine that has other
# work. For the survivors of the others.
THREADS = [
    ("plain", UNIT + "threads", {}),
    ("plain", UNIT + "pin", {}),
    ("plain", UNIT + "each_worker", {}),
    ("plain", UNIT + "stats", {}),
    ("plain", UNIT + "stress", {}),
    ("plain", UNIT + "harsh", {"HARSH_SEEDS": "12"}),
    ("plain", UNIT + "recorder", {}),
    ("plain", UNIT + "faults", {}),
    ("plain", UNIT + "worker_records", {}),
    ("plain", UNIT + "parallel", {"PARALLEL_SEEDS": "2"}),
]
# Sources that a program needs beside its own and the library.
BESIDE = {STRESS + "explore": ["test/stress/explorer.c", "test/support/random_model.c"],
          STRESS + "explore_harsh": ["test/stress/explorer.c", "test/support/random_model.c",
                                     "test/support/harsh_model.c"],
          STRESS + "explore_ties": ["test/stress/explorer.c", "test/support/random_model.c",
                                    "test/support/tied_model.c"],
          STRESS + "alloc_faults": ["test/stress/explorer.c", "test/support/random_model.c",
                                    "test/support/harsh_model.c",
                                    "test/stress/failing_memory.c"],
          UNIT + "parallel": ["test/support/random_model.c"],
          UNIT + "listen": ["test/support/random_model.c"],
          UNIT + "worker_records": ["test/support/random_model.c", "test/support/tied_model.c"],
          UNIT + "harsh": ["test/support/random_model.c", "test/support/harsh_model.c"],
          UNIT + "stress": ["test/support/random_model.c", "bench/phold/phold.c", "bench/output/process_phases.c"],
          UNIT + "gather": ["bench/phold/phold.c", "bench/output/process_phases.c"],
          UNIT + "stats": ["bench/phold/phold.c", "bench/output/process_phases.c"],
          UNIT + "threads": ["test/support/idle_engine.c"]}


# ---- building ------------------------------------------------------------------------------------

def command(arguments, where):
    done = subprocess.run(arguments, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stdout)


def compile_one(where, source, variant, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    command(CC + FLAGS + VARIANTS[variant] + ["-MMD", "-MP", "-c", "-o", str(to), source], where)


def includes(source):
    """The files that an object depends on, as the compiler said."""
    rules = [(BUILD / "obj" / variant / source).with_suffix(".d") for variant in VARIANTS]
    text = next(rule for rule in rules if rule.exists()).read_text()
    return set(re.findall(r"(?<=\s)core/\S+\.[ch](?=\s|$)", text.split("\n\n")[0]))


def sources():
    return sorted(str(p.relative_to(TOP)) for p in TOP.glob("core/**/*.c")
                  if "example" not in p.parts)


def objects_of(program):
    return [program + ".c"] + BESIDE.get(program, [])


def link_library(objects, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    command(["gcc", "-shared", "-o", str(to)] + [str(o) for o in objects], TOP)


def link_program(variant, objects, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    command(["gcc", "-pthread", "-rdynamic", "-o", str(to)] + [str(o) for o in objects] +
            [f"-L{BUILD}/{variant}", "-lcore"] + LIBS, TOP)


def object_at(root, variant, source):
    return (root / "obj" / variant / source).with_suffix(".o")


def build_all():
    jobs = []
    programs = sorted({(v, p) for v, p, _ in TESTS})
    for variant in VARIANTS:
        wanted = set(sources()) | {s for v, p in programs if v == variant for s in objects_of(p)}
        jobs += [(variant, source) for source in sorted(wanted)]
    with concurrent.futures.ThreadPoolExecutor(SLOTS) as pool:
        list(pool.map(lambda job: compile_one(TOP, job[1], job[0],
                                              object_at(BUILD, job[0], job[1])), jobs))
    for variant in VARIANTS:
        link_library(library_objects(variant, {}), BUILD / variant / "libcore.so")
    for variant, program in programs:
        link_program(variant, [object_at(BUILD, variant, s) for s in objects_of(program)],
                     BUILD / variant / program)


def library_objects(variant, instead):
    left_out = NOT_EXPLORED if variant == "explore" else set()
    return [instead.get(s, object_at(BUILD, variant, s)) for s in sources() if s not in left_out]


class Slot:
    """A copy of the sources in which one bug at a time is planted."""

    def __init__(self, number):
        self.root = BUILD / f"slot{number}"
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        shutil.copytree(TOP / "core", self.root / "core")
        for name in ("test", "bench"):
            (self.root / name).symlink_to(TOP / name)
        self.built = set()

    def path_of(self, variant, program, file):
        """The program with the bug in it: its own copy only if it includes the file itself."""
        if file in includes(program + ".c") and file.endswith(".c"):
            return self.root / variant / program
        return BUILD / variant / program

    def build(self, variant, program, file):
        touched = [s for s in sources() if file == s or (file.endswith(".h") and
                                                         file in includes(s))]
        if variant not in self.built:
            instead = {s: object_at(self.root, variant, s) for s in touched}
            for source, to in instead.items():
                compile_one(self.root, source, variant, to)
            link_library(library_objects(variant, instead), self.root / variant / "libcore.so")
            self.built.add(variant)
        path = self.path_of(variant, program, file)
        if path.is_relative_to(self.root):
            own = object_at(self.root, variant, program + ".c")
            # From the copy, so that the bug is in the file that it includes.
            (self.root / "test").unlink()
            shutil.copytree(TOP / "test" / "unit", self.root / "test" / "unit")
            (self.root / "test" / "support").symlink_to(TOP / "test" / "support")
            try:
                compile_one(self.root, program + ".c", variant, own)
            finally:
                shutil.rmtree(self.root / "test")
                (self.root / "test").symlink_to(TOP / "test")
            link_program(variant, [own] + [object_at(BUILD, variant, s)
                                           for s in BESIDE.get(program, [])], path)
        return path


# ---- running -------------------------------------------------------------------------------------

took_s = {}  # by test: seconds of processor time, unchanged


def limits(cpu_s):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(0)
    return apply


def run_test(path, library, environment, cpu_s, wall_s):
    """'' if it passes, else how it failed; and the processor time that it took."""
    begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        process = subprocess.Popen([str(path)], cwd=TOP, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   preexec_fn=limits(cpu_s),
                                   env={**os.environ, **environment, "LD_LIBRARY_PATH": str(library)})
        output, _ = process.communicate(timeout=wall_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hang", 0
    if process.returncode == 0:
        return "", resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun
    names = [line.split("] ", 1)[1].strip() for line in output.splitlines()
             if line.startswith("[  FAILED  ] ")]
    names = [name for name in names if not name[:1].isdigit()]
    invariant = re.search(r"(I-[A-Z]+-\d) does not hold", output)
    return (names[0] if names else invariant.group(1) if invariant
            else f"signal {-process.returncode}" if process.returncode < 0
            else f"exit code {process.returncode}"), 0


def key_of(test):
    return test[0], test[1], tuple(sorted(test[2].items()))


def find(slot, file, tests):
    slot.built = set()
    for test in tests:
        variant, program, environment = test
        path = slot.build(variant, program, file)
        s = took_s.get(key_of(test), 2)
        how, _ = run_test(path, slot.root / variant, environment, int(10 + 8 * s), 180 + 10 * s)
        if how:
            return f"{variant} {program.rsplit('/', 1)[1]}: {how}"
    return ""


def measure():
    """How long each test takes with the unchanged sources; all must pass. Kept for the next time."""
    kept = BUILD / "took.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    for test in TESTS:
        if str(key_of(test)) in known:
            took_s[key_of(test)] = known[str(key_of(test))]
            continue
        variant, program, environment = test
        how, s = run_test(BUILD / variant / program, BUILD / variant, environment, 600, 900)
        print(f"{s:6.1f} s  {variant} {program} {environment}", flush=True)
        if how:
            sys.exit(f"plant: the unchanged sources fail: {variant} {program}: {how}")
        took_s[key_of(test)] = known[str(key_of(test))] = s
        kept.write_text(json.dumps(known))


# ---- the rules -----------------------------------------------------------------------------------

SWAPS = [("comparison", f" {a} ", f" {b} ") for a, b in
         (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="))] + [
    ("and-or", " && ", " || "), ("and-or", " || ", " && "),
    ("sum", " + ", " - "), ("sum", " += ", " -= "), ("sum", " -= ", " += "),
    ("result", "return false;", "return true;"), ("result", "return true;", "return false;"),
    ("loop", "break;", ";"), ("loop", "continue;", ";"),
]
STATEMENT = re.compile(r"^ {4,}(?!return|break|continue|goto|else|const |struct |uint|int|size_t|"
                       r"bool |double |static |void |CW_|case |default)"
                       r"[\w*(&][^;{}]*(\)|=|\+\+|--)[^;{}]*;$")
NEGATION = re.compile(r"!(?=[\w(])")
NUMBER = re.compile(r"(?<![\w.\"%])(\d+)(?![\w.\"])")
# Bugs that are none: the lesser of two equal values, a hint to the compiler.
LESSER = re.compile(r"(\S+) [<>]=? ([^?()]+) \? (\1 : \2|\2 : \1)\b")
HINT = re.compile(r"(?<=, )[01](?=\)\))")


def strip_noise(lines):
    """The numbers of the lines that are code of functions and constants, without assertions."""
    comment = invariant = False
    for number, line in enumerate(lines):
        text = line.strip()
        if comment or text.startswith("/*"):
            comment = "*/" not in text
            continue
        if invariant or "CW_INVARIANT(" in text:
            invariant = not text.endswith(");")
            continue
        if text.startswith(("#", "//", "_Static_assert", "*")) or not text or "worker_bug" in text:
            continue
        yield number


def mutants_of(file):
    lines = (TOP / file).read_text().splitlines()
    found = []
    for number in strip_noise(lines):
        line = lines[number]
        code = re.sub(r"/\*.*", lambda m: " " * len(m.group()), line)
        code = re.sub(r'"[^"]*"', lambda m: "\0" * len(m.group()), code)
        if "__builtin_expect" in code:
            code = HINT.sub("\0", code)
        indented = code.startswith("    ")
        for kind, old, new in SWAPS:
            for match in re.finditer(re.escape(old), code):
                if indented and not (kind == "comparison" and LESSER.search(code)):
                    found.append((file, number, kind, line[:match.start()] + new +
                                  line[match.end():]))
        if STATEMENT.match(code) and code.count("(") == code.count(")"):
            before = lines[number - 1].strip() if number > 0 else ""
            if before.endswith((";", "{", "}", ")", "else", "*/")) or before == "":
                found.append((file, number, "left out", re.match(" *", line).group() + ";"))
        for match in NEGATION.finditer(code):
            found.append((file, number, "negation", line[:match.start()] + line[match.end():]))
        for match in NUMBER.finditer(code):
            if indented or code.startswith("enum"):
                found.append((file, number, "constant", line[:match.start()] +
                              str(int(match.group()) + 1) + line[match.end():]))
    return [m for m in found if m[3] != lines[m[1]]]


# Where bugs are planted: the protocols and the modules that they rest on.
FILES = """core/speculation/gvt.c core/speculation/promise.c core/speculation/rollback.c
core/speculation/lazy_cancel.c core/speculation/receive.c core/speculation/throttle.c core/speculation/make_room.c
core/speculation/fossil.c core/speculation/undo_log.c core/speculation/send.c core/speculation/wait.c
core/run/handle_events.c core/run/worker_loop.c core/run/parallel.c core/speculation/stress.c
core/run/listen.c core/exchange/send_quota.c core/exchange/arrivals.c core/exchange/mailbox.c
core/exchange/peers.c core/exchange/recorder.c core/exchange/record_outbox.c
core/exchange/record_merge.c core/os/threads.c core/run/migrate.c core/run/balance.c core/run/pace.c core/run/gather.c core/os/table.c
core/os/memory.c core/queue/pending.c core/queue/entry_chain.c core/queue/sorted_bucket.c
core/queue/overflow_heap.c core/run/handler_api.c core/run/host_api.c core/run/sequential.c core/worker/lp_states.c
core/exchange/commit_records.c core/worker/change_check.c""".split()


def draw(count, seed, files):
    """The same number from each file, as far as it goes, of different lines where there are."""
    rng = random.Random(seed)
    left = {file: mutants_of(file) for file in files}
    for found in left.values():
        rng.shuffle(found)
    drawn, lines = [], set()
    while len(drawn) < count and any(left.values()):
        for file in files:
            while left[file]:
                mutant = left[file].pop()
                if (file, mutant[1]) not in lines:
                    lines.add((file, mutant[1]))
                    drawn.append(mutant)
                    break
    return drawn[:count]


# ---- the bugs that are asked for -----------------------------------------------------------------

def try_one(slot, file, text, tests):
    path = slot.root / file
    own = path.read_text()
    path.write_text(text)
    try:
        return find(slot, file, tests) or "SURVIVED"
    except RuntimeError as error:
        return "DOES NOT BUILD " + str(error).strip().splitlines()[0]
    finally:
        path.write_text(own)


def ordered_for(file, named=()):
    """Tests that are named, or that include the file, come first."""
    own = [("explore" if variant.startswith("explore") else "plain", program, environment)
           for variant, program, environment in named if variant != "tsan"]
    own += [t for t in TESTS if file in includes(t[1] + ".c") and file.endswith(".c")]
    return own + [t for t in TESTS if t not in own]


def work(jobs, out):
    """jobs: (name, file, text, tests). Prints a line for each; returns how many survive."""
    slots = [Slot(i) for i in range(SLOTS)]
    survived = 0

    def one(job):
        name, file, text, named = job
        slot = slots.pop()
        try:
            begin = time.monotonic()
            return name, try_one(slot, file, text, ordered_for(file, named)), time.monotonic() - begin
        finally:
            slots.append(slot)

    with concurrent.futures.ThreadPoolExecutor(SLOTS) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, job) for job in jobs]):
            name, result, s = done.result()
            survived += result == "SURVIVED"
            print(f"{s:6.1f} s  {result:60} {name}", file=out, flush=True)
    return survived


def whole_text(mutant):
    lines = (TOP / mutant[0]).read_text().splitlines()
    lines[mutant[1]] = mutant[3]
    return "\n".join(lines) + "\n"


def name_of(mutant):
    line = (TOP / mutant[0]).read_text().splitlines()[mutant[1]].strip()
    return f"{mutant[0]}:{mutant[1] + 1} {mutant[2]} | {line} | {mutant[3].strip()}"


def named_jobs(names):
    jobs = []
    for path in sorted(TOP.glob("test/mutants/*.mutants")):
        for m in run.parse(path):
            if m.file.startswith("core/") and (not names or m.name.startswith(tuple(names))):
                text = (TOP / m.file).read_text()
                if text.count(m.old) != 1:
                    sys.exit(f"{m.name} does not fit {m.file}")
                jobs.append((m.name, m.file, text.replace(m.old, m.new), m.tests))
    return jobs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--named", nargs="*")
    parser.add_argument("--again")
    parser.add_argument("--files", nargs="*")
    parser.add_argument("--out")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--threads", action="store_true")
    options = parser.parse_args()
    if options.threads:
        TESTS.extend(THREADS)
    drawn = draw(options.count + options.skip, options.seed, options.files or FILES)[options.skip:]
    if options.list:
        print("\n".join(map(name_of, drawn)))
        return 0
    jobs = [(name_of(m), m[0], whole_text(m), []) for m in drawn]
    if options.named is not None:
        jobs += named_jobs(options.named)
        wanted = {program for job in jobs for _, program, _ in job[3]}
        TESTS.extend(test for test in THREADS if test[1] in wanted and test not in TESTS)
    if options.again:
        for line in pathlib.Path(options.again).read_text().splitlines():
            if " SURVIVED " in line:
                where, old, new = line.split(" SURVIVED ")[1].strip().split(" | ")
                file, number = where.split(" ")[0].rsplit(":", 1)
                jobs.append((line.split(" SURVIVED ")[1].strip(), file,
                             whole_text((file, int(number) - 1, "", new)), []))
    build_all()
    measure()
    out = open(options.out, "a", encoding="utf-8") if options.out else sys.stdout
    survived = work(jobs, out)
    print(f"{len(jobs)} planted, {survived} survived", file=out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
