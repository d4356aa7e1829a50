// Section "ranks": mean ranks over all data sets on the way between both ends.

import { MARGIN, NARROW, chart, moveShapes, verticalLine } from "./charts.js";
import { CONTENTS, MODELS, WORD, WORD_HEADING } from "./contents.js";
import { controlBar, element, familyChoices } from "./elements.js";
import { learnerStyle, lineTrace } from "./lines.js";
import { rankingTable, rankingWords, sliderPanel } from "./ranking.js";
import { numberHeading, textHeading } from "./tables.js";
import { escapeForPlotly, formatCount, formatP, sameAsBaselineSentences, visibleText } from "./texts.js";
import { translucent } from "./theme.js";

const HEADINGS = [
  textHeading("Place"),
  textHeading(WORD_HEADING),
  numberHeading("Mean rank"),
  numberHeading("To best"),
];

const pointsOf = (state) => CONTENTS.across[state.family];
const chosenPoint = (state) => pointsOf(state)[state.index];
const formatRank = (rank) => rank.toFixed(2);

/** A tick at each of a few points, else at both ends and in the middle. */
const describeTicks = (points, width) => {
  const last = points.length - 1;
  const wanted = width < NARROW || last > 4 ? [0, last / 2, last] : points.map((_, i) => i);
  const kept = [...new Set(wanted.filter(Number.isInteger))];
  return { tickvals: kept.map((i) => points[i].x), ticktext: kept.map((i) => escapeForPlotly(points[i].title, 18)) };
};

/** The critical difference from the best, shaded; nothing where there is no such figure. */
const criticalDifference = ({ x, mean_ranks: ranks, critical_difference: difference }) => {
  if (difference === null) return [];
  const best = Math.min(...Object.values(ranks));
  return [
    {
      type: "rect",
      layer: "below",
      x0: x - 0.02,
      x1: x + 0.02,
      y0: best,
      y1: best + difference,
      line: { width: 0 },
      fillcolor: translucent("--line-baseline", 0.3),
    },
  ];
};

const shapesAt = (point) => [...criticalDifference(point), verticalLine(point.x)];

const lineOf = (points, name) =>
  lineTrace(learnerStyle(name), {
    name: escapeForPlotly(name),
    meta: { name, part: "line" },
    x: points.map((point) => point.x),
    y: points.map((point) => point.mean_ranks[name] ?? null),
    text: points.map(
      ({ title, mean_ranks: ranks }) =>
        `${escapeForPlotly(name)}<br>${escapeForPlotly(title)}<br>mean rank ${ranks[name]?.toFixed(2)}`,
    ),
  });

const describeChart = (state, width) => {
  const points = pointsOf(state);
  const names = CONTENTS.learners.filter((name) => points.some((point) => name in point.mean_ranks));
  return {
    traces: names.map((name) => lineOf(points, name)),
    layout: {
      xaxis: { ...describeTicks(points, width), range: [-0.05, 1.05], showgrid: false },
      yaxis: { title: { text: "mean rank" }, autorange: "reversed", dtick: 1 },
      margin: { ...MARGIN, r: 36 },
      shapes: shapesAt(chosenPoint(state)),
    },
    words: `Mean ranks of ${formatCount(names.length, WORD)} over data sets; a table lists them.`,
  };
};

const describeTest = ({ critical_difference: difference, friedman_p: p }) => {
  const test = p === null ? "" : `Friedman test: ${formatP(p)}. `;
  return test + (difference === null ? "" : `Critical difference: ${formatRank(difference)}.`);
};

/** What the panel shows where the slider stands. */
const describeRanking = (state) => {
  const [points, point] = [pointsOf(state), chosenPoint(state)];
  const entries = Object.entries(point.mean_ranks).map(([name, value]) => ({
    name,
    value,
    format: formatRank,
    competes: true,
  }));
  const where = visibleText(point.title);
  const count = formatCount(point.n_datasets, "data set");
  return {
    index: state.index,
    count: points.length,
    where,
    ends: [visibleText(points[0].title), visibleText(points.at(-1).title)],
    ranking: rankingTable(entries, HEADINGS, `Mean ranks over ${count}`),
    words: rankingWords(where, entries),
    remark: [
      `${count}. ${describeTest(point)}`,
      ...CONTENTS.datasets.flatMap((dataset) => sameAsBaselineSentences(dataset, MODELS)),
    ].join(" "),
  };
};

export const ranksView = (place) => {
  const families = CONTENTS.families.filter((name) => CONTENTS.across[name]?.length);
  const state = { family: families[0], index: 0 };
  const drawing = element("div", { className: "chart" });
  const draw = chart(drawing, () => describeChart(state, drawing.clientWidth));
  const slide = (index) => {
    state.index = index;
    moveShapes(drawing, shapesAt(chosenPoint(state)));
    panel.show(describeRanking(state));
  };
  const panel = sliderPanel("Where to compare mean ranks", slide);
  const update = () => {
    draw();
    panel.show(describeRanking(state));
  };
  const switchFamily = (i) => {
    state.family = families[i];
    state.index = Math.min(state.index, pointsOf(state).length - 1);
    update();
  };
  place.append(
    controlBar(familyChoices(families, switchFamily)),
    element("div", { className: "split" }, drawing, panel.whole),
  );
  update();
};
