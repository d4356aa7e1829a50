// Section "curves": the loss curves of one data set, and who is best at a chosen parameter.

import { insertGap, namesOfEnds, nearestIndex, parameterAxis, shareOf } from "./axis.js";
import { NARROW, chart, moveShapes, verticalLine } from "./charts.js";
import { CONTENTS, MODELS, WORD, WORD_HEADING, eachFamily } from "./contents.js";
import { checkbox, controlBar, element, familyChoices, select, storeChoice } from "./elements.js";
import { bandTrace, learnerStyle, lineTrace, nameWithSwatch } from "./lines.js";
import { rankingTable, rankingWords, sliderPanel } from "./ranking.js";
import { numberHeading, textHeading } from "./tables.js";
import {
  escapeForPlotly,
  formatCount,
  formatEquation,
  formatNumber,
  sameAsBaselineSentences,
  visibleText,
} from "./texts.js";

const HEADINGS = [textHeading("Rank"), textHeading(WORD_HEADING), numberHeading("Loss"), numberHeading("To best")];

/** What is chosen at first; `share` is where the slider stands between both ends. */
const firstState = () => {
  const state = { family: CONTENTS.families[0], dataset: CONTENTS.datasets[0], share: 0, bands: true };
  state.hidden = new Set(isBaselineFarOff(familyOf(state).curves) ? [CONTENTS.baseline] : []);
  return state;
};

/** Whether the baseline is worse everywhere than all others anywhere: it would squeeze their curves into one. */
const isBaselineFarOff = (curves) => {
  const others = MODELS.filter((name) => name in curves).flatMap((name) => curves[name].losses);
  const { baseline } = CONTENTS;
  return baseline in curves && others.length > 0 && Math.min(...curves[baseline].losses) > Math.max(...others);
};

const familyOf = (state) => state.dataset.families[state.family];
const namesWithCurves = (state) => CONTENTS.learners.filter((name) => name in familyOf(state).curves);
const shownNames = (state) => namesWithCurves(state).filter((name) => !state.hidden.has(name));

const hoverText = (state, name, i) => {
  const { parameters, curves } = familyOf(state);
  const { losses, lower, upper } = curves[name];
  const band = lower ? `<br>band ${formatNumber(lower[i])} to ${formatNumber(upper[i])}` : "";
  const where = formatEquation(state.family, parameters[i]);
  return `${escapeForPlotly(name)}<br>${where}<br>loss ${formatNumber(losses[i])}${band}`;
};

const lineOf = (state, axis, name) => {
  const { parameters, curves } = familyOf(state);
  const { losses } = curves[name];
  return lineTrace(learnerStyle(name), {
    name: escapeForPlotly(name),
    meta: { name, part: "line" },
    visible: !state.hidden.has(name),
    x: insertGap(parameters, axis.positions),
    y: insertGap(parameters, losses),
    text: insertGap(
      parameters,
      losses.map((_, i) => hoverText(state, name, i)),
    ),
  });
};

const bandOf = (state, axis, name) => {
  const { parameters, curves } = familyOf(state);
  const [x, lower, upper] = [axis.positions, curves[name].lower, curves[name].upper].map((values) =>
    insertGap(parameters, values),
  );
  return bandTrace(learnerStyle(name), x, lower, upper, axis.thin, {
    name: escapeForPlotly(name),
    meta: { name, part: "band" },
    visible: state.bands && !state.hidden.has(name),
  });
};

/** The line at the parameter where the slider stands. */
const sliderLine = (state) => {
  const { parameters } = familyOf(state);
  const axis = parameterAxis(state.family, parameters);
  return verticalLine(axis.at(parameters[nearestIndex(familyOf(state), state.share)]));
};

