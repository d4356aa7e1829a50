// A chart: Plotly with our colours, without its buttons that would send data away, with its words for screen readers.

import { redrawWithTheme, themeValue } from "./theme.js";

const HAS_MOUSE = matchMedia("(pointer: fine)").matches; // a finger scrolls the page instead of zooming the chart
const TRANSPARENT = "rgba(0,0,0,0)";

// A list of buttons rather than of exceptions: one of Plotly's own buttons would send the chart to its maker.
const CONFIG = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtons: [HAS_MOUSE ? ["zoom2d", "pan2d", "resetScale2d", "toImage"] : ["toImage"]],
};

/** The space around the axes, in pixels; charts change single sides of it. */
export const MARGIN = { l: 48, r: 14, t: 30, b: 44 };

/** Pixels: a narrower chart has fewer ticks and short titles. */
export const NARROW = 500;

const completeAxis = (axis = {}) => ({
  color: themeValue("--quiet"),
  gridcolor: themeValue("--grid"),
  linecolor: themeValue("--rule"),
  zeroline: false,
  fixedrange: !HAS_MOUSE,
  automargin: true,
  ...axis,
  ...(axis.title ? { title: { ...axis.title, font: { size: 13 } } } : {}),
});

const completeLayout = (layout) => ({
  paper_bgcolor: TRANSPARENT,
  plot_bgcolor: TRANSPARENT,
  showlegend: false,
  hovermode: "closest",
  font: { family: themeValue("--font"), size: 13, color: themeValue("--ink") },
  margin: MARGIN,
  modebar: { bgcolor: TRANSPARENT, color: themeValue("--quiet"), activecolor: themeValue("--ink") },
  hoverlabel: {
    bgcolor: themeValue("--panel"),
    bordercolor: themeValue("--rule"),
    font: { color: themeValue("--ink") },
    align: "left",
  },
  dragmode: HAS_MOUSE ? "zoom" : false,
  ...layout,
  xaxis: completeAxis(layout.xaxis),
  yaxis: completeAxis(layout.yaxis),
});

/** A function that draws the chart; `describe` returns traces, layout and, in words, what the chart shows. */
export const chart = (place, describe) => {
  const draw = () => {
    const { traces, layout, words } = describe();
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", words);
    Plotly.react(place, traces, completeLayout(layout), CONFIG);
  };
  redrawWithTheme(draw);
  return draw;
};

/** Move the shapes of a chart alone: drawing its lines again would lag behind a slider. */
export const moveShapes = (place, shapes) => Plotly.relayout(place, { shapes });

/** A dotted line from the bottom to the top. */
export const verticalLine = (x) => ({
  type: "line",
  x0: x,
  x1: x,
  y0: 0,
  y1: 1,
  yref: "paper",
  line: { color: themeValue("--ink"), width: 1.5, dash: "dot" },
});

/** A text in a corner of the axes. */
export const cornerText = (text, isLeft, isTop) => ({
  text,
  showarrow: false,
  xref: "paper",
  yref: "paper",
  x: isLeft ? 0.02 : 0.98,
  y: isTop ? 0.98 : 0.02,
  xanchor: isLeft ? "left" : "right",
  yanchor: isTop ? "top" : "bottom",
  font: { size: 13, color: themeValue("--quiet") },
});

/** A text above the axes, so many pixels higher. */
export const textAbove = (text, height) => ({
  ...cornerText(text, true, true),
  x: 0,
  y: 1,
  yanchor: "bottom",
  yshift: height,
});
