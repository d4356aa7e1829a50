// A slider with a ranking below it, beside a chart. An entry of a ranking has a name, a value of which less is better,
// `format` to write the value, and `competes`, which is false for a baseline: it is listed without a rank.

import { CONSTANTS } from "./contents.js";
import { element } from "./elements.js";
import { learnerStyle, nameWithSwatch } from "./lines.js";
import { table } from "./tables.js";
import { visibleText } from "./texts.js";

const byValue = (a, b) => a.value - b.value;

/** Equal values share the better rank; values that differ by rounding alone are equal. */
const rankOf = (entry, entries) =>
  entry.competes
    ? 1 + entries.filter((other) => other.competes && other.value < entry.value - CONSTANTS.rounding).length
    : null;

/** The distance to the best, a dash for the best itself and where none competes. */
const formatGap = (gap, format) => {
  const size = Math.abs(gap);
  const hasGap = size > CONSTANTS.rounding && size < Infinity;
  return hasGap ? `${gap > 0 ? "+" : CONSTANTS.minus}${format(size)}` : CONSTANTS.missing;
};

const rowKind = (rank) => {
  if (rank === null) return "baseline";
  return rank === 1 ? "best" : "";
};

/** A table of entries, the best first. */
export const rankingTable = (entries, headings, title) => {
  const best = Math.min(...entries.filter((entry) => entry.competes).map((entry) => entry.value));
  const rows = entries.toSorted(byValue).map((entry) => {
    const rank = rankOf(entry, entries);
    return {
      kind: rowKind(rank),
      cells: [
        rank === null ? CONSTANTS.missing : String(rank),
        { node: nameWithSwatch(entry.name, learnerStyle(entry.name)) },
        entry.format(entry.value),
        formatGap(entry.value - best, entry.format),
      ],
    };
  });
  const whole = table(title, headings, rows);
  whole.className = "ranking";
  return whole;
};

/** The best three, for a screen reader to say. */
export const rankingWords = (where, entries) => {
  const order = entries.filter((entry) => entry.competes).toSorted(byValue);
  const lines = order
    .slice(0, 3)
    .map((entry, i) => `${i + 1}. ${visibleText(entry.name)} ${entry.format(entry.value)}`);
  return `${where}: ${lines.join("; ")}`;
};

/** The slider and what is below it; `show` writes what holds at the chosen point. */
export const sliderPanel = (title, onInput) => {
  const value = element("output", { className: "value" });
  const slider = element("input", { type: "range", min: 0, step: 1, "aria-label": title });
  const ends = element("div", { className: "ends", "aria-hidden": "true" });
  const place = element("div", { className: "scroll" });
  const note = element("p", { className: "note" });
  const news = element("p", { className: "visually-hidden", "aria-live": "polite" });
  slider.addEventListener("input", () => onInput(Number(slider.value)));
  const whole = element("div", { className: "panel" }, value, slider, ends, place, note, news);
  const show = ({ index, count, where, ends: [left, right], ranking, words, remark }) => {
    slider.max = count - 1;
    slider.value = index;
    slider.disabled = count < 2;
    slider.setAttribute("aria-valuetext", where);
    value.textContent = where;
    ends.replaceChildren(element("span", {}, left), element("span", {}, right));
    place.replaceChildren(ranking);
    note.textContent = remark;
    news.textContent = words;
  };
  return { whole, show };
};
