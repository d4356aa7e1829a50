// Section "tables": tables of everything, to sort and to download. Python wrote two of them; the others are made here.

import { CONSTANTS, CONTENTS, MODELS } from "./contents.js";
import { crossingRows, crossingsButton, lossesButton, slopesButton } from "./downloads.js";
import { controlBar, element, familyChoices, scrollBox, select, storeChoice } from "./elements.js";
import { makeSortable, numberCell, numberHeading, parameterCell, table, textHeading } from "./tables.js";
import { sameAsBaselineSentences, visibleText } from "./texts.js";

/** The title of a table with the controls that belong to it. */
const tableHead = (title, ...controls) =>
  element("div", { className: "table-head" }, element("h3", {}, title), controlBar(...controls));

const lossesTable = (family) => {
  const names = CONTENTS.learners.filter((name) => name in family.curves);
  const headings = [textHeading("Parameter"), ...names.map((name) => numberHeading(visibleText(name)))];
  const rows = family.parameters.map((parameter, i) => ({
    cells: [parameterCell(parameter), ...names.map((name) => numberCell(family.curves[name].losses[i]))],
  }));
  return makeSortable(table("Losses", headings, rows));
};

const lossesPart = () => {
  const state = { family: CONTENTS.families[0], dataset: CONTENTS.datasets[0] };
  const place = element("div", { id: "losses" });
  const update = () => {
    const sentences = sameAsBaselineSentences(state.dataset, MODELS);
    place.replaceChildren(
      scrollBox(lossesTable(state.dataset.families[state.family]), "Losses"),
      element("p", { className: "note" }, sentences.join(" ")),
    );
  };
  update();
  const datasetNames = CONTENTS.datasets.map((dataset) => dataset.name);
  return [
    tableHead(
      "Losses at every parameter",
      familyChoices(CONTENTS.families, storeChoice(state, "family", CONTENTS.families, update)),
      select("Data set", datasetNames, storeChoice(state, "dataset", CONTENTS.datasets, update)).whole,
      lossesButton(),
    ),
    place,
  ];
};

const crossingsPart = () => {
  const symbols = Object.values(CONSTANTS.families).map((family) => family.symbol);
  const headings = [
    textHeading("Data set"),
    textHeading("Family"),
    textHeading("First"),
    textHeading("Second"),
    numberHeading(`Cross at ${symbols.join(" or ")}`),
  ];
  const rows = crossingRows().map((row) => ({ cells: [...row.slice(0, 4), parameterCell(row[4])] }));
  if (!rows.length) return [];
  const whole = makeSortable(table("Crossings", headings, rows));
  whole.id = "crossings";
  return [tableHead("Where the better one changes", crossingsButton()), scrollBox(whole, "Crossings")];
};

export const tablesView = () => {
  const [summary, datasets] = ["summary", "datasets"].map((id) => document.getElementById(id).parentElement);
  summary.before(tableHead("Both ends, slopes and areas", slopesButton()));
  datasets.before(...lossesPart(), ...crossingsPart(), tableHead("Data sets"));
};
