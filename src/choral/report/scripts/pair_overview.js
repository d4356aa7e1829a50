// All pairs of models as small pictures of their differences, to choose one from.

import { shareOf } from "./axis.js";
import { CONSTANTS, CONTENTS } from "./contents.js";
import { element } from "./elements.js";
import { DASH_PICTURES, svgElement } from "./lines.js";
import { datasetStyle, findPair } from "./pairs.js";
import { visibleText } from "./texts.js";

const [WIDTH, HEIGHT] = [100, 60]; // of a picture, in units of its own
const WIDE = matchMedia("(min-width: 54rem)").matches; // on a phone the pictures would be a long way to scroll
const NOTE =
  "The same differences in small, to choose a pair from. Above the line the one named last is better. " +
  "Each picture has a scale of its own: it reaches as far above and below 0 as the number in it says; " +
  "“1 beyond” says that one line leaves it.";

/** The least round number that is not below a size; 1 for 0. */
const roundLimit = (size) => {
  if (size <= CONSTANTS.rounding) return 1;
  const power = 10 ** Math.floor(Math.log10(size));
  const factor = CONSTANTS.round_numbers.find((each) => size <= each * power + CONSTANTS.rounding) ?? 10;
  return Number((factor * power).toPrecision(2)); // without the rounding of the product
};

/** How far from 0 a picture should reach, and whether a single line that would leave the others no room goes beyond. */
const findLimit = (pairs) => {
  const sizes = pairs.map((pair) => Math.max(...pair.difference.map(Math.abs))).toSorted((a, b) => b - a);
  const [largest, second] = sizes;
  const isAlone =
    sizes.length >= CONSTANTS.min_lines && largest > CONSTANTS.far * second && second > CONSTANTS.rounding;
  const limit = roundLimit(isAlone ? second : largest);
  return { limit, isBeyond: largest > limit + CONSTANTS.rounding };
};

/** A line from point to point; numbers are cut to keep the document small. */
const pathThrough = (points) => `M${points.map((point) => point.map((each) => each.toFixed(1)).join(" ")).join("L")}`;

const linePicture = (pair, right, limit) => {
  const { colour, dash } = datasetStyle(pair.dataset);
  const points = pair.difference.map((difference, i) => [
    (WIDTH * shareOf(pair.family, i)) / right,
    (HEIGHT / 2) * (1 - difference / limit),
  ]);
  const line = svgElement("path", { d: pathThrough(points), "stroke-dasharray": DASH_PICTURES[dash] });
  line.style.stroke = `var(${colour})`;
  return line;
};

/** The differences on all data sets above and below 0; `limit` is how far the picture reaches. */
const picture = (pairs, limit) => {
  const right = Math.max(...pairs.map(({ family }) => shareOf(family, family.parameters.length - 1))) || 1;
  const drawing = svgElement("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  drawing.append(
    svgElement("path", { d: `M0 ${HEIGHT / 2}H${WIDTH}`, class: "zero" }),
    ...pairs.map((pair) => linePicture(pair, right, limit)),
  );
  return drawing;
};

const pictureWithScale = (pairs) => {
  const { limit, isBeyond } = findLimit(pairs);
  return [picture(pairs, limit), element("span", {}, `±${limit}${isBeyond ? ", 1 beyond" : ""}`)];
};

/** Each two of these names, in their order. */
export const allPairs = (names) => names.flatMap((first, i) => names.slice(i + 1).map((second) => ({ first, second })));

/** A radio button for each pair; `show` draws those of a family and marks the pair with this index. */
export const pairOverview = (names, onChoose) => {
  const couples = allPairs(names);
  const inputs = couples.map((_, i) => {
    const input = element("input", { type: "radio", name: "pair" });
    input.addEventListener("change", () => onChoose(i));
    return input;
  });
  const pictures = couples.map(() => element("span", {}));
  const labels = couples.map(({ first, second }, i) =>
    element(
      "label",
      {},
      inputs[i],
      element("span", { className: "name" }, `${visibleText(second)} ${CONSTANTS.minus} ${visibleText(first)}`),
      pictures[i],
    ),
  );
  const drawPicture = (family, i) => {
    const { first, second } = couples[i];
    const pairs = CONTENTS.datasets.map((dataset) => findPair(dataset, family, first, second)).filter(Boolean);
    pictures[i].replaceChildren(...(pairs.length ? pictureWithScale(pairs) : ["no data set"]));
  };
  const whole = element(
    "details",
    { className: "overview", open: WIDE },
    element("summary", {}, "All pairs"),
    element("p", { className: "note" }, NOTE),
    element("div", { role: "radiogroup", "aria-label": "All pairs" }, ...labels),
  );
  whole.hidden = couples.length < 2;
  let drawn = null;
  const show = (family, index) => {
    if (drawn !== family) couples.forEach((_, i) => drawPicture(family, i));
    drawn = family;
    inputs[index].checked = true;
  };
  return { whole, show };
};
