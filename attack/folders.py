"""Folders of studies as somebody else may send them: what they say is odd, and all checksums fit."""

import io
import json
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from choral.cli.study.printing import print_study
from choral.datasets import make_dependent
from choral.learners import BinaryRelevance, ConstantLabels, LabelPowerset
from choral.paper import Yardstick
from choral.study import Plan, Results, Split, StudyData, StudyLearner, run_study
from choral.study.store import Store
from formats import Files, Format, run_here
from mutations import change_bytes, change_json, change_npy, npy_bytes, pack_npz, pick, some

PAGES = 6  # of so many damaged folders, one is made into a page: that takes ten times as long as the tables
_GOOD: Files = {}


class Refusing(ConstantLabels):
    """A learner whose cells fail."""

    def fit(self, X, Y):
        raise ValueError("not <b>today</b>")


def good_study() -> Files:
    """The files of a small finished study, made once a process."""
    if not _GOOD:
        plan = Plan(
            [StudyData("synthetic", make_dependent(30, 3, dependence=0.8, random_state=0))],
            [
                StudyLearner("BR", BinaryRelevance()),
                StudyLearner("LP", LabelPowerset(), each_loss=True),
                StudyLearner("refusing", Refusing()),
                StudyLearner("none", ConstantLabels(), is_baseline=True),
            ],
            split=Split(folds=2),
            analyses=[Yardstick(ours=["LP"])],
        )
        with tempfile.TemporaryDirectory() as folder:
            run_study(plan, folder, n_jobs=1)
            files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
            _GOOD.update({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})
    return dict(_GOOD)


def damage_study_json(rng: np.random.Generator) -> Files:
    files = good_study()
    files["study.json"] = json.dumps(some(rng, change_json, json.loads(files["study.json"]))).encode()
    return files


def damage_cell(rng: np.random.Generator) -> Files:
    """A cell: what is said about it, its predictions, or why it failed."""
    files = good_study()
    name = pick(rng, [name for name in sorted(files) if name.startswith("cells/")])
    if name.endswith(".json"):
        files[name] = json.dumps(some(rng, change_json, json.loads(files[name]))).encode()
    else:
        files[name] = _damage_arrays(rng, files[name], "about")
    return files


def damage_labels(rng: np.random.Generator) -> Files:
    files = good_study()
    name = pick(rng, [name for name in sorted(files) if name.startswith("labels/")])
    files[name] = _damage_arrays(rng, files[name], "label_names")
    return files


def _damage_arrays(rng: np.random.Generator, content: bytes, text: str) -> bytes:
    """Damage JSON that is kept as an array, an array, or the bytes of the archive."""
    if rng.random() < 0.1:
        return some(rng, change_bytes, content)
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    entries = {name: npy_bytes(array) for name, array in arrays.items()}
    if rng.random() < 0.5:
        value = some(rng, change_json, json.loads(arrays[text].tobytes()))
        entries[text] = npy_bytes(np.frombuffer(json.dumps(value).encode(), dtype=np.uint8))
    else:
        name = pick(rng, list(arrays))
        entries[name] = change_npy(rng, arrays[name])
    return pack_npz(entries)


def read_study(folder: Path) -> None:
    """All tables and what the command prints; a page now and then; and what a study that goes on here would read."""
    results = Results(folder, n_bootstrap=10)
    store = Store(folder)
    for dataset in results.datasets:
        for cell in results.cells(dataset):
            store.read_failure(cell.key)
    results.tables()
    print_study(results, [])
    if sum(path.stat().st_size for path in folder.rglob("*.*")) % PAGES == 0:
        page = folder / "page.html"
        run_here("report", folder, "--out", page)
        if page.exists():
            check_page(page.read_text(encoding="utf-8"))


class _Page(HTMLParser):
    """Collects the elements that a hostile name would make."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if any(name.startswith("on") or "attack" in (value or "") for name, value in attrs if name != "title"):
            self.found.append(self.get_starttag_text() or tag)


def check_page(html: str) -> None:
    """A page has no element that comes out of a name: no attribute on..., nothing that says attack."""
    parser = _Page()
    parser.feed(html)
    assert not parser.found, f"markup of a stranger is on the page: {parser.found[0][:200]}"


STUDY_FORMATS = {
    "study.json": Format(damage_study_json, read_study, 0.01),
    "cells": Format(damage_cell, read_study, 0.01),
    "labels": Format(damage_labels, read_study, 0.01),
}
