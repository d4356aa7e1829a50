"""Plans of studies: every key of a file, every mistake by its message, the splits, and the keys of cells."""

import hashlib
import json
import re
import sys

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import choral
from choral.datasets import Dataset, load_digits_segments
from choral.learners import BinaryRelevance, LabelPowerset, PrunedTreeClassifier
from choral.paper import Yardstick, claims_section, published_folds, published_section
from choral.paper import read_plan as read_paper_plan
from choral.study import Plan, Split, StudyData, StudyLearner, plan_files, read_plan
from choral.study.own_modules import VARIABLE, OwnModules
from choral.study.preparing import prepare
from choral.study.splits import check_folds
from study_zoo import Noisy, Stumps, make_data

SMALL = """
[[datasets]]
name = "digits-segments"
[[learners]]
name = "BR"
learner = "BinaryRelevance"
"""
TABLE = "a,b,sea,sky\n0.5,1,0,1\n2,3,1,1\n-1,4e1,1,0\n"
ARFF = """@relation 'small: -C 2'
@attribute sea {0,1}
@attribute sky {0,1}
@attribute a numeric
@attribute b numeric
@data
0,1,0.5,1
1,1,2,3
1,0,-1,40
"""
EXPECTED = Dataset(
    X=np.array([[0.5, 1], [2, 3], [-1, 40]]),
    Y=np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8),
    label_names=("sea", "sky"),
    name="small",
    feature_names=("a", "b"),
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a plan, and read it; the folder of its modules is forgotten."""
    monkeypatch.setattr(plan_files, "OWN_MODULES", OwnModules({}))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv(VARIABLE, "{}")

    def write_plan(text, name="plan.toml"):
        (tmp_path / name).write_text(text)
        return read_plan(tmp_path / name)

    return write_plan


def test_a_plan_takes_what_it_does_not_say_from_its_base(write):
    plan = write('base = "quick"\ntitle = "Mine"\n[[learners]]\nname = "LP"\nlearner = "LabelPowerset"\n')
    base = read_plan("quick")
    assert (plan.title, [learner.name for learner in plan.learners]) == ("Mine", ["LP"])
    assert [data.name for data in plan.datasets] == [data.name for data in base.datasets]
    assert (plan.split, plan.seeds, plan.families) == (base.split, base.seeds, base.families)
    assert plan.text.startswith('base = "quick"')


@pytest.mark.parametrize(
    "base, message",
    [
        ('"quik"', "base must be one of quick; got 'quik'."),
        ("3", "base must be one of quick; got 3."),
    ],
)
def test_a_base_that_there_is_not(write, base, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        write(f"base = {base}\n{SMALL}")


def test_plans_of_the_paper_share_its_data_sets():
    paper = read_paper_plan("paper")
    for name in ("sweeps", "soft"):
        plan = read_paper_plan(name)
        assert [data.name for data in plan.datasets] == [data.name for data in paper.datasets]
        assert all(np.array_equal(a.folds, b.folds) for a, b in zip(plan.datasets, paper.datasets, strict=True))
    soft = read_paper_plan("soft")
    of_paper = {learner.name: repr(learner.estimator) for learner in paper.learners}
    assert all(
        of_paper[learner.name] == repr(learner.estimator) for learner in soft.learners if not learner.is_baseline
    )
    assert (soft.predictions, paper.baseline) == ("soft", "all irrelevant")


def data_plan(lines):
    return f'[[datasets]]\n{lines}\n[[learners]]\nname = "BR"\nlearner = "BinaryRelevance"\n'


def learner_plan(lines):
    return f'[[datasets]]\nname = "digits-segments"\n[[learners]]\n{lines}\n'


def test_every_key_of_a_plan_is_heard(write, tmp_path):
    (tmp_path / "own_learners.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "class Own(LogisticRegression): pass\n"
        "def numbers(n_rows):\n"
        "    import numpy as np\n"
        "    return np.arange(2 * n_rows).reshape(-1, 2), np.arange(2 * n_rows).reshape(-1, 2) % 3 % 2\n"
        "def size(results, unit):\n"
        "    return f'{results} {unit}'\n"
    )
    (tmp_path / "folds.txt").write_text("0\n1\n1\n0\n")
    (tmp_path / "small.csv").write_text(TABLE)
    text = """
    title = "All of it"
    seeds = [3, 1]
    predictions = "hard"
    threshold = 0.25
    time_limit = 60
    [split]
    folds = 4
    repeats = 2
    stratify = true
    seed = 7
    [families]
    binomial = [1, 2, 100]
    polynomial = [1, 2.5, inf]
    [[datasets]]
    name = "own"
    call = "own_learners:numbers"
    parameters = { n_rows = 4 }
    folds = "folds.txt"
    [[datasets]]
    name = "file"
    path = "small.csv"
    labels = ["sky"]
    folds = [[0, 1, 1], [1, 0, 1]]
    [[datasets]]
    name = "synthetic"
    call = "make_dependent"
    parameters = { n_samples = 30, n_labels = 3, dependence = 0.5 }
    [[datasets]]
    name = "emotions"
    folds = { call = "choral.paper:published_folds" }
    [[learners]]
    name = "RAkEL"
    learner = "RandomKLabelsets"
    parameters.k = 2
    parameters.estimator = { learner = "sklearn.linear_model:LogisticRegression", parameters = { C = 2.0 } }
    threshold = 1
    seeds = [4]
    [[learners]]
    name = "own"
    learner = "own_learners.Own"
    [[learners]]
    name = "votes"
    learner = "sklearn.ensemble:VotingClassifier"
    parameters.voting = "soft"
    parameters.estimators = [
        ["tree", { learner = "sklearn.tree:DecisionTreeClassifier" }],
        ["own", { learner = "PrunedTreeClassifier" }],
    ]
    [[learners]]
    name = "none"
    learner = "ConstantLabels"
    baseline = true
    [[analyses]]
    call = "choral.paper:claims_section"
    [[analyses]]
    call = "choral.paper:Yardstick"
    parameters = { ours = ["own", "votes"] }
    [[analyses]]
    call = "own_learners:size"
    parameters = { unit = "cells" }
    """
    plan = write(text)
    assert (plan.title, plan.seeds, plan.predictions, plan.threshold) == ("All of it", (3, 1), "hard", 0.25)
    assert (plan.time_limit, plan.text, plan.each_loss) == (60, text, ())
    claims, yardstick, size = plan.analyses
    assert (claims, yardstick) == (claims_section, Yardstick(("own", "votes")))
    assert size("12") == "12 cells"
    assert plan.split == Split(folds=4, repeats=2, stratify=True, seed=7)
    assert plan.parameters("binomial", 5).tolist() == [1, 2]
    assert plan.parameters("polynomial", 5).tolist() == [1, 2.5, np.inf]
    own, file, synthetic, emotions = plan.datasets
    assert own.folds.tolist() == [[0, 1, 1, 0]]
    assert own.load().Y.tolist() == [[0, 1], [0, 0], [1, 0], [0, 1]]
    assert file.folds.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert (file.load().label_names, file.load().feature_names) == (("sky",), ("a", "b", "sea"))
    assert (synthetic.folds, synthetic.load().Y.shape) == (None, (30, 3))
    assert emotions.folds.tolist() == [published_folds("emotions").tolist()]
    rakel, own_learner, votes, none = plan.learners
    assert (rakel.estimator.k, rakel.estimator.estimator.C, rakel.threshold) == (2, 2.0, 1)
    assert type(own_learner.estimator).__name__ == "Own"
    assert [type(part) for _, part in votes.estimator.estimators] == [DecisionTreeClassifier, PrunedTreeClassifier]
    assert (plan.baseline, none.is_baseline, rakel.is_baseline) == ("none", True, False)
    # 2 repeats of 4 folds, twice; 2 and 2 x 2 given ones: of learners with randomness once for each seed
    assert len(plan.seeds_of(none)) == 1
    assert (plan.seeds_of(own_learner), plan.seeds_of(rakel)) == ((3, 1), (4,))
    runs = sum(len(plan.seeds_of(learner)) for learner in plan.learners)
    assert plan.n_cells() == runs * (2 * 4 + 2 + 2 * 2 + 10)


def test_an_optional_data_set_is_left_out_where_its_file_is_not_there(write, tmp_path):
    more = '[[datasets]]\nname = "more"\npath = "more.csv"\nlabels = -1\noptional = true\n'
    plan = write(more + SMALL)
    assert (len(plan.datasets), plan.left_out) == (1, ("more",))
    (tmp_path / "more.csv").write_text("a,sky\n1,0\n2,1\n")
    plan = write(more + SMALL)
    assert (plan.datasets[0].name, plan.left_out) == ("more", ())
    assert plan.datasets[0].load().Y.tolist() == [[0], [1]]
    (tmp_path / "more.csv").unlink()
    with pytest.raises(ValueError, match="unknown key 'label'; did you mean 'labels'"):
        write(more.replace("labels", "label") + SMALL)


def test_what_a_plan_does_not_say_has_defaults(write):
    plan = write(SMALL, "first try.toml")
    assert (plan.title, plan.seeds, plan.split) == ("first try", (0,), Split(folds=10))
    assert (plan.predictions, plan.threshold, plan.time_limit, plan.baseline) == ("hard", None, None, None)
    assert plan.parameters("binomial", 4).tolist() == [1, 2, 3, 4]
    assert plan.parameters("polynomial", 4).size == 55
    assert plan.datasets[0].load().Y.shape == load_digits_segments().Y.shape
    assert list(write('[families]\npolynomial = "all"' + SMALL).families) == ["polynomial"]
    assert (plan.analyses, plan.each_loss, plan.left_out) == ((), (), ())


def test_a_learner_may_predict_anew_for_each_loss(write):
    plan = write(SMALL + '[[learners]]\nname = "LP"\nlearner = "LabelPowerset"\neach_loss = true')
    assert [learner.each_loss for learner in plan.learners] == [False, True]
    assert plan.each_loss == ("LP",)


@pytest.mark.parametrize("n_labels, expected", [(1, [1]), (6, [1, 2, 3, 4, 5, 6]), (12, list(range(1, 13)))])
def test_even_ks_are_all_where_labels_are_few(write, n_labels, expected):
    plan = write('[families]\nbinomial = "even"' + SMALL)
    assert plan.parameters("binomial", n_labels).tolist() == expected


def test_even_ks_are_evenly_spaced(write):
    ks = write('[families]\nbinomial = "even"' + SMALL).parameters("binomial", 174)
    assert (ks.size, ks[0], ks[-1]) == (12, 1, 174)
    assert np.ptp(np.diff(ks)) <= 1


@pytest.mark.parametrize("n_labels", [1, 6, 500])
def test_even_alphas_are_evenly_spaced_in_their_logarithms(write, n_labels):
    plan = write('[families]\npolynomial = "even"' + SMALL)
    alphas = plan.parameters("polynomial", n_labels)
    assert (alphas.size, alphas[0], alphas[-1]) == (12, 1, 3 * n_labels)
    assert alphas[1:] / alphas[:-1] == pytest.approx((3 * n_labels) ** (1 / 11))


@pytest.mark.parametrize(
    "name, n_cells",
    [
        ("quick", 3 * 5 * 7),
        ("paper", 9 * 10 * 10),
        ("published", 9 * 10 * 10),
        ("sweeps", 9 * 14 * 10),
        ("soft", 9 * 7 * 10),
    ],
)
def test_ready_plans(name, n_cells):
    plan = read_paper_plan(name)
    assert plan.n_cells() == n_cells
    assert (claims_section in plan.analyses) == (name in ("paper", "published"))
    assert (published_section in plan.analyses) == (name == "published")


def test_the_tailored_plan_has_rivals_that_users_take():
    paper, any_model, plan = (read_paper_plan(name) for name in ("paper", "any-model", "tailored"))
    assert {data.name for data in plan.datasets} == {data.name for data in any_model.datasets}
    assert {*plan.left_out} == {*any_model.left_out}  # where the files of four more data sets are not there
    assert all(data.folds is None for data in plan.datasets)
    assert (plan.split, plan.seeds) == (Split(folds=5, stratify=True), (0, 1, 2))
    of_paper = {learner.name: repr(learner.estimator) for learner in paper.learners}
    own = {learner.name: repr(learner.estimator) for learner in plan.learners}
    assert {name for name in own if of_paper.get(name) == own[name]} == {"BR", "CC", "LP", "RAkEL-3", "EPCT"}
    assert len(own) == 16 + 3
    yardstick, controls = plan.analyses
    assert yardstick.ours == controls.learners == plan.each_loss == ("AutoJoint", "JointForest", "LogisticJoint")
    assert plan.families == {"binomial": None, "polynomial": "even"}
    once = [learner.name for learner in plan.learners if plan.seeds_of(learner) == (0,)]
    slow = ["CC forest", "ECC", "BOOMER label-wise", "BOOMER example-wise"]
    assert once == ["MLkNN", "LR", "boosted", *slow]  # the first three are the same with every seed


@pytest.mark.parametrize(
    "text, message",
    [
        ("seeds = [0", "plan.toml is not TOML: "),
        (f"seeds = {'[' * 3000}", "plan.toml cannot be read: its values are nested too deeply."),
        ("", "plan.toml: the key 'datasets' is missing."),
        ("datasets = 3", "plan.toml: datasets must be a list; got 3."),
        ('datasets = ["emotions"]', "plan.toml: datasets must be a list of tables, [[datasets]]; got 'emotions'."),
        ("datasets = []\nlearners = []", "plan.toml: datasets must not be empty."),
        ("seed = [1]" + SMALL, "plan.toml: unknown key 'seed'; did you mean 'seeds'?"),
        ("frobnicate = 1" + SMALL, "plan.toml: unknown key 'frobnicate'; there are title, datasets, learners, split"),
        ("title = 3" + SMALL, "plan.toml: title must be text; got 3."),
        ("analyses = 1" + SMALL, "plan.toml: analyses must be a list; got 1."),
        ("threshold = true" + SMALL, "plan.toml: threshold must be a number; got True."),
        ("threshold = nan" + SMALL, "plan.toml: threshold must be"),
        ("time_limit = 0" + SMALL, "plan.toml: time_limit must be a positive number of seconds; got 0."),
        ("time_limit = nan" + SMALL, "plan.toml: time_limit must be a positive number of seconds; got nan."),
        ("time_limit = inf" + SMALL, "plan.toml: time_limit must be a positive number of seconds; got inf."),
        ("seeds = []" + SMALL, "plan.toml: seeds must not be empty."),
        ("seeds = [-1]" + SMALL, "plan.toml: a seed must be at least 0; got -1."),
        ("seeds = [0.5]" + SMALL, "plan.toml: a seed must be a whole number, at least 0; got 0.5."),
        ("seeds = [4294967295, 4294967296]" + SMALL, "plan.toml: a seed must be at most 4294967295; got 4294967296."),
        ("[split]\nseed = 4294967296" + SMALL, "plan.toml, [split]: seed must be at most 4294967295; got 4294967296."),
        (
            "[split]\nseed = 4294967295\nrepeats = 2" + SMALL,
            "[split]: seed must be at most 4294967294; got 4294967295.",
        ),
        ("seeds = [1, 2, 1]" + SMALL, "plan.toml: seeds must be distinct; '1' comes twice."),
        (SMALL + "seeds = 3", "plan.toml, [[learners]] 1 ('BR'): seeds must be a list; got 3."),
        (SMALL + "seeds = []", "plan.toml, [[learners]] 1 ('BR'): seeds must not be empty."),
        ('predictions = "firm"' + SMALL, "plan.toml: predictions must be 'hard' or 'soft'; got 'firm'."),
        (
            'predictions = "soft"\nthreshold = 0.5' + SMALL,
            "plan.toml: threshold makes predictions hard; it does not go with predictions = 'soft'.",
        ),
        ("[split]\nfold = 3" + SMALL, "plan.toml, [split]: unknown key 'fold'; did you mean 'folds'?"),
        ("[split]\nfolds = 1" + SMALL, "plan.toml, [split]: folds must be at least 2; got 1."),
        ("[split]\nfolds = 2.5" + SMALL, "plan.toml, [split]: folds must be a whole number; got 2.5."),
        ("[split]\nrepeats = 0" + SMALL, "plan.toml, [split]: repeats must be at least 1; got 0."),
        ("[split]\nseed = -2" + SMALL, "plan.toml, [split]: seed must be at least 0; got -2."),
        ("[split]\nstratify = 1" + SMALL, "plan.toml, [split]: stratify must be true or false; got 1."),
        ("split = 3" + SMALL, "plan.toml: split must be a table; got 3."),
        ("[families]\nbinomal = 3" + SMALL, "plan.toml, [families]: unknown key 'binomal'; did you mean 'binomial'?"),
        ("[families]\nbinomial = 3" + SMALL, "plan.toml, [families]: binomial must be text or a list; got 3."),
        (
            '[families]\nbinomial = "most"' + SMALL,
            'plan.toml, [families]: binomial: must be "all", "even" or a list of numbers; got \'most\'.',
        ),
        (
            '[families]\npolynomial = "odd"' + SMALL,
            'plan.toml, [families]: polynomial: must be "all", "even" or a list of numbers; got \'odd\'.',
        ),
        ("[families]\nbinomial = []" + SMALL, "plan.toml: the parameters of binomial must be a non-empty 1-D sequence"),
        ("[families]\npolynomial = [2, 1]" + SMALL, "plan.toml: the parameters of polynomial must increase, from 1 or"),
        (
            "[families]\nbinomial = [0, 1]" + SMALL,
            "plan.toml: the parameters of binomial must increase, from 1 or more",
        ),
        ("[families]\npolynomial = [nan]" + SMALL, "plan.toml: the parameters of polynomial must increase, from 1 or"),
        ("[families]\nbinomial = [1.5]" + SMALL, "plan.toml: the parameters of binomial must be whole numbers; got"),
        ("[families]\nbinomial = [1, inf]" + SMALL, "plan.toml: the parameters of binomial must be whole numbers; got"),
        (SMALL + SMALL, "plan.toml: datasets must be distinct; 'digits-segments' comes twice."),
        (SMALL + '[[learners]]\nname = "BR"\nlearner = "LabelPowerset"', "plan.toml: learners must be distinct; 'BR'"),
        (SMALL + "baseline = true", "plan.toml: learners must hold at least one that is not the baseline."),
        (
            SMALL
            + 'baseline = true\n[[learners]]\nname = "N"\nlearner = "ConstantLabels"\nbaseline = true'
            + '\n[[learners]]\nname = "LP"\nlearner = "LabelPowerset"',
            "plan.toml: at most one learner may be the baseline; got BR, N.",
        ),
        (SMALL + "each_loss = 1", "each_loss must be true or false; got 1."),
        (
            SMALL + '[[learners]]\nname = "C"\nlearner = "RandomKLabelsets"\neach_loss = true',
            "plan.toml: C must have predict_distribution or predict(X, measure=...) for each_loss; it has neither.",
        ),
        (
            'predictions = "soft"' + SMALL + "each_loss = true",
            "plan.toml: BR: each_loss makes hard labels; it does not go with predictions = 'soft'.",
        ),
        (
            "threshold = 0.5" + SMALL + "each_loss = true",
            "plan.toml: BR: each_loss decides without scores; it does not go with a threshold.",
        ),
        (
            SMALL + "each_loss = true\nthreshold = 0.5",
            "plan.toml: BR: each_loss decides without scores; it does not go with a threshold.",
        ),
    ],
)
def test_a_mistake_in_a_plan_is_told_with_its_key(write, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        write(text)
    assert "\n" not in str(caught.value)


BASELINE = SMALL + 'baseline = true\n[[learners]]\nname = "LP"\nlearner = "LabelPowerset"\n'


@pytest.mark.parametrize(
    "ours, plan, message",
    [
        ('"BR"', SMALL, "plan.toml, [[analyses]] 1: ours must be a list of learners; got 'BR'."),
        ('["BRs"]', SMALL, "plan.toml: ours: there is no learner 'BRs'; did you mean 'BR'?"),
        ("[3]", SMALL, "plan.toml: ours: there is no learner 3; there are BR."),
        ('["BR", "BR"]', SMALL, "plan.toml: ours must be distinct; 'BR' comes twice."),
        ('["BR"]', SMALL, "plan.toml: ours must leave at least one other learner, besides the baseline, to"),
        ('["BR"]', BASELINE, "plan.toml: ours must not hold the baseline; got BR."),
        (
            '["LP"]',
            BASELINE,
            "plan.toml: ours must leave at least one other learner, besides the baseline, to compare with.",
        ),
    ],
)
def test_the_learners_to_judge_are_checked_before_anything_runs(write, ours, plan, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        write(f'{plan}[[analyses]]\ncall = "choral.paper:Yardstick"\nparameters = {{ ours = {ours} }}\n')


@pytest.mark.parametrize(
    "lines, message",
    [
        ("", "[[analyses]] 1: the key 'call' is missing."),
        (
            'call = "choral.paper:claim_section"',
            "1: choral.paper has no 'claim_section'; did you mean 'claims_section'?",
        ),
        ('call = "math:pi"', "1: call: math:pi must be a function of the results, or a class; got 3.14"),
        ('call = "choral.paper:claims_section"\nparameters.k = 1', "choral.paper:claims_section has no parameter 'k'"),
        ('call = "choral.paper:Yardstick"', "1: choral.paper:Yardstick: missing a required argument: 'ours'."),
        ('call = "choral.paper:claims_section"\ntitle = "x"', "1: unknown key 'title'; there are call, parameters."),
    ],
)
def test_a_mistake_in_an_analysis_is_told_with_its_place(write, lines, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        write(f"{SMALL}[[analyses]]\n{lines}\n")
    assert "plan.toml, [[analyses]] 1" in str(caught.value)


def test_an_analysis_is_a_function():
    with pytest.raises(TypeError, match="an analysis must be a function of the results; got 'claims'."):
        Plan([StudyData("d", make_data)], learners(), analyses=["claims"])


@pytest.mark.parametrize(
    "lines, message",
    [
        ("", "[[datasets]] 1: the key 'name' is missing."),
        ("name = 3", "[[datasets]] 1: name must be text; got 3."),
        ('name = " "\ncall = "study_zoo:make_data"', "1 (' '): the name of a data set must be text that is not empty"),
        ('name = "emotion"', "1 ('emotion'): name: 'emotion' is no data set of choral; it needs path or call; did you"),
        ('name = "x"\nlabels = 3', "1 ('x'): name: 'x' is no data set of choral; it needs path or call; there are"),
        ('name = "birds"\nlabels = 3', "1 ('birds'): unknown key 'labels'; there are name, folds."),
        ('name = "x"\npath = "a.csv"\ncall = "math:cos"', "1 ('x'): path and call exclude each other."),
        ('name = "x"\npath = "a.txt"', "1 ('x'): path: must end in .arff, .csv, .tsv, .parquet, .npz; got 'a.txt'."),
        ('name = "x"\npath = "a.csv"', "1 ('x'): path: there is no file "),
        ('name = "x"\ncall = "cos"', "1 ('x'): call: choral.datasets has no 'cos'"),
        ('name = "x"\ncall = "no_such:cos"', "1 ('x'): no_such cannot be imported: ModuleNotFoundError: No module"),
        ('name = "x"\ncall = "math:coss"', "1 ('x'): math has no 'coss'; did you mean 'cos'?"),
        ('name = "x"\ncall = "math.pi"', "1 ('x'): call: math.pi must be a function; got 3.14"),
        (
            'name = "x"\ncall = "make_dependent"\nparameters.n_label = 3',
            "1 ('x'): make_dependent has no parameter 'n_label'; did you mean 'n_labels'?",
        ),
        (
            'name = "x"\ncall = "types:SimpleNamespace.__init__"',
            "1 ('x'): types:SimpleNamespace.__init__: missing a required argument: 'self'.",
        ),
        ('name = "x"\ncall = "study_zoo:make_data"\nparameters = 3', "1 ('x'): parameters must be a table; got 3."),
        (
            'name = "x"\ncall = "study_zoo:make_data"\npath_ = 1',
            "1 ('x'): unknown key 'path_'; there are name, call, p",
        ),
        (
            'name = "digits-segments"\nfolds = { call = "choral.paper:published_folds" }',
            "1 ('digits-segments'): folds were published for birds, emo",
        ),
        ('name = "birds"\nfolds = { call = "math:pi" }', "1 ('birds'): folds: math:pi must be a function; got 3.14"),
        ('name = "birds"\nfolds = { file = "x" }', "1 ('birds'): the key 'call' is missing."),
        ('name = "birds"\nfolds = "none.txt"', "1 ('birds'): folds: "),
        ('name = "birds"\nfolds = "bad.txt"', "bad.txt must hold a whole number for each row: "),
        ('name = "birds"\nfolds = 5', "1 ('birds'): folds must be numbered 0, 1, ..., at least two of them; got 5."),
    ],
)
def test_a_mistake_in_a_data_set_is_told_with_its_place(write, tmp_path, lines, message):
    (tmp_path / "bad.txt").write_text("0\nx\n")
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        write(data_plan(lines))
    assert "plan.toml, [[datasets]] 1" in str(caught.value)


MOODY = """
def quit_at_once():
    raise SystemExit("not made.")

