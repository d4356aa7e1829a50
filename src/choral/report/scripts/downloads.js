// Files that the page makes on the spot: tables as CSV, with every digit, and the plan.

import { CONTENTS, WORD, eachFamily } from "./contents.js";
import { button, element } from "./elements.js";

const CSV = "text/csv;charset=utf-8";
const PLAIN_TEXT = "text/plain;charset=utf-8";

/** One field as RFC 4180 has it; a text that a spreadsheet would take for a formula gets an apostrophe in front. */
const csvField = (value) => {
  if (value === null) return "";
  if (typeof value === "number") return String(value); // every digit: reading it gives the same number
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const toCsv = (headings, rows) => [headings, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");

const download = (name, type, text) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

/** A button that saves what `makeText` returns. */
const downloadButton = (title, name, type, makeText) => button(title, () => download(name, type, makeText()));

/** The baseline, where a model predicts the same as the baseline. */
const sameAs = (dataset, name) => (dataset.same_as_baseline.includes(name) ? CONTENTS.baseline : null);

const lossesCsv = () =>
  toCsv(
    ["dataset", "family", WORD, "parameter", "loss", "lower", "upper", "same_as"],
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
          sameAs(dataset, learner),
        ]),
      ),
    ),
  );

const TOGETHERNESS = ["value", "lower", "upper", "independent"];
const TOGETHERNESS_COLUMNS = ["", "_lower", "_upper", "_independent"].map((ending) => `togetherness${ending}`);

const slopesCsv = () =>
  toCsv(
    ["dataset", "family", WORD, "slope", "area", ...TOGETHERNESS_COLUMNS, "same_as"],
    [...eachFamily()].flatMap(({ dataset, name, family }) =>
      Object.entries(family.curves).map(([learner, curve]) => [
        dataset.name,
        name,
        learner,
        curve.slope,
        curve.area,
        ...TOGETHERNESS.map((key) => curve.togetherness?.[key] ?? null),
        sameAs(dataset, learner),
      ]),
    ),
  );

/** Where curves of two cross: data set, family, both names, parameter. */
export const crossingRows = () =>
  [...eachFamily()].flatMap(({ dataset, name, family }) =>
    family.pairs.flatMap((pair) =>
      pair.crossings.map((crossing) => [dataset.name, name, pair.first, pair.second, crossing]),
    ),
  );

const crossingsCsv = () => toCsv(["dataset", "family", "first", "second", "parameter"], crossingRows());

export const lossesButton = () => downloadButton("Download all losses (CSV)", "losses.csv", CSV, lossesCsv);
export const slopesButton = () => downloadButton("Download slopes and areas (CSV)", "slopes.csv", CSV, slopesCsv);
export const crossingsButton = () => downloadButton("Download crossings (CSV)", "crossings.csv", CSV, crossingsCsv);
export const planButton = (plan) =>
  downloadButton("Download plan.toml", "plan.toml", PLAIN_TEXT, () => plan.textContent);
