// The page in the browser: charts, sliders, sortable tables, downloads. Names are untrusted: they reach the document
// through textContent alone, and Plotly, which reads a kind of HTML, through escaped().
"use strict";

(() => {
  // Objects without a prototype: a name such as "constructor" is found only where it was given.
  const bare = (value) => value && typeof value === "object" && !Array.isArray(value);
  const DATA = JSON.parse(document.getElementById("contents").textContent, (_, value) =>
    bare(value) ? Object.assign(Object.create(null), value) : value,
  );
  const [WORD, TITLE] = DATA.kind === "evaluation" ? ["model", "Model"] : ["learner", "Learner"];
  const SYMBOLS = { binomial: "k", polynomial: "α" };
  const AXES = { binomial: "size of label sets, k", polynomial: "exponent, α" };
  const LEVEL = 0.05; // of significance
  const TIE = 1e-12; // losses nearer than this differ by rounding
  const INFINITY_GAP = 0.2; // between the largest finite alpha and infinity, of the axis up to there
  const N_COLOURS = 9; // as in page.css
  const MOST_MARKERS = 12;
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const DASH_ARRAYS = ["", "5 2", "1.5 2", "5 2 1.5 2"];
  const MARKERS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "triangle-left"];
  const MARKER_PATHS = [
    "M11 7a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M11.5 3.5h7v7h-7z",
    "M15 2.5l4.5 8h-9z",
    "M15 2.5L19.5 7L15 11.5L10.5 7z",
    "M15 11.5l4.5-8h-9z",
    "M13.6 3h2.8v2.6H19v2.8h-2.6V11h-2.8V8.4H11V5.6h2.6z",
    "M12 3l3 2.6L18 3l1.2 1.2L16.6 7l2.6 2.8L18 11l-3-2.6L12 11l-1.2-1.2L13.4 7l-2.6-2.8z",
    "M10.5 7l8-4.5v9z",
  ];

  // ---------------------------------------------------------------- texts and numbers

  /** Control characters and exotic spaces shown instead of obeyed. */
  const shown = (name) =>
    String(name).replace(/[\p{C}\p{Z}]/gu, (c) =>
      c === " " ? c : `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`,
    );

  /** A long name loses its middle: names from files differ at the end. */
  const shortened = (name, most) => {
    const text = [...shown(name)];
    const half = Math.floor(most / 2);
    return text.length <= most ? text.join("") : `${text.slice(0, half).join("")}…${text.slice(1 - half).join("")}`;
  };

  /** Text for Plotly, which takes <b> for bold and &lt; for <. */
  const escaped = (name, most = 40) =>
    shortened(name, most).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  /** Four decimals and a true minus, but no minus zero. */
  const fixed = (number) =>
    (number ?? null) === null
      ? "–"
      : number
          .toFixed(4)
          .replace(/^-(?=0\.0+$)/, "")
          .replace("-", "−");
  const signed = (number) => (number >= 0.00005 ? `+${fixed(number)}` : fixed(number));
  const parameterText = (parameter) => (parameter === "inf" ? "∞" : String(Number(Number(parameter).toPrecision(4))));
  const familyTitle = (name) => `${name} (${SYMBOLS[name]})`;
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  // ---------------------------------------------------------------- elements

  /** A new element; strings among its children become text, never markup. */
  const element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };

  const labelled = (title, control) => element("label", { className: "control" }, element("span", {}, title), control);

  const select = (title, names, onChange) => {
    const control = element("select", {}, ...names.map((name, i) => element("option", { value: i }, shown(name))));
    control.addEventListener("change", () => onChange(control.selectedIndex));
    const whole = labelled(title, control);
    whole.hidden = names.length < 2;
    return { whole, control };
  };

  let groups = 0;
  const choices = (title, names, onChange) => {
    const group = `choice-${groups++}`;
    const labels = names.map((name, i) => {
      const input = element("input", { type: "radio", name: group, checked: i === 0 });
      input.addEventListener("change", () => onChange(i));
      return element("label", {}, input, element("span", {}, name));
    });
    const whole = element(
      "fieldset",
      { className: "control" },
      element("legend", {}, title),
      element("div", { className: "choices" }, ...labels),
    );
    whole.hidden = names.length < 2;
    return whole;
  };

  const checkbox = (checked, onChange, ...content) => {
    const input = element("input", { type: "checkbox", checked });
    input.addEventListener("change", () => onChange(input.checked));
    return element("label", { className: "check" }, input, ...content);
  };

  const button = (title, onClick) => {
    const made = element("button", { type: "button" }, title);
    made.addEventListener("click", onClick);
    return made;
  };

  // ---------------------------------------------------------------- lines: colour, dash and marker by fixed order

  const models = DATA.learners.filter((name) => name !== DATA.baseline);

  const lineStyle = (index) =>
    index < 0
      ? { colour: "--line-baseline", dash: 1, marker: 0, open: false, offset: 0 }
      : {
          colour: `--line-${index % N_COLOURS}`,
          dash: Math.floor(index / N_COLOURS) % DASHES.length,
          marker: index % MARKERS.length,
          open: index % 2 === 1,
          offset: ((index * 3) % 8) / 8,
        };

  const learnerStyle = (name) => lineStyle(models.indexOf(name));

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const translucent = (hex, share) => {
    const channels = [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
    return `rgba(${channels.join(",")},${share})`;
  };

  /** How a line looks, as a small picture before its name. */
  const swatch = (style) => {
    const make = (tag, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const line = make("path", { d: "M0 7h30", "stroke-width": 2, "stroke-dasharray": DASH_ARRAYS[style.dash] });
    const marker = make("path", { d: MARKER_PATHS[style.marker], "stroke-width": 1.5 });
    line.style.stroke = marker.style.stroke = `var(${style.colour})`;
    marker.style.fill = `var(${style.open ? "--paper" : style.colour})`;
    const picture = make("svg", { viewBox: "0 0 30 14", class: "swatch", "aria-hidden": "true" });
    picture.append(line, marker);
    return picture;
  };

  /** A name behind its swatch. */
  const named = (name, style) =>
    element(
      "span",
      { className: "named" },
      swatch(style),
      element("span", { className: "name", title: shown(name) }, shown(name)),
    );

  /** All of a few markers, else both ends and some between; lines differ in offset, so that theirs alternate. */
  const markOpacities = (x, offset) => {
    const drawn = x.map((_, i) => i).filter((i) => x[i] !== null);
    const [left, right] = [x[drawn[0]], x[drawn.at(-1)]];
    const nearest = (at) => drawn.reduce((best, i) => (Math.abs(x[i] - at) < Math.abs(x[best] - at) ? i : best));
    const inner = Array.from({ length: 8 }, (_, j) => nearest(left + ((j + offset) / 8) * (right - left)));
    const kept = drawn.length <= MOST_MARKERS ? drawn : [drawn[0], ...inner, drawn.at(-1)];
    return x.map((_, i) => (kept.includes(i) ? 1 : 0));
  };

  const lineTrace = (style, rest) => ({
    type: "scatter",
    mode: "lines+markers",
    hoverinfo: "text",
    cliponaxis: false,
    line: { color: colour(style.colour), width: 2, dash: DASHES[style.dash] },
    marker: {
      symbol: MARKERS[style.marker],
      size: 8,
      opacity: markOpacities(rest.x, style.offset),
      color: style.open ? colour("--paper") : colour(style.colour),
      line: { color: colour(style.colour), width: 1.5 },
    },
    ...rest,
  });

  /** The band between two lines, a polygon for each unbroken stretch; a lone point gets a little width. */
  const bandTrace = (style, x, lower, upper, width, rest) => {
    const outline = { x: [], y: [] };
    for (const stretch of stretches(x.map((position, i) => position !== null && lower[i] !== null))) {
      const sides = stretch.length > 1 ? stretch.map((i) => x[i]) : [x[stretch[0]] - width, x[stretch[0]] + width];
      const rows = stretch.length > 1 ? stretch : [stretch[0], stretch[0]];
      outline.x.push(...sides, ...sides.toReversed(), sides[0], null);
      outline.y.push(...rows.map((i) => upper[i]), ...rows.toReversed().map((i) => lower[i]), upper[rows[0]], null);
    }
    return {
      type: "scatter",
      mode: "lines",
      fill: "toself",
      hoverinfo: "skip",
      line: { width: 0 },
      fillcolor: translucent(colour(style.colour), 0.14),
      ...outline,
      ...rest,
    };
  };

  /** Indices of each unbroken run of true values. */
  const stretches = (flags) => {
    const runs = [];
    flags.forEach((flag, i) => {
      if (flag && i > 0 && flags[i - 1]) runs.at(-1).push(i);
      else if (flag) runs.push([i]);
    });
    return runs;
  };

  // ---------------------------------------------------------------- charts

  const redraws = [];

  const FINE_POINTER = matchMedia("(pointer: fine)").matches; // a finger scrolls the page instead

  // A list of buttons rather than of exceptions: one of Plotly's own would send the chart to its maker.
  const CONFIG = {
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtons: [FINE_POINTER ? ["zoom2d", "pan2d", "resetScale2d", "toImage"] : ["toImage"]],
  };

  /** A chart, drawn again when colours change. `describe` returns traces, layout and what it shows in words. */
  const chart = (place, describe) => {
    const axis = () => ({
      color: colour("--quiet"),
      gridcolor: colour("--grid"),
      linecolor: colour("--rule"),
      zeroline: false,
      fixedrange: !FINE_POINTER,
      automargin: true,
    });
    const titled = (axis) => (axis.title ? { ...axis, title: { ...axis.title, font: { size: 13 } } } : axis);
    const draw = () => {
      const { traces, layout, words } = describe();
      place.setAttribute("role", "img");
      place.setAttribute("aria-label", words);
      const whole = {
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        showlegend: false,
        hovermode: "closest",
        font: { family: colour("--font"), size: 13, color: colour("--ink") },
        margin: { l: 48, r: 14, t: 30, b: 44 },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--quiet"), activecolor: colour("--ink") },
        hoverlabel: {
          bgcolor: colour("--panel"),
          bordercolor: colour("--rule"),
          font: { color: colour("--ink") },
          align: "left",
        },
        dragmode: FINE_POINTER ? "zoom" : false,
        ...layout,
        xaxis: titled({ ...axis(), ...layout.xaxis }),
        yaxis: titled({ ...axis(), ...layout.yaxis }),
      };
      Plotly.react(place, traces, whole, CONFIG);
    };
    redraws.push(draw);
    return draw;
  };

  const verticalLine = (x) => ({
    type: "line",
    x0: x,
    x1: x,
    y0: 0,
    y1: 1,
    yref: "paper",
    line: { color: colour("--ink"), width: 1.5, dash: "dot" },
  });

  const corner = (text, left, top) => ({
    text,
    showarrow: false,
    xref: "paper",
    yref: "paper",
    x: left ? 0.02 : 0.98,
    y: top ? 0.98 : 0.02,
    xanchor: left ? "left" : "right",
    yanchor: top ? "top" : "bottom",
    font: { size: 13, color: colour("--quiet") },
  });

  const above = (text, height) => ({ ...corner(text, true, true), x: 0, y: 1, yanchor: "bottom", yshift: height });

  // ---------------------------------------------------------------- the axis of k or alpha

  /** Where the parameters of a family lie: k linear, alpha logarithmic, infinity apart at the right. */
  const parameterAxis = (name, parameters) => {
    const scale = name === "binomial" ? Number : Math.log10;
    const finite = parameters.filter((parameter) => parameter !== "inf").map(scale);
    const [low, high] = finite.length ? [finite[0], finite.at(-1)] : [0, 0];
    const infinity = high + INFINITY_GAP * (high - low || 1);
    const at = (parameter) => (parameter === "inf" ? infinity : scale(parameter));
    const right = at(parameters.at(-1));
    const pad = 0.03 * (right - low) || 0.5;
    const marks = parameterTicks(name, parameters.slice(0, finite.length), scale);
    if (parameters.at(-1) === "inf") marks.push("inf");
    return {
      at,
      thin: 0.007 * (right - low + 2 * pad),
      positions: parameters.map(at),
      layout: {
        range: [low - pad, right + pad],
        tickvals: marks.map(at),
        ticktext: marks.map(parameterText),
        title: { text: AXES[name] },
      },
    };
  };

  /** Both ends and round numbers between them that keep their distance. */
  const parameterTicks = (name, parameters, scale) => {
    if (parameters.length < 2) return parameters.slice();
    const [low, high] = [parameters[0], parameters.at(-1)];
    const span = scale(high) - scale(low);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => span / each <= 7) || span;
    const round =
      name === "binomial"
        ? Array.from({ length: Math.floor(high / step) }, (_, i) => (i + 1) * step)
        : (span < 2 ? [1, 2, 5] : [1]).flatMap((digit) => [1, 10, 100, 1000, 10000].map((ten) => digit * ten));
    const far = (mark) => scale(mark) - scale(low) > 0.07 * span && scale(high) - scale(mark) > 0.07 * span;
    return [low, ...round.filter((mark) => mark > low && mark < high && far(mark)).sort((a, b) => a - b), high];
  };

  /** Points with a gap before infinity, where no line should lead. */
  const withGap = (parameters, values) =>
    parameters.at(-1) === "inf" && parameters.length > 1 ? [...values.slice(0, -1), null, values.at(-1)] : values;

  /** Where a point lies between both ends, 0 to 1; infinity beyond. Where nothing finished there are no positions. */
  const shareOf = (family, i) => (family.parameters[i] === "inf" ? 1 + INFINITY_GAP : (family.x[i] ?? 0));

  const nearestIndex = (family, share) => {
    const distances = family.parameters.map((_, i) => Math.abs(shareOf(family, i) - share));
    return distances.indexOf(Math.min(...distances));
  };

  /** A value between two points of a curve, linear on the family's axis. */
  const interpolated = (positions, values, at) => {
    const right = positions.findIndex((position) => position >= at);
    if (right <= 0) return values.at(right);
    const share = (at - positions[right - 1]) / (positions[right] - positions[right - 1]);
    return values[right - 1] + share * (values[right] - values[right - 1]);
  };

  /** Whether a baseline is worse everywhere than all others anywhere: shown, it would squeeze their curves into one. */
  const isFarOff = (baseline, curves) => {
    const others = models.filter((name) => name in curves).flatMap((name) => curves[name].losses);
    return baseline in curves && others.length > 0 && Math.min(...curves[baseline].losses) > Math.max(...others);
  };

  /** What the two ends of a curve are called: losses where it reaches them, else parameters. */
  const endsOf = (name, dataset) => {
    const { parameters } = dataset.families[name];
    const last = parameters.at(-1);
    const isSubset = name === "binomial" ? last === dataset.n_labels : last === "inf";
    const at = (parameter) => `${SYMBOLS[name]} = ${parameterText(parameter)}`;
    return [parameters[0] === 1 ? "Hamming loss" : at(parameters[0]), isSubset ? "subset 0/1 loss" : at(last)];
  };

  // ---------------------------------------------------------------- tables that sort

  const table = (caption, headings, rows) => {
    const kind = (heading) => (heading.number ? "number" : "");
    const cell = (content, i) => {
      const made = element("td", { className: kind(headings[i]) }, content.node ?? shown(content.text ?? content));
      if (content.value !== undefined) made.dataset.value = content.value;
      return made;
    };
    const body = rows.map((row) => element("tr", { className: row.kind ?? "" }, ...row.cells.map(cell)));
    const head = headings.map((heading) => element("th", { scope: "col", className: kind(heading) }, heading.text));
    return element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body),
    );
  };

  const text = (title) => ({ text: title });
  const number = (title) => ({ text: title, number: true });
  const numberCell = (value, write = fixed) => ({ text: write(value), value: value ?? "" });
  const parameterCell = (value) => ({ text: parameterText(value), value: value === "inf" ? Infinity : value });

  const scrolling = (content, title) =>
    element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title }, content);

  const sortKey = (row, column) => {
    const { dataset, textContent } = row.cells[column];
    const number = Number(dataset.value ?? NaN);
    return dataset.value === "" || Number.isNaN(number) ? textContent : number;
  };

  /** Numbers before words, and words as people sort them. */
  const compareKeys = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, undefined, { numeric: true });
  };

  const sortBy = (whole, column) => {
    const headers = [...whole.tHead.rows[0].cells];
    const direction = headers[column].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    headers.forEach((header) => header.removeAttribute("aria-sort"));
    headers[column].setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const rows = [...whole.tBodies[0].rows];
    rows.sort((a, b) => sign * compareKeys(sortKey(a, column), sortKey(b, column)));
    whole.tBodies[0].append(...rows);
  };

  const makeSortable = (whole) => {
    [...whole.tHead.rows[0].cells].forEach((header, column) => {
      const sorter = button(header.textContent, () => sortBy(whole, column));
      header.replaceChildren(sorter);
    });
    return whole;
  };

  // ---------------------------------------------------------------- downloads

  /** One field as RFC 4180 has it; a text that a spreadsheet would take for a formula gets an apostrophe in front. */
  const csvField = (value) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value); // every digit: reading it gives the same number
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  const csv = (headings, rows) => [headings, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");

  const download = (name, type, text) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  const downloadButton = (title, name, type, text) => button(title, () => download(name, type, text()));

  const eachFamily = function* () {
    for (const dataset of DATA.datasets) {
      for (const [name, family] of Object.entries(dataset.families)) yield { dataset, name, family };
    }
  };

  const lossesCsv = () =>
    csv(
      ["dataset", "family", WORD, "parameter", "loss", "lower", "upper"],
      [...eachFamily()].flatMap(({ dataset, name, family }) =>
        Object.entries(family.curves).flatMap(([learner, curve]) =>
          curve.losses.map((loss, i) => [
            dataset.name,
            name,
            learner,
            family.parameters[i],
            loss,
            curve.lower?.[i] ?? null,
            curve.upper?.[i] ?? null,
          ]),
        ),
      ),
    );

  const slopesCsv = () =>
    csv(
      ["dataset", "family", WORD, "slope", "area"],
      [...eachFamily()].flatMap(({ dataset, name, family }) =>
        Object.entries(family.curves).map(([learner, curve]) => [dataset.name, name, learner, curve.slope, curve.area]),
      ),
    );

  const crossingRows = () =>
    [...eachFamily()].flatMap(({ dataset, name, family }) =>
      family.pairs.flatMap((pair) =>
        pair.crossings.map((crossing) => [dataset.name, name, pair.first, pair.second, crossing]),
      ),
    );

  const crossingsCsv = () => csv(["dataset", "family", "first", "second", "parameter"], crossingRows());

  // ---------------------------------------------------------------- a slider with a ranking beside a chart

  /** Places of sorted values: equal values share the better place; what does not compete has none. */
  const places = (values) =>
    values.map((value) =>
      value.competes ? 1 + values.filter((other) => other.competes && other.value < value.value - TIE).length : null,
    );

  /** The distance to the best, a dash for the best itself and where none competes. */
  const gapText = (gap, write) => {
    const size = Math.abs(gap);
    return size > TIE && size < Infinity ? `${gap > 0 ? "+" : "−"}${write(size)}` : "–";
  };

  const rankingTable = (entries, headings, title) => {
    const sorted = entries.toSorted((a, b) => a.value - b.value);
    const ranks = places(sorted);
    const best = Math.min(...sorted.filter((entry) => entry.competes).map((entry) => entry.value));
    const whole = table(
      title,
      headings,
      sorted.map((entry, i) => ({
        kind: entry.competes ? (ranks[i] === 1 ? "best" : "") : "baseline",
        cells: [
          ranks[i] === null ? "–" : String(ranks[i]),
          { node: named(entry.name, learnerStyle(entry.name)) },
          entry.write(entry.value),
          gapText(entry.value - best, entry.write),
        ],
      })),
    );
    whole.className = "ranking";
    return whole;
  };

  const sliderPanel = (title, onInput) => {
    const value = element("output", { className: "value" });
    const slider = element("input", { type: "range", min: 0, step: 1, "aria-label": title });
    const ends = element("div", { className: "ends", "aria-hidden": "true" });
    const place = element("div", { className: "scroll" });
    const note = element("p", { className: "note" });
    const news = element("p", { className: "visually-hidden", "aria-live": "polite" });
    slider.addEventListener("input", () => onInput(Number(slider.value)));
    const whole = element("div", { className: "panel" }, value, slider, ends, place, note, news);
    const show = ({ index, count, where, ends: [left, right], ranking, words, remark }) => {
      slider.max = count - 1;
      slider.value = index;
      slider.disabled = count < 2;
      slider.setAttribute("aria-valuetext", where);
      value.textContent = where;
      ends.replaceChildren(element("span", {}, left), element("span", {}, right));
      place.replaceChildren(ranking);
      note.textContent = remark;
      news.textContent = words;
    };
    return { whole, show };
  };

  const rankingWords = (where, entries) => {
    const order = entries.filter((entry) => entry.competes).toSorted((a, b) => a.value - b.value);
    const lines = order.slice(0, 3).map((entry, i) => `${i + 1}. ${shown(entry.name)} ${entry.write(entry.value)}`);
    return `${where}: ${lines.join("; ")}`;
  };

  // ---------------------------------------------------------------- curves of one data set

  const curvesView = (place) => {
    const state = { family: DATA.families[0], dataset: DATA.datasets[0], share: 0, bands: true };
    state.hidden = new Set(isFarOff(DATA.baseline, state.dataset.families[state.family].curves) ? [DATA.baseline] : []);
    const family = () => state.dataset.families[state.family];
    const present = () => DATA.learners.filter((name) => name in family().curves);
    const at = (parameter) => `${SYMBOLS[state.family]} = ${parameterText(parameter)}`;
    const visible = () => present().filter((name) => !state.hidden.has(name));
    const drawing = element("div", { className: "chart" });
    const legend = element("fieldset", { className: "legend-box" });

    const hover = (name, curve, i) => {
      const band = curve.lower ? `<br>band ${fixed(curve.lower[i])} to ${fixed(curve.upper[i])}` : "";
      return `${escaped(name)}<br>${at(family().parameters[i])}<br>loss ${fixed(curve.losses[i])}${band}`;
    };

    const traces = (axis) =>
      present().flatMap((name) => {
        const { parameters, curves } = family();
        const gap = (values) => withGap(parameters, values);
        const style = learnerStyle(name);
        const curve = curves[name];
        const line = lineTrace(style, {
          name: escaped(name),
          meta: { name, part: "line" },
          visible: !state.hidden.has(name),
          x: gap(axis.positions),
          y: gap(curve.losses),
          text: gap(curve.losses.map((_, i) => hover(name, curve, i))),
        });
        if (!curve.lower) return [line];
        const band = bandTrace(style, gap(axis.positions), gap(curve.lower), gap(curve.upper), axis.thin, {
          name: escaped(name),
          meta: { name, part: "band" },
          visible: state.bands && !state.hidden.has(name),
        });
        return [band, line];
      });

    const shapes = () => {
      const { parameters } = family();
      const { at: place } = parameterAxis(state.family, parameters);
      return [verticalLine(place(parameters[nearestIndex(family(), state.share)]))];
    };

    const draw = chart(drawing, () => {
      const axis = parameterAxis(state.family, family().parameters);
      const ordered = traces(axis).toSorted((a, b) => (a.meta.part === "line") - (b.meta.part === "line"));
      return {
        traces: ordered,
        layout: {
          xaxis: { ...axis.layout, showgrid: false },
          yaxis: { title: { text: "loss" }, rangemode: "tozero" },
          shapes: shapes(),
          uirevision: `${state.family} ${DATA.datasets.indexOf(state.dataset)}`,
        },
        words: `Loss of ${counted(visible().length, WORD)} on ${shown(state.dataset.name)}; a table ranks them.`,
      };
    });

    const rank = () => {
      const { parameters, curves } = family();
      const index = nearestIndex(family(), state.share);
      const where = at(parameters[index]);
      const entries = visible().map((name) => ({
        name,
        value: curves[name].losses[index],
        write: fixed,
        competes: name !== DATA.baseline,
      }));
      const headings = [text("Rank"), text(TITLE), number("Loss"), number("To best")];
      const hidden = present().length - visible().length;
      panel.show({
        index,
        count: parameters.length,
        where,
        ends: endsOf(state.family, state.dataset),
        ranking: rankingTable(entries, headings, `Ranking at ${where}`),
        words: rankingWords(where, entries),
        remark: hidden ? `${counted(hidden, WORD)} hidden: ranks are among those shown.` : "",
      });
    };

    const update = () => {
      draw();
      rank();
    };
    const slide = (index) => {
      state.share = shareOf(family(), index);
      Plotly.relayout(drawing, { shapes: shapes() }); // drawing the curves again would lag behind the slider
      rank();
    };
    const panel = sliderPanel(`Where to rank the ${WORD}s`, slide);

    const writeLegend = () => {
      const entry = (name) => {
        const absent = !(name in family().curves);
        const toggle = (checked) => {
          state.hidden[checked ? "delete" : "add"](name);
          update();
        };
        const label = checkbox(
          !state.hidden.has(name),
          toggle,
          named(name, learnerStyle(name)),
          absent ? " (no result)" : "",
        );
        label.classList.toggle("absent", absent);
        label.querySelector("input").disabled = absent;
        return label;
      };
      legend.replaceChildren(
        element("legend", {}, `${WORD}s shown`),
        element("div", { className: "legend" }, ...DATA.learners.map(entry)),
      );
    };

    const change = (key, values) => (i) => {
      state[key] = values[i];
      writeLegend();
      update();
    };
    const bands = checkbox(
      true,
      (checked) => {
        state.bands = checked;
        update();
      },
      element("span", {}, "Show bands"),
    );
    bands.hidden = ![...eachFamily()].some(({ family: each }) =>
      Object.values(each.curves).some((curve) => curve.lower),
    );
    place.append(
      element(
        "div",
        { className: "controls" },
        choices("Family of losses", DATA.families.map(familyTitle), change("family", DATA.families)),
        select(
          "Data set",
          DATA.datasets.map((dataset) => dataset.name),
          change("dataset", DATA.datasets),
        ).whole,
        bands,
      ),
      element("div", { className: "split" }, drawing, panel.whole, legend),
    );
    writeLegend();
    update();
  };

  // ---------------------------------------------------------------- mean ranks over all data sets

  const ranksView = (place) => {
    const families = DATA.families.filter((name) => DATA.across[name]?.length);
    const state = { family: families[0], index: 0 };
    const drawing = element("div", { className: "chart" });
    const points = () => DATA.across[state.family];
    const point = () => points()[state.index];
    const names = () => DATA.learners.filter((name) => points().some((each) => name in each.mean_ranks));

    const ticks = () => {
      const last = points().length - 1;
      const few = drawing.clientWidth < 500 || last > 4 ? [0, last / 2, last] : points().map((_, i) => i);
      const kept = [...new Set(few.filter(Number.isInteger))];
      return { tickvals: kept.map((i) => points()[i].x), ticktext: kept.map((i) => escaped(points()[i].title, 18)) };
    };

    const apart = () => {
      const best = Math.min(...Object.values(point().mean_ranks));
      const { x, critical_difference: difference } = point();
      return difference === null
        ? []
        : [
            {
              type: "rect",
              layer: "below",
              x0: x - 0.02,
              x1: x + 0.02,
              y0: best,
              y1: best + difference,
              line: { width: 0 },
              fillcolor: translucent(colour("--line-baseline"), 0.3),
            },
          ];
    };

    const shapes = () => [...apart(), verticalLine(point().x)];

    const draw = chart(drawing, () => ({
      traces: names().map((name) =>
        lineTrace(learnerStyle(name), {
          name: escaped(name),
          meta: { name, part: "line" },
          x: points().map((each) => each.x),
          y: points().map((each) => each.mean_ranks[name] ?? null),
          text: points().map(
            (each) => `${escaped(name)}<br>${escaped(each.title)}<br>mean rank ${each.mean_ranks[name]?.toFixed(2)}`,
          ),
        }),
      ),
      layout: {
        xaxis: { ...ticks(), range: [-0.05, 1.05], showgrid: false },
        yaxis: { title: { text: "mean rank" }, autorange: "reversed", dtick: 1 },
        margin: { l: 48, r: 36, t: 30, b: 44 },
        shapes: shapes(),
      },
      words: `Mean ranks of ${counted(names().length, WORD)} over data sets; a table lists them.`,
    }));

    const remark = () => {
      const { critical_difference: difference, friedman_p: p } = point();
      const test = p === null ? "" : `Friedman test: ${pText(p)}. `;
      return test + (difference === null ? "" : `Critical difference: ${difference.toFixed(2)}.`);
    };

    const rank = () => {
      const { title, mean_ranks: ranks, n_datasets: count } = point();
      const entries = Object.entries(ranks).map(([name, value]) => ({
        name,
        value,
        write: (rank) => rank.toFixed(2),
        competes: true,
      }));
      const headings = [text("Place"), text(TITLE), number("Mean rank"), number("To best")];
      panel.show({
        index: state.index,
        count: points().length,
        where: shown(title),
        ends: [shown(points()[0].title), shown(points().at(-1).title)],
        ranking: rankingTable(entries, headings, `Mean ranks over ${counted(count, "data set")}`),
        words: rankingWords(shown(title), entries),
        remark: `${counted(count, "data set")}. ${remark()}`,
      });
    };

    const update = () => {
      draw();
      rank();
    };
    const slide = (index) => {
      state.index = index;
      Plotly.relayout(drawing, { shapes: shapes() });
      rank();
    };
    const panel = sliderPanel("Where to compare mean ranks", slide);
    const switchFamily = (i) => {
      state.family = families[i];
      state.index = Math.min(state.index, points().length - 1);
      update();
    };
    place.append(
      element("div", { className: "controls" }, choices("Family of losses", families.map(familyTitle), switchFamily)),
      element("div", { className: "split" }, drawing, panel.whole),
    );
    update();
  };

  const pText = (p) => (p < 0.0001 ? "p < 0.0001" : `p = ${p.toFixed(p < 0.01 ? 4 : 3)}`);

  // ---------------------------------------------------------------- two at a time

  /** One data set's pair as if (first, second) had been asked for, or null. */
  const findPair = (dataset, familyName, first, second) => {
    const family = dataset.families[familyName];
    const pair = family?.pairs.find((each) => each.first === first && each.second === second);
    const turned = family?.pairs.find((each) => each.first === second && each.second === first);
    if (!pair && !turned) return null;
    const [a, b] = [family.curves[first].losses, family.curves[second].losses];
    const { crossings, p, lower, upper } = pair ?? turned;
    const inUnits = (steps, sign = 1) => steps.map((step) => (step === null ? null : (sign * step) / DATA.steps));
    return {
      dataset,
      family,
      a,
      b,
      difference: b.map((loss, i) => loss - a[i]),
      crossings,
      p: p && inUnits(p),
      lower: pair ? inUnits(lower) : inUnits(upper, -1),
      upper: pair ? inUnits(upper) : inUnits(lower, -1),
    };
  };

  const pairsView = (place) => {
    const inPairs = new Set(
      [...eachFamily()].flatMap(({ family }) => family.pairs.flatMap((pair) => [pair.first, pair.second])),
    );
    const paired = models.filter((name) => inPairs.has(name));
    const state = { family: DATA.families[0], first: paired[0], second: paired[1], form: "against", dataset: null };
    const drawing = element("div", { className: "chart" });
    const side = element("div", { className: "panel" });
    const styleOf = (dataset) => lineStyle(DATA.datasets.indexOf(dataset));
    const found = () =>
      (state.dataset ? [state.dataset] : DATA.datasets)
        .map((dataset) => findPair(dataset, state.family, state.first, state.second))
        .filter(Boolean);

    const hover = (pair, i) => {
      const p = pair.p && pair.p[i] !== null ? `<br>${pText(pair.p[i])}` : "";
      return (
        `${escaped(pair.dataset.name)}<br>${SYMBOLS[state.family]} = ${parameterText(pair.family.parameters[i])}` +
        `<br>${escaped(state.first)} ${fixed(pair.a[i])}<br>${escaped(state.second)} ${fixed(pair.b[i])}` +
        `<br>difference ${signed(pair.difference[i])} (${fixed(pair.lower[i])} to ${fixed(pair.upper[i])})${p}`
      );
    };

    const lineOf = (pair, x, y) => {
      const gap = (values) => withGap(pair.family.parameters, values);
      return lineTrace(styleOf(pair.dataset), {
        name: escaped(pair.dataset.name),
        meta: { name: pair.dataset.name, part: "line" },
        x: gap(x),
        y: gap(y),
        text: gap(x.map((_, i) => hover(pair, i))),
      });
    };

    const crossingTrace = (pair, x, y) => ({
      type: "scatter",
      mode: "markers",
      hoverinfo: "text",
      meta: { name: pair.dataset.name, part: "crossing" },
      x,
      y,
      text: pair.crossings.map(
        (each) => `${escaped(pair.dataset.name)}<br>crossing at ${SYMBOLS[state.family]} = ${parameterText(each)}`,
      ),
      marker: { symbol: "circle-open", size: 15, color: colour("--ink"), line: { width: 2 } },
    });

    /** What these values along the parameters are at the crossings. */
    const crossingsOn = (pair, values) => {
      const axis = parameterAxis(state.family, pair.family.parameters);
      return pair.crossings.map((each) => interpolated(axis.positions, values, axis.at(each)));
    };

    /** Loss against loss: the first on x, the second on y, so that above the diagonal the first is better. */
    const against = (pairs) => {
      const losses = pairs.flatMap((pair) => [...pair.a, ...pair.b]);
      const pad = 0.06 * (Math.max(...losses) - Math.min(...losses)) || 0.05;
      const range = [Math.max(0, Math.min(...losses) - pad), Math.max(...losses) + pad];
      return {
        traces: pairs.flatMap((pair) => {
          const meet = crossingsOn(pair, pair.a);
          return [lineOf(pair, pair.a, pair.b), crossingTrace(pair, meet, meet)];
        }),
        layout: {
          xaxis: { title: { text: `loss of ${escaped(state.first, 30)}` }, range, constrain: "domain" },
          yaxis: {
            title: { text: `loss of ${escaped(state.second, 30)}` },
            range,
            scaleanchor: "x",
            constrain: "domain",
          },
          shapes: [
            {
              type: "line",
              layer: "below",
              x0: range[0],
              y0: range[0],
              x1: range[1],
              y1: range[1],
              line: { color: colour("--quiet"), width: 1 },
            },
          ],
          annotations: [
            { ...corner(`${escaped(state.first, 22)} better`, true, true), xref: "x domain", yref: "y domain" },
            { ...corner(`${escaped(state.second, 22)} better`, false, false), xref: "x domain", yref: "y domain" },
          ],
        },
      };
    };

    /** The difference along the parameter: of one data set with its band, of several on the way between both ends. */
    const difference = (pairs) => {
      const axis = pairs.length === 1 ? parameterAxis(state.family, pairs[0].family.parameters) : null;
      const positions = (pair) =>
        axis ? axis.positions : pair.family.parameters.map((_, i) => shareOf(pair.family, i));
      return {
        traces: pairs.flatMap((pair) => {
          const x = positions(pair);
          const gap = (values) => withGap(pair.family.parameters, values);
          const meta = { name: pair.dataset.name, part: "band" };
          const band = () =>
            bandTrace(styleOf(pair.dataset), gap(x), gap(pair.lower), gap(pair.upper), axis.thin, { meta });
          const meet = crossingsOn(pair, x);
          return [
            ...(axis ? [band()] : []),
            significant(pair, x),
            lineOf(pair, x, pair.difference),
            crossingTrace(
              pair,
              meet,
              meet.map(() => 0),
            ),
          ];
        }),
        layout: {
          xaxis: { ...(axis ? axis.layout : shareAxis(pairs)), showgrid: false },
          yaxis: {
            title: { text: "difference of losses" },
            zeroline: true,
            zerolinecolor: colour("--quiet"),
            zerolinewidth: 1,
          },
          annotations: [
            above(`above 0: ${escaped(state.first, 22)} better`, 22),
            above(`below 0: ${escaped(state.second, 22)} better`, 4),
          ],
          margin: { l: 48, r: axis ? 14 : 36, t: 50, b: 44 },
        },
      };
    };

    /** The way between both ends, for data sets with different numbers of labels. */
    const shareAxis = (pairs) => {
      const ends = { 0: "Hamming", 1: state.family === "binomial" ? "subset 0/1" : "α = 1000" };
      if (pairs.some((pair) => pair.family.parameters.at(-1) === "inf")) ends[1 + INFINITY_GAP] = "∞";
      const places = Object.keys(ends).map(Number).sort();
      return { range: [-0.03, places.at(-1) + 0.03], tickvals: places, ticktext: places.map((place) => ends[place]) };
    };

    /** Thick where the difference is significant. */
    const significant = (pair, x) => {
      const flags = withGap(
        pair.family.parameters,
        (pair.p ?? x.map(() => null)).map((p) => p !== null && p < LEVEL),
      );
      const keep = (values) => withGap(pair.family.parameters, values).map((value, i) => (flags[i] ? value : null));
      const tint = colour(styleOf(pair.dataset).colour);
      return {
        type: "scatter",
        mode: "lines+markers",
        hoverinfo: "skip",
        meta: { name: pair.dataset.name, part: "significant" },
        x: keep(x),
        y: keep(pair.difference),
        opacity: 0.35,
        line: { color: tint, width: 9 },
        marker: { size: 9, color: tint },
      };
    };

    const draw = chart(drawing, () => {
      const pairs = found();
      const view =
        pairs.length === 0 ? { traces: [], layout: { annotations: [] } } : { against, difference }[state.form](pairs);
      return {
        ...view,
        words: `${shown(state.first)} against ${shown(state.second)}; a table has the figures.`,
      };
    });

    const pairRow = (pair) => {
      const crossings = pair.crossings.map(parameterText).join(", ") || "none";
      const tested = pair.p ? [`${pair.p.filter((p) => p !== null && p < LEVEL).length} of ${pair.p.length}`] : [];
      return {
        cells: [
          { node: named(pair.dataset.name, styleOf(pair.dataset)) },
          numberCell(pair.difference[0], signed),
          numberCell(pair.difference.at(-1), signed),
          crossings,
          ...tested,
        ],
      };
    };

    const write = () => {
      const pairs = found();
      const headings = [
        text("Data set"),
        number("At left end"),
        number("At right end"),
        text(`Cross at ${SYMBOLS[state.family]}`),
        ...(pairs.some((pair) => pair.p) ? [text(`p < ${LEVEL}`)] : []),
      ];
      const caption = `Loss of ${shown(state.second)} minus loss of ${shown(state.first)}`;
      const help = [
        `${caption}: positive where ${shown(state.first)} is better. Circles mark crossings.`,
        state.form === "difference" && pairs.length === 1 ? "The band is a bootstrap band." : "",
        state.form === "difference" && pairs.some((pair) => pair.p)
          ? `Thick: p < ${LEVEL}, corrected t test, Holm-adjusted.`
          : "",
      ];
      const whole = () => scrolling(makeSortable(table(caption, headings, pairs.map(pairRow))), caption);
      const note = element("p", { className: "note" }, help.filter(Boolean).join(" "));
      side.replaceChildren(pairs.length ? whole() : "No data set has both.", note);
    };

    const update = () => {
      draw();
      write();
    };
    const change = (key, values) => (i) => {
      state[key] = values[i];
      update();
    };
    /** A pair of one and the same makes no sense: the other one gives way. */
    const pick = (key, other) => (i) => {
      if (state[other] === paired[i]) {
        state[other] = state[key];
        controls[other].control.selectedIndex = paired.indexOf(state[key]);
      }
      state[key] = paired[i];
      update();
    };
    const controls = {
      first: select("First", paired, pick("first", "second")),
      second: select("Second", paired, pick("second", "first")),
    };
    controls.second.control.selectedIndex = 1;
    const datasets = DATA.datasets.length > 1 ? [null, ...DATA.datasets] : DATA.datasets;
    place.append(
      element(
        "div",
        { className: "controls" },
        controls.first.whole,
        controls.second.whole,
        choices("View", ["Loss against loss", "Difference"], change("form", ["against", "difference"])),
        choices("Family of losses", DATA.families.map(familyTitle), change("family", DATA.families)),
        select(
          "Data sets",
          datasets.map((dataset) => (dataset ? dataset.name : "All")),
          change("dataset", datasets),
        ).whole,
      ),
      element("div", { className: "split even" }, drawing, side),
    );
    update();
  };

  // ---------------------------------------------------------------- tables of everything, to sort and to keep

  const CSV = "text/csv;charset=utf-8";

  const headed = (title, ...controls) =>
    element(
      "div",
      { className: "table-head" },
      element("h3", {}, title),
      element("div", { className: "controls" }, ...controls),
    );

  const lossesTable = (family) => {
    const names = DATA.learners.filter((name) => name in family.curves);
    const headings = [text("Parameter"), ...names.map((name) => number(shown(name)))];
    const rows = family.parameters.map((parameter, i) => ({
      cells: [parameterCell(parameter), ...names.map((name) => numberCell(family.curves[name].losses[i]))],
    }));
    return makeSortable(table("Losses", headings, rows));
  };

  const lossesPart = () => {
    const state = { family: DATA.families[0], dataset: DATA.datasets[0] };
    const place = element("div", { id: "losses" });
    const update = () => place.replaceChildren(scrolling(lossesTable(state.dataset.families[state.family]), "Losses"));
    const change = (key, values) => (i) => {
      state[key] = values[i];
      update();
    };
    update();
    return [
      headed(
        "Losses at every parameter",
        choices("Family of losses", DATA.families.map(familyTitle), change("family", DATA.families)),
        select(
          "Data set",
          DATA.datasets.map((dataset) => dataset.name),
          change("dataset", DATA.datasets),
        ).whole,
        downloadButton("Download all losses (CSV)", "losses.csv", CSV, lossesCsv),
      ),
      place,
    ];
  };

  const crossingsPart = () => {
    const headings = [text("Data set"), text("Family"), text("First"), text("Second"), number("Cross at k or α")];
    const rows = crossingRows().map((row) => ({ cells: [...row.slice(0, 4), parameterCell(row[4])] }));
    if (!rows.length) return [];
    const whole = makeSortable(table("Crossings", headings, rows));
    whole.id = "crossings";
    return [
      headed(
        "Where the better one changes",
        downloadButton("Download crossings (CSV)", "crossings.csv", CSV, crossingsCsv),
      ),
      scrolling(whole, "Crossings"),
    ];
  };

  const tablesView = () => {
    const [summary, datasets] = ["summary", "datasets"].map((id) => document.getElementById(id).parentElement);
    summary.before(
      headed(
        "Both ends, slopes and areas",
        downloadButton("Download slopes and areas (CSV)", "slopes.csv", CSV, slopesCsv),
      ),
    );
    datasets.before(...lossesPart(), ...crossingsPart(), headed("Data sets"));
  };

  const planView = (place) =>
    place
      .querySelector("details")
      .after(
        downloadButton(
          "Download plan.toml",
          "plan.toml",
          "text/plain;charset=utf-8",
          () => document.getElementById("plan").textContent,
        ),
      );

  // ---------------------------------------------------------------- start

  const start = (name, view) => {
    const place = document.getElementById(name);
    if (place) view(place);
  };

  document.documentElement.classList.remove("no-script");
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  start("curves", curvesView);
  start("ranks", ranksView);
  start("pairs", pairsView);
  start("tables", tablesView);
  if (document.getElementById("plan")) start("reproduce", planView);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => redraws.forEach((draw) => draw()));
  }
})();