class Moody:
    @property
    def fit(self):
        raise RuntimeError("not\\nnow")
"""


@pytest.mark.parametrize(
    "lines, message",
    [
        ("", "[[learners]] 1: the key 'learner' is missing."),
        ('learner = "BinaryRelevance"', "[[learners]] 1: the key 'name' is missing."),
        ('name = ""\nlearner = "BinaryRelevance"', "1 (''): the name of a learner must be text that is not empty; got"),
        ('name = "L"\nlearner = "BinaryRelevanc"', "'BinaryRelevanc' is no learner of choral, nor an import path such"),
        ('name = "L"\nlearner = "BinaryRelevanc"', "package.module:Name; did you mean 'BinaryRelevance'?"),
        ('name = "L"\nlearner = 3', "1 ('L'): learner must be text; got 3."),
        ('name = "L"\nlearner = "sklearn.tree:Tree"', "1 ('L'): sklearn.tree has no 'Tree'"),
        ('name = "L"\nlearner = "math:pi"', "math:pi must be a class or function that makes a learner; got 3.14"),
        ('name = "L"\nlearner = "builtins:dict"', "1 ('L'): "),
        ('name = "L"\nlearner = "fractions:Fraction"', "fractions:Fraction must make a learner of scikit-learn's kind"),
        (
            'name = "L"\nlearner = "divides:Learner"',
            "divides cannot be imported: ZeroDivisionError: division by zero.",
        ),
        ('name = "L"\nlearner = "leaves:Learner"', "leaves cannot be imported: SystemExit: 3."),
        ('name = "L"\nlearner = "unfinished:Learner"', "unfinished cannot be imported: SyntaxError: "),
        ('name = "L"\nlearner = "moody:quit_at_once"', "1 ('L'): SystemExit: not made."),
        ('name = "L"\nlearner = "moody:Moody"', "1 ('L'): RuntimeError: not now."),
        ('name = "L"\nlearner = ".relative:Learner"', "1 ('L'): .relative cannot be imported: TypeError: "),
        (
            'name = "L"\nlearner = "RandomKLabelsets"\nparameters = { K = 2 }',
            "1 ('L'): RandomKLabelsets has no parameter 'K'; did you mean 'k'?",
        ),
        (
            'name = "L"\nlearner = "sklearn.ensemble:VotingClassifier"',
            "1 ('L'): sklearn.ensemble:VotingClassifier: missing a required argument: 'estimators'.",
        ),
        (
            'name = "L"\nlearner = "BinaryRelevance"\nparameters.estimator = { learner = "LabelPowerset", params = 3 }',
            "1 ('L'): parameters.estimator: unknown key 'params'; did you mean 'parameters'?",
        ),
        (
            'name = "L"\nlearner = "BinaryRelevance"\nparameters.estimator.learner = "x.y"',
            "1 ('L'): parameters.estimator: x cannot be imported: ",
        ),
        ('name = "L"\nlearner = "BinaryRelevance"\nbaselin = true', "unknown key 'baselin'; did you mean 'baseline'?"),
        ('name = "L"\nlearner = "BinaryRelevance"\nthreshold = nan', "1 ('L'): threshold must be"),
    ],
)
def test_a_mistake_in_a_learner_is_told_with_its_place(write, tmp_path, lines, message):
    (tmp_path / "divides.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "unfinished.py").write_text("class Learner(:\n")
    (tmp_path / "moody.py").write_text(MOODY)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        write(learner_plan(lines))
    assert "plan.toml, [[learners]] 1" in str(caught.value)


def test_a_plan_that_is_no_file(tmp_path):
    with pytest.raises(
        ValueError,
        match="one of quick, paper, published, sweeps, soft, tailored, any-model, or a file .* .toml; got 'papers'",
    ):
        read_paper_plan("papers")
    with pytest.raises(ValueError, match="one of quick, or a file that ends in .toml; got 'papers'"):
        read_plan("papers")
    with pytest.raises(FileNotFoundError, match="none.toml cannot be read: No such file or directory."):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "caf\xe9"')
    with pytest.raises(ValueError, match="latin.toml is not UTF-8 text: "):
        read_plan(tmp_path / "latin.toml")


# --- data sets from files


def same_data(found, *, named_features=True):
    assert np.array_equal(found.X.toarray() if sp.issparse(found.X) else found.X, EXPECTED.X)
    assert np.array_equal(found.Y, EXPECTED.Y)
    assert found.Y.dtype == np.uint8
    assert found.label_names == EXPECTED.label_names
    assert not named_features or found.feature_names == EXPECTED.feature_names


def from_file(write, name, labels=""):
    return write(data_plan(f'name = "x"\npath = "{name}"\n{labels}')).datasets[0].load()


@pytest.mark.parametrize("labels", ['labels = ["sea", "sky"]', "labels = -2"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_data_from_a_table(write, tmp_path, suffix, labels):
    (tmp_path / f"small.{suffix}").write_text(TABLE.replace(",", {"csv": ",", "tsv": "\t"}[suffix]))
    same_data(from_file(write, f"small.{suffix}", labels))


def test_the_first_columns_may_be_labels(write, tmp_path):
    rows = [line.split(",") for line in TABLE.split()]
    (tmp_path / "small.csv").write_text("\n".join(",".join(row[2:] + row[:2]) for row in rows))
    same_data(from_file(write, "small.csv", "labels = 2"))


def test_data_from_parquet(write, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    columns = {"a": EXPECTED.X[:, 0], "b": EXPECTED.X[:, 1], "sea": EXPECTED.Y[:, 0], "sky": EXPECTED.Y[:, 1]}
    pandas.DataFrame(columns).to_parquet(tmp_path / "small.parquet")
    same_data(from_file(write, "small.parquet", "labels = -2"))


@pytest.mark.parametrize("labels", ["", "labels = 2"])
def test_data_from_arff(write, tmp_path, labels):
    (tmp_path / "small.arff").write_text(ARFF.replace("-C 2", "-C 2" if not labels else ""))
    same_data(from_file(write, "small.arff", labels))


def test_data_from_arff_with_a_list_of_labels_beside_it(write, tmp_path):
    (tmp_path / "small.arff").write_text(ARFF.replace(": -C 2", ""))
    (tmp_path / "small.xml").write_text('<labels><label name="sea"/><label name="sky"/></labels>')
    same_data(from_file(write, "small.arff", 'labels = "small.xml"'))


@pytest.mark.parametrize("sparse", [False, True])
def test_data_from_npz(write, tmp_path, sparse):
    matrix = sp.csr_array(EXPECTED.X)
    parts = {"X_data": matrix.data, "X_indices": matrix.indices, "X_indptr": matrix.indptr, "X_shape": matrix.shape}
    features = parts if sparse else {"X": EXPECTED.X}
    np.savez(tmp_path / "small.npz", Y=EXPECTED.Y.astype(bool), label_names=["sea", "sky"], **features)
    found = from_file(write, "small.npz")
    assert sp.issparse(found.X) == sparse
    same_data(found, named_features=False)
    np.savez(tmp_path / "small.npz", Y=EXPECTED.Y, **features)
    assert from_file(write, "small.npz").label_names == ("1", "2")


@pytest.mark.parametrize(
    "text, labels, message",
    [
        ("1,2\n3,4\n", "labels = 1", "small.csv must have a header: names of the features and labels."),
        (TABLE, "", "small.csv needs to be told its labels: names of columns, the first N, or -N for the last."),
        (TABLE, "labels = 4", "small.csv has 4 columns; labels must be a number below that, not 0; got 4."),
        (TABLE, "labels = 0", "small.csv has 4 columns; labels must be a number below that, not 0; got 0."),
        (TABLE, "labels = 1.5", "small.csv must be a number or a list of columns; got 1.5."),
        (TABLE, "labels = []", "small.csv must be a number or a list of columns; got []."),
        (TABLE, 'labels = ["sae"]', "small.csv has no column 'sae'; did you mean 'sea'?"),
        (TABLE, 'labels = ["a", "b", "sea", "sky"]', "small.csv must have features besides its 4 labels."),
        (TABLE, "labels = 1", "small.csv, line 2, column 'a': expected 0 or 1; got 0.5."),
        (TABLE.replace("-1,4e1,1,0", "-1,4e1,1,7"), "labels = -1", "line 4, column 'sky': expected 0 or 1; got 7"),
    ],
)
def test_a_table_that_is_no_data_set(write, tmp_path, text, labels, message):
    (tmp_path / "small.csv").write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        from_file(write, "small.csv", labels)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"Y": EXPECTED.Y}, "small.npz must hold the arrays X and Y; it has Y."),
        ({}, "small.npz must hold the arrays X and Y; it has neither."),
        (
            {"X": EXPECTED.X, "Y": EXPECTED.X},
            r"small.npz must hold rows x labels, 0 or 1; got shape \(3, 2\), dtype fl",
        ),
        ({"X": EXPECTED.X, "Y": [0, 1]}, r"small.npz must hold rows x labels, 0 or 1; got shape \(2,\)"),
        ({"X": EXPECTED.X, "Y": np.zeros((0, 2))}, r"rows x labels, 0 or 1; got shape \(0, 2\)"),
        (
            {"X": [1, 2, 3], "Y": EXPECTED.Y},
            r"small.npz must hold rows x features, numbers; got shape \(3,\), dtype int",
        ),
        ({"X": [["a"]] * 3, "Y": EXPECTED.Y}, r"must hold rows x features, numbers; got shape \(3, 1\), dtype <U1"),
        ({"X": EXPECTED.X[:2], "Y": EXPECTED.Y}, "x has 2 rows of features and 3 of labels."),
        ({"X": EXPECTED.X, "Y": EXPECTED.Y, "label_names": "ab"}, r"must hold 2 names; got shape \(\)"),
        ({"X": EXPECTED.X, "Y": EXPECTED.Y, "label_names": ["a"]}, r"must hold 2 names; got shape \(1,\)"),
        (
            {"X": EXPECTED.X, "Y": np.array([[None]])},
            "small.npz, array 'Y' holds Python objects, which choral does not unpickle; save it as numbers.",
        ),
        (
            {"X_data": [1], "Y": EXPECTED.Y},
            "X_shape of a CSR matrix; X_indices must be a vector of numbers, whole but in X_data; there is none.",
        ),
        (
            {"X_data": [1.0], "X_indices": [9], "X_indptr": [0, 1, 1, 1], "X_shape": [3, 2], "Y": EXPECTED.Y},
            "small.npz holds a damaged sparse matrix: column indices must lie in 0 to 1; index 0 is 9.",
        ),
        (
            {"X_data": [1.0], "X_indices": [0], "X_indptr": [0, 1, 1, 1], "X_shape": 3, "Y": EXPECTED.Y},
            r"X_shape must be a vector of numbers, whole but in X_data; got shape \(\), dtype int64",
        ),
        (
            {"X_data": [], "X_indices": np.arange(0), "X_indptr": [0, 10**7, 0, 0], "X_shape": [3, 2], "Y": EXPECTED.Y},
            "small.npz holds a damaged sparse matrix: the index pointer must not fall; .* 10000000 to 0 at row 1.",
        ),
        (
            {"X_data": [1.0], "X_indices": [0], "X_indptr": [0, 1, 1], "X_shape": [2, 10**12], "Y": EXPECTED.Y[:2]},
            "small.npz is too large: 16000000000128 bytes to read, the limit is 67108864. If it is no mistake, set the",
        ),
    ],
)
def test_an_npz_file_that_is_no_data_set(write, tmp_path, arrays, message):
    np.savez(tmp_path / "small.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        from_file(write, "small.npz")


def test_a_damaged_npz_file_is_told(write, tmp_path):
    np.savez_compressed(tmp_path / "small.npz", X=EXPECTED.X, Y=EXPECTED.Y)
    whole = (tmp_path / "small.npz").read_bytes()
    np.save(tmp_path / "array.npy", EXPECTED.X)
    middle = whole[:100] + b"damaged" + whole[107:]
    for content in (b"", b"no zip", whole[:-30], middle, (tmp_path / "array.npy").read_bytes()):
        (tmp_path / "small.npz").write_bytes(content)
        with pytest.raises(ValueError, match="small.npz is not a readable NPZ file: "):
            from_file(write, "small.npz")


# --- plans made in Python


def learners():
    return [StudyLearner("BR", BinaryRelevance())]


def test_data_sets_from_python():
    X, Y = make_data()
    for features, labels in [(X, Y), (sp.coo_array(X), sp.csc_array(Y)), (X.tolist(), Y.astype(bool))]:
        found = StudyData("own", lambda pair=(features, labels): pair).load()
        assert np.array_equal(found.X.toarray() if sp.issparse(found.X) else found.X, X)
        assert np.array_equal(found.Y, Y)
        assert (found.Y.dtype, found.label_names) == (np.uint8, ("1", "2", "3"))
        assert found.X[np.ones(len(Y), dtype=bool)].shape == X.shape  # rows can be chosen


def test_mistakes_in_data_sets_from_python():
    X, Y = make_data()
    with pytest.raises(TypeError, match=r"the source of x must be a Dataset, a pair \(X, Y\) or a function; got str."):
        StudyData("x", "emotions")
    with pytest.raises(ValueError, match="the name of a data set must be text that is not empty; got None."):
        StudyData(None, make_data)
    with pytest.raises(ValueError, match=r"the source of x must be or return a Dataset or \(X, Y\); got list."):
        StudyData("x", lambda: [X, Y]).load()
    with pytest.raises(ValueError, match="the labels of x must be 0 or 1."):
        StudyData("x", lambda: (X, Y + 1)).load()
    with pytest.raises(ValueError, match="x has 23 rows of features and 24 of labels."):
        StudyData("x", lambda: (X[1:], Y)).load()
    with pytest.raises(ValueError, match="x has 24 rows, its folds are given for 3."):
        StudyData("x", make_data, folds=[0, 1, 1]).load()


def test_mistakes_in_learners_and_plans_from_python():
    data = [StudyData("x", make_data)]
    with pytest.raises(TypeError, match="the estimator of L must have fit and get_params; got 'BR'."):
        StudyLearner("L", "BR")
    with pytest.raises(ValueError, match="threshold"):
        StudyLearner("L", Stumps(), threshold=np.nan)
    with pytest.raises(ValueError, match="families must name at least one of binomial, polynomial."):
        Plan(data, learners(), families={})
    with pytest.raises(ValueError, match="family must be one of 'binomial', 'polynomial'; got 'cubic'."):
        Plan(data, learners(), families={"cubic": None})
    with pytest.raises(ValueError, match="threshold makes predictions hard"):
        Plan(data, [StudyLearner("L", Stumps(), threshold=0.5)], predictions="soft")
    with pytest.raises(ValueError, match="folds must be at most the number of rows, 24; got 25."):
        prepare(Plan(data, learners(), split=Split(folds=25)), data[0])


def test_seeds_go_where_randomness_has_none():
    plan = Plan([StudyData("x", make_data)], learners(), seeds=(5, 6))
    nested = StudyLearner("x", BinaryRelevance(DecisionTreeClassifier()))
    assert "estimator__random_state" in nested.seed_parameters
    assert plan.seeds_of(StudyLearner("x", Noisy())) == (5, 6)
    assert plan.seeds_of(StudyLearner("x", Noisy(random_state=1))) == (5,)
    assert plan.seeds_of(StudyLearner("x", Stumps())) == (5,)
    assert plan.seeds_of(StudyLearner("x", Noisy(), seeds=np.array([7, 8, 9]))) == (7, 8, 9)
    assert Plan([StudyData("x", make_data)], learners(), seeds=np.arange(2)).seeds == (0, 1)
    assert plan.seeds_of(StudyLearner("x", Stumps(), seeds=[7, 8, 9])) == (7,)


def test_ks_beyond_the_number_of_labels_are_left_out():
    plan = Plan([StudyData("x", make_data)], learners(), families={"binomial": [2, 5, 9]})
    assert plan.parameters("binomial", 7).tolist() == [2, 5]
    assert plan.parameters("binomial", 1).tolist() == [1]


# --- splits


@given(n_rows=st.integers(2, 40), n_folds=st.integers(2, 6), seed=st.integers(0, 5), stratify=st.booleans())
def test_every_row_is_tested_once_and_folds_differ_by_a_row(n_rows, n_folds, seed, stratify):
    Y = np.zeros((n_rows, 2))
    n_folds = min(n_folds, n_rows)
    numbers = Split(n_folds, repeats=2, stratify=stratify, seed=seed).fold_numbers(Y)
    assert numbers.shape == (2, n_rows)
    for row in numbers:
        sizes = np.bincount(row, minlength=n_folds)
        assert sizes.size == n_folds
        assert np.ptp(sizes) <= 1


def test_repeats_differ_and_seeds_decide():
    _, Y = make_data(60)
    for stratify in (False, True):
        first, second = Split(3, repeats=2, stratify=stratify).fold_numbers(Y)
        assert (first != second).any()
        assert (Split(3, stratify=stratify, seed=9).fold_numbers(Y) != first).any()
        assert np.array_equal(Split(3, stratify=stratify).fold_numbers(Y), [first])


def test_folds_that_are_given():
    assert check_folds([0, 1.0, 1]).tolist() == [[0, 1, 1]]
    assert check_folds([[0, 1, 1], [1, 1, 0]]).dtype == np.int64


@pytest.mark.parametrize(
    "folds, message",
    [
        ([], r"one whole number for each row, the fold in which it is tested; got shape \(0,\)"),
        ([0.5, 1], r"got shape \(2,\), dtype float64"),
        ([0, np.nan], r"got shape \(2,\), dtype float64"),
        (["0", "1"], r"got shape \(2,\), dtype <U1"),
        ([[[0, 1]]], r"got shape \(1, 1, 2\)"),
        ([True, False], r"got shape \(2,\), dtype bool"),
        ([[0, 1], [0]], "folds must be a matrix; its rows differ in length"),
        ([0, 0], "numbered 0, 1, ..., at least two of them; got 0."),
        ([1, 2], "got 1, 2."),
        (list(range(1, 20)), "got 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ...."),
        ([[0, 1, 2], [0, 1, 1]], "folds must have the same numbers in every repeat."),
    ],
)
def test_folds_that_cannot_be(folds, message):
    with pytest.raises(ValueError, match=message):
        StudyData("x", make_data, folds=folds)


# --- the keys of cells


def keys(learner=None, *, data=make_data, **options):
    chosen = [learner or StudyLearner("L", Stumps())]
    plan = Plan([StudyData("x", data)], chosen, **{"split": Split(folds=2), **options})
    return [cell.key for cell in prepare(plan, plan.datasets[0]).cells]


def test_keys_are_distinct_for_every_fold_repeat_and_seed():
    found = keys(StudyLearner("L", Noisy()), seeds=(0, 1), split=Split(3, repeats=2))
    assert len(set(found)) == len(found) == 2 * 3 * 2


def test_keys_change_with_all_that_changes_results(monkeypatch):
    X, Y = make_data()
    variants = [
        keys(),
        keys(StudyLearner("L", Stumps(bias=0.5))),
        keys(StudyLearner("L", Noisy())),
        keys(StudyLearner("L", Noisy(random_state=0))),
        keys(StudyLearner("L", Noisy()), seeds=(1,)),
        keys(StudyLearner("L", BinaryRelevance(LogisticRegression()))),
        keys(StudyLearner("L", BinaryRelevance(LogisticRegression(C=2)))),
        keys(StudyLearner("L", Stumps(), threshold=0.5)),
        keys(threshold=0.25),
        keys(predictions="soft"),
        keys(split=Split(folds=2, seed=1)),
        keys(split=Split(folds=3)),
        keys(data=lambda: (X + 1e-9, Y)),
        keys(data=lambda: (X, 1 - Y)),
        keys(data=lambda: (sp.csr_array(X), Y)),
    ]
    powerset = LabelPowerset()
    variants += [
        keys(StudyLearner("L", powerset)),
        keys(StudyLearner("L", powerset, each_loss=True)),
        keys(StudyLearner("L", powerset, each_loss=True), families={"binomial": None}),
        keys(StudyLearner("L", powerset, each_loss=True), families={"binomial": [1, 2]}),
        keys(StudyLearner("L", powerset, each_loss=True), families={"binomial": [1, 2], "polynomial": "even"}),
        keys(StudyLearner("L", powerset, each_loss=True), families={"polynomial": "even", "binomial": [1, 2]}),
        keys(StudyLearner("L", powerset, each_loss=True), families={"polynomial": [1, 2, np.inf]}),
    ]
    monkeypatch.setattr(choral, "__version__", "99")
    variants.append(keys())
    every = [key for found in variants for key in found]
    assert len(set(every)) == len(every)


def test_keys_stay_with_all_that_does_not():
    assert keys(StudyLearner("another name", Stumps())) == keys()
    assert keys(title="T", time_limit=3.0, families={"binomial": [1]}) == keys()
    assert keys(seeds=(7,)) == keys()  # no randomness
    assert keys(StudyLearner("L", Stumps(), threshold=0.5), threshold=0.1) == keys(threshold=0.5)
    assert keys(StudyLearner("L", Noisy()), seeds=(0, 1))[:2] == keys(StudyLearner("L", Noisy()))
    assert keys(data=lambda: make_data()) == keys()
    two = [StudyLearner("K", LabelPowerset()), StudyLearner("L", Stumps())]
    plan = Plan([StudyData("y", make_data), StudyData("x", make_data)], two, split=Split(folds=2))
    assert [cell.key for cell in prepare(plan, plan.datasets[1]).cells][2:] == keys()


def test_the_keys_of_ordinary_cells_are_what_they_were():
    """Cells of former studies serve again: what goes into a key, and in which order, must not change."""
    X, Y = make_data()
    (numbers,) = Split(folds=2).fold_numbers(Y)
    estimator = BinaryRelevance(LogisticRegression())
    stamps = [
        f"choral.learners.binary_relevance:BinaryRelevance {choral.__version__}",
        f"sklearn.linear_model._logistic:LogisticRegression {sklearn.__version__}",
    ]
    data, own = (joblib.hash(what, hash_name="sha1") for what in ((X, Y), estimator))
    expected = []
    for fold in range(2):
        test = joblib.hash(numbers == fold, hash_name="sha1")
        parts = json.dumps([1, choral.__version__, data, test, 0, own, stamps, "hard", None])
        expected.append(hashlib.sha256(parts.encode()).hexdigest()[:32])
    assert keys(StudyLearner("L", estimator), families={"polynomial": "even"}) == expected


def test_keys_follow_the_text_of_a_module_without_a_version(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "unversioned.py"
    path.write_text("from sklearn.dummy import DummyClassifier\nclass Own(DummyClassifier): pass\n")
    from unversioned import Own

    plain, nested = StudyLearner("L", Own()), StudyLearner("L", BinaryRelevance(Own()))
    before = keys(plain), keys(nested)
    assert (keys(plain), keys(nested)) == before
    path.write_text(path.read_text() + "# another text\n")
    assert keys(plain) != before[0]
    assert keys(nested) != before[1]
    path.unlink()
    assert keys(plain) != before[0]
    monkeypatch.setattr(sys.modules["unversioned"], "__version__", "1", raising=False)
    versioned = keys(plain)
    path.write_text("anything")
    assert keys(plain) == versioned


# --- sources and options


@pytest.mark.parametrize(
    "source, message",
    [
        (lambda: 3, r"the source of d must be or return a Dataset or \(X, Y\); got int."),
        (lambda: {}["x"], "d: its source failed, KeyError: 'x'."),
        (lambda: sys.exit(3), "d: its source failed, SystemExit: 3."),
        (lambda: int("x"), "d: invalid literal for int"),
    ],
)
def test_a_source_that_fails_is_named(source, message):
    with pytest.raises(ValueError, match=message):
        StudyData("d", source).load()


def test_a_pair_is_a_source():
    X, Y = make_data()
    assert StudyData("d", (X, Y)).load().Y.shape == Y.shape
    with pytest.raises(TypeError, match=r"must be a Dataset, a pair \(X, Y\) or a function; got list."):
        StudyData("d", [X, Y])


@pytest.mark.parametrize("threshold", [0, -1, 2])
def test_a_threshold_is_a_probability(threshold):
    with pytest.raises(ValueError, match=f"threshold must lie above 0, and be at most 1; got {threshold}."):
        StudyLearner("L", Stumps(), threshold=threshold)


def test_names_fit_on_a_line():
    with pytest.raises(ValueError, match="must not hold line breaks or other control characters"):
        StudyLearner("a\nb", Stumps())


def test_stratify_is_true_or_false():
    with pytest.raises(ValueError, match="stratify must be True or False; got 'x'."):
        Split(stratify="x")


def test_scores_need_predict_proba():
    class Hard(Stumps):
        predict_proba = property()  # as scikit-learn has it where a part of a learner has none

    message = "L has no predict_proba, which scores and thresholds need."
    data = [StudyData("d", make_data)]
    for options in ({"predictions": "soft"}, {"threshold": 0.5}):
        with pytest.raises(ValueError, match=message):
            Plan(data, [StudyLearner("L", Hard())], **options)
    with pytest.raises(ValueError, match=message):
        Plan(data, [StudyLearner("L", Hard(), threshold=0.5)])
    Plan(data, [StudyLearner("L", Hard()), StudyLearner("M", Stumps(), threshold=0.5)])


def test_values_of_k_beyond_the_labels_are_noted():
    plan = Plan([StudyData("d", make_data)], learners(), families={"binomial": [1, 3, 4, 9]})
    assert plan.notes("d", 3) == ["binomial: k = 4, 9 is beyond the 3 labels of d, left out."]
    assert plan.notes("d", 9) == []
    assert Plan([StudyData("d", make_data)], learners()).notes("d", 3) == []
