#!/usr/bin/env python3
"""The structure in figures: rooms, pairs, circles, arrows, assertions, citations.

    test/structure.py            prints the figures (make structure)
    test/structure.py --check    prints only the limits that are broken; exit code 1 if one is

It reads text: include lines, and the definitions and prototypes that Universal Ctags finds. The
order of the rooms, and the arrows that may point up with their reasons, stand in ARCHITECTURE.md.
"""
import collections
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("core", "hw", "lp", "partition", "collectives", "workload", "perf", "bench")
PAIRS_MIN_PERCENT = 90  # prototypes of x.h that x.c defines
CYCLE_MAX = 3         # modules (x.h with x.c) that include each other in a circle


def git_files(*patterns):
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                         cwd=TOP, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in out.split("\n") if name and (TOP / name).is_file()]


def product_files():
    return [name for name in git_files("*.c", "*.h") if name.split("/")[0] in FOLDERS]


def module(path):
    return path.rsplit(".", 1)[0]


def folder(path):
    return path.rsplit("/", 1)[0]


def includes(files, text):
    for name in files:
        for target in re.findall(r'^#include "([^"]+)"', text[name], re.M):
            if target in text:
                yield name, target


def circles(edges):
    """The strongly connected components of more than one node, by Tarjan's algorithm."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in list(edges):
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on_stack.add(child)
                    work.append((child, iter(edges[child])))
                    break
                if child in on_stack:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        circle.append(member)
                        if member == node:
                            break
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found, key=len, reverse=True)


def pairs(files):
    """(prototypes that x.c defines, all prototypes with a definition, the others)."""
    out = subprocess.run(["ctags", "-x", "--extras=-F", "--c-kinds=pf", "--_xformat=%K|%N|%F", *files],
                         cwd=TOP, check=True, stdout=subprocess.PIPE, text=True).stdout
    defined, declared = {}, []
    for line in out.splitlines():
        kind, name, path = line.split("|")
        if kind == "function" and path.endswith(".c"):
            defined[name] = path
        elif kind == "prototype" and path.endswith(".h"):
            declared.append((name, path))
    known = [(name, path) for name, path in declared if name in defined]
    strays = [(name, path, defined[name]) for name, path in known
              if module(path) != module(defined[name])]
    return len(known) - len(strays), len(known), strays


def rooms_of_architecture():
    """The order of each folder's rooms, lowest first, and the arrows that may point up."""
    text = (TOP / "ARCHITECTURE.md").read_text()
    order = {}
    for row in re.findall(r"^\| `(\w+)/` rooms \| (.*?) \|", text, re.M):
        order[row[0]] = re.findall(r"`([\w/]+)`", row[1])
    allowed = set(re.findall(r"^\| `([\w/.]+)` -> `([\w/.]+)` \|", text, re.M))
    return order, allowed


def circles_of_architecture():
    """Folders in which ARCHITECTURE.md gives a reason for a larger circle of modules."""
    text = (TOP / "ARCHITECTURE.md").read_text()
    return tuple(re.findall(r"^\| `([\w/]+/)` \|", text.split("| circle |")[-1], re.M))


def room(path, rooms):
    """Its folder; a file at the top of a folder may have a floor of its own."""
    return module(path) if module(path) in rooms else folder(path)


def upward_arrows(files, text):
    order, allowed = rooms_of_architecture()
    found = set()
    for name, target in includes(files, text):
        rooms = order.get(name.split("/")[0], [])
        a, b = room(name, rooms), room(target, rooms)
        if a != b and a in rooms and b in rooms and rooms.index(b) > rooms.index(a):
            found.add((name, target))
    missing = [room for room in sorted({folder(name) for name in files if "/" in folder(name)})
               if order.get(room.split("/")[0]) is not None and room not in order[room.split("/")[0]]]
    return sorted(found - allowed), sorted(found & allowed), sorted(allowed - found), missing


def comments(source):
    return re.findall(r"/\*.*?\*/", source, re.S)


def broken_rules():
    """Lines above a section of a file that go on in a second line."""
    found = []
    for name in git_files("*.c", "*.h", "*.cpp"):
        source = (TOP / name).read_text()
        for match in re.finditer(r"^/\* -+ [^\n]*-\n \*/", source, re.M):
            found.append(f"{name}:{source.count(chr(10), 0, match.start()) + 1}: "
                         "a section's rule is one line of 100 columns")
    return found


def headings(path):
    found = set()
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            found.add(re.sub(r"[`*]", "", line.lstrip("#").strip()).lower())
    return found


