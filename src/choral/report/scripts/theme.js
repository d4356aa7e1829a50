// Colours: they come from the style sheet, which has light, dark and printed ones.

const redraws = [];

/** Call this function again whenever the colours change. */
export const redrawWithTheme = (draw) => redraws.push(draw);

for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  matchMedia(query).addEventListener("change", () => redraws.forEach((draw) => draw()));
}

/** The present value of a variable of the style sheet, such as "--ink". */
export const themeValue = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

/** A colour of the style sheet through which one can see; opacity 1 is opaque. */
export const translucent = (variable, opacity) => {
  const hex = themeValue(variable);
  const channels = [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  return `rgba(${channels.join(",")},${opacity})`;
};
