// Tables that a click on a heading sorts.

import { isInfinity } from "./contents.js";
import { button, element } from "./elements.js";
import { formatNumber, formatParameter, visibleText } from "./texts.js";

export const textHeading = (title) => ({ text: title });
export const numberHeading = (title) => ({ text: title, isNumber: true });

/** A cell that is sorted by its number, of which the text shows a few digits. */
export const numberCell = (value, format = formatNumber) => ({ text: format(value), value: value ?? "" });
export const parameterCell = (value) => ({ text: formatParameter(value), value: isInfinity(value) ? Infinity : value });

/** A cell is a text, a node, or a text with the value to sort by. */
export const table = (caption, headings, rows) => {
  const classOf = (heading) => (heading.isNumber ? "number" : "");
  const cell = (content, i) => {
    const inner = content.node ?? visibleText(content.text ?? content);
    const made = element("td", { className: classOf(headings[i]) }, inner);
    if (content.value !== undefined) made.dataset.value = content.value;
    return made;
  };
  const body = rows.map((row) => element("tr", { className: row.kind ?? "" }, ...row.cells.map(cell)));
  const head = headings.map((heading) => element("th", { scope: "col", className: classOf(heading) }, heading.text));
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body),
  );
};

const sortKey = (row, column) => {
  const { dataset, textContent } = row.cells[column];
  const number = Number(dataset.value ?? NaN);
  return dataset.value === "" || Number.isNaN(number) ? textContent : number;
};

/** Numbers before words, and words as people sort them. */
const compareKeys = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, undefined, { numeric: true });
};

const sortBy = (whole, column) => {
  const headers = [...whole.tHead.rows[0].cells];
  const direction = headers[column].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  headers.forEach((header) => header.removeAttribute("aria-sort"));
  headers[column].setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...whole.tBodies[0].rows];
  rows.sort((a, b) => sign * compareKeys(sortKey(a, column), sortKey(b, column)));
  whole.tBodies[0].append(...rows);
};

/** Turn the headings of a table into buttons that sort it; returns the table. */
export const makeSortable = (whole) => {
  [...whole.tHead.rows[0].cells].forEach((header, column) => {
    const sorter = button(header.textContent, () => sortBy(whole, column));
    header.replaceChildren(sorter);
  });
  return whole;
};
