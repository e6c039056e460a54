"""Bytes, bandwidths and bounds of the rows of `cubewarp run`, a second time: written from bench/COMMANDS.md ("Bytes and
bandwidths", "Bound") and hw/HARDWARE.md alone, and sharing nothing with the program. Times are in ps, rates in bytes per
ns, all as exact rationals."""
import copy
import itertools
import math
import pathlib
import re
from fractions import Fraction

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
ITEM = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "fp8_e4m3": 1, "fp8_e5m2": 1, "int8": 1, "int32": 4}


# ---- the configuration -------------------------------------------------------------------------

def scalar(text):
    text = text.strip()
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return Fraction(text)
    return {"true": True, "false": False}.get(text, text)


def flow(text):
    """The value of YAML in flow style: {a: 1, b: [2, 3]}, or a scalar."""
    tokens = re.findall(r"[\[\]{},]|:(?=\s)|[^\[\]{},:\s][^\[\]{},:]*(?::\S[^\[\]{},:]*)*", text)
    at = 0

    def value():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "{":
            result = {}
            while tokens[at] != "}":
                key = tokens[at].strip()
                at += 2
                result[key] = value()
                at += tokens[at] == ","
            at += 1
            return result
        if token == "[":
            result = []
            while tokens[at] != "]":
                result.append(value())
                at += tokens[at] == ","
            at += 1
            return result
        return scalar(token)

    return value() if tokens else {}


def read_yaml(path):
    """The shipped configurations: mappings by indentation, values in flow style, perhaps over several lines."""
    top, folded = {}, ""
    stack = [(-1, top)]
    for line in path.read_text(encoding="utf-8").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).rstrip()
        folded = f"{folded} {line.strip()}" if folded else line
        if folded.count("{") + folded.count("[") > folded.count("}") + folded.count("]"):
            continue
        line, folded = folded, ""
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        key, _, rest = line.strip().partition(":")
        while stack[-1][0] >= indent:
            stack.pop()
        stack[-1][1][key] = flow(rest) if rest.strip() else {}
        if not rest.strip():
            stack.append((indent, stack[-1][1][key]))
    return top


def merge(below, above):
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            merge(below[key], value)
        else:
            below[key] = copy.deepcopy(value)


def configuration(presets, settings):
    tree = {}
    for name in ("topology", "components", "ccl"):
        merge(tree, read_yaml(CONFIGS / f"{name}.yaml"))
    for preset in presets:
        merge(tree, read_yaml(CONFIGS / "presets" / f"{preset}.yaml"))
    for key, text in settings:
        *path, last = key.split(".")
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at[last] = flow(text)
    return tree


# ---- the machine -------------------------------------------------------------------------------

class Dimension:
    """One dimension of the SIPs. kind: ring, line, full or switch; link: the name and the values of its links."""

    def __init__(self, kind, size, name, link, ports):
        self.kind, self.size, self.name, self.link, self.ports = kind, int(size), name, link, ports
        self.rate = link["bw_gbs"]

    def links_out_of(self, inside):
        """Links one way from `inside` places, the first ones, to the others."""
        outside = self.size - inside
        if inside == 0 or outside == 0:
            return 0
        return {"ring": 2, "line": 1, "full": inside * outside, "switch": min(inside, outside)}[self.kind]

    def links_in_all(self):
        """Links one way of all its places together: those that leave a place."""
        n = self.size
        return 0 if n == 1 else {"ring": 2 * n, "line": 2 * (n - 1), "full": n * (n - 1), "switch": n}[self.kind]

    def full_port(self, k):
        """The ports at both ends of the link from place i to place i + k of a full dimension."""
        n = self.size
        if 2 * k == n:
            return ("E", "E") if k % 2 else ("S", "S")
        if 2 * k < n:
            return ("E", "W") if k % 2 else ("S", "N")
        return self.full_port(n - k)[::-1]

    def outlets(self, at):
        """The ports of the links that leave place `at`."""
        n, (ahead, back) = self.size, self.ports
        if n == 1:
            return []
        if self.kind == "full":
            return [self.full_port(k)[0] for k in range(1, n)] if self.ports != ("E", "E") else ["E"]
        if self.kind == "switch":
            return [ahead]
        if self.kind == "ring":
            return [ahead, back]
        return [ahead] * (at + 1 < n) + [back] * (at > 0)

    def way(self, a, b):
        """The hops from place a to place b: (port out, port in) of each."""
        n, (ahead, back) = self.size, self.ports
        if a == b:
            return []
        if self.kind == "switch":
            return [(ahead, ahead)]
        if self.kind == "full":
            return [("E", "E") if self.ports == ("E", "E") else self.full_port((b - a) % n)]
        up, down = ((b - a) % n, (a - b) % n) if self.kind == "ring" else (b - a, a - b)
        if self.kind == "ring":
            return [(ahead, back)] * up if up <= down else [(back, ahead)] * down
        return [(ahead, back)] * up if up > 0 else [(back, ahead)] * down


