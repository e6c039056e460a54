#!/usr/bin/python3
"""The page bench/guide/notebook.md: its Python runs as it stands against the database of the study that it
names, and shows what SQL without pandas finds there. Prints one line per test, as the unit tests do; without
pandas it says that it is skipped and ends with code 0. Debian's Python runs it, whose pandas `make test-all` installs.

    CUBEWARP=build/check/cubewarp test/notebook/test_notebook.py [NAME...]
"""
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import traceback

TOP = pathlib.Path(__file__).resolve().parents[2]
CUBEWARP = str(pathlib.Path(os.environ.get("CUBEWARP", str(TOP / "build" / "cubewarp"))).resolve())
PAGE = TOP / "bench/guide/notebook.md"
STUDY = TOP / "configs/studies/first_look.yaml"
BEST = """SELECT t.value, b.value, min(r.time_ns), r.algorithm FROM row r
          JOIN axis t ON t.point = r.point AND t.name = 'system.sips.topology'
          JOIN axis b ON b.point = r.point AND b.name = 'links.sip_link.bw_gbs' GROUP BY 1, 2"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def sweep(study, code):
    """Makes the study's database in the working directory."""
    done = subprocess.run([CUBEWARP, "sweep", "--quiet", str(study)], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"sweep {study}: {done.returncode}: {done.stderr}"


def run_page():
    """What each block of the page prints, and its variables."""
    names, printed = {}, []
    for number, block in enumerate(blocks("python")):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block, f"{PAGE.name}, block {number + 1}", "exec"), names)  # pylint: disable=exec-used
        printed.append(out.getvalue())
    return printed, names


def the_page_makes_the_database_that_it_reads():
    (command,) = blocks("sh")
    assert command.strip() == f"build/cubewarp sweep {STUDY.relative_to(TOP)}", command
    assert f"{STUDY.stem}.sqlite" in blocks("python")[0]


def every_block_runs_and_shows_something():
    sweep(STUDY, 0)
    printed, names = run_page()
    assert len(printed) >= 5 and all(text.strip() for text in printed[:-1]), printed
    assert len(names["runs"]) == 60 and "time_us" in names["runs"]


def its_best_are_the_least_times_of_the_database():
    sweep(STUDY, 0)
    _, names = run_page()
    best = {(row["system.sips.topology"], row["links.sip_link.bw_gbs"]): row for _, row in names["best"].iterrows()}
    with contextlib.closing(sqlite3.connect(f"{STUDY.stem}.sqlite")) as db:
        known = db.execute(BEST).fetchall()
    assert len(known) == len(best) == 15
    for topology, speed, time_ns, algorithm in known:
        row = best[topology, speed]
        assert row["algorithm"] == algorithm and row["time_ns"] == time_ns, (topology, speed, row)


def a_point_that_failed_is_not_passed_over():
    text = STUDY.read_text(encoding="utf-8")
    failing = pathlib.Path(STUDY.name)
    failing.write_text(text.replace("[ring_1d, torus_2d, switch]", "[ring_1d, torus_2d, switch]\n  max-events: [1000000000, 10]"),
                       encoding="utf-8")
    sweep(failing, 3)
    try:
        run_page()
    except AssertionError as error:
        assert "10" in str(error), error
    else:
        raise AssertionError("the page shows a study with failed points as if it were whole")


TESTS = [the_page_makes_the_database_that_it_reads, every_block_runs_and_shows_something,
         its_best_are_the_least_times_of_the_database, a_point_that_failed_is_not_passed_over]


def main():
    if importlib.util.find_spec("pandas") is None:
        print("skipped: there is no pandas (Debian: python3-pandas); make test-all installs it")
        return 0
    failed = 0
    for test in TESTS:
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                test()
            print(f"[       OK ] {test.__name__}")
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stdout)
            print(f"[  FAILED  ] {test.__name__}")
            failed += 1
        finally:
            os.chdir(TOP)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
