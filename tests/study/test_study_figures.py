"""Figures of a study: one file each for what there is to show, named safely, written whole, the same every time."""

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral import PairwiseCurve
from choral.profiles import ErrorProfile
from choral.stats import compare_ranks
from choral.study.comparisons import PLACES
from choral.study.figures import file_stems, slug

HOSTILE = "<b>$x^2$</b>\n"
SIGNATURES = {"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<?xm"}
FOLDERS = ("curves", "pairs", "ratios", "pages", "ranks", "dependence")


class Band(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray


class RandomResults:
    """What `write_figures` asks of results, made of random predictions; some learners fail on some data sets."""

    baseline = "nothing"

    def __init__(self, datasets, learners, *, families=("binomial",), failed=(), same=()):
        self.datasets, self.families = tuple(datasets), families
        self.learners = (*learners, self.baseline)
        self.failed, self.same = failed, same
        rng = np.random.default_rng(0)
        self.truths = {dataset: rng.integers(2, size=(40, n), dtype=np.uint8) for dataset, n in datasets.items()}
        self.profiles = {
            (dataset, learner): ErrorProfile.from_predictions(Y, Y ^ (rng.random(Y.shape) < rng.uniform(0.1, 0.4)))
            for dataset, Y in self.truths.items()
            for learner in self.learners
            if (dataset, learner) not in failed
        }

    def curves(self, dataset, family):
        finished = [learner for learner in self.learners if (dataset, learner) in self.profiles]
        return {learner: self.profiles[dataset, learner].curve(family, name=learner) for learner in finished}

    def bands(self, dataset, family):
        curves = self.curves(dataset, family)
        return {learner: Band(curve.losses - 0.05, curve.losses + 0.05) for learner, curve in curves.items()}

    def pairs(self, first, second, family):
        both = {dataset: self.curves(dataset, family) for dataset in self.datasets}
        return {
            dataset: PairwiseCurve(curves[first], curves[second])
            for dataset, curves in both.items()
            if {first, second} <= set(curves)
        }

    def same_as_baseline(self, dataset):
        return tuple(learner for learner in self.learners if (dataset, learner) in self.same)

    @property
    def competitors(self):
        return self.learners[:-1]

    def places(self, family):
        return PLACES

    def ranks_or_none(self, family, x):
        learners = self.competitors
        if self.failed or len(self.datasets) < 2:
            return None
        curves = [self.curves(dataset, family) for dataset in self.datasets]
        losses = [[np.interp(x, c[learner].x, c[learner].losses) for learner in learners] for c in curves]
        return compare_ranks(losses, learners)

    def labels(self, dataset):
        Y = self.truths[dataset]
        return Y, tuple(f"label {i}" for i in range(Y.shape[1]))


@pytest.fixture
def write_figures():
    pytest.importorskip("matplotlib")
    from choral.study.figures import write_figures

    return write_figures


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def test_a_file_for_each_figure(write_figures, tmp_path):
    folder, calls = tmp_path / "new" / "figures", []
    results = RandomResults({"emotions": 3, "scene": 2}, ["BR", "CC", "LP"])
    paths = write_figures(results, folder, formats=["svg"], progress=lambda *call: calls.append(call))
    pairs = [f"{first}--{second}--binomial" for first, second in combinations(["BR", "CC", "LP"], 2)]
    expected = ["curves/emotions--binomial", "curves/scene--binomial", "dependence/emotions", "dependence/scene"]
    expected += ["pages/binomial", *(f"ranks/binomial--{end}" for end in ("Hamming", "middle", "subset-0-1"))]
    expected += [f"{kind}/{pair}" for kind in ("pairs", "ratios") for pair in pairs]
    assert files(folder) == sorted(f"{name}.svg" for name in expected)
    assert sorted(str(path.relative_to(folder)) for path in paths) == files(folder)
    assert [call[:2] for call in calls] == [(done, len(expected)) for done in range(1, len(expected) + 1)]
    assert sorted(call[2] for call in calls) == sorted(expected)


def test_files_are_what_their_names_say(write_figures, tmp_path):
    paths = write_figures(RandomResults({"flags": 3}, ["BR"], families=("polynomial",)), tmp_path, formats=SIGNATURES)
    assert files(tmp_path) == [
        f"{name}.{end}" for name in ("curves/flags--polynomial", "dependence/flags") for end in ("pdf", "png", "svg")
    ]
    assert {path.suffix[1:]: path.read_bytes()[:4] for path in paths} == SIGNATURES


def test_the_same_results_make_the_same_files(write_figures, tmp_path):
    results = RandomResults({"flags": 3}, ["BR", "LP"])
    for folder in ("first", "second"):
        write_figures(results, tmp_path / folder, formats=["svg", "png"])
    assert files(tmp_path / "first") == files(tmp_path / "second")
    for name in files(tmp_path / "first"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_processes_write_into_the_current_folder(write_figures, tmp_path, monkeypatch):
    """Processes of joblib outlive a call: they stay in the folder where they were started."""
    results = RandomResults({"flags": 3, "scene": 3}, ["BR", "LP", "CC"])
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        paths = write_figures(results, "figures", formats=["svg"], n_jobs=2)
        assert files(tmp_path / name) == sorted(map(str, paths))


def test_processes_draw_the_same_files(write_figures, tmp_path):
    results = RandomResults({"flags": 3, "scene": 3}, ["BR", "LP", "CC"])
    places = []
    alone = write_figures(results, tmp_path / "alone", formats=["svg"])
    together = write_figures(
        results, tmp_path / "together", formats=["svg"], n_jobs=2, progress=lambda *call: places.append(call[2])
    )
    assert len(places) > 8  # more than one batch
    assert len(alone) == len(together)
    for one, other in zip(alone, together, strict=True):
        assert one.relative_to(tmp_path / "alone") == other.relative_to(tmp_path / "together")
        assert one.read_bytes() == other.read_bytes()


def test_what_cannot_be_shown_is_left_out(write_figures, tmp_path):
    failed = {("flags", "CC"), ("scene", "LP"), ("yeast", "BR"), ("yeast", "CC"), ("yeast", "LP"), ("yeast", "nothing")}
    results = RandomResults({"flags": 2, "scene": 1, "yeast": 2}, ["BR", "CC", "LP"], failed=failed)
    totals = set()
    paths = write_figures(results, tmp_path, formats=["svg"], progress=lambda done, total, what: totals.add(total))
    assert {str(path.relative_to(tmp_path).parent) for path in paths} == {*FOLDERS} - {"ranks"}
    assert not any("yeast" in path.name for path in (tmp_path / "curves").iterdir())
    assert not any("CC--LP" in path.name for path in paths)  # no data set where both finished
    assert [path.stem for path in paths if path.parent.name == "dependence"] == [
        "flags",
        "yeast",
    ]  # of two labels or more
    assert totals == {len(paths) + 1 + 3 + 1}  # curves of yeast, ranks, dependence of scene


def test_hostile_names_stay_in_the_folder_and_out_of_the_markup(write_figures, tmp_path):
    names = [HOSTILE, "../../evil", "evil"]
    write_figures(RandomResults({HOSTILE: 2}, names), tmp_path / "out", formats=["svg"])
    assert files(tmp_path) == [f"out/{name}" for name in files(tmp_path / "out")]
    assert len(files(tmp_path / "out" / "pairs")) == 3
    for path in (tmp_path / "out").rglob("*.svg"):
        assert b"<b>" not in path.read_bytes()


def test_no_pyplot_figure_and_no_setting_is_left_behind(write_figures, tmp_path, plt):
    before = dict(plt.rcParams)
    with plt.rc_context({"text.usetex": True, "figure.constrained_layout.use": True}):  # LaTeX may not be there
        write_figures(RandomResults({"flags": 2}, ["BR", "LP"]), tmp_path, formats=["png"])
    assert not plt.get_fignums()
    assert dict(plt.rcParams) == before


def test_a_failure_leaves_no_half_of_a_file(write_figures, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def fail(self, file, **kwargs):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match=r"flags--binomial.png cannot be written: disk full"):
        write_figures(RandomResults({"flags": 2}, ["BR"]), tmp_path)
    assert files(tmp_path) == []


def test_formats_that_are_not_known_are_refused_before_anything_is_drawn(write_figures, tmp_path):
    with pytest.raises(ValueError, match="formats must be among 'png', 'svg', 'pdf'; got 'gif'"):
        write_figures(None, tmp_path, formats=["png", "gif"])


def test_names_that_look_alike_stay_distinct():
    stems = file_stems([("a b", "x"), ("a-b", "x"), ("A-B", "x"), ("a", "b-x"), ("é" * 100, "x"), ("è" * 100, "x")])
    assert stems["a", "b-x"] == "a--b-x"
    assert len({stem.lower() for stem in stems.values()}) == 6


@given(keys=st.lists(st.tuples(st.text(), st.text()), unique=True, max_size=8))
def test_file_names_are_distinct_and_portable(keys):
    stems = file_stems(keys)
    assert len({stem.casefold() for stem in stems.values()}) == len(keys)
    for stem in stems.values():
        assert re.fullmatch(r"[\w-]+", stem)
        assert len(stem.encode()) < 200


def test_a_name_keeps_its_letters():
    assert slug("EPCT_2 (10 trees)") == "EPCT_2-10-trees"
    assert slug("x" * 100) == "x" * 60
    assert slug("模" * 100) == "模" * 20  # of three bytes each
    assert slug("") == slug("../..") == "unnamed"


def test_importing_figures_needs_no_matplotlib():
    code = "import sys, choral.study.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_figures_of_learners_that_are_no_more_are_removed(write_figures, tmp_path):
    (tmp_path / "pairs").mkdir()
    stale, other = tmp_path / "pairs" / "PCT--LP--binomial.svg", tmp_path / "pairs" / "notes.txt"
    for path in (stale, other):
        path.write_text("")
    write_figures(RandomResults({"flags": 2}, ["BR"]), tmp_path, formats=["svg"])
    assert not stale.exists()
    assert other.exists()


def test_a_learner_that_predicts_the_same_as_the_baseline_is_named_so(write_figures, tmp_path, plt):
    results = RandomResults({"birds": 2, "flags": 2}, ["BR", "PCT"], same={("birds", "PCT")})
    with plt.rc_context({"svg.fonttype": "none"}):  # texts stay texts
        write_figures(results, tmp_path, formats=["svg"])
    texts = {name: (tmp_path / name).read_text() for name in files(tmp_path)}
    named = {
        "curves/birds--binomial.svg": "PCT (same as nothing)",
        "pairs/BR--PCT--binomial.svg": "birds (PCT same as nothing)",
        "ratios/BR--PCT--binomial.svg": "birds (PCT same as nothing)",
        "pages/binomial.svg": "PCT predicts the same as the baseline",
    }
    assert {name for name, text in texts.items() if "same as" in text} == set(named)
    for name, words in named.items():
        assert words in texts[name]
