"""The tables of docs/networks.md, which `scripts/network_page.py` writes."""

from collections.abc import Iterator

import numpy as np

from network_results import BCE, COMPARED, PLACES, Difference, Study, Summaries, Way
from paper_page import table


def cell(name: str) -> str:
    """A star must not be taken for emphasis."""
    return name.replace("*", "\\*")


def summaries(found: Summaries) -> Iterator[str]:
    """All ways over all data sets."""
    rows = ([cell(name), *(str(found[name, place]) for place in PLACES)] for name in COMPARED)
    yield from table(["", *(f"k = {place}" for place in PLACES)], rows)


def by_dataset(study: Study, place: str) -> Iterator[str]:
    """The loss of BCE on each data set, and the differences of all ways."""
    columns = [study.compare(way) for way in COMPARED.values()]
    rows = (
        [
            f"{dataset}, k = {study.k(dataset, place)}",
            f"{study.folds(dataset, place, BCE).mean():.4f}",
            *(str(column[dataset, place]) for column in columns),
        ]
        for dataset in study.datasets
    )
    yield from table(["", "BCE", *map(cell, COMPARED)], rows)


def datasets(study: Study) -> Iterator[str]:
    """Sizes, and k*."""
    rows = (
        [
            name,
            *(str(of[key]) for key in ("n_rows", "n_features")),
            str(of["places"]["K"]),
            str(of["n_labelsets"]),
            ", ".join(f"{k} ({n})" if len(study.caps(name)) > 1 else str(k) for k, n in study.caps(name).items()),
        ]
        for name, of in study.datasets.items()
    )
    yield from table(["", "rows", "features", "labels K", "label sets", "k\\* (in how many folds)"], rows)


def across(study: Study) -> Iterator[str]:
    """Differences from BCE of single trainings, a mean over the data sets; hedging; epochs and seconds."""
    rows = ([loss, *_beside_bce(study, loss), *_said(study, loss)] for loss in study.losses)
    places = (f"judged at k = {place}" for place in PLACES)
    yield from table(["trained with", *places, "hedged", "epochs", "seconds"], rows)


def _beside_bce(study: Study, loss: str) -> Iterator[str]:
    for place in PLACES:
        yield str(Difference(study.mean_difference(place, Way(loss)), is_sure=False))


def _said(study: Study, loss: str) -> tuple[str, str, str]:
    found = [of["losses"][loss] for of in study.datasets.values()]
    hedged = "" if found[0]["hedged"] is None else f"{np.mean([each['hedged'] for each in found]):.0%}"
    epochs, seconds = np.mean([np.mean(each["epochs"]) for each in found]), sum(each["seconds"] for each in found)
    return hedged, f"{epochs:.0f}", f"{seconds:.0f}"
