// Pairs of models: what one data set says about two of them, whichever of the two comes first.

import { interpolate, parameterAxis } from "./axis.js";
import { CONSTANTS, CONTENTS, MODELS, eachFamily, isInfinity } from "./contents.js";
import { lineStyle } from "./lines.js";

/** Names of the models that are in any pair. */
export const modelsInPairs = () => {
  const found = new Set(
    [...eachFamily()].flatMap(({ family }) => family.pairs.flatMap((pair) => [pair.first, pair.second])),
  );
  return MODELS.filter((name) => found.has(name));
};

/** Numbers that Python stored as whole steps. */
const fromSteps = (steps, sign = 1) => steps.map((step) => (step === null ? null : (sign * step) / CONTENTS.steps));

/** What one data set says about these two, in this order; null where it does not have both. */
export const findPair = (dataset, familyName, first, second) => {
  const family = dataset.families[familyName];
  const pair = family?.pairs.find((each) => each.first === first && each.second === second);
  const turned = family?.pairs.find((each) => each.first === second && each.second === first);
  if (!pair && !turned) return null;
  const [a, b] = [family.curves[first].losses, family.curves[second].losses];
  const { crossings, p, lower, upper } = pair ?? turned;
  return {
    dataset,
    family,
    a,
    b,
    difference: b.map((loss, i) => loss - a[i]),
    crossings,
    p: p && fromSteps(p),
    lower: pair ? fromSteps(lower) : fromSteps(upper, -1),
    upper: pair ? fromSteps(upper) : fromSteps(lower, -1),
  };
};

export const isSignificant = (p) => p !== null && p < CONSTANTS.significance_level;

/** Lines of pairs differ by data set. */
export const datasetStyle = (dataset) => lineStyle(CONTENTS.datasets.indexOf(dataset));

/** What values along the parameters are at the crossings; between the last finite alpha and infinity, by 1 / alpha. */
export const valuesAtCrossings = (pair, familyName, values) => {
  const { parameters } = pair.family;
  const axis = parameterAxis(familyName, parameters);
  const isBeyondFinite = (crossing) => isInfinity(parameters.at(-1)) && crossing > parameters.at(-2);
  return pair.crossings.map((crossing) =>
    isBeyondFinite(crossing)
      ? interpolate([0, 1], values.slice(-2), 1 - parameters.at(-2) / crossing)
      : interpolate(axis.positions, values, axis.at(crossing)),
  );
};
