// Section "pairs": two models against each other, on one data set or on all.

import { chart } from "./charts.js";
import { CONSTANTS, CONTENTS } from "./contents.js";
import { button, choices, controlBar, element, familyChoices, scrollBox, select, storeChoice } from "./elements.js";
import { nameWithSwatch } from "./lines.js";
import { differenceOfLosses, lossAgainstLoss } from "./pair_charts.js";
import { allPairs, pairOverview } from "./pair_overview.js";
import { datasetStyle, findPair, isSignificant, modelsInPairs } from "./pairs.js";
import { makeSortable, numberCell, numberHeading, table, textHeading } from "./tables.js";
import { formatParameter, formatSigned, sameAsBaselineSentences, visibleText } from "./texts.js";

const VIEWS = [differenceOfLosses, lossAgainstLoss];
const VIEW_TITLES = ["Difference along the axis", "Losses against each other"];
const SIGNIFICANT = `p < ${CONSTANTS.significance_level}`;

/** The chosen pair on each data set that has both; `dataset` null means all data sets. */
const findPairs = (state) =>
  (state.dataset ? [state.dataset] : CONTENTS.datasets)
    .map((dataset) => findPair(dataset, state.family, state.first, state.second))
    .filter(Boolean);

const pairWords = ({ first, second }) => `${visibleText(first)} against ${visibleText(second)}`;

const describeChart = (state, width) => {
  const pairs = findPairs(state);
  const view = pairs.length === 0 ? { traces: [], layout: { annotations: [] } } : state.view(state, pairs, width);
  return {
    ...view,
    words: `${pairWords(state)}; a table has the figures.`,
  };
};

const pairRow = (pair) => ({
  cells: [
    { node: nameWithSwatch(pair.dataset.name, datasetStyle(pair.dataset)) },
    numberCell(pair.difference[0], formatSigned),
    numberCell(pair.difference.at(-1), formatSigned),
    pair.crossings.map(formatParameter).join(", ") || "none",
    ...(pair.p ? [`${pair.p.filter(isSignificant).length} of ${pair.p.length}`] : []),
  ],
});

/** The table beside the chart, and the note that explains both. */
const writePanel = (state, panel) => {
  const pairs = findPairs(state);
  const isTested = pairs.some((pair) => pair.p);
  const isDifference = state.view === differenceOfLosses;
  const caption = `Loss of ${visibleText(state.second)} minus loss of ${visibleText(state.first)}`;
  const headings = [
    textHeading("Data set"),
    numberHeading("Left end"),
    numberHeading("Right end"),
    textHeading(`Cross at ${CONSTANTS.families[state.family].symbol}`),
    ...(isTested ? [textHeading(SIGNIFICANT)] : []),
  ];
  const sentences = [
    `${caption}: positive where ${visibleText(state.first)} is better. Circles mark crossings.`,
    isDifference ? "Bands are bootstrap bands." : "",
    isDifference && isTested ? `Thick: ${SIGNIFICANT}, corrected t test, Holm-adjusted.` : "",
    ...pairs.flatMap((pair) => sameAsBaselineSentences(pair.dataset, [state.first, state.second])),
  ];
  const figures = () => scrollBox(makeSortable(table(caption, headings, pairs.map(pairRow))), caption);
  const note = element("p", { className: "note" }, sentences.filter(Boolean).join(" "));
  panel.replaceChildren(pairs.length ? figures() : "No data set has both.", note);
};

/** Two lists of the same names. Choosing the same name twice swaps the two: nobody is compared with themselves. */
const pairSelects = (state, names, update) => {
  const pick = (key, other) => (i) => {
    if (state[other] === names[i]) state[other] = state[key];
    state[key] = names[i];
    update();
  };
  const selects = {
    first: select("First", names, pick("first", "second")),
    second: select("Second", names, pick("second", "first")),
  };
  const show = () => {
    for (const key of ["first", "second"]) selects[key].control.selectedIndex = names.indexOf(state[key]);
  };
  return { whole: [selects.first.whole, selects.second.whole], show };
};

/** Buttons to the pair before and after this one, with the number of this one between them. */
const stepper = (count, onStep) => {
  const place = element("output", {});
  const whole = element(
    "div",
    { className: "stepper" },
    button("Previous pair", () => onStep(-1)),
    place,
    button("Next pair", () => onStep(1)),
  );
  whole.hidden = count < 2;
  const show = (index, words) =>
    place.replaceChildren(`${index + 1} of ${count}`, element("span", { className: "visually-hidden" }, `: ${words}`));
  return { whole, show };
};

export const pairsView = (place) => {
  const names = modelsInPairs();
  const couples = allPairs(names);
  const state = { family: CONTENTS.families[0], ...couples[0], view: VIEWS[0], dataset: null };
  const drawing = element("div", { className: "chart" });
  const panel = element("div", { className: "panel" });
  const draw = chart(drawing, () => describeChart(state, drawing.clientWidth));
  const indexOfPair = () =>
    couples.findIndex(({ first, second }) =>
      [first, second].every((name) => [state.first, state.second].includes(name)),
    );
  const update = () => {
    draw();
    writePanel(state, panel);
    selects.show();
    steps.show(indexOfPair(), pairWords(state));
    overview.show(state.family, indexOfPair());
  };
  const showPair = (index) => {
    Object.assign(state, couples[index]);
    update();
  };
  const selects = pairSelects(state, names, update);
  const steps = stepper(couples.length, (step) => showPair((indexOfPair() + step + couples.length) % couples.length));
  const overview = pairOverview(names, showPair);
  overview.whole.addEventListener("click", ({ detail }) => {
    if (detail) controls.scrollIntoView({ block: "nearest" }); // by mouse or finger: arrow keys stay where they are
  });
  const datasets = CONTENTS.datasets.length > 1 ? [null, ...CONTENTS.datasets] : CONTENTS.datasets;
  const datasetNames = datasets.map((dataset) => (dataset ? dataset.name : "All"));
  const controls = controlBar(
    ...selects.whole,
    steps.whole,
    choices("View", VIEW_TITLES, storeChoice(state, "view", VIEWS, update)),
    familyChoices(CONTENTS.families, storeChoice(state, "family", CONTENTS.families, update)),
    select("Data sets", datasetNames, storeChoice(state, "dataset", datasets, update)).whole,
  );
  place.append(controls, element("div", { className: "split pair" }, drawing, panel), overview.whole);
  update();
};
