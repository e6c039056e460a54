#!/usr/bin/env python3
"""The pages of `cubewarp report` in headless Chromium: they draw the figures that are in the files, answer
clicks and keys, load nothing, run no text of a file, and are readable without scripts. Screenshots go
to $BUILD/browser. Prints one line per test, as the unit tests do; without Chromium it says that it is
skipped and ends with code 0.

    CUBEWARP=build/check/cubewarp test/browser/test_report.py [NAME...]
"""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import chromium
import sample_study

TOP = pathlib.Path(__file__).resolve().parents[2]
CUBEWARP = os.environ.get("CUBEWARP", str(TOP / "build" / "cubewarp"))
OUT = pathlib.Path(os.environ.get("BUILD", str(TOP / "build"))).resolve() / "browser"
PAGE_BYTES = 500_000  # beside the data
LOAD_S = 1.0
LOAD_TRIES = 20  # of a machine that others use, too
SHIFT = 8


def cubewarp(*args):
    done = subprocess.run([CUBEWARP, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"cubewarp {args}: {done.returncode}: {done.stderr}"
    return done.stdout


def report(name, *files):
    path = OUT / f"{name}.html"
    cubewarp("report", *files, "-o", path)
    return path


def open_page(browser, path, **how):
    page = browser.open(f"file://{path}", **how)
    if how.get("scripts", True):
        assert page.value("document.documentElement.dataset.ready") == "true", page.messages()
        errors, requests = page.messages()
        assert not errors, errors
        assert not requests, requests
    return page


def dots(page):
    """[row, x, y] of each point that is drawn."""
    return page.value("[...document.querySelectorAll('#curves-view .dot[data-row]')].map(d => [+d.dataset.row, +d.dataset.x, +d.dataset.y])")


def text_of(page, selector):
    return page.value(f"(document.querySelector({json.dumps(selector)}) || {{}}).textContent || ''")


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def data_bytes(path):
    """Bytes of a page that are data: the script's, and all that differs with them."""
    text = path.read_text()
    whole = len(text.encode())
    style = len(re.search(r"<style>(.*?)</style>", text, re.S)[1].encode())
    script = len(text.rsplit("<script>", 1)[1].encode())
    return whole - style - script, style + script


# ---- tests ------------------------------------------------------------------------------------------


def a_run_is_drawn_as_its_json_says(browser):
    result = OUT / "run.json"
    cubewarp("run", "--bytes", "1KiB:64KiB", "--verify-data", "--json", result)
    rows = json.loads(result.read_text())["results"]
    page = open_page(browser, report("run", result))
    drawn = dots(page)
    assert len(drawn) == len(rows)
    for row, x, y in drawn:
        assert x == rows[row]["bytes"] and near(y, rows[row]["time_ns"] / 1000), (row, x, y)
    page.click("#curves-view .tabs button", 2)
    for row, x, y in dots(page):
        assert near(y, rows[row]["busbw_gbs"]), (row, x, y)
    # The bars of phases have the widths of their means.
    bars = page.value("[...document.querySelectorAll('#phases-view tr')].slice(0, 1).flatMap(r => [...r.querySelectorAll('rect')].map(b => [b.dataset.name, +b.dataset.value]))")
    phases = rows[0]["phases"]
    assert [name for name, _ in bars] == [p["name"] for p in phases], bars
    assert all(near(value, p["mean_ns"] / 1000) for (_, value), p in zip(bars, phases)), bars
    assert "verified" in text_of(page, "#summary")
    page.screenshot(str(OUT / "run.png"), whole=True)


def hovering_and_keys_show_a_point_s_figures(browser):
    page = open_page(browser, OUT / "run.html")
    rows = json.loads((OUT / "run.json").read_text())["results"]
    page.move("#curves-view .dot[data-row]", 4)
    assert page.value("document.getElementById('tip').classList.contains('on')")
    tip = text_of(page, "#tip")
    assert "16 KiB" in tip and f"{rows[4]['time_ns'] / 1000:.4g} µs" in tip, tip
    page.focus("#curves-view svg[tabindex]")
    page.key("Escape")
    page.key("ArrowRight")
    page.key("ArrowRight")
    assert "2 KiB" in text_of(page, "#tip"), text_of(page, "#tip")
    page.key("End")
    assert "64 KiB" in text_of(page, "#tip")
    page.key("Enter")
    chosen = text_of(page, "#curves-chosen")
    assert "64 KiB" in chosen and "hbm" in chosen, chosen
    page.key("Escape")
    assert not page.value("document.getElementById('tip').classList.contains('on')")
    page.click("#curves-view .dot[data-row]", 0)
    assert "1 KiB" in text_of(page, "#curves-chosen")


def study_page():
    database = OUT / "study.sqlite"
    sample_study.write(str(database))
    return report("study", database)


def expected_times(algorithm, size):
    return [sample_study.time_ns(*point, size) / 1000 for n, point in enumerate(sample_study.points())
            if point[0] == algorithm and n not in (7, 130, 401)]


def a_sweep_of_500_points_pivots_over_any_two_axes(browser):
    page = open_page(browser, study_page())
    assert page.value("document.querySelectorAll('#compare-view td[data-value]').length") == len(sample_study.ALGORITHMS) * len(sample_study.SIZES)
    for i, algorithm in enumerate(sample_study.ALGORITHMS):
        for j, size in enumerate(sample_study.SIZES):
            value = page.value(f"+document.querySelector('#compare-view td[data-i=\"{i}\"][data-j=\"{j}\"]').dataset.value")
            assert abs(value - min(expected_times(algorithm, size))) < 1e-5, (algorithm, size, value)
    assert "The least time (µs) of the rows in each cell, up to 125" in text_of(page, "#compare-view caption")
    # Other axes, one row in each cell, and a cell's rows by click and by key.
    page.choose("#compare-view select", page.value("JSON.parse(document.getElementById('cw-data').textContent).axes.findIndex(a => a.name === 'system.sips.count')"))
    labels = page.value("[...document.querySelectorAll('#compare-view tbody th')].map(t => t.textContent)")
    assert labels == [str(n) for n in sample_study.SIPS], labels
    page.click("#compare-view td[data-value]", 0)
    assert "rows" in text_of(page, "#compare-chosen")
    page.value("document.querySelector('#compare-view td[data-value]').focus()")
    page.key("ArrowDown")
    page.key("ArrowRight")
    assert page.value("[document.activeElement.dataset.i, document.activeElement.dataset.j].join()") == "1,1"
    page.key("Enter")
    assert page.value("document.activeElement.classList.contains('on')")
    page.screenshot(str(OUT / "study.png"), whole=True)


def series_are_chosen_and_filtered(browser):
    page = open_page(browser, OUT / "study.html")
    everything = len(dots(page))
    page.click("#curves-view .series button", 0)
    fewer = len(dots(page))
    assert 0 < fewer < everything, (fewer, everything)
    page.click("#curves-view .series button", 0)
    assert len(dots(page)) == everything
    page.click("#curves-view .series button", 1, SHIFT)
    names = page.value("[...document.querySelectorAll('#curves-view .series button[aria-pressed=true]')].map(b => b.textContent)")
    assert names[0] == "torus" and names[1:] == [str(n) for n in sample_study.SIPS], names
    for row, x, y in dots(page):
        assert page.value(f"JSON.parse(document.getElementById('cw-data').textContent).rows.point[{row}]") // 125 == 1
    # By number of SIPs instead of size.
    sips = page.value("[...document.querySelectorAll('#curves-view .controls select')][0].options.length")
    assert sips > 2
    page.choose("#curves-view .controls select", page.value("JSON.parse(document.getElementById('cw-data').textContent).axes.findIndex(a => a.name === 'system.sips.count')"))
    assert sorted({x for _, x, _ in dots(page)}) == sample_study.SIPS
    assert "sips.count" in page.value("[...document.querySelectorAll('#curves-view .axis')].map(a => a.textContent).join()")


def rows_are_sorted_and_searched(browser):
    page = open_page(browser, OUT / "study.html")
    assert "2,982 rows" in text_of(page, "#rows-view"), text_of(page, "#rows-view")[-80:]
    page.value("(() => { const s = document.querySelector('#rows-view input'); s.value = 'tree 1024 1 MiB 400'; s.dispatchEvent(new Event('input')); })()")
    assert "5 rows" in text_of(page, "#rows-view")
    column = page.value("[...document.querySelectorAll('#rows-view th')].findIndex(t => t.textContent.startsWith('time'))")
    page.click("#rows-view th button", column)
    times = page.value(f"[...document.querySelectorAll('#rows-view tbody tr')].map(r => +r.children[{column}].textContent.replace(/,/g, ''))")
    assert times == sorted(times) and len(times) == 5, times


def failures_and_the_slowest_are_listed(browser):
    page = open_page(browser, OUT / "study.html")
    failures = text_of(page, "#failures")
    for text in ("IpcqDeadlock: PE 0.0.0 waits for <data> & more", "longer than 90 s", "a torus of 12 SIPs"):
        assert text in failures, failures
    first = page.value("document.querySelector('#slowest tbody tr').textContent")
    assert "ring" in first and "1024" in first, first


def a_page_opens_within_a_second_and_is_small(browser):
    for name in ("run", "study"):
        data, page_own = data_bytes(OUT / f"{name}.html")
        assert page_own <= PAGE_BYTES, (name, page_own)
        times = []
        while not times or (min(times) > LOAD_S and len(times) < LOAD_TRIES):
            page = open_page(browser, OUT / f"{name}.html")
            times.append(page.value("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"))
            page.close()
        assert min(times) <= LOAD_S, (name, times)
        print(f"# {name}: opens in {min(times):.2f} s, {page_own // 1000} KB and {data // 1000} KB of data and tables")


def a_load_of_pod1024_has_its_machine(browser):
    result, log = OUT / "pod1024.json", OUT / "pod1024.csv"
    args = ["run", "--preset", "pod1024", "--bytes", "16KiB", "--no-data", "--json", result, "--engine-log", log]
    if "--svg" in cubewarp("run", "--help"):
        args += ["--svg", OUT / "pod1024.svg"]
    cubewarp(*args)
    page = open_page(browser, report("pod1024", result, log))
    assert "1,024" in text_of(page, "main") or "1024" in text_of(page, "main")
    assert page.value("document.querySelectorAll('#engine-view svg .line').length") == 1
    picture = json.loads(result.read_text()).get("picture")
    if picture:
        assert page.value("document.querySelectorAll('#machine svg [data-link]').length") > 0
        page.choose("#machine .controls select", page.value("document.querySelector('#machine .controls select').options[1].value"))
        facts = text_of(page, "#machine .link-facts")
        assert "busy" in facts, facts
        page.click("#machine .controls button", 0)
        page.value("new Promise(done => setTimeout(done, 400))")
        assert "scale" in page.value("document.querySelector('#machine svg > g').getAttribute('transform') || ''")
    page.screenshot(str(OUT / "pod1024.png"), whole=True)


def where_time_goes_is_drawn_as_the_run_explains_it(browser):
    result = OUT / "explained.json"
    if "--explain" not in cubewarp("run", "--help"):
        return
    cubewarp("run", "--bytes", "1KiB:64KiB:x4", "--explain", "--json", result)
    last = json.loads(result.read_text())["results"][-1]["explain"]
    page = open_page(browser, report("explained", result))
    assert last["sentence"] in text_of(page, "#summary"), text_of(page, "#summary")
    def bar(title):
        return page.value(f"(() => {{ const b = [...document.querySelectorAll('#phases-view .barsbox')].find(b => b.querySelector('h3').textContent.startsWith({json.dumps(title)}));"
                          "const r = b.querySelectorAll('tr'); return [...r[r.length - 1].querySelectorAll('rect')].map(x => [x.dataset.name, +x.dataset.value]); })()")
    uses = dict(bar("The kernel that ended last"))
    for name, ns in last["slowest"]["shares_ns"].items():
        assert abs(uses.get(name, 0) - ns / 1000) < 1e-3, (name, ns, uses)
    path = bar("The critical path")
    assert abs(sum(us for _, us in path) - last["time_ns"] / 1000) < 1e-2, path
    if last["path"]["limits"]:
        assert last["path"]["limits"][0]["limit"] in text_of(page, "#phases-view")
    page.screenshot(str(OUT / "explained.png"), whole=True)


def measured_times_stand_beside_the_simulated(browser):
    document = sample_study.result("ring", 4, 100, 4)
    for row in document["results"]:
        row["measured_ns"] = 1.25 * row["time_ns"]
        row["error_percent"] = -20.0
    result = OUT / "measured.json"
    result.write_text(json.dumps(document))
    page = open_page(browser, report("measured", result))
    marks = page.value("[...document.querySelectorAll('#curves-view .chartbox .open')].map(d => +d.dataset.y)")
    assert len(marks) == len(sample_study.SIZES)
    for mark, row in zip(marks, document["results"]):
        assert near(mark, row["measured_ns"] / 1000), (mark, row)
    assert "the largest error is 20 %" in text_of(page, "#summary")
    boxes = page.value("[...document.querySelectorAll('#curves-view label.check')].map(l => l.textContent)")
    page.click("#curves-view label.check input", boxes.index("measured"))
    assert page.value("document.querySelectorAll('#curves-view .chartbox .open').length") == 0


def the_readme_s_first_look_has_limits_and_machines(browser):
    database = OUT / "first_look.sqlite"
    for path in OUT.glob("first_look.sqlite*"):
        path.unlink()
    cubewarp("sweep", TOP / "configs/studies/first_look.yaml", "--db", database, "--quiet")
    page = open_page(browser, report("first_look", database))
    summary = text_of(page, "#summary")
    assert "60 points" in summary and "limited by" in summary, summary
    labels = page.value("[...document.querySelectorAll('#machine .machine-of h3')].map(h => h.textContent)")
    for topology in ("ring_1d", "torus_2d", "switch"):
        assert any(topology in label for label in labels), labels
    assert sorted({x for _, x, _ in dots(page)}) == [25, 50, 100, 200, 400]
    # README's two pictures
    page.resize(1250, 1860, 0.8)
    page.screenshot(str(OUT / "first_look.png"))
    page.resize(1250, 880, 0.8)
    page.value("document.getElementById('machine').scrollIntoView({behavior: 'instant'})")
    links = "#machine .machine-of:not([hidden]) .controls select"
    page.choose(links, page.value(f"document.querySelector({json.dumps(links)}).options[1].value"))
    assert "→" in text_of(page, "#machine .link-facts")
    page.screenshot(str(OUT / "first_look_machine.png"))


def sweep(name, text):
    """The page of a study that is given as text."""
    study, database = OUT / f"{name}.yaml", OUT / f"{name}.sqlite"
    for path in OUT.glob(f"{name}.sqlite*"):
        path.unlink()
    study.write_text(text)
    cubewarp("sweep", study, "--db", database, "--quiet")
    return report(name, database)


def colour_is_one_axis_and_dash_and_mark_another(browser):
    page = open_page(browser, OUT / "first_look.html")
    keys = page.value("[...document.querySelectorAll('#curves-view .keys h3')].map(h => h.textContent)")
    assert keys == ["Algorithm", "sips.topology"], keys
    lines = page.value("(svg => svg.chartLines.map((l, i) => [l.rows[0], svg.chartGroups[i].node().getAttribute('class'), l.dash, l.form]))(document.querySelector('#curves-view .chartbox svg'))")
    assert len(lines) == 12, lines
    data = page.value("JSON.parse(document.getElementById('cw-data').textContent)")
    algorithm, topology = ([a["name"] for a in data["axes"]].index(n) for n in ("algorithm", "system.sips.topology"))
    styles = {}
    for row, colour, dash, form in lines:
        styles.setdefault(("colour", data["rows"]["axis"][algorithm][row]), set()).add(colour)
        styles.setdefault(("form", data["rows"]["axis"][topology][row]), set()).add((dash, form))
    assert all(len(found) == 1 for found in styles.values()), styles  # a value has one colour, or one dash and mark
    assert len({(colour, dash, form) for _, colour, dash, form in lines}) == 12, lines


def colours_differ_from_each_other_and_from_the_paper(browser):
    for dark in (False, True):
        page = open_page(browser, OUT / "run.html", dark=dark)
        colours = page.value("[...d3.range(12).map(i => '--c' + i), '--paper'].map(n => d3.lab(getComputedStyle(document.documentElement).getPropertyValue(n).trim())).map(c => [c.l, c.a, c.b])")
        for i, one in enumerate(colours):
            for other in colours[:i]:
                distance = sum((a - b) ** 2 for a, b in zip(one, other)) ** .5
                assert distance >= 15, (dark, i, one, other, distance)


def rows_that_a_choice_hides_are_counted(browser):
    page = open_page(browser, OUT / "study.html")
    shown = text_of(page, "#curves-view .shown")
    assert shown.startswith("120 of 2,982 rows are shown: sip_link.bw_gbs 25, n_slots 1."), shown
    assert len(dots(page)) == 120
    page.click("#curves-view .shown button", 0)
    shown = text_of(page, "#curves-view .shown")
    assert "are shown" not in shown and "Lines that look alike differ in sip_link.bw_gbs, n_slots" in shown, shown
    page.click("#curves-view .series button", 0)
    assert " of 2,982 rows are shown" in text_of(page, "#curves-view .shown")
    assert " of 2,982 rows are shown: " in text_of(page, "#phases-view .shown")
    page.choose("#compare-view .controls label:nth-of-type(5) select", 0)
    assert " of 2,982 rows are shown: sips.count 4." in text_of(page, "#compare-view .shown"), text_of(page, "#compare-view .shown")


def no_figure_is_shown_that_no_row_has(browser):
    page = open_page(browser, OUT / "study.html")
    data = page.value("JSON.parse(document.getElementById('cw-data').textContent)")
    times = set(data["rows"]["figure"][[f["key"] for f in data["figures"]].index("time_us")])
    ways = page.value("[...[...document.querySelectorAll('#compare-view label')].find(l => l.textContent.startsWith('Of several')).querySelectorAll('option')].map(o => o.value)")
    assert ways == ["least", "most", "count"], ways
    for axis in range(-1, len(data["axes"])):
        if axis >= 0 and not data["axes"][axis]["series"]:
            continue
        page.choose("#compare-view select", axis)
        cells = page.value("[...document.querySelectorAll('#compare-view td[data-value]')].map(c => +c.dataset.value)")
        assert cells and all(cell in times for cell in cells), (axis, cells)


def flat_lines_are_said_to_be_flat(browser):
    page = open_page(browser, sweep("flat", """study: flat
base: {preset: tiny, system.sips.count: 16, no-data: true, bytes: 1KiB}
axes:
  algorithm: [ring_rs_ag, halving_doubling]
  links.sip_link.bw_gbs: [400, 800, 1600]
"""))
    assert "sip_link.bw_gbs from 400 to 1600 GB/s changes no time by more than 2 %" in text_of(page, "#summary"), text_of(page, "#summary")
    answer = text_of(page, "#curves-view .answer")
    assert answer == "Flat: sip_link.bw_gbs from 400 GB/s to 1600 GB/s changes no time here by more than 2 %.", answer
    page = open_page(browser, OUT / "first_look.html")
    answer = text_of(page, "#curves-view .answer")
    assert answer.startswith("Flat from sip_link.bw_gbs 100 GB/s on: "), answer


def the_algorithms_that_auto_took_are_one_curve(browser):
    page = open_page(browser, sweep("auto", """study: auto
base: {preset: tiny, system.sips.count: 16, no-data: true}
axes:
  algorithm: [auto, ring_rs_ag]
  bytes-per-rank: [1KiB, 16KiB, 1MiB]
"""))
    lines = page.value("document.querySelector('#curves-view .chartbox svg').chartLines.map(l => l.points.length)")
    assert lines == [3, 3], lines
    ran = page.value("(d => { const a = d.axes.findIndex(x => x.name === 'schedule'); return d.axes[a].texts; })(JSON.parse(document.getElementById('cw-data').textContent))")
    assert len(ran) >= 3, ran  # it did take more than one
    winners = text_of(page, "#winners")
    assert "auto_all_reduce (ran " in winners, winners
    page.move("#curves-view .dot[data-row]", 0)
    assert "algorithm that ran" in text_of(page, "#tip"), text_of(page, "#tip")


def the_point_whose_machine_is_drawn_is_chosen_and_named(browser):
    page = open_page(browser, OUT / "first_look.html")
    visible = "[...document.querySelectorAll('#machine .machine-of')].filter(m => m.offsetParent).map(m => m.dataset.point)"
    data = page.value("JSON.parse(document.getElementById('cw-data').textContent)")
    assert len(page.value(visible)) == 1
    first = text_of(page, "#machine .machine-of:not([hidden]) h3")
    # of the fastest in each case, the one whose links are the busiest: at 25 GB/s
    assert "torus_rs_ag" in first and "bw_gbs=25" in first and "the fastest at" in first, first
    other = page.value("document.querySelector('#machine-view select').options[1].value")
    page.choose("#machine-view select", other)
    assert page.value(visible) == [other]
    # A click on a curve draws its point's machine, or says that the page has another one's.
    drawn = set(page.value("[...document.querySelectorAll('#machine .machine-of')].map(m => m.dataset.point)"))
    for row, point in enumerate(data["rows"]["point"]):
        if str(point) not in drawn:
            page.click(f"#curves-view .dot[data-row='{row}']", 0)
            break
    chosen = text_of(page, "#curves-chosen")
    note = text_of(page, "#machine-view .note")
    assert "is not in this page" in note or any(data["points"][int(p)]["label"] in chosen for p in page.value(visible)), (note, chosen)


def nothing_is_cut_off_from_800_pixels_on(browser):
    cut = ("[...document.querySelectorAll('.scroll, .columns > div, .chartbox, .keys, nav ul')].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1)"
           ".map(e => [e.className, (e.closest('section') || {}).id, e.scrollWidth, e.clientWidth])")
    for name in ("run", "study", "first_look", "explained", "measured", "auto", "flat", "lack"):
        for width in (800, 1300, 1900):
            for dark in (False, True):
                page = open_page(browser, OUT / f"{name}.html", width=width, dark=dark)
                assert page.value("document.documentElement.scrollWidth") <= width, (name, width)
                assert page.value(cut) == [], (name, width, page.value(cut))
                page.screenshot(str(OUT / f"{name}_{width}{'_dark' if dark else ''}.png"))
                page.close()


def a_link_s_numbers_are_shown_by_click_and_key(browser):
    result = OUT / "linked.json"
    if "--svg" not in cubewarp("run", "--help"):
        return
    cubewarp("run", "--bytes", "16KiB", "--json", result, "--svg", OUT / "linked.svg")
    picture = json.loads(result.read_text())["picture"]
    page = open_page(browser, report("linked", result))
    name = page.value("document.querySelector('#machine [data-link]').dataset.link")
    page.value("document.querySelector('#machine [data-link]').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    facts = text_of(page, "#machine .link-facts")
    total = sum(link["bytes"] * link["at"].split().count(name) for link in picture["links"])
    assert f"{total} bytes" in facts.replace(",", ""), (name, total, facts)
    page.value("document.querySelector('#machine .link-facts').textContent = ''")
    page.focus("#machine [data-link][tabindex='0']")
    page.key("Enter")
    assert "→" in text_of(page, "#machine .link-facts")
    page.screenshot(str(OUT / "linked.png"), whole=True)


def numbers_are_written_alike_in_tables_and_by_the_script(browser):
    document = sample_study.result("ring", 4, 100, 4)
    times = [12.5, 1e-4, 1234.5, 105550, 999960, 1234567500, 1235500, 2e15, 7e5]
    document["results"] = [document["results"][0] | {"bytes": 1024 << i, "time_ns": t * 1000} for i, t in enumerate(times)]
    result = OUT / "numbers.json"
    result.write_text(json.dumps(document))
    page = open_page(browser, report("numbers", result))
    def column(table):
        return page.value(f"(t => {{ const c = [...t.querySelectorAll('th')].findIndex(h => h.textContent.startsWith('time'));"
                          f" return [...t.querySelectorAll('tbody tr')].map(r => r.children[c].textContent); }})(document.querySelector('{table} table'))")
    static = column("#rows .static")
    assert static[:3] == ["12.5", "0.0001", "1,234"] and len(static) == len(times), static
    assert column("#rows-view") == static, column("#rows-view")


def without_scripts_there_are_tables_and_machines(browser):
    for name, pictures in (("run", 0), ("study", 0), ("first_look", 8)):
        page = open_page(browser, OUT / f"{name}.html", scripts=False)
        page.screenshot(str(OUT / f"{name}_without_scripts.png"), whole=True)
        page.pdf(str(OUT / f"{name}.pdf"))
        tree = page.call("DOM.getDocument", depth=-1)["root"]
        found = {"svg": 0, "table": 0}

        def walk(node):
            local = node.get("localName")
            if local in found:
                found[local] += 1
            for child in node.get("children", []):
                walk(child)
        walk(tree)
        assert found["svg"] == pictures and found["table"] >= 4, (name, found)


def in_the_dark_the_page_is_dark(browser):
    page = open_page(browser, OUT / "study.html", dark=True)
    colour = page.value("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", colour))) < 64, colour
    page.screenshot(str(OUT / "study_dark.png"))


def rows_that_lack_a_value_stay_in_tables_and_filters(browser):
    files = []
    for algorithm in ("ring", "tree", "torus"):
        for slots in (None, 8):
            for speed in sample_study.SPEEDS:
                changed = {"links.x.bw_gbs": str(speed)} | ({"defaults.n_slots": str(slots)} if slots else {})
                document = sample_study.result(algorithm, 4, speed, slots or 4)
                document["provenance"] = {"commit": "a" if slots else "b", "changed": changed}
                files.append(OUT / f"lack_{algorithm}_{slots}_{speed}.json")
                files[-1].write_text(json.dumps(document))
    page = open_page(browser, report("lack", *files))
    filters = page.value("Object.fromEntries([...document.querySelectorAll('#curves-view .controls label')].filter(l => l.querySelector('select'))"
                         ".map(l => [l.querySelector('span').textContent, [...l.querySelectorAll('option')].map(o => o.textContent)]))")
    assert filters["n_slots"] == ["all", "as shipped", "8"], filters
    axis = page.value("JSON.parse(document.getElementById('cw-data').textContent).axes.findIndex(a => a.name === 'defaults.n_slots')")
    page.choose("#compare-view select", axis)
    heads = page.value("[...document.querySelectorAll('#compare-view tbody th')].map(t => t.textContent)")
    assert heads == ["as shipped", "8"], heads
    cells = page.value("document.querySelectorAll('#compare-view td[data-value]').length")
    assert cells == 2 * len(sample_study.SIZES), cells


def bars_show_figures_at_and_below_zero_and_wrong_data(browser):
    files = []
    flaws = {"tree": {"wrong": 3}, "direct": {"ranks_differ": 2}}
    for algorithm, error, wait in (("ring", -50.0, 0), ("tree", 100.0, 50), ("direct", 150.0, 60)):
        document = sample_study.result(algorithm, 4, 100, 4)
        document["results"] = document["results"][:1]
        document["results"][0] |= {"error_percent": error, "credit_wait_ns": wait} | flaws.get(algorithm, {})
        files.append(OUT / f"bar_{algorithm}.json")
        files[-1].write_text(json.dumps(document))
    page = open_page(browser, report("zero", *files))
    for label, expected in (("Simulated / measured − 1", [-50.0, 100.0, 150.0]), ("Longest wait for credits", [0, .05, .06])):
        option = page.value(f"[...document.querySelectorAll('#curves-view .tabs option')].find(o => o.textContent === {json.dumps(label)}).value")
        page.choose("#curves-view .tabs select", option)
        assert page.value("[...document.querySelectorAll('#curves-view rect[data-y]')].map(r => +r.dataset.y)") == expected, label
        assert text_of(page, "#curves-view caption") == f"{label} at 1 KiB", text_of(page, "#curves-view caption")
    lines = page.value("[...document.querySelectorAll('#curves-view .ranking tr')].map(r => r.textContent)")
    assert "wrong data" not in lines[0] and "wrong data" in lines[1] and "ranks differ" in lines[2], lines
    failures = text_of(page, "#failures")
    assert "3 wrong elements" in failures and "2 elements differ between ranks" in failures, failures


def a_print_says_what_was_chosen(browser):
    page = open_page(browser, OUT / "study.html")
    page.call("Emulation.setEmulatedMedia", media="print")
    shown = "(s => getComputedStyle(document.querySelector(s)).display !== 'none')"
    for selector in ("#curves-view .controls select", "#compare-view .controls select", "#rows-view .controls .note"):
        assert page.value(f"{shown}({json.dumps(selector)})"), selector
    for selector in ("nav", "#rows-view .controls button", "#rows-view .controls label"):
        assert not page.value(f"{shown}({json.dumps(selector)})"), selector
    assert "page 1 of 60" in text_of(page, "#rows-view"), text_of(page, "#rows-view")[-80:]
    page.value("(() => { const s = document.querySelector('#rows-view input'); s.value = 'tree'; s.dispatchEvent(new Event('input')); })()")
    assert page.value(f"{shown}('#rows-view .controls label')")


def a_narrow_window_shows_all_without_moving_sideways(browser):
    document = sample_study.result("ring", 4, 100, 4)
    document["results"][0]["link_kinds"] = [{"kind": "a link between packages of paired dies", "links": 2097152, "bytes": 1 << 50, "busy": .5}]
    document["results"] = document["results"][:1]
    result = OUT / "narrow.json"
    result.write_text(json.dumps(document))
    page = open_page(browser, report("narrow", result), width=360, height=700)
    wide = page.value("document.documentElement.scrollWidth")
    assert wide <= 360, wide


def texts_of_files_are_never_run(browser):
    hostile = "</script><img src=x onerror=window.hacked=1><script>window.hacked=1</script>'\"`"
    document = sample_study.result("ring", 4, 100, 4)
    document["algorithm"] = hostile
    document["provenance"] = {"tags": {hostile: hostile}, "host": hostile, "command_line": ["run", hostile]}
    document["results"][0]["not_run"] = hostile
    document["results"][1]["phases"][0]["name"] = hostile
    document["error"] = hostile
    files = []
    for name in ("hostile <b>&", "plain"):
        files.append(OUT / f"{name}.json")
        files[-1].write_text(json.dumps(document))
        document = sample_study.result("tree", 4, 100, 4)
    page = open_page(browser, report("hostile", *files))
    assert page.value("typeof window.hacked") == "undefined"
    assert page.value("document.querySelectorAll('img').length") == 0
    assert hostile in text_of(page, "#failures")
    assert hostile in text_of(page, "#phases-view")
    assert hostile in text_of(page, "#provenance")


def histories_show_each_run(browser):
    database = OUT / "history.sqlite"
    database.unlink(missing_ok=True)
    db = sqlite3.connect(database)
    db.executescript("CREATE TABLE run (id INTEGER, started TEXT, commit_id TEXT, host TEXT);"
                     "CREATE TABLE measurement (run INTEGER, name TEXT, threads INTEGER, round INTEGER, events_per_s REAL, disturbed INTEGER, events INTEGER);")
    for run in range(30):
        db.execute("INSERT INTO run VALUES (?, ?, ?, 'host')", (run + 1, f"2026-01-{run + 1:02}", f"c{run:07}"))
        for case, base in (("phold", 9e6), ("pod64", 4e6)):
            for r in range(5):
                db.execute("INSERT INTO measurement VALUES (?, ?, 1, ?, ?, 0, ?)",
                           (run + 1, case, r, base * (.99 ** run) * (1 + r / 1000), 7 if case == "phold" or run < 20 else 8))
    db.commit()
    page = open_page(browser, report("history", database))
    drawn = page.value("[...document.querySelectorAll('#history-view .chartbox .dot')].map(d => +d.dataset.y)")
    changed = page.value("[...document.querySelectorAll('#history-view .chartbox .dot.changed')].map(d => +d.dataset.x)")
    assert changed == [21], changed  # other events than in the run before
    named = page.value("[...document.querySelectorAll('#history-view .keys li')].map(l => l.textContent)")
    assert named == ["phold", "pod64"], named
    assert len(drawn) == 60 and near(drawn[0], 1) and near(drawn[29], .99 ** 29), drawn[:3]
    page.choose("#history-view select", 1)
    drawn = page.value("[...document.querySelectorAll('#history-view .chartbox .dot')].map(d => +d.dataset.y)")
    assert len(drawn) == 30 and abs(drawn[2] - 4e6 * .99 ** 2 * 1.002) < 1, drawn[:3]
    page.screenshot(str(OUT / "history.png"))


def a_history_of_many_cases_has_a_mark_for_each(browser):
    database = OUT / "cases.sqlite"
    database.unlink(missing_ok=True)
    db = sqlite3.connect(database)
    db.executescript("CREATE TABLE run (id INTEGER, started TEXT, commit_id TEXT, host TEXT);"
                     "CREATE TABLE measurement (run INTEGER, name TEXT, threads INTEGER, round INTEGER, events_per_s REAL, disturbed INTEGER, events INTEGER);")
    for run in range(2):
        db.execute("INSERT INTO run VALUES (?, ?, ?, 'host')", (run + 1, f"2026-01-{run + 1:02}", f"c{run:07}"))
        for case in range(14):
            db.execute("INSERT INTO measurement VALUES (?, ?, 1, 0, ?, 0, 7)", (run + 1, f"case {case:02}", 1e6 + case * run))
    db.commit()
    page = open_page(browser, report("cases", database))
    marks = page.value("[...document.querySelectorAll('#history-view .chartbox .dot')].map(d => d.getAttribute('d'))")
    assert len(marks) == 28 and not any("undefined" in mark for mark in marks), marks
    looks = page.value("[...document.querySelectorAll('#history-view .keys svg')].map(s => s.getAttribute('class') + s.innerHTML)")
    assert len(set(looks)) == 14, looks  # no two cases look alike
    runs = page.value("[...document.querySelectorAll('#history-view .chartbox .tick[text-anchor=middle]')].map(t => t.textContent)")
    assert runs == ["1", "2"], runs  # there is no run 1.5


def a_night_begins_with_its_verdicts(browser):
    database = OUT / "night.sqlite"
    database.unlink(missing_ok=True)
    cubewarp("perf", "run", "--set", "self-test", "--rounds", 1, "--repeats", 0, "--quiet", "--history", database)
    page = open_page(browser, report("night", database))
    assert page.value("document.querySelector('main section + section').id") == "verdicts"
    assert "in the newest of 1 run" in text_of(page, "#summary"), text_of(page, "#summary")
    assert page.value("document.querySelectorAll('#verdicts tbody tr').length") == 2
    assert page.value("document.querySelectorAll('#history svg').length") == 0  # one run: no empty chart
    assert "its curve begins with the second" in text_of(page, "#history")
    compared = page.value("[...document.querySelectorAll('#history tbody tr')].map(r => [...r.cells].slice(-2).map(c => c.textContent).join())")
    assert compared == ["–,–"] * 2, compared  # one run is compared with nothing
    page.screenshot(str(OUT / "night.png"))


TESTS = [a_run_is_drawn_as_its_json_says, hovering_and_keys_show_a_point_s_figures, a_sweep_of_500_points_pivots_over_any_two_axes,
         series_are_chosen_and_filtered, rows_are_sorted_and_searched, failures_and_the_slowest_are_listed,
         a_page_opens_within_a_second_and_is_small, a_load_of_pod1024_has_its_machine,
         where_time_goes_is_drawn_as_the_run_explains_it, measured_times_stand_beside_the_simulated, the_readme_s_first_look_has_limits_and_machines, a_link_s_numbers_are_shown_by_click_and_key,
         colour_is_one_axis_and_dash_and_mark_another, colours_differ_from_each_other_and_from_the_paper, rows_that_a_choice_hides_are_counted,
         no_figure_is_shown_that_no_row_has, flat_lines_are_said_to_be_flat, the_algorithms_that_auto_took_are_one_curve,
         the_point_whose_machine_is_drawn_is_chosen_and_named,
         numbers_are_written_alike_in_tables_and_by_the_script, without_scripts_there_are_tables_and_machines, in_the_dark_the_page_is_dark,
         rows_that_lack_a_value_stay_in_tables_and_filters, bars_show_figures_at_and_below_zero_and_wrong_data, a_print_says_what_was_chosen,
         nothing_is_cut_off_from_800_pixels_on, a_narrow_window_shows_all_without_moving_sideways, texts_of_files_are_never_run, histories_show_each_run,
         a_history_of_many_cases_has_a_mark_for_each, a_night_begins_with_its_verdicts]


def main():
    if chromium.program() is None:
        print("skipped: there is no Chromium (Debian: chromium); make test-all installs it")
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    failed = 0
    with chromium.Chromium() as browser:
        for test in TESTS:
            if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
                continue
            try:
                test(browser)
                print(f"[       OK ] {test.__name__}")
            except Exception:
                traceback.print_exc(file=sys.stdout)
                print(f"[  FAILED  ] {test.__name__}")
                failed += 1
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
