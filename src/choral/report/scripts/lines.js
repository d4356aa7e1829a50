// Lines differ by colour, dash and marker, given in a fixed order, as in the figures that Python draws. Here are their
// styles, the small pictures of them in legends and tables, and what Plotly draws: the line and the band around it.

import { CONSTANTS, MODELS } from "./contents.js";
import { element } from "./elements.js";
import { visibleText } from "./texts.js";
import { themeValue, translucent } from "./theme.js";

export const BAND_OPACITY = 0.14; // of a single band
const N_INNER_MARKERS = 8; // of a long line, between its ends

// How a line looks in a small picture, 30 wide and 14 high, by Plotly's names of dashes and markers.
export const DASH_PICTURES = { solid: "", dash: "5 2", dot: "1.5 2", dashdot: "5 2 1.5 2" };
const MARKER_PICTURES = {
  circle: "M11 7a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  square: "M11.5 3.5h7v7h-7z",
  "triangle-up": "M15 2.5l4.5 8h-9z",
  diamond: "M15 2.5L19.5 7L15 11.5L10.5 7z",
  "triangle-down": "M15 11.5l4.5-8h-9z",
  cross: "M13.6 3h2.8v2.6H19v2.8h-2.6V11h-2.8V8.4H11V5.6h2.6z",
  x: "M12 3l3 2.6L18 3l1.2 1.2L16.6 7l2.6 2.8L18 11l-3-2.6L12 11l-1.2-1.2L13.4 7l-2.6-2.8z",
  "triangle-left": "M10.5 7l8-4.5v9z",
};

const BASELINE_STYLE = {
  colour: "--line-baseline",
  dash: CONSTANTS.dashes[1],
  marker: CONSTANTS.markers[0],
  open: false,
  offset: 0,
};

/** The style of the line with this index; full and open markers take turns. The baseline has the index -1. */
export const lineStyle = (index) => {
  if (index < 0) return BASELINE_STYLE;
  const { n_colours: nColours, dashes, markers } = CONSTANTS;
  return {
    colour: `--line-${index % nColours}`,
    dash: dashes[Math.floor(index / nColours) % dashes.length],
    marker: markers[index % markers.length],
    open: index % 2 === 1,
    offset: ((index * 3) % N_INNER_MARKERS) / N_INNER_MARKERS, // 3: lines that follow each other lie far apart
  };
};

export const learnerStyle = (name) => lineStyle(MODELS.indexOf(name));

export const svgElement = (tag, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

/** How a line looks, as a small picture. */
const swatch = (style) => {
  const line = svgElement("path", {
    d: "M0 7h30",
    "stroke-width": 2,
    "stroke-dasharray": DASH_PICTURES[style.dash],
  });
  const marker = svgElement("path", { d: MARKER_PICTURES[style.marker], "stroke-width": 1.5 });
  line.style.stroke = marker.style.stroke = `var(${style.colour})`;
  marker.style.fill = `var(${style.open ? "--paper" : style.colour})`;
  const picture = svgElement("svg", { viewBox: "0 0 30 14", class: "swatch", "aria-hidden": "true" });
  picture.append(line, marker);
  return picture;
};

/** A name after the picture of its line. */
export const nameWithSwatch = (name, style) =>
  element(
    "span",
    { className: "named" },
    swatch(style),
    element("span", { className: "name", title: visibleText(name) }, visibleText(name)),
  );

/** All markers of a short line, else both ends and some between them. Lines differ in offset: their markers alternate. */
const markerOpacities = (x, offset) => {
  const drawn = x.map((_, i) => i).filter((i) => x[i] !== null);
  const [left, right] = [x[drawn[0]], x[drawn.at(-1)]];
  const nearest = (at) => drawn.reduce((best, i) => (Math.abs(x[i] - at) < Math.abs(x[best] - at) ? i : best));
  const inner = Array.from({ length: N_INNER_MARKERS }, (_, j) =>
    nearest(left + ((j + offset) / N_INNER_MARKERS) * (right - left)),
  );
  const kept = drawn.length <= CONSTANTS.max_markers ? drawn : [drawn[0], ...inner, drawn.at(-1)];
  return x.map((_, i) => (kept.includes(i) ? 1 : 0));
};

/** A line in this style through the points of `rest`. */
export const lineTrace = (style, rest) => ({
  type: "scatter",
  mode: "lines+markers",
  hoverinfo: "text",
  cliponaxis: false,
  line: { color: themeValue(style.colour), width: 2, dash: style.dash },
  marker: {
    symbol: style.marker,
    size: 8,
    opacity: markerOpacities(rest.x, style.offset),
    color: themeValue(style.open ? "--paper" : style.colour),
    line: { color: themeValue(style.colour), width: 1.5 },
  },
  ...rest,
});

/** Indices of each unbroken run of true values. */
const findRuns = (flags) => {
  const runs = [];
  flags.forEach((flag, i) => {
    if (flag && i > 0 && flags[i - 1]) runs.at(-1).push(i);
    else if (flag) runs.push([i]);
  });
  return runs;
};

/** The band between two lines: a polygon for each unbroken run of points. A single point gets a little width. */
export const bandTrace = (style, x, lower, upper, width, rest) => {
  const outline = { x: [], y: [] };
  for (const run of findRuns(x.map((position, i) => position !== null && lower[i] !== null))) {
    const sides = run.length > 1 ? run.map((i) => x[i]) : [x[run[0]] - width, x[run[0]] + width];
    const rows = run.length > 1 ? run : [run[0], run[0]];
    outline.x.push(...sides, ...sides.toReversed(), sides[0], null);
    outline.y.push(...rows.map((i) => upper[i]), ...rows.toReversed().map((i) => lower[i]), upper[rows[0]], null);
  }
  return {
    type: "scatter",
    mode: "lines",
    fill: "toself",
    hoverinfo: "skip",
    line: { width: 0 },
    fillcolor: translucent(style.colour, BAND_OPACITY),
    ...outline,
    ...rest,
  };
};
