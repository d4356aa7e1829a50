// Two charts of a pair: loss against loss, and the difference along the parameter. `chosen` holds the family and the
// names of the first and the second; `pairs` has one entry for each data set shown.

import { insertGap, parameterAxis, shareAxis, shareOf } from "./axis.js";
import { MARGIN, NARROW, cornerText, textAbove } from "./charts.js";
import { isInfinity } from "./contents.js";
import { datasetStyle, isSignificant, valuesAtCrossings } from "./pairs.js";
import { escapeForPlotly, formatEquation, formatNumber, formatP, formatSigned } from "./texts.js";
import { themeValue, translucent } from "./theme.js";
import { BAND_OPACITY, bandTrace, lineTrace } from "./lines.js";

const MAX_NAME_BESIDE_AXIS = 30;
const MAX_NAME_IN_NOTE = 22;
const THIN = 0.008; // half the width of a band around a single point, of the way between both ends

const hoverText = (chosen, pair, i) => {
  const lines = [
    escapeForPlotly(pair.dataset.name),
    formatEquation(chosen.family, pair.family.parameters[i]),
    `${escapeForPlotly(chosen.first)} ${formatNumber(pair.a[i])}`,
    `${escapeForPlotly(chosen.second)} ${formatNumber(pair.b[i])}`,
    `difference ${formatSigned(pair.difference[i])} (${formatNumber(pair.lower[i])} to ${formatNumber(pair.upper[i])})`,
  ];
  if (pair.p && pair.p[i] !== null) lines.push(formatP(pair.p[i]));
  return lines.join("<br>");
};

const lineOf = (chosen, pair, x, y) => {
  const gap = (values) => insertGap(pair.family.parameters, values);
  return lineTrace(datasetStyle(pair.dataset), {
    name: escapeForPlotly(pair.dataset.name),
    meta: { name: pair.dataset.name, part: "line" },
    x: gap(x),
    y: gap(y),
    text: gap(x.map((_, i) => hoverText(chosen, pair, i))),
  });
};

const crossingsOf = (chosen, pair, x, y) => ({
  type: "scatter",
  mode: "markers",
  hoverinfo: "text",
  meta: { name: pair.dataset.name, part: "crossing" },
  x,
  y,
  text: pair.crossings.map(
    (crossing) => `${escapeForPlotly(pair.dataset.name)}<br>crossing at ${formatEquation(chosen.family, crossing)}`,
  ),
  marker: { symbol: "circle-open", size: 15, color: themeValue("--ink"), line: { width: 2 } },
});

const diagonal = ([low, high]) => ({
  type: "line",
  layer: "below",
  x0: low,
  y0: low,
  x1: high,
  y1: high,
  line: { color: themeValue("--quiet"), width: 1 },
});

/** A note in that corner of the square where this one is better. */
const betterNote = (name, isLeft, isTop) => ({
  ...cornerText(`${escapeForPlotly(name, MAX_NAME_IN_NOTE)} better`, isLeft, isTop),
  xref: "x domain",
  yref: "y domain",
});

/** Loss against loss: the first on x, the second on y, so that the first is better above the diagonal. */
export const lossAgainstLoss = (chosen, pairs) => {
  const losses = pairs.flatMap((pair) => [...pair.a, ...pair.b]);
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  const pad = 0.06 * (high - low) || 0.05;
  const range = [Math.max(0, low - pad), high + pad];
  const axis = (name) => ({
    title: { text: `loss of ${escapeForPlotly(name, MAX_NAME_BESIDE_AXIS)}` },
    range,
    constrain: "domain",
  });
  return {
    traces: pairs.flatMap((pair) => {
      const equalLosses = valuesAtCrossings(pair, chosen.family, pair.a);
      return [lineOf(chosen, pair, pair.a, pair.b), crossingsOf(chosen, pair, equalLosses, equalLosses)];
    }),
    layout: {
      xaxis: axis(chosen.first),
      yaxis: { ...axis(chosen.second), scaleanchor: "x" },
      shapes: [diagonal(range)],
      annotations: [betterNote(chosen.first, true, true), betterNote(chosen.second, false, false)],
    },
  };
};

/** The band of one of several pairs: the more there are, the lighter, since they overlap. */
const bandOf = (pair, x, width, count) => {
  const [gapX, lower, upper] = [x, pair.lower, pair.upper].map((values) => insertGap(pair.family.parameters, values));
  const meta = { name: pair.dataset.name, part: "band" };
  const style = datasetStyle(pair.dataset);
  const fillcolor = translucent(style.colour, BAND_OPACITY / Math.sqrt(count));
  return bandTrace(style, gapX, lower, upper, width, { meta, fillcolor });
};

/** A thick line where the difference is significant. */
const significantPart = (pair, x) => {
  const flags = (pair.p ?? x.map(() => null)).map(isSignificant);
  const keep = (values) =>
    insertGap(
      pair.family.parameters,
      values.map((value, i) => (flags[i] ? value : null)),
    );
  const colour = themeValue(datasetStyle(pair.dataset).colour);
  return {
    type: "scatter",
    mode: "lines+markers",
    hoverinfo: "skip",
    meta: { name: pair.dataset.name, part: "significant" },
    x: keep(x),
    y: keep(pair.difference),
    opacity: 0.35,
    line: { color: colour, width: 9 },
    marker: { size: 9, color: colour },
  };
};

/** The difference with its band: of one data set along the parameter, of several on the way between both ends. */
export const differenceOfLosses = (chosen, pairs, width) => {
  const [{ family: only, dataset }] = pairs;
  const axis =
    pairs.length === 1 ? parameterAxis(chosen.family, only.parameters, dataset.n_labels, width < NARROW) : null;
  const positions = ({ family }) => (axis ? axis.positions : family.parameters.map((_, i) => shareOf(family, i)));
  const hasInfinity = pairs.some((pair) => isInfinity(pair.family.parameters.at(-1)));
  const note = (side, name) => `${side} 0: ${escapeForPlotly(name, MAX_NAME_IN_NOTE)} better`;
  return {
    traces: pairs.flatMap((pair) => {
      const x = positions(pair);
      const crossings = valuesAtCrossings(pair, chosen.family, x);
      const zeros = crossings.map(() => 0);
      return [
        bandOf(pair, x, axis ? axis.thin : THIN, pairs.length),
        significantPart(pair, x),
        lineOf(chosen, pair, x, pair.difference),
        crossingsOf(chosen, pair, crossings, zeros),
      ];
    }),
    layout: {
      xaxis: { ...(axis ? axis.layout : shareAxis(chosen.family, hasInfinity)), showgrid: false },
      yaxis: {
        title: { text: "difference of losses" },
        zeroline: true,
        zerolinecolor: themeValue("--quiet"),
        zerolinewidth: 1,
      },
      annotations: [textAbove(note("above", chosen.first), 22), textAbove(note("below", chosen.second), 4)],
      margin: { ...MARGIN, r: axis ? MARGIN.r : 36, t: 50 },
    },
  };
};
