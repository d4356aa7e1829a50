"""Pictures say how large they are and what they show.

With its size known, a browser keeps the place of a picture free, and nothing moves when it comes. Figures of the
gallery get their alternative texts here: Sphinx-Gallery knows the titles of their axes at best.
"""

import re
import struct
from html import escape
from pathlib import Path
from typing import Any

from sphinx.util import logging

logger = logging.getLogger(__name__)

SHOWN = {
    "plot_evaluate_001": (
        "Loss of three models for k = 1 to 7. The forest is lowest everywhere; the two trees cross between k = 2 and 3."
    ),
    "plot_explain_001": (
        "Left: for each segment its share of the Hamming loss and of the subset 0/1 loss; the middle has most of "
        "both. Right: a matrix of how strongly segments are wrong together; bottom and middle most of all."
    ),
    "plot_grid_search_001": (
        "Cross-validated loss by the least rows in a leaf, for a tree for each label and a tree for label sets: "
        "for Hamming loss the first is lower, for k = 3 and subset 0/1 the second."
    ),
    "plot_missing_labels_001": (
        "The labels of 40 training rows as a grid: red is relevant, blue irrelevant, and 40 % are pale, since they "
        "are not known."
    ),
    "plot_missing_labels_002": (
        "Loss of three forests for k = 1 to 7. With nan for unknown labels it is close to that with all labels, "
        "with 0 for them far above."
    ),
    "plot_own_measure_001": (
        "Bars: the losses of three models under five measures, from Hamming to subset 0/1. The forest is best "
        "under all."
    ),
    "plot_own_measure_002": (
        "Left: how right each segment of one row is, as bars; their area is the mean. Right: slices by level, as "
        "wide as the segments that reach it are worth together; their area is the Choquet integral."
    ),
    "plot_paper_figures_001": (
        "Losses of BR, CC, LP, RAkEL-3 and EPCT on emotions: left for k = 1 to 6, right for alpha from 1 to 1000."
    ),
    "plot_paper_figures_002": (
        "Left: the loss of LP over that of BR, a curve for each data set, three of which cross the diagonal. "
        "Right: the ratio of both losses for each k."
    ),
    "plot_calibrate_001": (
        "Loss of the labels cut at 0.5 and of those decided jointly, for k = 1 to 7: the second is lower "
        "everywhere, most at k = 7."
    ),
    "plot_calibrate_002": (
        "Six images of digits; below each the segments cut at 0.5, which are no digit, and those decided jointly."
    ),
    "plot_each_k_001": (
        "Left: expected loss of the best prediction and of both modes for k = 1 to 5. Right: which of five labels "
        "the best prediction has for each k; all five change from k = 3 to k = 4."
    ),
    "plot_thresholds_001": (
        "Bars: gain over a cut at 0.5 for six losses. Deciding jointly gains next to nothing for Hamming and most "
        "for subset 0/1; tuned thresholds gain little for any."
    ),
    "plot_auto_joint_001": (
        "Loss of AutoJoint and of a random forest for k = 1 to 7: AutoJoint is lower, and its lead grows with k."
    ),
    "plot_study_001": (
        "Losses of BR, CC and LP for k = 1 to 5. With independent labels they hardly differ at the end; with "
        "dependent labels BR starts lowest and ends highest."
    ),
    "plot_dask_001": (
        "The model with single mistakes rises from 0.03 to 0.31; the one with whole wrong rows stays at 0.05."
    ),
    "plot_hugging_face_001": (
        "Loss of a fine-tuned network for k = 1 to 7, for labels cut at 0.5 and for those decided jointly."
    ),
    "plot_torch_001": (
        "Left: subset 0/1 loss by epoch, for training with k = 1 and k = 3. Right: the loss curves of both "
        "networks at the end; that of k = 3 is lower for larger k."
    ),
}


def size_of_png(path: Path) -> tuple[int, int]:
    """Width and height in pixels, which a PNG file says in its header."""
    with path.open("rb") as file:
        return struct.unpack(">II", file.read(24)[16:])


def describe_pictures(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the pictures of a page their width, height and alternative text."""
    sources = {name: Path(app.srcdir, source) for source, name in app.builder.images.items()}
    # What the gallery draws reaches the folder of images by another way.
    sources |= {path.name: path for path in Path(app.srcdir).glob("auto_examples/**/images/**/*.png")}

    def described(found: re.Match) -> str:
        tag, name = found[0], found[1]
        if figure := re.fullmatch(r"sphx_glr_(plot_.*_\d+)\.png", name):
            if figure[1] not in SHOWN:
                logger.warning("docs/_ext/pictures.py does not say what %s shows", figure[1], location=page)
            tag = re.sub(r'alt="[^"]*"', f'alt="{escape(SHOWN.get(figure[1], ""))}"', tag)
        if name not in sources or re.search(r"\s(width|style)=", tag):
            return tag
        width, height = size_of_png(sources[name])
        return tag.replace("<img ", f'<img width="{width}" height="{height}" ', 1)

    if "body" in context:
        context["body"] = re.sub(r'<img [^>]*src="[^"]*_images/([^"/]+\.png)"[^>]*>', described, context["body"])


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", describe_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
