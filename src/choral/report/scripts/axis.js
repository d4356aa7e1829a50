// The axis of k or alpha: k linear, alpha logarithmic, infinity apart at the right.

import { CONSTANTS, isInfinity } from "./contents.js";
import { formatEquation, formatParameter } from "./texts.js";

const MIN_TICK_DISTANCE = 0.07; // from either end, as a share of the axis
const TICK_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const POWERS_OF_TEN = [1, 10, 100, 1000, 10000];

const scaleOf = (name) => (CONSTANTS.families[name].logarithmic ? Math.log10 : Number);

/** The title of an axis says where its ends lead, as in the figures that Python draws. */
const titleBetweenEnds = (isOneLabel, title) =>
  isOneLabel
    ? `${title} (${CONSTANTS.hamming} = ${CONSTANTS.subset})`
    : `${CONSTANTS.hamming} ← ${title} → ${CONSTANTS.subset}`;

/** Where the parameters of a family lie, and the layout of the axis for Plotly; on a narrow screen its title is short. */
export const parameterAxis = (name, parameters, nLabels = 2, isNarrow = false) => {
  const scale = scaleOf(name);
  const finite = parameters.filter((parameter) => !isInfinity(parameter)).map(scale);
  const [low, high] = finite.length ? [finite[0], finite.at(-1)] : [0, 0];
  const infinity = high + CONSTANTS.infinity_gap * (high - low || 1);
  const at = (parameter) => (isInfinity(parameter) ? infinity : scale(parameter));
  const right = at(parameters.at(-1));
  const pad = CONSTANTS.margin * (right - low) || 0.5;
  const ticks = parameterTicks(name, parameters.slice(0, finite.length));
  const { axis, symbol } = CONSTANTS.families[name];
  if (isInfinity(parameters.at(-1))) ticks.push(CONSTANTS.infinity);
  return {
    at,
    thin: 0.007 * (right - low + 2 * pad), // half the width of a band around a single point
    positions: parameters.map(at),
    layout: {
      range: [low - pad, right + pad],
      tickvals: ticks.map(at),
      ticktext: ticks.map(formatParameter),
      title: { text: titleBetweenEnds(nLabels === 1, isNarrow ? symbol : axis) },
    },
  };
};

/** Both ends, and round numbers between them that are not too near to an end. */
const parameterTicks = (name, parameters) => {
  if (parameters.length < 2) return parameters.slice();
  const scale = scaleOf(name);
  const [low, high] = [parameters[0], parameters.at(-1)];
  const span = scale(high) - scale(low);
  const isFar = (a, b) => scale(b) - scale(a) > MIN_TICK_DISTANCE * span;
  const round = CONSTANTS.families[name].logarithmic ? roundAlphas(span) : roundKs(high, span);
  const inner = round.filter((tick) => tick > low && tick < high && isFar(low, tick) && isFar(tick, high));
  return [low, ...inner.sort((a, b) => a - b), high];
};

const roundKs = (high, span) => {
  const step = TICK_STEPS.find((each) => span / each <= 7) || span;
  return Array.from({ length: Math.floor(high / step) }, (_, i) => (i + 1) * step);
};

/** Powers of ten; where these are few, twice and five times each too. The span is given in powers of ten. */
const roundAlphas = (span) =>
  (span < 2 ? [1, 2, 5] : [1]).flatMap((digit) => POWERS_OF_TEN.map((power) => digit * power));

/** Values along the parameters with a gap before infinity, to which no line should lead. */
export const insertGap = (parameters, values) =>
  isInfinity(parameters.at(-1)) && parameters.length > 1 ? [...values.slice(0, -1), null, values.at(-1)] : values;

/** Where a point lies between both ends, 0 to 1; infinity lies beyond. Where nothing finished there are no positions. */
export const shareOf = (family, i) =>
  isInfinity(family.parameters[i]) ? 1 + CONSTANTS.infinity_gap : (family.x[i] ?? 0);

export const nearestIndex = (family, share) => {
  const distances = family.parameters.map((_, i) => Math.abs(shareOf(family, i) - share));
  return distances.indexOf(Math.min(...distances));
};

/** The axis of `shareOf`, for data sets with different numbers of labels. */
export const shareAxis = (name, hasInfinity) => {
  const ticks = CONSTANTS.families[name].ends.map((text, at) => ({ at, text }));
  if (hasInfinity) ticks.push({ at: 1 + CONSTANTS.infinity_gap, text: "∞" });
  return {
    range: [-CONSTANTS.margin, ticks.at(-1).at + CONSTANTS.margin],
    tickvals: ticks.map((tick) => tick.at),
    ticktext: ticks.map((tick) => tick.text),
  };
};

/** A value between two points of a curve, linear on the family's axis. */
export const interpolate = (positions, values, at) => {
  const right = positions.findIndex((position) => position >= at);
  if (right <= 0) return values.at(right);
  const share = (at - positions[right - 1]) / (positions[right] - positions[right - 1]);
  return values[right - 1] + share * (values[right] - values[right - 1]);
};

/** What the two ends of a curve are called: losses where it reaches them, else parameters. */
export const namesOfEnds = (name, dataset) => {
  const { parameters } = dataset.families[name];
  const [first, last] = [parameters[0], parameters.at(-1)];
  const isSubset = CONSTANTS.families[name].logarithmic ? isInfinity(last) : last === dataset.n_labels;
  return [
    first === 1 ? `${CONSTANTS.hamming} loss` : formatEquation(name, first),
    isSubset ? `${CONSTANTS.subset} loss` : formatEquation(name, last),
  ];
};
