"""A database as `cubewarp sweep` makes it (bench/study/STUDY.md), of figures that follow from formulas,
so that a test knows the figures that a page must show."""
import json
import os
import sqlite3

ALGORITHMS = ["ring", "torus", "tree", "direct"]
SIPS = [4, 16, 64, 256, 1024]
SPEEDS = [25, 50, 100, 200, 400]
SLOTS = [1, 2, 4, 8, 16]
SIZES = [1024 << (2 * i) for i in range(6)]  # 1 KiB to 1 MiB
FAILED = 3  # of the 500 points, one each of failed, timeout and refused


def time_ns(algorithm, sips, speed, slots, size):
    """Latency grows with the hops of the algorithm, transfer time with the size."""
    hops = {"ring": sips - 1, "torus": 2 * sips ** 0.5, "tree": 2 * sips.bit_length(), "direct": 1}[algorithm]
    share = {"ring": 2.0, "torus": 2.0, "tree": 4.0, "direct": 2.0 + sips / 64}[algorithm]
    return 700 * hops / min(slots, 4) + share * size / speed


def bound_ns(sips, speed, size):
    return 150 + 2 * (sips - 1) / sips * size / speed


def result(algorithm, sips, speed, slots):
    rows = []
    for size in SIZES:
        t = round(time_ns(algorithm, sips, speed, slots, size), 3)
        rows.append({
            "collective": "all_reduce", "algorithm": algorithm, "bytes": size, "count": size // 2,
            "shards_per_rank": 1, "bytes_per_rank": size, "dtype": "f16", "redop": "sum", "time_ns": t,
            "host_time_ns": t + 800, "algbw_gbs": size / t, "busbw_gbs": size / t * 2 * (sips - 1) / sips,
            "bound_ns": round(bound_ns(sips, speed, size), 3), "bound_by": "sip_link", "wrong": 0, "not_run": None,
            "phases": [{"name": "reduce", "min_ns": t * .5, "mean_ns": t * .6, "max_ns": t * .7},
                       {"name": "gather", "min_ns": t * .3, "mean_ns": t * .4, "max_ns": t * .5}],
            "link_kinds": [{"kind": "sip_link", "links": 2 * sips, "bytes": 2 * size * sips, "busy": min(1, size / speed / t)}]})
    return {"schema": "cubewarp.run/1", "version": "0.1.0", "bench": "ccl_allreduce", "algorithm": algorithm,
            "config_digest": f"{sips:04x}{speed:04x}{slots:04x}0000", "input": "uniform",
            "topology": {"sips": sips, "cubes": 16 * sips, "pes": 128 * sips},
            "engine": {"threads": 1, "sync": "sequential", "events_committed": 1000 * sips, "committed_events_per_s": 2e6,
                       "setup_s": .01, "run_s": sips / 2000, "peak_rss_bytes": 50 << 20, "trace_hash": "0" * 16},
            "results": rows}


def points():
    for algorithm in ALGORITHMS:
        for sips in SIPS:
            for speed in SPEEDS:
                for slots in SLOTS:
                    yield algorithm, sips, speed, slots


def write(path):
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE study (name TEXT, about TEXT, text TEXT, digest TEXT, points INTEGER, shard INTEGER, shards INTEGER,
                            created TEXT, version TEXT, commit_id TEXT, host TEXT, file TEXT);
        CREATE TABLE point (id INTEGER PRIMARY KEY, ordinal INTEGER UNIQUE, digest TEXT UNIQUE, label TEXT, command TEXT,
                            state TEXT, tries INTEGER, seconds REAL, exit_code INTEGER, message TEXT, result TEXT);
        CREATE TABLE axis (point INTEGER, position INTEGER, name TEXT, value TEXT, PRIMARY KEY (point, position));""")
    db.execute("INSERT INTO study VALUES ('links_and_slots', 'Which algorithm for how many SIPs, at which speed of links?',"
               " '', '', 500, 1, 1, '2026-01-01T00:00:00Z', '0.1.0', 'abcdef', 'host', 'study.yaml')")
    for n, (algorithm, sips, speed, slots) in enumerate(points()):
        label = f"algorithm={algorithm}, sips={sips}, bw_gbs={speed}, n_slots={slots}"
        bad = {7: ("failed", 3, "IpcqDeadlock: PE 0.0.0 waits for <data> & more"), 130: ("timeout", 124, "longer than 90 s"),
               401: ("refused", 2, "a torus of 12 SIPs needs w and h")}.get(n)
        document = None if bad else json.dumps(result(algorithm, sips, speed, slots))
        db.execute("INSERT INTO point VALUES (?,?,?,?,?,?,1,?,?,?,?)",
                   (n + 1, n, str(n), label, "cubewarp run --algorithm " + algorithm, bad[0] if bad else "done",
                    sips / 1000, bad[1] if bad else 0, bad[2] if bad else "", document))
        for position, (name, value) in enumerate((("algorithm", algorithm), ("system.sips.count", sips),
                                                  ("links.sip_link.bw_gbs", speed), ("defaults.n_slots", slots))):
            db.execute("INSERT INTO axis VALUES (?,?,?,?)", (n + 1, position, name, str(value)))
    db.commit()
    db.close()
