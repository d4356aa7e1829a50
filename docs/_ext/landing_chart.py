"""The chart of the landing page: choral's own report on docs/examples, whole and as the chart alone, at each build."""

from pathlib import Path

import pandas as pd

import choral

EXAMPLES = Path(__file__).parents[1] / "examples"
MODELS = {"a tree for each label": "binary_relevance.csv", "one tree for label sets": "label_powerset.csv"}
CHART_ALONE = """<style>
  body { padding: 0.5rem 0.75rem; }
  header, .skip, .first > div, main > section, #curves > :not(.split),
  .legend-box, .panel .note, .modebar { display: none; }
  html .first:has(> section), .first > section { display: block !important; margin: 0 !important; }
  .first .split > .panel { max-width: none; margin: 0; }
  @media (min-width: 54rem) {
    .first .split { display: flex; align-items: center; }
    .first .split > .chart { flex: 1; }
    .first .split > .panel { flex: 0 0 23rem; }
  }
</style>
</head>"""


def write_pages(app, exception):
    """Write report.html, and chart.html, which hides all of it but the first chart."""
    if exception is not None or app.builder.format != "html":
        return
    report = Path(app.outdir) / "report.html"
    truth, *predictions = (pd.read_csv(EXAMPLES / name, index_col="id") for name in ("true.csv", *MODELS.values()))
    choral.evaluate(truth, dict(zip(MODELS, predictions, strict=True))).report(report, title="Segments of digits")
    page = report.read_text(encoding="utf-8")
    (Path(app.outdir) / "chart.html").write_text(page.replace("</head>", CHART_ALONE, 1), encoding="utf-8")


def setup(app):
    """Write the pages when the others are there."""
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
