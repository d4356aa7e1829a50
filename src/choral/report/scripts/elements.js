// Elements of the document, and the controls that a user sets.

import { familyTitle, visibleText } from "./texts.js";

/** A new element; strings among its children become text, never markup. */
export const element = (tag, properties = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

/** A list to choose from, hidden where there is no choice. */
export const select = (title, names, onChange) => {
  const options = names.map((name, i) => element("option", { value: i }, visibleText(name)));
  const control = element("select", {}, ...options);
  control.addEventListener("change", () => onChange(control.selectedIndex));
  const whole = element("label", { className: "control" }, element("span", {}, title), control);
  whole.hidden = names.length < 2;
  return { whole, control };
};

let groups = 0;

/** Radio buttons in a row, the first one chosen; hidden where there is no choice. */
export const choices = (title, names, onChange) => {
  const group = `choice-${groups++}`;
  const labels = names.map((name, i) => {
    const input = element("input", { type: "radio", name: group, checked: i === 0 });
    input.addEventListener("change", () => onChange(i));
    return element("label", {}, input, element("span", {}, name));
  });
  const whole = element(
    "fieldset",
    { className: "control" },
    element("legend", {}, title),
    element("div", { className: "choices" }, ...labels),
  );
  whole.hidden = names.length < 2;
  return whole;
};

export const familyChoices = (families, onChange) => choices("Family of losses", families.map(familyTitle), onChange);

export const checkbox = (checked, onChange, ...content) => {
  const input = element("input", { type: "checkbox", checked });
  input.addEventListener("change", () => onChange(input.checked));
  return element("label", { className: "check" }, input, ...content);
};

export const button = (title, onClick) => {
  const made = element("button", { type: "button" }, title);
  made.addEventListener("click", onClick);
  return made;
};

/** What a list or a row of choices calls: it keeps the chosen value in the state of its view, then updates the view. */
export const storeChoice = (state, key, values, update) => (i) => {
  state[key] = values[i];
  update();
};

/** Controls above what they change. */
export const controlBar = (...controls) => element("div", { className: "controls" }, ...controls);

/** Let a box end below a whole row, whatever its width: half a row looks like a mistake. */
export const endAtRow = (box) => {
  const fit = () => {
    box.style.maxHeight = "";
    if (box.scrollHeight <= box.clientHeight) return;
    const frame = box.offsetHeight - box.clientHeight; // its borders and scroll bar
    const ends = [...box.querySelectorAll("tr")].map((row) => row.offsetTop + row.offsetHeight);
    const last = Math.max(...ends.filter((end) => end <= box.clientHeight));
    if (last > 0) box.style.maxHeight = `${last + frame}px`;
  };
  new ResizeObserver(fit).observe(box.querySelector("table"));
};

/** A box that scrolls on its own, by keyboard too, around a table. */
export const scrollBox = (content, title) => {
  const box = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title }, content);
  endAtRow(box);
  return box;
};