/** All bands, then all lines on top of them. */
const describeChart = (state, width) => {
  const axis = parameterAxis(state.family, familyOf(state).parameters, state.dataset.n_labels, width < NARROW);
  const names = namesWithCurves(state);
  const withBands = names.filter((name) => familyOf(state).curves[name].lower);
  return {
    traces: [...withBands.map((name) => bandOf(state, axis, name)), ...names.map((name) => lineOf(state, axis, name))],
    layout: {
      xaxis: { ...axis.layout, showgrid: false },
      yaxis: { title: { text: "loss" }, rangemode: "tozero" },
      shapes: [sliderLine(state)],
      uirevision: `${state.family} ${CONTENTS.datasets.indexOf(state.dataset)}`, // a zoom stays until these change
    },
    words:
      `Loss of ${formatCount(shownNames(state).length, WORD)} on ${visibleText(state.dataset.name)}; ` +
      "a table ranks them.",
  };
};

/** What the panel shows where the slider stands. */
const describeRanking = (state) => {
  const { parameters, curves } = familyOf(state);
  const index = nearestIndex(familyOf(state), state.share);
  const where = formatEquation(state.family, parameters[index]);
  const entries = shownNames(state).map((name) => ({
    name,
    value: curves[name].losses[index],
    format: formatNumber,
    competes: name !== CONTENTS.baseline,
  }));
  const nHidden = namesWithCurves(state).length - entries.length;
  return {
    index,
    count: parameters.length,
    where,
    ends: namesOfEnds(state.family, state.dataset),
    ranking: rankingTable(entries, HEADINGS, `Ranking at ${where}`),
    words: rankingWords(where, entries),
    remark: [
      ...sameAsBaselineSentences(state.dataset, shownNames(state)),
      ...(nHidden ? [`${formatCount(nHidden, WORD)} hidden: ranks are among those shown.`] : []),
    ].join(" "),
  };
};

const legendEntry = (state, name, update) => {
  const isAbsent = !(name in familyOf(state).curves);
  const toggle = (isChecked) => {
    state.hidden[isChecked ? "delete" : "add"](name);
    update();
  };
  const isSame = state.dataset.same_as_baseline.includes(name);
  const remark = isAbsent ? " (no result)" : isSame ? " (same as baseline)" : "";
  const content = [nameWithSwatch(name, learnerStyle(name)), remark];
  const label = checkbox(!state.hidden.has(name), toggle, ...content);
  label.classList.toggle("absent", isAbsent);
  label.querySelector("input").disabled = isAbsent;
  return label;
};

const bandsCheckbox = (state, update) => {
  const toggle = (isChecked) => {
    state.bands = isChecked;
    update();
  };
  const whole = checkbox(true, toggle, element("span", {}, "Show bands"));
  whole.hidden = ![...eachFamily()].some(({ family }) => Object.values(family.curves).some((curve) => curve.lower));
  return whole;
};

export const curvesView = (place) => {
  const state = firstState();
  const drawing = element("div", { className: "chart" });
  const legend = element("fieldset", { className: "legend-box" });
  const draw = chart(drawing, () => describeChart(state, drawing.clientWidth));
  const slide = (index) => {
    state.share = shareOf(familyOf(state), index);
    moveShapes(drawing, [sliderLine(state)]);
    panel.show(describeRanking(state));
  };
  const panel = sliderPanel(`Where to rank the ${WORD}s`, slide);
  const update = () => {
    draw();
    panel.show(describeRanking(state));
  };
  const writeLegend = () => {
    const entries = CONTENTS.learners.map((name) => legendEntry(state, name, update));
    legend.replaceChildren(
      element("legend", {}, `${WORD}s shown`),
      element("div", { className: "legend" }, ...entries),
    );
  };
  const updateAll = () => {
    writeLegend();
    update();
  };
  const datasetNames = CONTENTS.datasets.map((dataset) => dataset.name);
  place.append(
    controlBar(
      familyChoices(CONTENTS.families, storeChoice(state, "family", CONTENTS.families, updateAll)),
      select("Data set", datasetNames, storeChoice(state, "dataset", CONTENTS.datasets, updateAll)).whole,
      bandsCheckbox(state, update),
    ),
    element("div", { className: "split" }, drawing, panel.whole, legend),
  );
  updateAll();
};
