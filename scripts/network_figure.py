"""The figure of docs/networks.md: what ways to train and decide gain and lose on each data set."""

from collections.abc import Sequence

import matplotlib as mpl

mpl.use("Agg")  # files need no window
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from network_results import COMPARED, Study

TITLES = {"1": "k = 1: Hamming loss", "K/2": "k = K/2", "K": "k = K: subset 0/1 loss"}
COLOURS = {-1: "tab:blue", 0: "0.45", 1: "tab:orange"}  # lower, neither, higher


def draw(study: Study, ways: Sequence[str]) -> Figure:
    """A panel for each k, a row for each way, a dot for each data set."""
    found, compared = study.summarise(), {name: study.compare(COMPARED[name]) for name in ways}
    figure, axes = plt.subplots(1, len(TITLES), figsize=(9.4, 3.4), layout="constrained", sharey=True)
    for ax, (place, title) in zip(axes, TITLES.items(), strict=True):
        for row, name in enumerate(ways):
            means = np.array([compared[name][dataset, place].mean for dataset in study.datasets])
            over_all = found[name, place].over_all
            nudges = np.linspace(-0.16, 0.16, len(means))  # so that equal ones are seen
            ax.scatter(
                means, row + nudges, s=12, c=[COLOURS[sign] for sign in np.sign(means.round(4))], alpha=0.7, lw=0
            )
            ax.vlines(over_all.mean, row - 0.36, row + 0.36, color="black", lw=3.5 if over_all.is_sure else 1.2)
        ax.axvline(0, color="0.6", lw=0.8, zorder=0)
        ax.set_title(title, loc="left", fontsize="medium")
        ax.set_xlabel("loss, less that of BCE cut at 0.5", fontsize="small")
        ax.tick_params(labelsize="small")
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=5)
        ax.grid(axis="x", alpha=0.3)
        ax.spines[["top", "right", "left"]].set_visible(False)
    axes[0].set_yticks(range(len(ways)), [name.replace("`", "") for name in ways])
    axes[0].invert_yaxis()
    return figure