def squarest(n):
    h = max(d for d in range(1, math.isqrt(n) + 1) if n % d == 0)
    return n // h, h


def most_cubic(n):
    sides = [(n // (h * d), h, d) for d in range(1, n + 1) for h in range(d, n + 1) if n % (h * d) == 0]
    return min(s for s in sides if s[0] >= s[1])


class Machine:
    def __init__(self, tree):
        self.tree = tree
        self.nodes, self.links = tree["nodes"], tree["links"]
        self.w, self.h = int(tree["sip"]["cube_mesh"]["w"]), int(tree["sip"]["cube_mesh"]["h"])
        layout = tree["cube"]["pe_layout"]
        self.per_corner, self.corners = int(layout["pe_per_corner"]), layout["corners"]
        self.noc = int(tree["cube"]["noc"]["w"]), int(tree["cube"]["noc"]["h"])
        self.sips = int(tree["system"]["sips"]["count"])
        self.cubes = self.w * self.h
        self.pes = self.per_corner * len(self.corners)
        self.dimensions = self.make_dimensions()

    def make_dimensions(self):
        sips, n = self.tree["system"]["sips"], self.sips
        topology, link = sips["topology"], self.links["sip_link"]
        if topology == "pair_switch":
            if n == 1:
                return []
            return [Dimension("full", 2, "sio", self.links["sio"], ("E", "E")),
                    Dimension("switch", n // 2, "hccs", self.links["hccs"], ("N", "N"))]
        if isinstance(topology, list):
            levels = []
            for number, level in enumerate(topology, 1):
                own = {k: v for k, v in level.items() if k in ("distance_mm", "bw_gbs", "ns_per_mm", "latency_ns")}
                (kind, sizes), = [(k, v) for k, v in level.items() if k not in own]
                sizes = sizes if isinstance(sizes, list) else [sizes]
                levels.append((kind, sizes, f"level_{number}", {**link, **own}))
        else:
            sizes = [n]
            if topology in ("torus_2d", "mesh_2d_no_wrap"):
                sizes = [sips["w"], sips["h"]] if "w" in sips else squarest(n)
            elif topology == "torus_3d":
                sizes = [sips["w"], sips["h"], sips["d"]] if "w" in sips else most_cubic(n)
            levels = [(topology, sizes, "sip_link", link)]
        result = []
        for kind, sizes, name, values in levels:
            kind = {"fully_connected": "full", "switch": "switch", "mesh_2d_no_wrap": "line"}.get(kind, "ring")
            for size in sizes:
                at = len(result)
                ports = (("E", "W"), ("S", "N"))[at % 2] if kind != "switch" else ("ESWN"[at % 4],) * 2
                result.append(Dimension(kind, size, name, values, ports))
        return result

    # -- routes --

    def overhead(self, kind):
        return self.nodes[kind]["overhead_ns"] * 1000

    def flight(self, link):
        ns = link["distance_mm"] * link.get("ns_per_mm", self.tree["ns_per_mm"]) + link.get("latency_ns", 0)
        return math.floor(ns * 1000 + Fraction(1, 2))

    def router_of(self, pe):
        corner = self.corners[pe // self.per_corner]
        return (self.noc[0] - 1) * ("E" in corner), (self.noc[1] - 1) * ("S" in corner)

    def grid_of_pes(self):
        """The two rows of a cube's PEs: (row, column) of each."""
        return {("NS".index(corner[0]), "WE".index(corner[1]) * self.per_corner + i): number * self.per_corner + i
                for number, corner in enumerate(self.corners) for i in range(self.per_corner)}

    def is_of_paired_dies(self):
        """Packages of two dies of one cube each."""
        return self.tree["system"]["sips"]["topology"] == "pair_switch" and self.sips > 1 and self.cubes == 1

    def router_at(self, port):
        w, h = self.noc
        return {"N": (w // 2, 0), "E": (w - 1, h // 2), "S": ((w - 1) // 2, h - 1), "W": (0, (h - 1) // 2)}[port]

    @staticmethod
    def routers(a, b):
        """From one router to another: the nodes and links after the first router."""
        return ["-noc", "router"] * (abs(a[0] - b[0]) + abs(a[1] - b[1]))

    def across_cubes(self, cube, router, end, port):
        """From a router of a cube to the UCIe port `port` of cube `end`, along x, then along y; port None: stop there.
        Returns the path, and the router at which it stands."""
        x, y, path = cube % self.w, cube // self.w, []
        while (x, y) != (end % self.w, end // self.w):
            step = ("E" if x < end % self.w else "W") if x != end % self.w else ("S" if y < end // self.w else "N")
            path += self.routers(router, self.router_at(step)) + ["-noc_ucie", "ucie_port", "-ucie", "ucie_port", "-noc_ucie", "router"]
            x += {"E": 1, "W": -1}.get(step, 0)
            y += {"S": 1, "N": -1}.get(step, 0)
            router = self.router_at({"E": "W", "W": "E", "S": "N", "N": "S"}[step])
        if port:
            path += self.routers(router, self.router_at(port)) + ["-noc_ucie", "ucie_port"]
        return path, router

    def edge(self, cube, port):
        x, y = cube % self.w, cube // self.w
        x = {"E": self.w - 1, "W": 0}.get(port, x)
        y = {"S": self.h - 1, "N": 0}.get(port, y)
        return y * self.w + x

    def place(self, sip):
        result = []
        for dimension in self.dimensions:
            result.append(sip % dimension.size)
            sip //= dimension.size
        return result

    def hops(self, a, b):
        """Hops between two SIPs: (dimension, port out, port in)."""
        order = list(zip(self.dimensions, self.place(a), self.place(b)))
        if self.tree["system"]["sips"]["topology"] == "pair_switch":
            order.reverse()
        return [(d, *hop) for d, from_, to in order for hop in d.way(from_, to)]

    def hops_of_queue(self, a, b, side):
        """The same for a queue that leaves by a named port; None: as routed."""
        hops = self.hops(a, b)
        if side and len(hops) == 1 and hops[0][0].kind == "ring" and hops[0][0] in self.dimensions[:2]:
            return [(hops[0][0], side, {"E": "W", "W": "E", "N": "S", "S": "N"}[side])]
        return hops

    def path(self, a, b, side=None):
        """From the PE_DMA of PE a to that of PE b, each (sip, cube, pe); side: of a queue that leaves by a named port. Links begin
        with '-', outer ones are Dimensions."""
        path = ["pe_dma", "-pe_noc", "router"]
        hops, router = self.hops_of_queue(a[0], b[0], side), self.router_of(a[2])
        cube = a[1]
        if hops:
            out = hops[0][1]
            path += self.across_cubes(cube, router, self.edge(cube, out), out)[0] + ["-ucie", "io_port"]
            for i, (dimension, _, into) in enumerate(hops):
                if i > 0:
                    path += ["-hub", "io_hub", "-hub", "io_port"]
                path += [dimension] + (["switch", dimension] if dimension.kind == "switch" else []) + ["io_port"]
            cube, router = self.edge(b[1], into), self.router_at(into)
            path += ["-ucie", "ucie_port", "-noc_ucie", "router"]
        more, router = self.across_cubes(cube, router, b[1], None)
        return path + more + self.routers(router, self.router_of(b[2])) + ["-pe_noc", "pe_dma"]

    def time(self, path, size):
        """T(path, n) of HARDWARE.md, section 4."""
        total, slowest = 0, 0
        for part in path:
            if isinstance(part, str) and part[0] != "-":
                total += self.overhead(part)
                continue
            link = part.link if isinstance(part, Dimension) else self.links[part[1:]]
            total += self.flight(link)
            slowest = max(slowest, math.ceil(size * 1000 / link["bw_gbs"]))
        return total + slowest

    def cube_hop(self):
        return self.time(["-noc_ucie", "ucie_port", "-ucie", "ucie_port", "-noc_ucie", "router"], 0)

    def inside_a_sip(self, cubes):
        """The shortest path between PEs at one router, and so many cubes more."""
        return self.time(["pe_dma", "-pe_noc", "router", "-pe_noc", "pe_dma"], 0) + cubes * self.cube_hop()

    def between_sips(self, sips, inner):
        """The shortest path from SIP 0 to the farthest of the first `sips`; inner: ranks are on all cubes."""
        edge = ["-noc_ucie", "ucie_port", "-ucie"]
        ends = 2 * self.time(["pe_dma", "-pe_noc", "router", *edge], 0)
        ends += 2 * ((min(self.w, self.h) - 1) // 2) * self.cube_hop() * inner
        transit = min(self.time(["-hub", "io_hub", "-hub"], 0), self.time([*edge, "router", *edge], 0))
        longest = 0
        for sip in range(1, sips):
            hops = [hop[0] for hop in self.hops(0, sip)]
            outer = sum(self.time(["io_port", d] + ["switch", d] * (d.kind == "switch") + ["io_port"], 0) for d in hops)
            longest = max(longest, ends + outer + (len(hops) - 1) * transit)
        return longest

    def tile(self, a, b, size, side=None):
        """The time of a tile from PE to PE, into its slot in TCM."""
        slot = self.tree.get("slot_access", {}).get("tcm", {})
        if "bw_gbs" not in slot:
            return self.time(self.path(a, b, side) + ["-tcm", "pe_tcm"], size)
        write = slot.get("overhead_ns", 0) * 1000 + math.ceil(size * 1000 / slot["bw_gbs"])
        return self.time(self.path(a, b, side), size) + (0 if slot.get("read_only") else write)

    def neighbour(self, sip, side):
        """The SIP to which a direction global_`side` leads; None: there is none."""
        topology, step = self.tree["system"]["sips"]["topology"], 1 if side in "ES" else -1
        if topology == "pair_switch":
            return None
        if topology in ("switch", "fully_connected", "ring_1d"):
            return (sip + step) % self.sips if side in "EW" else None
        width = self.dimensions[0].size
        row, column = divmod(sip, width)
        rows = self.sips // width
        if side in "EW":
            column += step
        else:
            row += step
        if topology == "mesh_2d_no_wrap" and not (0 <= column < width and 0 <= row < rows):
            return None
        return row % rows * width + column % width

    def shifts(self, direction):
        """Pairs of PEs, sender and receiver, in a direction; of SIPs, those of SIP 0 stand for all."""
        kind, _, side = direction.rpartition("_")
        pes = range(1 if self.tree["defaults"]["wiring"] == "pe0" else self.pes)
        for cube, pe in itertools.product(range(self.cubes), pes):
            x, y = cube % self.w, cube // self.w
            if kind == "intra" and len(pes) > 1:
                (row, column), = [at for at, number in self.grid_of_pes().items() if number == pe]
                to = row + {"S": 1, "N": -1}.get(side, 0), column + {"E": 1, "W": -1}.get(side, 0)
                if to in self.grid_of_pes():
                    yield (0, cube, pe), (0, cube, self.grid_of_pes()[to])
            elif kind == "global":
                for sip in range(self.sips):
                    to = self.neighbour(sip, side)
                    if to is not None and to != sip:
                        yield (sip, cube, pe), (to, cube, pe)
            elif not kind:
                x += {"E": 1, "W": -1}.get(side, 0)
                y += {"S": 1, "N": -1}.get(side, 0)
                if 0 <= x < self.w and 0 <= y < self.h:
                    yield (0, cube, pe), (0, y * self.w + x, pe)

    def links_of(self, a, b, side):
        """The links of path(), each with its name and rate, after the sender's pe_noc and into the slot."""
        opposite, found = {"E": "W", "W": "E", "N": "S", "S": "N"}, []

        def take(kind, *where):
            found.append(((kind, *where), self.links[kind]["bw_gbs"]))

        def over_routers(sip, cube, router, to):
            while router != to:
                x = (to[0] > router[0]) - (to[0] < router[0])
                y = 0 if x else (to[1] > router[1]) - (to[1] < router[1])
                take("noc", sip, cube, router, x, y)
                router = router[0] + x, router[1] + y
            return router

        def over_cubes(sip, cube, router, to):
            while cube != to:
                x, end = cube % self.w, to % self.w
                port = "E" if end > x else "W" if end < x else "S" if to > cube else "N"
                leave(sip, cube, router, port)
                cube += {"E": 1, "W": -1, "S": self.w, "N": -self.w}[port]
                router = enter(sip, cube, opposite[port])
            return router

        def leave(sip, cube, router, port):
            over_routers(sip, cube, router, self.router_at(port))
            take("noc_ucie", "out", sip, cube, port)
            take("ucie", "out", sip, cube, port)

        def enter(sip, cube, port):
            take("noc_ucie", "in", sip, cube, port)
            return self.router_at(port)

        sip, cube, router, hops = a[0], a[1], self.router_of(a[2]), self.hops_of_queue(a[0], b[0], side)
        if hops:
            port, strides = hops[0][1], [math.prod(d.size for d in self.dimensions[:k]) for k in range(len(self.dimensions))]
            router = over_cubes(sip, cube, router, self.edge(cube, port))
            cube = self.edge(cube, port)
            leave(sip, cube, router, port)
            for i, (dimension, out, into) in enumerate(hops):
                if i > 0:
                    take("hub", "in", sip, hops[i - 1][2])
                    take("hub", "out", sip, out)
                k = self.dimensions.index(dimension)
                at = sip // strides[k] % dimension.size
                to = self.place(b[0])[k]
                if dimension.kind in ("ring", "line"):
                    to = (at + (1 if out == dimension.ports[0] else -1)) % dimension.size
                next_sip = sip + (to - at) * strides[k]
                found.append(((k, sip, out, to if dimension.kind == "full" else None), dimension.rate))
                if dimension.kind == "switch":
                    found.append(((k, "down", next_sip), dimension.rate))
                sip = next_sip
            cube = self.edge(b[1], into)
            take("ucie", "in", sip, cube, into)
            router = enter(sip, cube, into)
        assert sip == b[0]
        router = over_cubes(sip, cube, router, b[1])
        over_routers(sip, b[1], router, self.router_of(b[2]))
        take("pe_noc", *b)
        if "bw_gbs" not in self.tree.get("slot_access", {}).get("tcm", {}):
            take("tcm", *b)
        return found

    def loads(self, pairs, side, size):
        """The time of each link that tiles of `size` bytes between these pairs of PEs take."""
        carried = {}
        for a, b in pairs:
            for link, rate in self.links_of(a, b, side):
                carried[link] = (carried.get(link, (0, 0))[0] + size, rate)
        return [math.ceil(size * 1000 / rate) for size, rate in carried.values()]

    # -- cuts: each is a list of gaps, which bytes cross side by side; a gap is a rate, the least of links one after the other --

    def ports(self, sip):
        """The ports of a SIP that have links to other SIPs, each with their rate."""
        ports = {}
        for dimension, at in zip(self.dimensions, self.place(sip)):
            for port in dimension.outlets(at):
                ports[port] = ports.get(port, 0) + dimension.rate
        return ports

    def lane(self):
        return min(self.links["noc_ucie"]["bw_gbs"], self.links["ucie"]["bw_gbs"])

    def lanes(self, port):
        return self.h if port in "EW" else self.w

    def of_ports(self, sip):
        """The rate of all ports of a SIP."""
        return sum(min(rate, self.lanes(port) * self.lane()) for port, rate in self.ports(sip).items())

    def sets_of_cubes(self):
        """Rectangles of cubes of SIP 0, and the others: (their numbers, rate one way out of them)."""
        everywhere = self.cubes <= 64
        ports, every = self.ports(0), set(itertools.product(range(self.w), range(self.h)))
        for x, y in itertools.product(range(self.w if everywhere else 1), range(self.h if everywhere else 1)):
            for w, h in itertools.product(range(1, self.w - x + 1), range(1, self.h - y + 1)):
                inside = set(itertools.product(range(x, x + w), range(y, y + h)))
                for cubes in (inside, every - inside):
                    steps = sum((i + dx, j + dy) in every - cubes for i, j in cubes for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
                    at_port = {port: sum(self.edge(j * self.w + i, port) == j * self.w + i for i, j in cubes) for port in ports}
                    rate = steps * self.lane() + sum(min(at_port[port] * self.lane(), ports[port]) for port in ports)
                    yield {j * self.w + i for i, j in cubes}, rate

    def sets_of_routers(self):
        """Rectangles of routers of cube 0, and the others: (their coordinates, rate one way out of them)."""
        w, h = self.noc
        every = set(itertools.product(range(w), range(h)))
        lead_on = set(self.ports(0)) | ({"E"} if self.w > 1 else set()) | ({"S"} if self.h > 1 else set())
        # A port of cube 0 is one of the SIP's where the cube is at that edge.
        lead_on = {port for port in lead_on if self.edge(0, port) == 0 or port in "ES"}
        for x, y in every:
            for width, height in itertools.product(range(1, w - x + 1), range(1, h - y + 1)):
                inside = set(itertools.product(range(x, x + width), range(y, y + height)))
                for routers in (inside, every - inside):
                    steps = sum((i + dx, j + dy) in every - routers for i, j in routers for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
                    yield routers, (steps * self.links["noc"]["bw_gbs"] +
                                    sum(self.router_at(port) in routers for port in lead_on) * self.lane())

    def boxes(self, used):
        """Boxes of SIPs: (their numbers, rate one way out of them). used: SIPs that hold ranks."""
        places = [self.place(sip) for sip in range(self.sips)]
        counted = [len({place[k] for place in places[:used]}) > 1 for k in range(len(self.dimensions))]
        for sides in itertools.product(*(range(1, d.size + 1) for d in self.dimensions)):
            inside = math.prod(sides)
            yield ([sip for sip, place in enumerate(places) if all(at < side for at, side in zip(place, sides))],
                   sum(inside // side * d.links_out_of(side) * d.rate for side, d, c in zip(sides, self.dimensions, counted) if c))

    def groups(self, used):
        """Groups of SIPs that agree in a set of dimensions: (number of groups with ranks, rate of all links that leave one)."""
        for count in range(1, len(self.dimensions) + 1):
            for chosen in itertools.combinations(range(len(self.dimensions)), count):
                if used < self.sips and chosen != tuple(range(chosen[0], len(self.dimensions))):
                    continue
                group = {sip: tuple(self.place(sip)[k] for k in chosen) for sip in range(self.sips)}
                held = {group[sip] for sip in range(used)}
                yield len(held), sum(len(self.dimensions[k].outlets(self.place(sip)[k])) * self.dimensions[k].rate
                                     for sip in range(self.sips) if group[sip] in held for k in chosen)

    def steps(self):
        """Steps from SIP to SIP on the shortest ways between all ordered pairs; None: all are one step apart."""
        count = [len(self.hops(a, b)) for a in range(self.sips) for b in range(self.sips) if a != b]
        return sum(count) if max(count, default=1) > 1 else None


# ---- a row -------------------------------------------------------------------------------------

ADDED = ("lrab_hierarchical_allreduce", "lrab_pipelined_allreduce", "intercube_allreduce", "pe_hierarchical_allreduce",
         "hierarchical")
ON_CUBES = (*ADDED, "relay_broadcast", "ring_all_gather")
FACTOR = {"all_reduce": lambda n: Fraction(2 * (n - 1), n), "reduce_scatter": lambda n: Fraction(n - 1, n),
          "all_gather": lambda n: Fraction(n - 1, n), "all_to_all": lambda n: Fraction(n - 1, n)}


def crossing(collective, size, n, inside):
    """Bytes that must cross one way between `inside` of n ranks and the others."""
    outside = n - inside
    if inside <= 0 or outside <= 0:
        return 0
    if collective in ("all_reduce", "broadcast"):
        return size
    if collective == "all_to_all":
        return Fraction(inside * outside * size, n)
    return Fraction(max(inside, outside) * size, n)


def pes_with_shards(machine, algorithm, mapper):
    """The PEs of a SIP that hold shards, each (cube, PE)."""
    if mapper is None:
        mapper = {"pe_hierarchical_allreduce": "all_pes"}.get(algorithm, "pe0_all_cubes" if algorithm in ON_CUBES else "leader_only")
    return {"leader_only": [(0, 0)], "pe0_all_cubes": [(cube, 0) for cube in range(machine.cubes)],
            "all_pes": list(itertools.product(range(machine.cubes), range(machine.pes)))}[mapper]


def bound(machine, collective, added, per_sip, ranks, shard):
    """The lower bound of a collective, in ps: the latency and all cuts. per_sip: the PEs of a SIP with shards of `shard`
    bytes. ranks: where ranks are PEs, their number."""
    links, by_pe = machine.links, ranks is not None
    apart = not added and not by_pe
    if by_pe:
        per_sip = list(itertools.product(range(machine.cubes), range(machine.pes)))
    in_sip = len(per_sip)
    n = ranks if by_pe else machine.sips if apart else machine.sips * in_sip
    used = -(-ranks // in_sip) if by_pe else machine.sips
    if n < 2:
        return 0
    of_sip_0 = per_sip[:n] if by_pe else per_sip
    if used > 1:
        terms = [machine.between_sips(used, not by_pe and len({cube for cube, _ in per_sip}) == machine.cubes)]
    else:
        terms = [machine.inside_a_sip(max(cube % machine.w + cube // machine.w for cube, _ in of_sip_0))]

    def term(size, rate):
        if size and rate:
            terms.append(math.ceil(Fraction(size * 1000) / rate))

    def in_cubes(holders):
        """Bytes that cross between so many shards of SIP 0 and all others."""
        return holders * crossing(collective, shard, n, 1) if apart else crossing(collective, shard, n, holders)

    whole = shard * in_sip if apart else shard
    all_reduce = collective == "all_reduce"
    term(crossing(collective, shard, n, 1), links["hbm"]["bw_gbs"])
    moved = 0 if collective == "barrier" else (2 if all_reduce else 1) * (n - 1) * whole
    term(moved, (n if by_pe else machine.sips * machine.cubes * machine.pes) * links["pe_noc"]["bw_gbs"])
    for routers, rate in machine.sets_of_routers():
        term(in_cubes(sum(cube == 0 and machine.router_of(pe) in routers for cube, pe in of_sip_0)), rate)
    for cubes, rate in machine.sets_of_cubes():
        term(in_cubes(sum(cube in cubes for cube, _ in of_sip_0)), rate)
    if used > 1:
        for sips, rate in machine.boxes(used):
            inside = len(sips) if apart else sum(max(0, min(in_sip, n - sip * in_sip)) for sip in sips)
            term(crossing(collective, whole, n, inside), rate)
    if all_reduce and used > 1:
        for count, rate in machine.groups(used):
            term(2 * (count - 1) * whole, rate)
    if all_reduce and used == machine.sips > 1:
        term(2 * (machine.sips - 1) * whole, sum(machine.of_ports(sip) for sip in range(machine.sips)))
    if all_reduce and not apart:
        inner = used * 2 * (machine.w * (machine.h - 1) + machine.h * (machine.w - 1))
        outer = sum(machine.lanes(port) for sip in range(used) for port in machine.ports(sip))
        cubes = (n - 1) // machine.pes + 1 if by_pe else machine.sips * machine.cubes
        term(2 * (cubes - 1) * shard, (inner + outer) * machine.lane())
    if collective == "all_to_all" and n == machine.sips * (1 if apart else in_sip) and machine.sips > 1 and machine.steps():
        of_pair = Fraction(whole, n) * (1 if apart else in_sip**2)
        ways = sum(links["hub"]["bw_gbs"] + machine.lanes(port) * machine.lane()
                   for sip in range(machine.sips) for port in machine.ports(sip))
        term(machine.steps() * of_pair, ways)
    return max(terms)


def of_collective(machine, collective, algorithm, mapper, count, dtype):
    """The figures of a row of a collective, but for its time."""
    ranks = None
    if mapper == "rank_per_pe":
        ranks, mapper = int(machine.tree["defaults"].get("world_size", machine.sips)), "leader_only"
    per_sip = pes_with_shards(machine, algorithm, mapper)
    shards, shard = len(per_sip), count * ITEM[dtype]
    added = collective == "all_reduce" and algorithm in ADDED
    n = (ranks or machine.sips) * (shards if added else 1)
    want = {"bytes": shard, "count": count, "shards_per_rank": shards, "bytes_per_rank": shard * shards,
            "S": shard if added else shard * shards, "factor": FACTOR.get(collective, lambda n: 1)(n),
            "bound": bound(machine, collective, added, per_sip, ranks, shard) if count or collective == "barrier" else 0}
    return want | ({"shards_per_rank": None, "bytes_per_rank": None} if collective == "barrier" else {})


def of_bench(machine, row, options, beside):
    """The figures of a row of a bench of single tiles or products, but for its time. beside: those of the all-reduce before."""
    dtype, bench, nodes = options["--dtype"], options["--bench"], machine.nodes
    item, count = ITEM[dtype], row["count"]
    size = count * item
    want = {"bytes": size, "count": count, "shards_per_rank": None, "bytes_per_rank": None, "S": size, "factor": 1}
    if bench in ("ipcq_pingpong", "raw_store"):
        ends = [tuple(int(part) for part in options[end].split(".")) for end in ("--from", "--to")]
        return {**want, "bound": sum(machine.tile(a, b, size) for a, b in (ends, ends[::-1]))}
    if bench == "ipcq_shift":
        tiles = int(options["--tiles"])
        side = options["--dir"][-1] if "global" in options["--dir"] else None
        pairs = list(machine.shifts(options["--dir"]))
        engine = math.ceil((tiles - 1) * size * 1000 / machine.links["pe_noc"]["bw_gbs"])
        times = [machine.tile(a, b, size, side) + engine for a, b in pairs]
        return {**want, "S": size * tiles, "bound": max([0, *times, *machine.loads(pairs, side, tiles * size)])}
    m, n, k = (int(side) for side in options["--gemm"].split("x"))
    gemm = nodes["pe_gemm"]
    cycles = math.prod(math.ceil(side / int(gemm[name])) for side, name in ((m, "m"), (n, "n"), (k, "k")))
    operands, result = (m * k + k * n) * item, m * n * item
    rate = {name: machine.links[name]["bw_gbs"] for name in ("hbm", "pe_noc", "tcm")}
    times = [math.ceil(cycles * 1000 / gemm["clock_ghz"]), math.ceil(max(operands, result) * 1000 / rate["hbm"]),
             math.ceil((operands + result) * 1000 / rate["pe_noc"]), math.ceil(operands * 1000 / rate["tcm"])]
    if row["collective"] == "both":
        times += [beside["bound"], times[1] + (math.ceil(beside["bytes"] * 1000 / rate["hbm"]) if beside["bound"] else 0)]
    return {**want, "bytes": m * n * item, "count": m * n, "S": m * n * item, "bound": max(times)}
