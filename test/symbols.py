#!/usr/bin/env python3
"""Circles between modules by symbols: which object file calls which, as `nm` says.

    test/symbols.py OBJECTS            prints each circle (OBJECTS: build/check/obj, say)
    test/symbols.py --check OBJECTS    prints only the circles that are too large; exit code 1

An include arrow may stand for a structure alone; a symbol is a call or a table. A circle of modules
can be read, tested and replaced only as a whole.
"""
import collections
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from structure import TOP, circles, git_files, module, rooms_of_architecture, room

MODULES_MAX = {"core": 1, "hw": 1, "lp": 1, "partition": 1}  # in one circle


def symbol_edges(folder, objects):
    """{module: {module: [symbols]}} between the modules of a folder."""
    defined, undefined = {}, {}
    for source in git_files(f"{folder}/*.c"):
        object_file = objects / (module(source) + ".o")
        if not object_file.is_file():
            continue
        names = subprocess.run(["nm", object_file], check=True, stdout=subprocess.PIPE,
                               text=True).stdout
        undefined[module(source)] = set()
        for fields in (line.split() for line in names.splitlines()):
            if fields[0] == "U":
                undefined[module(source)].add(fields[1])
            elif len(fields) == 3 and fields[1] in "TDBRVWC":
                defined[fields[2]] = module(source)
    edges = {name: collections.defaultdict(list) for name in undefined}
    for name, symbols in undefined.items():
        for symbol in sorted(symbols):
            if defined.get(symbol, name) != name:
                edges[name][defined[symbol]].append(symbol)
    return edges


def upward(folder, edges):
    """Symbols by which a room uses one above it, if no include already does."""
    order = rooms_of_architecture()[0].get(folder, [])
    for name, targets in edges.items():
        for target, symbols in targets.items():
            a, b = room(name + ".c", order), room(target + ".c", order)
            if a in order and b in order and order.index(b) > order.index(a):
                yield f"{name} uses {', '.join(symbols)} of {target}, upwards"


def main():
    check = "--check" in sys.argv
    objects = pathlib.Path(sys.argv[-1])
    if not objects.is_absolute():
        objects = TOP / objects
    failed = False
    for folder, most in MODULES_MAX.items():
        edges = symbol_edges(folder, objects)
        if not edges:
            print(f"symbols: {objects} has no objects of {folder}/: make VARIANT=check")
            return 1
        found = circles(edges)
        complaints = list(upward(folder, edges))
        for circle in found:
            if len(circle) > most:
                complaints.append(f"a circle of {len(circle)} modules, at most {most}: "
                                  f"{', '.join(circle)}")
        if not check:
            print(f"circles by symbols in {folder}/  {[len(circle) for circle in found]}")
            for circle in found:
                for name in circle:
                    for target in sorted(set(edges[name]) & set(circle)):
                        print(f"    {name} -> {target}: {', '.join(edges[name][target])}")
        for complaint in complaints:
            print(f"symbols: {complaint}")
        failed |= bool(complaints)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
