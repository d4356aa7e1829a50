// Names and numbers as texts. Names are untrusted: they reach the document through textContent alone, and Plotly, which
// reads a kind of HTML, through escapeForPlotly.

import { CONSTANTS, CONTENTS, isInfinity } from "./contents.js";

const HALF_OF_LAST_DECIMAL = 0.5 * 10 ** -CONSTANTS.decimals;
const MAX_NAME_IN_CHART = 40;

/** Control characters and unusual spaces are shown as codes instead of being obeyed. */
export const visibleText = (name) =>
  String(name).replace(/[\p{C}\p{Z}]/gu, (c) =>
    c === " " ? c : `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`,
  );

/** A long name loses its middle: names from files differ at the end. */
const shorten = (name, maxLength) => {
  const text = [...visibleText(name)];
  const half = Math.floor(maxLength / 2);
  return text.length <= maxLength ? text.join("") : `${text.slice(0, half).join("")}…${text.slice(1 - half).join("")}`;
};

/** Text for Plotly, which takes <b> for bold and &lt; for <. */
export const escapeForPlotly = (name, maxLength = MAX_NAME_IN_CHART) =>
  shorten(name, maxLength).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A fixed number of decimals and a true minus, but no minus zero; a dash where there is no number. */
export const formatNumber = (number) =>
  (number ?? null) === null
    ? CONSTANTS.missing
    : number
        .toFixed(CONSTANTS.decimals)
        .replace(/^-(?=0\.0+$)/, "")
        .replace("-", CONSTANTS.minus);

/** The same with a plus before positive numbers. */
export const formatSigned = (number) =>
  number >= HALF_OF_LAST_DECIMAL ? `+${formatNumber(number)}` : formatNumber(number);

/** A p-value: more digits where it is small. */
export const formatP = (p) => (p < 0.0001 ? "p < 0.0001" : `p = ${p.toFixed(p < 0.01 ? 4 : 3)}`);

/** A value of k or alpha. */
export const formatParameter = (parameter) =>
  isInfinity(parameter) ? "∞" : String(Number(Number(parameter).toPrecision(4)));

/** A parameter with its symbol: "k = 3". */
export const formatEquation = (family, parameter) =>
  `${CONSTANTS.families[family].symbol} = ${formatParameter(parameter)}`;

/** A family with the symbol of its parameter: "binomial (k)". */
export const familyTitle = (family) => `${family} (${CONSTANTS.families[family].symbol})`;

/** "1 learner", "2 learners". */
export const formatCount = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A sentence for each of these models that predicts the same as the baseline on a data set. */
export const sameAsBaselineSentences = (dataset, names) =>
  names
    .filter((name) => dataset.same_as_baseline.includes(name))
    .map(
      (name) =>
        `On ${visibleText(dataset.name)}, ${visibleText(name)} predicts the same as the baseline ` +
        `(${visibleText(CONTENTS.baseline)}).`,
    );