def citations():
    """Files and headings that code and documents name, and that are not there."""
    broken = []
    names = set(git_files())
    decisions = (TOP / "collectives/DECISIONS.md").read_text()
    base = collections.defaultdict(set)
    for name in names:
        base[name.rsplit("/", 1)[-1]].add(name)
    for name in git_files("*.c", "*.h", "*.md", "*.sh", "*.py", "Makefile", "*.mk", "*.pml", "*.mutants"):
        if name == "CHANGELOG.md":
            continue
        source = (TOP / name).read_text(errors="replace")
        for match in re.finditer(r"(?<![\w/.*$-])((?:[\w-]+/)*[\w-]+\.md)\b(?:,\s*(?:\*\s*)?\"([^\"]+)\")?",
                                 source):
            path, heading = match[1], match[2]
            here = folder(name) + "/" + path if "/" in name else path
            target = path if path in names else here if here in names else \
                next(iter(base[path])) if "/" not in path and len(base[path]) == 1 else None
            line = source.count("\n", 0, match.start()) + 1
            if target is None:
                broken.append(f"{name}:{line}: there is no {path}")
            elif heading is not None:
                wanted = re.sub(r"\s+(\*\s+)?", " ", heading).lower()
                if not any(wanted in known for known in headings(TOP / target)):
                    broken.append(f'{name}:{line}: {target} has no heading "{heading}"')
        for match in re.finditer(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", source) if name.endswith(".md") else ():
            if not ((TOP / name).parent / match[1]).exists():
                line = source.count("\n", 0, match.start()) + 1
                broken.append(f"{name}:{line}: there is no {match[1]}, which a link names")
        rooms = "|".join(FOLDERS) + "|test"
        for match in re.finditer(rf"(?<![\w/.-])((?:{rooms})/[\w/-]+\.(?:c|h|py|sh|pml|yaml))\b", source):
            if match[1] not in names and "NAME" not in match[1]:
                line = source.count("\n", 0, match.start()) + 1
                broken.append(f"{name}:{line}: there is no {match[1]}")
        for match in re.finditer(r"\bADR-?\d+", source):
            if f"## {match[0]}:" not in decisions:
                line = source.count("\n", 0, match.start()) + 1
                broken.append(f"{name}:{line}: DECISIONS.md has no section {match[0]}")
    return broken


INVARIANT = r"\bI-[A-Z]+-\d+\b"


def invariants(text):
    """Named invariants of the product that no assertion or spin model, or no test, cites."""
    defined, asserted, tested = set(), set(), set()
    for name, source in text.items():
        for comment in comments(source):
            defined |= set(re.findall(INVARIANT, comment))
        asserted |= set(re.findall(rf"\"({INVARIANT})", source))
    for name in git_files("test/*"):
        if name.endswith((".gz", "structure.py")):
            continue
        source = (TOP / name).read_text(errors="replace")
        cited = set(re.findall(INVARIANT, source))
        if name.endswith(".pml"):
            asserted |= cited
        tested |= cited
    return defined, sorted(defined - asserted), sorted(defined - tested)


def main():
    check = "--check" in sys.argv
    files = product_files()
    text = {name: (TOP / name).read_text() for name in files}
    complaints = []

    per_folder = collections.Counter(folder(name) for name in files)
    fullest, most = per_folder.most_common(1)[0]

    paired, known, strays = pairs(files)
    percent = 100 * paired / known
    if percent < PAIRS_MIN_PERCENT:
        complaints.append(f"{percent:.0f} % of prototypes are defined in their header's source; "
                          f"at least {PAIRS_MIN_PERCENT} %")

    edges = collections.defaultdict(set)
    for name, target in includes(files, text):
        if module(name) != module(target):
            edges[module(name)].add(module(target))
    found = circles(edges)
    complaints += [f"a circle of {len(circle)} modules: {', '.join(circle)}"
                   for circle in found if len(circle) > CYCLE_MAX and
                   not all(member.startswith(circles_of_architecture()) for member in circle)]

    up, listed, stale, homeless = upward_arrows(files, text)
    complaints += [f"{a} includes {b}, upwards, and ARCHITECTURE.md gives no reason" for a, b in up]
    complaints += [f"ARCHITECTURE.md lists {a} -> {b}, which is not there" for a, b in stale]
    complaints += [f"ARCHITECTURE.md gives {room} no place among the rooms" for room in homeless]

    core_lines = sum(text[name].count("\n") for name in files if name.startswith("core/"))
    assertions = sum(len(re.findall(r"\bCW_INVARIANT\(\s*\"|\bassert\(", text[name]))
                     for name in files if name.startswith("core/"))

    defined, unasserted, untested = invariants(text)
    complaints += [f"{name} is in no assertion and no spin model" for name in unasserted]
    complaints += [f"{name} is named by no test" for name in untested]

    broken = citations()
    complaints += broken + broken_rules()

    lines = sum(source.count("\n") for source in text.values())
    if check:
        for complaint in complaints:
            print(f"structure: {complaint}")
        return 1 if complaints else 0
    print(f"files, lines                          {len(files)}, {lines}")
    print(f"files in a folder, most               {most} ({fullest})")
    print(f"prototypes of x.h that x.c defines    {percent:.0f} % of {known}")
    for name, header, source in strays:
        print(f"    {name}: {header}, {source}")
    print(f"circles of modules, their sizes       {[len(circle) for circle in found]}")
    for circle in found:
        print(f"    {', '.join(circle)}")
    print(f"arrows up, listed with a reason       {len(up)}, {len(listed)}")
    print(f"run-time assertions in core           {assertions}, "
          f"{1000 * assertions / core_lines:.1f} per 1,000 lines")
    print(f"invariants, not asserted, not tested  {len(defined)}, {len(unasserted)}, {len(untested)}")
    print(f"citations that lead nowhere           {len(broken)}")
    for complaint in complaints:
        print(f"! {complaint}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
