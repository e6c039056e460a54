/*
 * page.js: the interactive part of a report. It reads the page's data (page_data.h describes them)
 * and builds a view for each section, which hides the static one; if a view fails, the static one
 * stays. It draws all charts. Texts from files are inserted as text, never as markup.
 *
 * Texts of axis values come with the data; NUMBERS formats what is computed here as say_number()
 * of bench/survey/say.c does.
 */
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("cw-data").textContent);
  const R = data.rows, AXES = data.axes, FIGURES = data.figures;
  const ROWS = R.point.length;
  const COLOURS = 12, FLAT = 1.02; /* the longest over the shortest: less is flat */
  const FORMS = ["m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m-3.5 -3.5h7v7h-7z", "m0 -4.6l4.4 7.8h-8.8z", "m0 -5l4.4 5l-4.4 5l-4.4 -5z",
    "m0 4.6l4.4 -7.8h-8.8z", "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z", "m-4.5 -2h9v4h-9z", "m-2 -4.5h4v9h-4z"];
  const DASHES = [null, "8 3", "2 3", "10 3 2 3", "16 4"];

  /* ---- values and how people read them -------------------------------------------------------- */

  const axisNamed = name => AXES.findIndex(a => a.name === name);
  const figureNamed = key => FIGURES.findIndex(f => f.key === key);
  const F_TIME = figureNamed("time_us"), F_BOUND = figureNamed("bound_us"), F_MEASURED = figureNamed("measured_us");
  const valueOf = (row, a) => R.axis[a][row];
  const numberOf = (row, a) => R.axis[a][row] < 0 ? NaN : AXES[a].numbers[R.axis[a][row]];
  const figureOf = (row, f) => { const v = f < 0 ? null : R.figure[f][row]; return v === null || R.not_run[row] !== null ? NaN : v; };
  const ran = d3.range(ROWS).filter(i => R.not_run[i] === null);

  const NUMBERS = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0, maximumSignificantDigits: 4, roundingPriority: "morePrecision", roundingMode: "halfEven" });
  const say = (x, unit) => x === null || Number.isNaN(x) ? "–" : NUMBERS.format(x) + (unit ? " " + unit : "");
  const sayFigure = (f, x) => say(x, FIGURES[f].unit);
  const sayAxisValue = (a, v) => v < 0 ? (AXES[a].kind === 3 ? "as shipped" : "–") : AXES[a].texts[v];
  /* The values of an axis among rows that ran, in order; -1: a row has none. */
  const presentOf = AXES.map((_, a) => [...new Set(ran.map(row => R.axis[a][row]))].sort((p, q) => p - q));
  /* Names of keys stay as they are. */
  const capital = text => /[._]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);

  /* ---- elements -------------------------------------------------------------------------------- */

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
  }
  function choose(label, options, value, onchange) {
    const select = make("select", { onchange: () => onchange(select.value) });
    for (const [key, text] of options) select.append(make("option", { value: key, selected: String(key) === String(value) }, text));
    return make("label", {}, make("span", {}, capital(label)), select);
  }
  function check(label, value, onchange) {
    const box = make("input", { type: "checkbox", onchange: () => onchange(box.checked) });
    box.checked = value;
    return make("label", { class: "check" }, box, label);
  }
  function tabs(label, options, value, onchange) {
    const group = make("div", { class: "tabs", role: "group", "aria-label": label });
    for (const [key, text] of options)
      group.append(make("button", { type: "button", "aria-pressed": String(key === value), "data-key": key, onclick: () => {
        group.querySelectorAll("button").forEach(b => b.setAttribute("aria-pressed", String(b.dataset.key === String(key))));
        onchange(key);
      } }, text));
    return group;
  }

  /* A table that is wider than its place becomes denser; what still does not fit is said. */
  function fit(box) {
    box.classList.remove("dense", "denser");
    for (const step of ["dense", "denser"]) if (box.scrollWidth > box.clientWidth + 1) box.classList.add(step);
    box.classList.toggle("cut", box.scrollWidth > box.clientWidth + 1);
  }
  const fitAll = () => document.querySelectorAll(".scroll").forEach(fit);
  addEventListener("resize", fitAll);

  const tip = document.getElementById("tip");
  function showTip(content, x, y) {
    tip.replaceChildren(...content);
    tip.classList.add("on");
    const box = tip.getBoundingClientRect(), gap = 14;
    tip.style.left = Math.max(4, x + gap + box.width > innerWidth ? x - gap - box.width : x + gap) + "px";
    tip.style.top = Math.max(4, Math.min(y + gap, innerHeight - box.height - 4)) + "px";
  }
  const hideTip = () => tip.classList.remove("on");
  addEventListener("scroll", hideTip, { passive: true });

  /* ---- rows ------------------------------------------------------------------------------------ */

  const seriesAxes = d3.range(AXES.length).filter(a => AXES[a].series);
  const sizeAxes = d3.range(AXES.length).filter(a => AXES[a].bytes && AXES[a].varies);
  const isSize = a => AXES[a] && AXES[a].bytes;
  function nameOf(row, axes) {
    return axes.filter(a => valueOf(row, a) >= 0 || AXES[a].kind === 3).map(a => {
      const v = valueOf(row, a), text = sayAxisValue(a, v);
      const alone = v >= 0 && !AXES[a].numeric && Number.isNaN(Number(text)) && text.length > 3 && text !== "true" && text !== "false";
      return alone ? text : AXES[a].label + " " + text;
    }).join(" · ");
  }
  /* What is wrong with a row's data, in short; null: nothing, or it was not verified. */
  const flawOf = row => R.flaw[row] && R.flaw[row][0];
  const A_RAN = axisNamed("schedule"), A_ASKED = axisNamed("algorithm"), A_PLACE = axisNamed("placement");
  function factsOf(row) {
    const rows = [];
    if (A_RAN >= 0 && valueOf(row, A_RAN) >= 0 && (A_ASKED < 0 || sayAxisValue(A_RAN, valueOf(row, A_RAN)) !== sayAxisValue(A_ASKED, valueOf(row, A_ASKED))))
      rows.push([AXES[A_RAN].label, sayAxisValue(A_RAN, valueOf(row, A_RAN))]);
    if (A_PLACE >= 0 && valueOf(row, A_PLACE) >= 0) rows.push([AXES[A_PLACE].label, sayAxisValue(A_PLACE, valueOf(row, A_PLACE))]);
    for (let f = 0; f < FIGURES.length; f++) {
      const value = figureOf(row, f);
      if (!Number.isNaN(value)) rows.push([FIGURES[f].label, sayFigure(f, value)]);
    }
    if (R.bound_by[row]) rows.push(["bound by", R.bound_by[row]]);
    if (R.flaw[row]) rows.push(["data", R.flaw[row][1]]);
    return rows;
  }
  function tableOf(pairs) {
    const body = make("tbody", {});
    for (const [name, value] of pairs) body.append(make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)));
    return make("table", {}, body);
  }
  function titleOf(row) {
    const name = nameOf(row, seriesAxes), x = data.x >= 0 ? sayAxisValue(data.x, valueOf(row, data.x)) : "";
    return (name || data.points[R.point[row]].label) + (x ? ", " + (AXES[data.x].bytes ? "" : AXES[data.x].label + " ") + x : "");
  }
  const listeners = [];
  let chosen = -1;
  function select(row) {
    chosen = row;
    for (const listener of listeners) listener(row);
  }

  /* ---- scales and ticks ------------------------------------------------------------------------ */

  function ticksOf(least, most, log) {
    if (log) {
      const ticks = [];
      const decades = Math.log10(most / least);
      const steps = decades < 3 ? [1, 2, 5] : [1];
      for (let decade = Math.floor(Math.log10(least)); decade <= Math.ceil(Math.log10(most)) + 1; decade++)
        for (const s of steps) ticks.push(s * 10 ** decade);
      const from = Math.max(0, d3.bisectRight(ticks, least * (1 + 1e-9)) - 1), to = d3.bisectLeft(ticks, most * (1 - 1e-9));
      const kept = ticks.slice(from, to + 1);
      return { ticks: kept, least: Math.min(least, kept[0]), most: Math.max(most, kept[kept.length - 1]) };
    }
    const scale = d3.scaleLinear().domain([least, most === least ? least + (Math.abs(least) || 1) : most]).nice(6);
    return { ticks: scale.ticks(6), least: scale.domain()[0], most: scale.domain()[1] };
  }

  /* The ascending values whose labels have room beside each other. */
  function withRoom(values, scale) {
    const kept = [];
    for (const v of values) if (!kept.length || scale(v) - scale(kept[kept.length - 1]) >= 52) kept.push(v);
    return kept;
  }

  /* ---- a chart --------------------------------------------------------------------------------- */

  /*
   * chart.lines: [{name, colour, dash, form, points: [{x, y, low, high, facts, row}], bound: [{x, y}],
   * open: [{x, y}]}], in the order of the arrow keys. chart.x, chart.y: {label, log}; chart.x.texts: the
   * text of each value of x, where only these may be ticks; chart.x.whole: x counts; chart.y.free: y need not begin at 0.
   * Hovering and the arrow keys show the nearest point; a click or Enter calls chart.onselect(point).
   */
  function drawChart(holder, chart) {
    holder.replaceChildren();
    const W = Math.max(340, holder.clientWidth || 760), H = chart.height || Math.min(460, Math.max(300, W * .52));
    const M = { left: 0, right: 34, top: 10, bottom: 50 };
    const points = [];
    chart.lines.forEach((line, l) => line.points.forEach((p, i) => points.push({ ...p, l, i })));
    if (points.length === 0) {
      holder.append(make("p", { class: "empty" }, "No such points: choose other values above."));
      return;
    }
    const ys = points.flatMap(p => [p.y, p.low, p.high].filter(v => v !== undefined && !Number.isNaN(v)));
    for (const line of chart.lines) for (const p of [...(line.bound || []), ...(line.open || [])]) ys.push(p.y);
    const [x0, x1] = d3.extent(points, p => p.x);
    let [y0, y1] = d3.extent(ys);
    const xlog = chart.x.log && x0 > 0 && x1 > x0, ylog = chart.y.log && y0 > 0;
    if (!ylog && !chart.y.free) y0 = Math.min(0, y0);
    const ty = ticksOf(y0, y1, ylog);
    M.left = 44 + 7 * d3.max(ty.ticks, t => say(t).length);
    const x = (xlog ? d3.scaleLog() : d3.scaleLinear()).domain(xlog ? [x0, x1] : [x0, x1 === x0 ? x0 + 1 : x1]).range([M.left, W - M.right]);
    const y = (ylog ? d3.scaleLog() : d3.scaleLinear()).domain([ty.least, ty.most]).range([H - M.bottom, M.top]);
    const svg = d3.select(holder).append("svg").attr("viewBox", `0 0 ${W} ${H}`).attr("tabindex", 0).attr("role", "application")
      .attr("aria-label", `${chart.y.label} over ${chart.x.label}. Arrow keys go from point to point, Enter chooses one.`);
    const sayX = v => chart.x.texts ? chart.x.texts.get(v) : say(v);
    for (const t of chart.x.texts ? withRoom([...new Set(points.map(p => p.x))].sort((a, b) => a - b), x) : x.ticks(Math.max(3, W / 110)).filter(t => !chart.x.whole || Number.isInteger(t))) {
      svg.append("path").attr("class", "grid").attr("d", `M${x(t)} ${M.top}V${H - M.bottom}`);
      svg.append("text").attr("class", "tick").attr("x", x(t)).attr("y", H - M.bottom + 18).attr("text-anchor", "middle").text(sayX(t));
    }
    for (const t of ty.ticks) {
      svg.append("path").attr("class", "grid").attr("d", `M${M.left} ${y(t)}H${W - M.right}`);
      svg.append("text").attr("class", "tick").attr("x", M.left - 8).attr("y", y(t) + 4).attr("text-anchor", "end").text(say(t));
    }
    svg.append("text").attr("class", "axis").attr("x", (M.left + W - M.right) / 2).attr("y", H - 10).attr("text-anchor", "middle").text(chart.x.label);
    svg.append("text").attr("class", "axis").attr("transform", `translate(15 ${(M.top + H - M.bottom) / 2}) rotate(-90)`).attr("text-anchor", "middle").text(chart.y.label);
    const shape = d3.line().x(p => x(p.x)).y(p => y(p.y)).defined(p => !Number.isNaN(p.y) && (!ylog || p.y > 0));
    const groups = chart.lines.map(line => {
      const g = svg.append("g").attr("class", line.colour);
      if (line.points.some(p => p.low !== undefined))
        g.append("path").attr("d", d3.area().x(p => x(p.x)).y0(p => y(p.low)).y1(p => y(p.high))(line.points)).attr("fill", "currentColor").attr("opacity", .16);
      if (line.bound && line.bound.length > 1) g.append("path").attr("class", line.neutral ? "bound neutral" : "bound").attr("d", shape(line.bound));
      g.append("path").attr("class", "line").attr("d", shape(line.points)).attr("stroke-dasharray", line.dash);
      if (!chart.plain || line.points.length === 1)
        for (const p of line.points)
          if (!Number.isNaN(p.y)) g.append("path").attr("class", "dot" + (p.changed ? " changed" : "") + (p.disturbed ? " disturbed" : "")).attr("data-row", p.row).attr("data-x", p.x).attr("data-y", p.y).attr("d", `M${x(p.x)} ${y(p.y)}${FORMS[line.form]}`);
      for (const p of line.open || []) g.append("path").attr("class", "open").attr("data-y", p.y).attr("d", `M${x(p.x)} ${y(p.y)}${FORMS[line.form]}`);
      return g;
    });
    const cursor = svg.append("path").attr("class", "cursor").attr("visibility", "hidden");
    const halo = svg.append("circle").attr("class", "halo").attr("r", 8).attr("visibility", "hidden");
    let at = null;
    function show(p, clientX, clientY) {
      at = p;
      groups.forEach((g, l) => g.classed("dim", chart.lines.length > 1 && l !== p.l));
      halo.attr("cx", x(p.x)).attr("cy", y(p.y)).attr("visibility", "visible");
      cursor.attr("d", `M${x(p.x)} ${M.top}V${H - M.bottom}`).attr("visibility", "visible");
      if (clientX === undefined) {
        const box = svg.node().getBoundingClientRect();
        clientX = box.left + x(p.x) * box.width / W;
        clientY = box.top + y(p.y) * box.height / H;
      }
      showTip([make("strong", {}, chart.lines[p.l].name), tableOf([[chart.x.label, sayX(p.x)], ...p.facts()])], clientX, clientY);
    }
    function leave() {
      at = null;
      groups.forEach(g => g.classed("dim", false));
      halo.attr("visibility", "hidden");
      cursor.attr("visibility", "hidden");
      hideTip();
    }
    const live = points.filter(p => !Number.isNaN(p.y));
    function nearest(event) {
      const [mx, my] = d3.clientPoint(svg.node(), event);
      let best = null, least = Infinity;
      for (const p of live) {
        const d = (x(p.x) - mx) ** 2 + (y(p.y) - my) ** 2;
        if (d < least) { least = d; best = p; }
      }
      return least < 60 * 60 ? best : null;
    }
    svg.on("mousemove", () => { const p = nearest(d3.event); if (p) show(p, d3.event.clientX, d3.event.clientY); else leave(); });
    svg.on("mouseleave", leave).on("blur", leave);
    svg.on("click", () => { const p = nearest(d3.event); if (p && chart.onselect) chart.onselect(p); });
    svg.on("keydown", () => {
      const key = d3.event.key;
      if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Enter", "Escape", "Home", "End"].includes(key)) return;
      d3.event.preventDefault();
      if (key === "Escape") return leave();
      if (key === "Enter") { if (at && chart.onselect) chart.onselect(at); return; }
      if (!at) return show(live[0]);
      const own = live.filter(p => p.l === at.l), i = own.indexOf(at);
      if (key === "ArrowRight") show(own[Math.min(i + 1, own.length - 1)]);
      if (key === "ArrowLeft") show(own[Math.max(i - 1, 0)]);
      if (key === "Home") show(own[0]);
      if (key === "End") show(own[own.length - 1]);
      if (key === "ArrowUp" || key === "ArrowDown") {
        const rivals = live.filter(p => p.l !== at.l && p.x === at.x && (key === "ArrowUp" ? p.y >= at.y : p.y <= at.y));
        if (rivals.length) show(rivals[d3.scan(rivals, (a, b) => Math.abs(a.y - at.y) - Math.abs(b.y - at.y))]);
      }
    });
    svg.node().chartGroups = groups;
    svg.node().chartLines = chart.lines;
  }
  /* Draws, and draws again when the width changes. */
  function onWidth(holder, draw) {
    let width = 0;
    new ResizeObserver(() => {
      if (Math.abs(holder.clientWidth - width) > 24) { width = holder.clientWidth; draw(); }
    }).observe(holder);
    width = holder.clientWidth;
    draw();
  }

  /* ---- curves ---------------------------------------------------------------------------------- */

  const ALL = -2; /* of a filter; -1 stands for rows without a value on the axis */
  function filtersOf(state, axes, changed) {
    return axes.filter(a => presentOf[a].length > 1 && presentOf[a].length <= 200).map(a =>
      choose(AXES[a].label, [[ALL, "all"], ...presentOf[a].map(v => [v, sayAxisValue(a, v)])], state.filter[a] ?? ALL,
        v => { state.filter[a] = +v; changed(); }));
  }
  /* What is chosen, and how many rows that leaves out: no row is hidden without being said. */
  function shownOf(state, shown, of, all) {
    const held = Object.entries(state.filter).filter(([, v]) => v !== ALL).map(([a, v]) => AXES[a].label + " " + sayAxisValue(+a, v));
    if (shown === of && !held.length) return [];
    return [`${say(shown)} of ${say(of)} rows are shown` + (held.length ? ": " + held.join(", ") : "") + ". ",
      held.length ? make("button", { type: "button", class: "all", onclick: all }, "Show all") : ""];
  }
  /* Efficiencies are shares of bounds: where rows of one size have unlike bounds (of two placements, say), a larger
   * one need not be the shorter time. */
  const F_EFFICIENCY = figureNamed("efficiency_percent");
  function boundsDiffer(figure, rows) {
    const first = new Map();
    if (figure !== F_EFFICIENCY || F_BOUND < 0) return "";
    const unlike = rows.some(row => {
      const x = data.x < 0 ? 0 : valueOf(row, data.x), bound = figureOf(row, F_BOUND);
      if (!first.has(x)) first.set(x, bound);
      return Math.abs(bound - first.get(x)) > .001 * bound;
    });
    return unlike ? "Bounds differ among rows of one size: compare their times. " : "";
  }
  const passes = (state, row) => Object.entries(state.filter).every(([a, v]) => v === ALL || valueOf(row, a) === v);

  function viewCurves(holder) {
    const numeric = d3.range(AXES.length).filter(a => AXES[a].numeric && AXES[a].varies && (AXES[a].series || isSize(a) || a === data.x));
    /* hidden: values that the key has switched off, as "axis:value" */
    const state = { figure: F_TIME >= 0 ? F_TIME : 0, x: data.x, colour: -1, form: -1, filter: {}, logx: true, logy: null, bound: true, measured: true, hidden: new Set() };
    const axesOf = () => seriesAxes.concat(isSize(data.x) && data.x !== state.x && AXES[data.x].varies ? [data.x] : [])
      .filter(a => a !== state.x && !(isSize(a) && isSize(state.x)) && presentOf[a].length > 1);
    const controls = make("div", { class: "controls" }), plot = make("div", { class: "plot" });
    const chartBox = make("div", { class: "chartbox" }), keys = make("div", { class: "keys" });
    const shownBox = make("p", { class: "note shown" }), answer = make("p", { class: "answer" });
    const panel = make("div", { class: "panel", hidden: true, id: "curves-chosen" });
    plot.append(chartBox, keys);
    const usual = FIGURES.map((f, i) => [i, capital(f.label)]).filter(([i]) => ran.some(r => !Number.isNaN(figureOf(r, i))));
    const first = ["time_us", "algbw_gbs", "busbw_gbs", "efficiency_percent"];
    const show = f => { state.figure = +f; state.logy = null; build(); };
    const rest = usual.filter(([i]) => !first.includes(FIGURES[i].key) && !["bound_us", "measured_us"].includes(FIGURES[i].key));
    const group = tabs("Figure", usual.filter(([i]) => first.includes(FIGURES[i].key)), state.figure, f => { more.value = ""; show(f); });
    const more = make("select", { "aria-label": "Other figures", onchange: () => {
      if (more.value === "") return;
      group.querySelectorAll("button").forEach(b => b.setAttribute("aria-pressed", "false"));
      show(more.value);
    } }, make("option", { value: "" }, "Other figures"), ...rest.map(([i, text]) => make("option", { value: i }, text)));
    if (rest.length) group.append(more);
    holder.append(group, controls, answer, plot, shownBox, panel);

    /* Whether the values differ so much that they need a logarithmic scale: times together with their bounds. */
    function isWide(rows) {
      const figures = state.figure === F_TIME && state.bound ? [F_TIME, F_BOUND] : [state.figure];
      const [least, most] = d3.extent(rows.flatMap(row => figures.map(f => figureOf(row, f))).filter(v => !Number.isNaN(v)));
      return least > 0 && most / least >= 30;
    }
    /* The place of a line's value among those of an axis, which chooses its colour, or its dash and mark. */
    const placeOf = (a, row) => a < 0 ? 0 : presentOf[a].indexOf(valueOf(row, a));
    const formOf = place => ({ form: place % FORMS.length, dash: DASHES[place % DASHES.length] });
    function styleOf(colourPlace, formPlace) {
      if (state.form >= 0) return { colour: "c" + colourPlace % COLOURS, ...formOf(formPlace) };
      /* one axis alone: all three follow it, so that colour never stands alone */
      return { colour: "c" + colourPlace % COLOURS, form: colourPlace % FORMS.length, dash: DASHES[Math.floor(colourPlace / COLOURS) % DASHES.length] };
    }
    const isHidden = row => [state.colour, state.form].some(a => a >= 0 && state.hidden.has(a + ":" + valueOf(row, a)));
    function linesOf() {
      const axes = axesOf(), byKey = new Map();
      for (const row of ran) {
        if (!passes(state, row) || isHidden(row) || Number.isNaN(numberOf(row, state.x)) || Number.isNaN(figureOf(row, state.figure))) continue;
        const key = axes.map(a => valueOf(row, a)).join(",");
        if (!byKey.has(key)) byKey.set(key, { key, name: nameOf(row, axes) || data.title, rows: [] });
        byKey.get(key).rows.push(row);
      }
      const lines = [...byKey.values()];
      for (const line of lines) {
        line.rows.sort((a, b) => numberOf(a, state.x) - numberOf(b, state.x));
        Object.assign(line, styleOf(placeOf(state.colour, line.rows[0]), placeOf(state.form, line.rows[0])));
        line.points = line.rows.map(row => ({ x: numberOf(row, state.x), y: figureOf(row, state.figure), row, changed: flawOf(row) !== null, facts: () => factsOf(row) }));
        if (state.figure === F_TIME && state.bound && F_BOUND >= 0)
          line.bound = line.rows.map(row => ({ x: numberOf(row, state.x), y: figureOf(row, F_BOUND) })).filter(p => p.y > 0);
        if (state.figure === F_TIME && state.measured && F_MEASURED >= 0)
          line.open = line.rows.map(row => ({ x: numberOf(row, state.x), y: figureOf(row, F_MEASURED) })).filter(p => p.y > 0);
      }
      return lines;
    }
    /* With one size, a bar for each series says more than a point. */
    function rank(lines) {
      const order = lines.flatMap(line => line.points).sort((a, b) => a.y - b.y), figure = FIGURES[state.figure];
      const least = Math.min(0, d3.min(order, p => p.y)), most = Math.max(0, d3.max(order, p => p.y)), wide = most - least || 1;
      const body = make("tbody", {});
      for (const p of figure.better > 0 ? order.reverse() : order) {
        const svg = d3.create("svg").attr("class", "bar").attr("viewBox", "0 0 1000 26").attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
        svg.append("rect").attr("class", "p0").attr("x", 1000 * (Math.min(0, p.y) - least) / wide).attr("width", 1000 * Math.abs(p.y) / wide).attr("height", 26).attr("data-row", p.row).attr("data-y", p.y)
          .on("mousemove", () => showTip([make("strong", {}, titleOf(p.row)), tableOf(factsOf(p.row))], d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip);
        body.append(make("tr", {}, make("th", { scope: "row", class: "long" }, make("button", { type: "button", onclick: () => select(p.row) }, nameOf(p.row, axesOf()) || titleOf(p.row))), make("td", {}, svg.node()), make("td", { class: "n" }, sayFigure(state.figure, p.y) + (flawOf(p.row) ? ", " + flawOf(p.row) : ""))));
      }
      const at = order.length ? valueOf(order[0].row, state.x) : -1;
      const title = capital(figure.label) + (at < 0 ? "" : AXES[state.x].bytes ? " at " + sayAxisValue(state.x, at) : " at " + AXES[state.x].label + " " + sayAxisValue(state.x, at));
      chartBox.replaceChildren(order.length ? make("table", { class: "bars ranking" }, make("caption", {}, title), body) : make("p", { class: "empty" }, "No such points: choose other values above."));
    }
    /* Lines over a number that hardly change, in words: a faster link does not help. */
    function sayFlat(lines) {
      const long = lines.filter(line => line.points.length > 1), x = AXES[state.x];
      if (isSize(state.x) || !long.length) return;
      const at = v => x.texts[x.numbers.indexOf(v)] + (x.unit ? " " + x.unit : ""), label = FIGURES[state.figure].label;
      const from = d3.max(long, line => {
        const points = line.points, isFlat = i => { const [least, most] = d3.extent(points.slice(i), p => p.y); return least > 0 && most <= FLAT * least; };
        let i = points.length - 1;
        while (i > 0 && isFlat(i - 1)) i--;
        return points[i].x;
      });
      const first = d3.min(long, line => line.points[0].x), last = d3.max(long, line => line.points[line.points.length - 1].x);
      if (from < last) answer.textContent = (from === first ? `Flat: ${x.label} from ${at(first)} to ${at(last)}` : `Flat from ${x.label} ${at(from)} on: more of it`) +
        ` changes no ${label} here by more than ${say(100 * FLAT - 100, "%")}.`;
    }
    function key(a, isColour) {
      const list = make("ul", { class: "series", "aria-label": AXES[a].label + ": show or hide" });
      presentOf[a].forEach((v, place) => {
        if (state.filter[a] !== undefined && state.filter[a] !== ALL && state.filter[a] !== v) return;
        const style = isColour ? styleOf(place, 0) : formOf(place), name = a + ":" + v;
        const swatch = d3.create("svg").attr("width", 36).attr("height", 14).attr("aria-hidden", "true").attr("class", isColour ? style.colour : "plainkey");
        swatch.append("path").attr("class", "line").attr("d", "M1 7H35").attr("stroke-dasharray", isColour && state.form >= 0 ? null : style.dash);
        if (!isColour || state.form < 0) swatch.append("path").attr("class", "dot").attr("d", "M18 7" + FORMS[style.form]);
        const toggle = event => {
          const others = presentOf[a].map(w => a + ":" + w).filter(n => n !== name);
          if (event.shiftKey || event.altKey) {
            const alone = others.every(n => state.hidden.has(n)) && !state.hidden.has(name);
            others.forEach(n => alone ? state.hidden.delete(n) : state.hidden.add(n));
            state.hidden.delete(name);
          } else if (!state.hidden.delete(name)) state.hidden.add(name);
          draw();
          const again = keys.querySelector(`button[data-key="${name}"]`);
          if (again) again.focus();
        };
        const light = on => {
          const svg = chartBox.querySelector("svg");
          if (svg && svg.chartGroups) svg.chartGroups.forEach((g, l) => g.classed("dim", on && valueOf(svg.chartLines[l].rows[0], a) !== v));
        };
        list.append(make("li", {}, make("button", { type: "button", "data-key": name, "aria-pressed": String(!state.hidden.has(name)), title: "Click: show or hide; with Shift: this one alone",
          onclick: toggle, onmouseenter: () => light(true), onmouseleave: () => light(false) }, swatch.node(), make("span", {}, sayAxisValue(a, v)))));
      });
      keys.append(make("h3", {}, capital(AXES[a].label)), list);
    }
    /* What dashes and hollow marks mean. */
    function keyOfMarks(lines) {
      const list = make("ul", { class: "series marks" });
      const entry = (path, kind, text) => {
        const swatch = d3.create("svg").attr("width", 36).attr("height", 14).attr("aria-hidden", "true").attr("class", "plainkey");
        swatch.append("path").attr("class", kind).attr("d", path);
        list.append(make("li", {}, swatch.node(), make("span", {}, text)));
      };
      if (lines.some(line => line.bound && line.bound.length > 1)) entry("M1 7H35", "bound", "lower bound: of one line in its colour, of several grey");
      if (lines.some(line => line.points.some(p => p.changed))) entry("M18 7" + FORMS[0], "dot changed", "hollow: wrong data, ranks differ, or not finite");
      keys.append(list);
    }
    function draw() {
      const lines = linesOf(), figure = FIGURES[state.figure];
      const drawn = d3.sum(lines, line => line.points.length), have = ran.filter(row => !Number.isNaN(figureOf(row, state.figure)));
      const single = new Set(lines.flatMap(line => line.points.map(p => p.x))).size <= 1;
      keys.replaceChildren();
      if (state.colour >= 0 && !(single && lines.length)) key(state.colour, true);
      if (state.form >= 0 && !single) key(state.form, false);
      if (!single && (lines.some(line => line.bound && line.bound.length > 1) || lines.some(line => line.points.some(p => p.changed)))) keyOfMarks(lines);
      plot.classList.toggle("alone", keys.childElementCount === 0);
      const alike = lines.length - new Set(lines.map(line => [line.colour, line.form, line.dash].join())).size;
      shownBox.replaceChildren(boundsDiffer(state.figure, lines.flatMap(line => line.rows)), ...shownOf(state, drawn, have.length, () => { for (const a of Object.keys(state.filter)) state.filter[a] = ALL; state.hidden.clear(); build(); }),
        !single && alike ? `Lines that look alike differ in ${axesOf().filter(a => a !== state.colour && a !== state.form && new Set(lines.map(line => valueOf(line.rows[0], a))).size > 1).map(a => AXES[a].label).join(", ") || "values that share a colour"}: choose one value above.` : "");
      answer.textContent = "";
      if (single) return rank(lines);
      sayFlat(lines);
      const logy = state.logy ?? isWide(lines.flatMap(line => line.rows));
      /* one bound for all lines that share it */
      const sharing = new Map();
      for (const line of lines) {
        const bound = JSON.stringify(line.bound || []);
        if (!sharing.has(bound)) sharing.set(bound, []);
        sharing.get(bound).push(line);
      }
      for (const [one, ...others] of sharing.values()) {
        for (const line of [one, ...others]) line.neutral = others.some(other => other.colour !== one.colour);
        for (const other of others) other.bound = [];
      }
      drawChart(chartBox, {
        lines, x: { label: capital(AXES[state.x].label) + (AXES[state.x].unit ? " (" + AXES[state.x].unit + ")" : ""), log: state.logx, texts: new Map(d3.zip(AXES[state.x].numbers, AXES[state.x].texts)) },
        y: { label: capital(figure.label) + (figure.unit ? " (" + figure.unit + ")" : ""), log: logy }, plain: lines.length > 60,
        onselect: p => select(p.row)
      });
    }
    function fillControls() {
      const axes = axesOf();
      const logy = state.logy ?? isWide(ran.filter(row => passes(state, row)));
      const take = which => a => { if (+a === state[which === "colour" ? "form" : "colour"] && +a >= 0) state[which === "colour" ? "form" : "colour"] = state[which]; state[which] = +a; state.hidden.clear(); build(); };
      controls.replaceChildren(...[
        numeric.length > 1 ? choose("over", numeric.map(a => [a, AXES[a].label]), state.x, a => { state.x = +a; state.hidden.clear(); pick(); build(); }) : null,
        axes.length > 1 ? choose("colour", axes.map(a => [a, AXES[a].label]), state.colour, take("colour")) : null,
        axes.length > 1 ? choose("dash and mark", [[-1, "as colour"], ...axes.map(a => [a, AXES[a].label])], state.form, take("form")) : null,
        ...(axes.length > 1 || (axes.length && presentOf[axes[0]].length > 8) ? filtersOf(state, axes, build) : []),
        check("log x", state.logx, v => { state.logx = v; draw(); }),
        check("log y", logy, v => { state.logy = v; draw(); }),
        F_BOUND >= 0 && state.figure === F_TIME ? check("bounds", state.bound, v => { state.bound = v; draw(); }) : null,
        F_MEASURED >= 0 && state.figure === F_TIME ? check("measured", state.measured, v => { state.measured = v; draw(); }) : null].filter(c => c));
    }
    function build() {
      fillControls();
      draw();
    }
    /* Colour for one axis, algorithms before all others; dash and mark for another. The rest are held: sizes at
     * their last value, others at the first that is left. */
    function pick() {
      const axes = axesOf(), few = axes.filter(a => presentOf[a].length <= COLOURS);
      const isAlgorithm = a => /algorithm$/.test(AXES[a].name);
      few.sort((a, b) => isAlgorithm(b) - isAlgorithm(a) || isSize(a) - isSize(b) || presentOf[b].length - presentOf[a].length);
      state.colour = few[0] ?? axes[0] ?? -1;
      state.form = few.find(a => a !== state.colour) ?? -1;
      state.filter = {};
      for (const a of axes.filter(b => b !== state.colour && b !== state.form)) if (presentOf[a].length <= 200) hold(a);
    }
    function hold(a) {
      const left = ran.filter(row => passes(state, row) && !Number.isNaN(numberOf(row, state.x))).map(row => valueOf(row, a));
      if (left.length) state.filter[a] = isSize(a) ? d3.max(left) : d3.min(left);
    }
    listeners.push(row => {
      panel.hidden = row < 0;
      if (row < 0) return;
      const point = data.points[R.point[row]];
      panel.replaceChildren(make("strong", {}, titleOf(row)), tableOf([...factsOf(row), ["point", point.label], ...(point.command ? [["command", point.command]] : [])]));
    });
    pick();
    fillControls();
    onWidth(chartBox, draw);
  }

  /* ---- pivot table and heat map ---------------------------------------------------------------- */

  /* A cell of several rows shows one of them: no figure that no row has. */
  const COMBINE = { least: v => d3.min(v), most: v => d3.max(v), count: v => v.length };
  function viewCompare(holder) {
    const usable = d3.range(AXES.length).filter(a => AXES[a].varies && (AXES[a].series || isSize(a) || AXES[a].kind < 6));
    if (usable.length === 0 || FIGURES.length === 0) return false;
    const size = data.x >= 0 && AXES[data.x].varies ? data.x : usable[0];
    const other = seriesAxes.find(a => a !== size && presentOf[a].length > 1) ?? -1;
    const tall = other >= 0 && presentOf[size].length > 12 && presentOf[other].length < presentOf[size].length; /* the longer one goes down */
    const state = { down: tall ? size : other, across: tall ? other : size, figure: F_TIME >= 0 ? F_TIME : 0, combine: "least", filter: {} };
    const controls = make("div", { class: "controls" }), box = make("div", { class: "scroll" }), shownBox = make("p", { class: "note shown" }), panel = make("div", { class: "panel", hidden: true, id: "compare-chosen" });
    holder.append(controls, box, shownBox, panel);
    function build() {
      const names = usable.map(a => [a, AXES[a].label]);
      controls.replaceChildren(
        choose("rows", [[-1, "all together"], ...names], state.down, v => { state.down = +v; state.filter = {}; build(); }),
        choose("columns", [[-1, "all together"], ...names], state.across, v => { state.across = +v; state.filter = {}; build(); }),
        choose("figure", FIGURES.map((f, i) => [i, f.label]), state.figure, v => { state.figure = +v; state.combine = FIGURES[v].better > 0 ? "most" : "least"; build(); }),
        choose("of several", Object.keys(COMBINE).map(k => [k, k]), state.combine, v => { state.combine = v; draw(); }),
        ...filtersOf(state, seriesAxes.concat(sizeAxes.slice(0, 1)).filter(a => a !== state.down && a !== state.across && !(isSize(a) && (isSize(state.down) || isSize(state.across)))), draw));
      draw();
    }
    function draw() {
      const cells = new Map(), figure = FIGURES[state.figure];
      for (const row of ran) {
        const value = figureOf(row, state.figure);
        if (Number.isNaN(value) || !passes(state, row)) continue;
        const key = (state.down < 0 ? 0 : valueOf(row, state.down)) + "," + (state.across < 0 ? 0 : valueOf(row, state.across));
        if (!cells.has(key)) cells.set(key, []);
        cells.get(key).push(row);
      }
      const amount = new Map([...cells].map(([key, rows]) => [key, COMBINE[state.combine](rows.map(r => figureOf(r, state.figure)))]));
      const [least, most] = d3.extent([...amount.values()]);
      const log = least > 0 && most > 10 * least;
      const share = v => most > least ? (log ? Math.log(v / least) / Math.log(most / least) : (v - least) / (most - least)) : 0;
      const list = (a, at) => a < 0 ? [0] : [...new Set([...cells.keys()].map(key => +key.split(",")[at]))].sort((p, q) => p - q);
      const downs = list(state.down, 0), acrosses = list(state.across, 1);
      const sayCell = v => state.combine === "count" ? say(v) : sayFigure(state.figure, v);
      const table = make("table", { class: "heat" });
      const several = d3.max([...cells.values()], rows => rows.length) || 0, inCells = d3.sum([...cells.values()], rows => rows.length);
      table.append(make("caption", {}, `${several > 1 ? (state.combine === "count" ? "Number of rows with a " : `The ${state.combine} `) : ""}${figure.label}${figure.unit ? " (" + figure.unit + ")" : ""}${several > 1 ? ` of the rows in each cell, up to ${say(several)}` : ""}; arrow keys go from cell to cell, Enter lists a cell's rows`));
      shownBox.replaceChildren(boundsDiffer(state.figure, [...cells.values()].flat()), ...shownOf(state, inCells, ran.filter(row => !Number.isNaN(figureOf(row, state.figure))).length, () => { state.filter = {}; build(); }));
      const head = make("tr", {}, make("th", {}, [state.down, state.across].filter(a => a >= 0).map(a => AXES[a].label).join(" \\ ")));
      for (const c of acrosses) head.append(make("th", { scope: "col", class: "n" }, state.across < 0 ? figure.label : sayAxisValue(state.across, c)));
      table.append(make("thead", {}, head));
      const body = make("tbody", {});
      downs.forEach((d, i) => {
        const line = make("tr", {}, make("th", { scope: "row" }, state.down < 0 ? "all" : sayAxisValue(state.down, d)));
        acrosses.forEach((c, j) => {
          const key = d + "," + c, rows = cells.get(key);
          if (!rows) { line.append(make("td", {})); return; }
          const cell = make("td", { class: "n h" + Math.round(share(amount.get(key)) * 8), tabindex: "-1", "data-value": amount.get(key), "data-i": i, "data-j": j,
            onclick: () => pick(cell, rows), onkeydown: event => {
              if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(cell, rows); return; }
              const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
              if (!step) return;
              event.preventDefault();
              for (let a = i + step[0], b = j + step[1]; a >= 0 && b >= 0 && a < downs.length && b < acrosses.length; a += step[0], b += step[1]) {
                const next = table.querySelector(`td[data-i="${a}"][data-j="${b}"]`);
                if (next) { cell.tabIndex = -1; next.tabIndex = 0; next.focus(); return; }
              }
            } }, sayCell(amount.get(key)) + rows.map(flawOf).filter((flaw, i, all) => flaw && all.indexOf(flaw) === i).map(flaw => ", " + flaw).join(""));
          line.append(cell);
        });
        body.append(line);
      });
      table.append(body);
      const first = table.querySelector("td[tabindex]");
      if (first) first.tabIndex = 0;
      const scale = make("div", { class: "scale" }, make("span", {}, sayCell(least)), ...d3.range(9).map(h => make("i", { class: "h" + h })), make("span", {}, sayCell(most) + (log ? ", logarithmic" : "")));
      panel.hidden = true;
      requestAnimationFrame(() => fit(box));
      box.replaceChildren(table, cells.size ? scale : make("p", { class: "empty" }, "No rows with these values."));
      function pick(cell, rows) {
        table.querySelectorAll(".on").forEach(c => c.classList.remove("on"));
        cell.classList.add("on");
        const order = [...rows].sort((a, b) => figureOf(a, state.figure) - figureOf(b, state.figure));
        const items = make("tbody", {});
        for (const row of order.slice(0, 15))
          items.append(make("tr", {}, make("td", {}, make("button", { type: "button", onclick: () => select(row) }, titleOf(row))), make("td", { class: "n" }, sayFigure(state.figure, figureOf(row, state.figure)))));
        panel.replaceChildren(make("strong", {}, rows.length === 1 ? "1 row" : say(rows.length) + " rows"), make("table", {}, items), rows.length > 15 ? `and ${say(rows.length - 15)} more` : "");
        panel.hidden = false;
        if (rows.length === 1) select(rows[0]);
      }
    }
    build();
  }

  /* ---- phases, waits, links -------------------------------------------------------------------- */

  function listOf(block, row, width) { /* [[name, numbers..], ..] of a row */
    const flat = block.rows[row], list = [];
    for (let i = 0; flat && i < flat.length; i += width) list.push([block.names[flat[i]], ...flat.slice(i + 1, i + width)]);
    return list;
  }
  function bars(title, names, items, colours) {
    /* items: [{label, parts: [[name, µs], ..], row}]; colours: the names in whose order colours are given */
    if (names.length > COLOURS) { /* joins the small ones */
      const total = new Map(names.map(name => [name, d3.sum(items, item => d3.sum(item.parts.filter(p => p[0] === name), p => p[1]))]));
      const kept = [...names].sort((a, b) => total.get(b) - total.get(a)).slice(0, COLOURS - 1);
      items = items.map(item => ({ ...item, parts: item.parts.filter(p => kept.includes(p[0])).concat([[`${names.length - kept.length} others`, d3.sum(item.parts.filter(p => !kept.includes(p[0])), p => p[1])]]) }));
      names = names.filter(name => kept.includes(name)).concat([`${names.length - kept.length} others`]);
    }
    const most = d3.max(items, item => d3.sum(item.parts, p => p[1])) || 1;
    const placeOf = name => (colours || names).indexOf(name);
    const figure = make("div", { class: "barsbox" }, make("h3", {}, title));
    const key = make("ul", { class: "legend" });
    names.forEach(name => {
      const i = placeOf(name);
      const swatch = d3.create("svg").attr("width", 12).attr("height", 12).attr("aria-hidden", "true");
      swatch.append("rect").attr("class", "p" + i % COLOURS).attr("width", 12).attr("height", 12).attr("fill-opacity", i < COLOURS ? null : .55);
      key.append(make("li", {}, swatch.node(), make("span", {}, name)));
    });
    if (names.length > 1) figure.append(key);
    const body = make("tbody", {});
    for (const item of items) {
      const total = d3.sum(item.parts, p => p[1]);
      const svg = d3.create("svg").attr("class", "bar").attr("viewBox", "0 0 1000 26").attr("preserveAspectRatio", "none").attr("role", "img")
        .attr("aria-label", item.parts.map(p => p[0] + " " + say(p[1], "µs")).join(", "));
      let at = 0;
      for (const [name, value] of [...item.parts].sort((a, b) => names.indexOf(a[0]) - names.indexOf(b[0]))) {
        const wide = 1000 * value / ((item.share ? total : most) || 1), place = placeOf(name);
        svg.append("rect").attr("class", "p" + place % COLOURS).attr("fill-opacity", place < COLOURS ? null : .55).attr("x", at).attr("width", wide).attr("height", 26).attr("data-name", name).attr("data-value", value)
          .on("mousemove", () => showTip([make("strong", {}, name), tableOf([[item.label, say(value, "µs")], ["share", say(100 * value / total, "%")]])], d3.event.clientX, d3.event.clientY))
          .on("mouseleave", hideTip);
        at += wide;
      }
      body.append(make("tr", {}, make("th", { scope: "row", class: item.label.length > 36 ? "long" : null }, item.label), make("td", {}, svg.node()), make("td", { class: "n" }, say(item.total ?? total, "µs"))));
    }
    figure.append(make("table", { class: "bars" }, body));
    return figure;
  }
  function namesIn(items) {
    const names = [];
    for (const item of items) for (const [name] of item.parts) if (!names.includes(name)) names.push(name);
    return names;
  }
  function viewPhases(holder) {
    const rows = ran.filter(row => data.phases.rows[row] || data.explain[row]);
    if (rows.length === 0) return false;
    const keyOf = row => seriesAxes.map(a => valueOf(row, a)).join(",");
    const series = [...new Map(rows.map(row => [keyOf(row), nameOf(row, seriesAxes) || "this run"])).entries()];
    const xs = data.x >= 0 ? [...new Set(rows.map(row => valueOf(row, data.x)))].sort((a, b) => a - b) : [];
    const fastest = rows.reduce((best, row) => data.x >= 0 && valueOf(row, data.x) === xs[xs.length - 1] && (best < 0 || figureOf(row, F_TIME) < figureOf(best, F_TIME)) ? row : best, -1);
    const state = { mode: series.length > 1 && series.length <= 12 ? "series" : "x", series: fastest < 0 ? series[0][0] : keyOf(fastest), x: xs.length ? xs[xs.length - 1] : -1, share: true };
    const controls = make("div", { class: "controls" }), box = make("div", {}), shownBox = make("p", { class: "note shown" });
    holder.append(controls, shownBox, box);
    const sayX = v => sayAxisValue(data.x, v);
    function build() {
      controls.replaceChildren(...[
        series.length > 1 && xs.length > 1 ? choose("bars", [["x", "over " + AXES[data.x].label, ], ["series", "over series"]], state.mode, v => { state.mode = v; build(); }) : null,
        state.mode === "x" && series.length > 1 ? choose("series", series, state.series, v => { state.series = v; draw(); }) : null,
        state.mode === "series" && xs.length > 1 ? choose(AXES[data.x].label, xs.map(v => [v, sayX(v)]), state.x, v => { state.x = +v; draw(); }) : null,
        check("as shares of each", state.share, v => { state.share = v; draw(); })].filter(c => c));
      draw();
    }
    function draw() {
      let own = state.mode === "x" ? rows.filter(row => keyOf(row) === state.series) : rows.filter(row => data.x < 0 || valueOf(row, data.x) === state.x);
      const dropped = Math.max(0, own.length - 20);
      own = own.slice(0, 20);
      shownBox.textContent = own.length < rows.length ? `${say(own.length)} of ${say(rows.length)} rows are shown: ${state.mode === "x" ? nameOf(own[0], seriesAxes) : AXES[data.x].label + " " + sayX(state.x)}.` : "";
      const label = row => state.mode === "x" && xs.length ? sayX(valueOf(row, data.x)) : nameOf(row, seriesAxes) || (xs.length ? sayX(valueOf(row, data.x)) : "this run");
      const parts = [];
      const phased = own.filter(row => data.phases.rows[row]).map(row => ({ label: label(row), row, share: state.share, parts: listOf(data.phases, row, 3).map(p => [p[0], p[1] || 0]) }));
      const limits = own.filter(row => limitOf(row));
      if (limits.length) parts.push(make("div", {}, make("h3", {}, "Limited by"), tableOf(limits.map(row => [label(row), limitOf(row).replace(/^limited by /, "")]))));
      if (phased.length) parts.push(bars("Phases, mean over the ranks", namesIn(phased), phased));
      for (const [title, pick, names] of EXPLAINED) {
        const items = own.map(row => ({ label: label(row), row, share: state.share, parts: pick(data.explain[row]) })).filter(item => item.parts && item.parts.length);
        if (items.length) parts.push(bars(title, names ? names(own).filter(name => namesIn(items).includes(name)) : namesIn(items), items, names && names(own)));
      }
      const last = own[own.length - 1], kinds = last === undefined ? [] : listOf(data.kinds, last, 4);
      if (kinds.length) {
        const body = make("tbody", {});
        for (const [name, links, bytes, busy] of kinds) {
          const svg = d3.create("svg").attr("class", "bar").attr("viewBox", "0 0 1000 26").attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
          svg.append("rect").attr("class", "h2f").attr("width", 1000).attr("height", 26).attr("fill", "var(--panel)");
          svg.append("rect").attr("class", "p0").attr("width", 1000 * busy).attr("height", 26).attr("data-name", name).attr("data-value", busy);
          body.append(make("tr", {}, make("th", { scope: "row" }, name + " × " + say(links)), make("td", {}, svg.node()), make("td", { class: "n" }, say(100 * busy, "%")), make("td", { class: "n" }, say(bytes / 1048576, "MiB"))));
        }
        parts.push(make("div", {}, make("h3", {}, "Links of " + label(last) + ": mean share of the time busy, bytes in all"), make("table", { class: "bars" }, body)));
      }
      if (last !== undefined && data.explain[last]) parts.push(...detailsOf(data.explain[last], label(last)));
      if (dropped) parts.push(make("p", { class: "note" }, say(dropped) + " more bars are left out."));
      box.replaceChildren(...parts);
    }
    listeners.push(row => {
      if (row < 0 || !rows.includes(row)) return;
      state.series = keyOf(row);
      if (data.x >= 0) state.x = valueOf(row, data.x);
      build();
    });
    build();
  }
  const limitOf = row => { const e = data.explain[row]; return e ? e.limited_by || e.sentence || null : null; };
  const times = list => list.map(([name, ns]) => [name, ns / 1000]).filter(p => p[1] > 0);
  /* The uses of time that any kernel has: one colour each, in both bars. */
  function usesOf(rows) {
    const names = [];
    for (const row of rows)
      for (const kernel of data.explain[row] ? [data.explain[row].slowest, data.explain[row].mean] : [])
        for (const [name, ns] of Object.entries(kernel && kernel.shares_ns || {})) if (ns > 0 && !names.includes(name)) names.push(name);
    return names;
  }
  const EXPLAINED = [
    ["The kernel that ended last: its time by use", e => e && e.slowest && times(Object.entries(e.slowest.shares_ns || {})), usesOf],
    ["The mean kernel: its time by use", e => e && e.mean && times(Object.entries(e.mean.shares_ns || {})), usesOf],
    ["The critical path by part", e => e && e.path && times((e.path.parts || []).map(p => [p.part, p.time_ns]))]];
  function tableOfRows(head, rows) {
    const body = make("tbody", {});
    for (const row of rows) body.append(make("tr", {}, ...row.map((text, i) => make(i ? "td" : "th", i ? { class: /^(\d|–$)/.test(text) ? "n" : null } : { scope: "row" }, text))));
    return make("table", {}, make("thead", {}, make("tr", {}, ...head.map((text, i) => make("th", { scope: "col", class: i && rows.length && /^(\d|–$)/.test(rows[0][i]) ? "n" : null }, text)))), body);
  }
  /* Details of one row: limits, places of the critical path, waits for data by direction,
   * blocks. */
  function detailsOf(e, label) {
    const share = ns => say(100 * ns / e.time_ns, "%"), parts = [];
    const path = e.path || {};
    if ((path.limits || []).length)
      parts.push(make("div", {}, make("h3", {}, "Limits of " + label), tableOfRows(["on the critical path", "time", "share", "call with it twice as fast", "to try it"],
        path.limits.map(l => [l.limit, say(l.time_ns / 1000, "µs"), share(l.time_ns), say(l.twice_as_fast_ns / 1000, "µs"), String(l.twice_as_fast_set || "–").replace(/(^| )(?=\S+=)/g, "$1--set ")]))));
    if ((path.places || []).length)
      parts.push(make("div", {}, make("h3", {}, "Places of its critical path"), tableOfRows(["place", "time", "share"], path.places.slice(0, 12).map(p => [p.place, say(p.time_ns / 1000, "µs"), share(p.time_ns)]))));
    const waits = e.slowest ? times(Object.entries(e.slowest.data_ns || {})) : [];
    if (waits.length)
      parts.push(make("div", {}, make("h3", {}, "Waits for data of the kernel that ended last" + (e.slowest_pe ? ", on PE " + e.slowest_pe : "")), tableOfRows(["direction", "time", "share"], waits.map(([name, us]) => [name, say(us, "µs"), share(us * 1000)]))));
    const blocks = Object.entries(e.blocks || {}).filter(([, b]) => b.busy_share_max > 0);
    if (blocks.length)
      parts.push(make("div", {}, make("h3", {}, "Blocks of PEs: share of the time busy"), tableOfRows(["block", "mean", "the busiest"], blocks.map(([name, b]) => [name, say(100 * b.busy_share, "%"), say(100 * b.busy_share_max, "%")]))));
    const wide = parts.length && (path.limits || []).length ? [parts.shift()] : [];
    return parts.length ? [...wide, make("div", { class: "columns" }, ...parts)] : wide;
  }

  /* ---- the machine ------------------------------------------------------------------------------ */

  function viewMachine(holder) {
    const boxes = [...document.querySelectorAll(".machine")], drawn = [...document.querySelectorAll(".machine-of")];
    if (boxes.length === 0) return false;
    if (drawn.length > 1) {
      const missing = make("p", { class: "note", "aria-live": "polite" });
      const pick = point => {
        missing.textContent = "";
        drawn.forEach(d => { d.hidden = d.dataset.point !== String(point); });
      };
      const chooser = choose("the machine of", drawn.map(d => [d.dataset.point, d.querySelector("h3").textContent]), drawn[0].dataset.point, pick);
      holder.append(make("div", { class: "controls" }, chooser), missing);
      pick(drawn[0].dataset.point);
      listeners.push(row => {
        if (row < 0) return;
        const point = R.point[row];
        if (drawn.some(d => d.dataset.point === String(point))) { chooser.querySelector("select").value = point; pick(point); }
        else missing.textContent = `The machine of the chosen point (${data.points[point].label}) is not in this page; this is another one's.`;
      });
    }
    boxes.forEach(box => {
      const svg = box.querySelector("svg");
      if (!svg) return;
      const panel = make("div", { class: "panel link-facts", "aria-live": "polite" }, "Click a link, or choose one of the list. The wheel with Ctrl zooms, as + and − do; dragging and the arrow keys move; a double click goes back.");
      const layer = document.createElementNS("http://www.w3.org/2000/svg", "g");
      for (const child of [...svg.childNodes])
        if (!(child.nodeType === 1 && ["style", "defs", "title", "desc"].includes(child.tagName))) layer.append(child);
      svg.append(layer);
      const zoom = d3.zoom().scaleExtent([1, 40]).filter(() => d3.event.type !== "wheel" || d3.event.ctrlKey).on("zoom", () => layer.setAttribute("transform", d3.event.transform));
      d3.select(svg).call(zoom).on("dblclick.zoom", null).on("dblclick", () => d3.select(svg).call(zoom.transform, d3.zoomIdentity));
      const buttons = make("div", { class: "controls" },
        make("button", { type: "button", onclick: () => d3.select(svg).call(zoom.scaleBy, 1.6) }, "Larger"),
        make("button", { type: "button", onclick: () => d3.select(svg).call(zoom.scaleBy, 1 / 1.6) }, "Smaller"),
        make("button", { type: "button", onclick: () => d3.select(svg).call(zoom.transform, d3.zoomIdentity) }, "Whole"));
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("keydown", event => {
        const move = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
        if (move) d3.select(svg).call(zoom.translateBy, ...move);
        else if (event.key === "+" || event.key === "-") d3.select(svg).call(zoom.scaleBy, event.key === "+" ? 1.3 : 1 / 1.3);
        else return;
        event.preventDefault();
      });
      const links = [...svg.querySelectorAll("[data-link]")];
      const busiest = [...links].sort((a, b) => (+b.dataset.busy || 0) - (+a.dataset.busy || 0)).slice(0, 12);
      if (busiest.length) buttons.append(choose("busiest links", [["", "choose"], ...busiest.map(l => [l.dataset.link, l.dataset.link + (l.dataset.busy ? ", " + say(+l.dataset.busy, "%") : "")])], "", v => {
        const link = links.find(l => l.dataset.link === v);
        if (link) pick(link);
      }));
      box.before(buttons);
      box.after(panel);
      function pick(link) {
        links.forEach(l => l.classList.toggle("chosen", l === link));
        const title = link.querySelector("title"), lines = (title ? title.textContent : link.dataset.link).split("\n");
        panel.replaceChildren(make("strong", {}, lines[0]), ...lines.slice(1).map(text => make("div", {}, text)));
        panel.dataset.link = link.dataset.link;
      }
      for (const link of links) {
        link.setAttribute("tabindex", busiest.includes(link) ? "0" : "-1");
        link.addEventListener("click", () => pick(link));
        link.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(link); } });
      }
    });
    holder.closest("section").classList.add("js");
  }
  /* ---- all rows --------------------------------------------------------------------------------- */

  function viewRows(holder) {
    const axes = d3.range(AXES.length).filter(a => AXES[a].series || a === data.x);
    const MAIN = ["time_us", "algbw_gbs", "busbw_gbs", "bound_us", "efficiency_percent", "measured_us", "error_percent"];
    const columnsOf = all => [...axes.map(a => ({ label: AXES[a].label, unit: "", numeric: AXES[a].numeric, key: row => valueOf(row, a), text: row => sayAxisValue(a, valueOf(row, a)) })),
      ...FIGURES.map((f, i) => ({ main: MAIN.includes(f.key), label: f.label, unit: f.unit, numeric: true, key: row => figureOf(row, i), text: row => say(figureOf(row, i)) })).filter(c => all || c.main)];
    let columns = columnsOf(F_TIME < 0);
    const state = { sort: -1, down: false, text: "", page: 0 }, SIZE = 50;
    const search = make("input", { type: "search", placeholder: "ring, 64 KiB", oninput: () => { state.text = search.value.toLowerCase(); state.page = 0; draw(); } });
    const box = make("div", { class: "scroll" }), pager = make("div", { class: "controls" });
    holder.append(make("div", { class: "controls" }, make("label", {}, "Only rows with", search), check("all figures", F_TIME < 0, v => { columns = columnsOf(v); state.sort = -1; draw(); })), box, pager);
    const all = d3.range(ROWS);
    function draw() {
      const words = state.text.split(/[\s,]+/).filter(w => w);
      let rows = words.length ? all.filter(row => { const t = axes.map(a => sayAxisValue(a, valueOf(row, a))).join(" ").toLowerCase(); return words.every(w => t.includes(w)); }) : [...all];
      if (state.sort >= 0) {
        const key = columns[state.sort].key, sign = state.down ? -1 : 1;
        rows.sort((a, b) => { const p = key(a), q = key(b); return Number.isNaN(p) ? 1 : Number.isNaN(q) ? -1 : sign * (p - q); });
      }
      const head = make("tr", {});
      columns.forEach((column, c) => head.append(make("th", { scope: "col", class: column.numeric ? "n" : null, "aria-sort": state.sort === c ? (state.down ? "descending" : "ascending") : null },
        make("button", { type: "button", onclick: () => { state.down = state.sort === c && !state.down; state.sort = c; draw(); box.querySelectorAll("th button")[c].focus(); } }, column.label), column.unit ? make("small", {}, column.unit) : null)));
      const body = make("tbody", {});
      for (const row of rows.slice(state.page * SIZE, (state.page + 1) * SIZE)) {
        const line = make("tr", { "data-row": row });
        if (R.not_run[row] !== null) {
          for (const column of columns.slice(0, axes.length)) line.append(make("td", { class: column.numeric ? "n" : null }, column.text(row)));
          line.append(make("td", { colspan: columns.length - axes.length, class: "note" }, "not run: " + R.not_run[row]));
        } else {
          for (const column of columns) line.append(make("td", { class: column.numeric ? "n" : null }, column.text(row)));
          if (flawOf(row)) line.append(make("td", { class: "state" }, flawOf(row)));
        }
        body.append(line);
      }
      box.replaceChildren(make("table", {}, make("thead", {}, head), body));
      fit(box);
      const pages = Math.ceil(rows.length / SIZE);
      pager.replaceChildren(make("span", { class: "note" }, say(rows.length) + (rows.length === 1 ? " row" : " rows")));
      if (pages > 1) pager.append(
        make("button", { type: "button", disabled: state.page === 0, onclick: () => { state.page--; draw(); } }, "Before"),
        make("span", {}, `page ${state.page + 1} of ${pages}`),
        make("button", { type: "button", disabled: state.page + 1 >= pages, onclick: () => { state.page++; draw(); } }, "Next"));
    }
    draw();
  }

  /* ---- the simulator, and its throughput over commits ------------------------------------------- */

  function viewEngine(holder) {
    if (data.logs.length === 0) return false;
    const figures = [["rate", "Events per second", "1/s"], ["efficiency", "Committed / handled so far", "%"], ["gvt", "Simulated time", "µs"], ["memory", "Memory", "MiB"], ["idle", "Time idle", "%"]];
    const state = { figure: "rate" }, box = make("div", { class: "chartbox" });
    holder.append(tabs("Figure", figures.map(f => [f[0], f[1]]), state.figure, f => { state.figure = f; draw(); }), box);
    function value(rows, i) {
      const r = rows[i], before = i > 0 ? rows[i - 1] : [0, 0, 0, 0, 0, 0, 0];
      switch (state.figure) {
        case "rate": return r[0] > before[0] ? (r[2] - before[2]) / (r[0] - before[0]) : NaN;
        case "efficiency": return r[3] > 0 ? 100 * r[2] / r[3] : NaN;
        case "gvt": return r[1] / 1e6;
        case "memory": return r[5] / 1048576;
        default: return 100 * r[6];
      }
    }
    function draw() {
      const figure = figures.find(f => f[0] === state.figure);
      drawChart(box, {
        lines: data.logs.map((log, l) => ({ name: log.source, colour: "c" + l % COLOURS, form: l % FORMS.length, dash: DASHES[Math.floor(l / COLOURS) % 4],
          points: log.rows.map((r, i) => { const y = value(log.rows, i); return { x: r[0], y, facts: () => [[figure[1], say(y) + " " + figure[2]]] }; }).filter(p => !Number.isNaN(p.y)) })),
        x: { label: "Wall time (s)", log: false }, y: { label: `${figure[1]} (${figure[2]})`, log: false }, plain: true, height: 320
      });
    }
    onWidth(box, draw);
  }
  function viewHistory(holder) {
    if (!data.cases.some(c => c.measures.length > 1)) return false; /* the tables say what one run has */
    const state = { one: -1 }, box = make("div", { class: "chartbox" }), keys = make("div", { class: "keys" });
    holder.append(make("div", { class: "controls" }, choose("case", [[-1, "all, relative to their first run"], ...data.cases.map((c, i) => [i, c.name + " (" + c.host + ")"])], state.one, v => { state.one = +v; draw(); })), make("div", { class: "plot" }, box, keys));
    const select = holder.querySelector("select");
    const styleOf = l => ({ colour: "c" + l % COLOURS, form: l % FORMS.length, dash: DASHES[Math.floor(l / COLOURS) % DASHES.length] });
    function draw() {
      const shown = state.one < 0 ? data.cases : [data.cases[state.one]];
      const list = make("ul", { class: "series", "aria-label": "cases" });
      shown.forEach((c, l) => {
        const style = styleOf(l), swatch = d3.create("svg").attr("width", 36).attr("height", 14).attr("aria-hidden", "true").attr("class", style.colour);
        swatch.append("path").attr("class", "line").attr("d", "M1 7H35").attr("stroke-dasharray", style.dash);
        swatch.append("path").attr("class", "dot").attr("d", "M18 7" + FORMS[style.form]);
        const light = on => { const svg = box.querySelector("svg"); if (svg && svg.chartGroups) svg.chartGroups.forEach((g, k) => g.classed("dim", on && k !== l)); };
        list.append(make("li", {}, make("button", { type: "button", onmouseenter: () => light(true), onmouseleave: () => light(false),
          onclick: () => { select.value = state.one < 0 ? l : -1; select.dispatchEvent(new Event("change")); }, title: "Click: this case alone, or all" }, swatch.node(), make("span", {}, c.name))));
      });
      keys.replaceChildren(list);
      drawChart(box, {
        lines: shown.map((c, l) => ({ name: c.name, ...styleOf(l),
          points: c.measures.map((m, i) => {
            const unit = state.one < 0 ? c.measures[0][2] : 1;
            return { x: i + 1, y: m[2] / unit, changed: m[6], disturbed: m[5], ...(state.one < 0 ? {} : { low: m[3], high: m[4] }),
              facts: () => [["date", m[0]], ["commit", m[1]], ["median", say(m[2], "/s")], ["least to most", say(m[3]) + " to " + say(m[4])], ...(m[5] ? [["", "most rounds were disturbed"]] : []), ...(m[6] ? [["", "simulated results are others than before"]] : [])] };
          }) })),
        x: { label: "Run, oldest first", log: false, whole: true }, y: { label: state.one < 0 ? "Events per second, relative to the first run" : "Events per second (1/s)", log: false, free: true }, height: 340
      });
    }
    onWidth(box, draw);
  }

  /* ---- steps ------------------------------------------------------------------------------------ */

  const STEP_FIGURES = [["step_ns", "Time of the step", v => v / 1000, "µs", -1], ["tokens_per_s", "Tokens per second", v => v, "", 1],
    ["utilisation", "Model FLOP utilisation", v => 100 * v, "%", 1], ["memory_bytes", "Memory of the fullest rank", v => v / 2 ** 30, "GiB", -1]];
  const rowOfPoint = new Map(d3.range(ROWS).map(row => [R.point[row], row]).reverse());
  const labelOf = step => data.points[step.point].label.replaceAll("workload.", "");
  const PURPOSES = ["other", "forward", "backward", "recompute", "update", "prefill", "decode"]; /* as in the result */
  const planFits = step => step.fits !== false;

  /* Plans over two axes: in each cell the best that fits. */
  function stepMap(holder, onplan) {
    const rows = data.steps.map(step => rowOfPoint.get(step.point));
    const present = AXES.map((_, a) => [...new Set(rows.map(row => R.axis[a][row]))].filter(v => v >= 0).sort((p, q) => p - q));
    const axes = d3.range(AXES.length).filter(a => present[a].length > 1).filter(a => AXES[a].series || AXES[a].kind <= 1);
    if (axes.length === 0) return;
    const figures = STEP_FIGURES.filter(f => data.steps.some(step => step[f[0]] > 0));
    const state = { down: axes[0], across: axes[1] ?? -1, figure: figures[0][0] };
    const controls = make("div", { class: "controls" }), box = make("div", { class: "scroll" });
    const list = axes.map(a => [a, AXES[a].label]);
    controls.append(choose("down", list, state.down, v => { state.down = +v; draw(); }),
      ...(axes.length > 1 ? [choose("across", list, state.across, v => { state.across = +v; draw(); })] : []),
      choose("figure", figures.map(f => [f[0], f[1]]), state.figure, v => { state.figure = v; draw(); }));
    holder.append(make("h3", {}, "Plans over two axes"), controls, box);
    function draw() {
      const [key, name, convert, unit, sign] = STEP_FIGURES.find(f => f[0] === state.figure);
      const better = (a, b) => !b || (planFits(a) !== planFits(b) ? planFits(a) : sign * (a[key] - b[key]) > 0);
      const cells = new Map();
      data.steps.forEach((step, i) => {
        const at = R.axis[state.down][rows[i]] + "," + (state.across < 0 ? 0 : R.axis[state.across][rows[i]]);
        if (better(step, cells.get(at))) cells.set(at, step);
      });
      const fitting = [...cells.values()].filter(planFits), best = fitting.reduce((b, step) => better(step, b) ? step : b, null);
      const [least, most] = d3.extent(fitting, step => step[key]);
      const share = v => most > least ? Math.log(v / least) / Math.log(most / least) : 0;
      const acrosses = state.across < 0 ? [0] : present[state.across];
      const table = make("table", { class: "heat plans" }, make("caption", {}, `${name}${unit ? " (" + unit + ")" : ""} of the best plan in each cell that fits; ★: of all. A click shows a plan below.`));
      const head = make("tr", {}, make("th", {}, AXES[state.down].label + (state.across < 0 ? "" : " \\ " + AXES[state.across].label)));
      for (const c of acrosses) head.append(make("th", { scope: "col", class: "n" }, state.across < 0 ? name : sayAxisValue(state.across, c)));
      const body = make("tbody", {});
      for (const d of present[state.down]) {
        const line = make("tr", {}, make("th", { scope: "row" }, sayAxisValue(state.down, d)));
        for (const c of acrosses) {
          const step = cells.get(d + "," + c);
          if (!step) { line.append(make("td", {})); continue; }
          const text = say(convert(step[key])), fits = planFits(step);
          line.append(make("td", { class: "n " + (fits ? "h" + Math.round(share(step[key]) * 8) : "unfit"), tabindex: "0", title: labelOf(step), "data-fits": fits, "data-value": step[key],
            onclick: () => onplan(step), onkeydown: event => { if (event.key === "Enter") onplan(step); } },
            fits ? (step === best ? "★ " : "") + text : text + ", does not fit"));
        }
        body.append(line);
      }
      table.append(make("thead", {}, head), body);
      box.replaceChildren(table);
      requestAnimationFrame(() => fit(box));
    }
    draw();
  }

  /* The classes of one plan as bars of equal length: the parts sum to the step. */
  function stepBars(step) {
    const items = step.classes.map(one => ({ label: `${one.class} (${one.ranks})`, total: step.step_ns / 1000, share: true,
      parts: [...Object.entries(one.computing_ns).map(([name, ns]) => [name, ns / 1000]), ...Object.entries(one.exposed_ns).map(([name, ns]) => ["exposed " + name, ns / 1000]),
        ...Object.entries(one.waiting_ns).map(([name, ns]) => ["waiting " + name, ns / 1000]), ["bubble", one.bubble_ns / 1000]].filter(p => p[1] > 0) }));
    const names = namesIn(items), own = data.charts.find(c => c.point === step.point);
    const colours = [...PURPOSES, ...(own ? own.chart.sets.map(set => "exposed " + set) : [])];
    return bars("Classes of ranks of " + labelOf(step), names, items, colours.concat(names.filter(name => !colours.includes(name))));
  }

  /* The operations of one pipeline: a band for each rank, computations above, communication below. */
  function stepChart(holder, chart, step) {
    holder.replaceChildren();
    const W = Math.max(480, holder.clientWidth || 900), BAND = 34, LEFT = 110, TOP = 6, H = TOP + chart.ranks.length * BAND + 40;
    const x = d3.scaleLinear().domain([0, step.step_ns]).range([LEFT, W - 12]);
    const svg = d3.select(holder).append("svg").attr("viewBox", `0 0 ${W} ${H}`).attr("role", "img").attr("class", "gantt")
      .attr("aria-label", `Operations of ${chart.ranks.length} ranks over the ${say(step.step_ns / 1000, "µs")} of the step`);
    for (const t of x.ticks(Math.max(3, W / 130))) {
      svg.append("path").attr("class", "grid").attr("d", `M${x(t)} ${TOP}V${H - 36}`);
      svg.append("text").attr("class", "tick").attr("x", x(t)).attr("y", H - 20).attr("text-anchor", "middle").text(say(t / 1000));
    }
    svg.append("text").attr("class", "axis").attr("x", (LEFT + W) / 2).attr("y", H - 4).attr("text-anchor", "middle").text("Time (µs)");
    chart.ranks.forEach((rank, r) => {
      const top = TOP + r * BAND;
      svg.append("text").attr("class", "tick").attr("x", LEFT - 8).attr("y", top + 18).attr("text-anchor", "end").text(rank.class);
      for (const [from, to, label, kind, microbatch, met] of rank.spans) {
        const computes = kind >= 0, name = chart.labels[label] + (computes ? "" : " of " + chart.sets[-1 - kind]);
        const waits = computes ? 0 : x(met) - x(from);
        if (waits > 0) svg.append("rect").attr("class", "wait").attr("x", x(from)).attr("width", waits).attr("y", top + 24).attr("height", 3);
        svg.append("rect").attr("class", "p" + (computes ? kind : PURPOSES.length - 1 - kind) % COLOURS).attr("x", x(from) + waits).attr("width", Math.max(.4, x(to) - x(from) - waits)).attr("y", top + (computes ? 2 : 21)).attr("height", computes ? 18 : 9).attr("data-name", name)
          .on("mousemove", () => showTip([make("strong", {}, name), tableOf([["rank", String(rank.rank)], ...(microbatch >= 0 ? [["microbatch", String(microbatch)]] : []), ["from", say(from / 1000, "µs")], ...(waits > 0 ? [["waits for others", say((met - from) / 1000, "µs")]] : []), ["takes", say((to - from) / 1000, "µs")]])], d3.event.clientX, d3.event.clientY))
          .on("mouseleave", hideTip);
      }
    });
    if (!chart.whole) holder.append(make("p", { class: "note" }, "The step has more operations than are drawn here."));
  }

  function viewSteps(holder) {
    if (data.steps.length === 0) return false;
    const barsBox = make("div", {}), chartBox = make("div", { class: "chartbox" }), chartTitle = make("h3", {});
    let shown = data.steps[0];
    const drawPlan = step => {
      shown = step;
      barsBox.replaceChildren(stepBars(step));
      const own = data.charts.find(c => c.point === step.point);
      chartTitle.textContent = own ? "One pipeline of " + labelOf(step) + ": computations above, communication below; thin: waiting for another rank" : "";
      if (own) stepChart(chartBox, own.chart, step);
      else chartBox.replaceChildren(make("p", { class: "note" }, "Pipelines are drawn for the fastest plans alone; a result that is reported alone has its own."));
    };
    if (data.steps.length > 1) stepMap(holder, drawPlan);
    holder.append(barsBox, chartTitle, chartBox);
    onWidth(chartBox, () => drawPlan(shown));
  }

  /* ---- start ------------------------------------------------------------------------------------ */

  for (const [id, view] of [["steps", viewSteps], ["curves", viewCurves], ["compare", viewCompare], ["phases", viewPhases], ["machine", viewMachine], ["rows", viewRows], ["engine", viewEngine], ["history", viewHistory]]) {
    const holder = document.getElementById(id + "-view");
    if (!holder) continue;
    try {
      if (view(holder) === false) continue;
      holder.closest("section").classList.add("live");
    } catch (failure) {
      holder.replaceChildren();
      console.error(id, failure);
    }
  }
  fitAll();
  document.documentElement.dataset.ready = "true";
})();
