// What Python wrote into the page: the figures to draw, and the constants that its own drawings use.

const isObject = (value) => value && typeof value === "object" && !Array.isArray(value);

/** Objects without a prototype: a name such as "constructor" is found only where it was given. */
const withoutPrototype = (_, value) => (isObject(value) ? Object.assign(Object.create(null), value) : value);

export const CONTENTS = JSON.parse(document.getElementById("contents").textContent, withoutPrototype);

/** Written by choral/report/constants.py, where each of them is explained. */
export const CONSTANTS = CONTENTS.constants;

/** What is compared: "learner" in a study, "model" in an evaluation. */
export const WORD = CONSTANTS.word;

/** The same as the heading of a column. */
export const WORD_HEADING = WORD[0].toUpperCase() + WORD.slice(1);

/** Names of all that compete: the baseline does not. */
export const MODELS = CONTENTS.learners.filter((name) => name !== CONTENTS.baseline);

/** Whether a parameter is infinity, which JSON does not know. */
export const isInfinity = (parameter) => parameter === CONSTANTS.infinity;

/** Each family of each data set. */
export function* eachFamily() {
  for (const dataset of CONTENTS.datasets) {
    for (const [name, family] of Object.entries(dataset.families)) yield { dataset, name, family };
  }
}
