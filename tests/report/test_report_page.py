"""The report page, as people meet it: in a browser, by mouse and keyboard, on a phone, with hostile names."""

import csv
import io
import itertools
import re
import sys

import numpy as np
import pytest
from sklearn.metrics import hamming_loss, zero_one_loss

import study_zoo
from browser import PHONE, start_browser
from choral import ErrorProfile, LossCurve, PairwiseCurve
from choral.datasets import Dataset
from choral.displays._style import COLOURS, GREY
from choral.learners import BinaryRelevance, LabelPowerset
from choral.report import render_page, write_page
from choral.report.markup import MINUS, MISSING
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running
from choral.study.page import study_contents

pytest.importorskip("plotly")

STUDY = {
    "BR": (0.1, 0.22),
    "CC": (0.3, 0.27),
    "LP": (0.42, 0.35),
    "Default": (0.02, 0.3),
}  # right at once, else wrong by
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><!--",
    "$data {{title}} $& %{x}",
    "=1+1 &lt;<b>bold</b>\u2028",
)


def random_curves(rng, skills, n_labels, family, n_rows=300):
    """Curves of random predictions: some rows are right as a whole, in the others labels are wrong one by one."""
    y_true = rng.integers(2, size=(n_rows, n_labels))
    curves = {}
    for name, (whole, wrong) in skills.items():
        errors = (rng.random((n_rows, n_labels)) < wrong) & (rng.random((n_rows, 1)) > whole)
        parameters = None if family == "binomial" else [*np.geomspace(1, 1000, 54), np.inf]
        curves[name] = ErrorProfile.from_predictions(y_true, y_true ^ errors).curve(family, parameters, name)
    return curves


def togetherness_of(curve):
    if curve.n_labels == 1:
        return None
    return {"value": curve.togetherness, "lower": 0.1, "upper": 0.9, "independent": 0.25}


def family_contents(rng, skills, n_labels, family, baseline):
    curves = random_curves(rng, skills, n_labels, family)
    first = next(iter(curves.values()))
    finite = [x if np.isfinite(x) else 1 for x in first.x.tolist()]
    spread = 0.02 + 0.01 * np.array(finite)
    return {
        "parameters": ["inf" if np.isinf(each) else each for each in first.parameters.tolist()],
        "x": finite,
        "curves": {
            name: {
                "losses": curve.losses.tolist(),
                "lower": (curve.losses - spread).clip(0, 1).tolist(),
                "upper": (curve.losses + spread).clip(0, 1).tolist(),
                "slope": curve.slope,
                "area": curve.area,
                "togetherness": togetherness_of(curve),
            }
            for name, curve in curves.items()
        },
        "pairs": [
            pair_contents(rng, PairwiseCurve(a, b), spread)
            for a, b in itertools.combinations(curves.values(), 2)
            if baseline not in (a.name, b.name)
        ],
    }


def pair_contents(rng, pair, spread):
    difference = pair.differences
    return {
        "first": pair.names[0],
        "second": pair.names[1],
        "crossings": pair.crossings().tolist(),
        "difference": difference.tolist(),
        "lower": (difference - spread).tolist(),
        "upper": (difference + spread).tolist(),
        "p": np.exp(-((difference / spread) ** 2) * 3 - rng.random() * 0.1).tolist(),
    }


def rank_contents(datasets, family, learners):
    """Mean ranks at five points of the way."""
    points = []
    for share, title in [
        (0, "Hamming"),
        (0.25, "a quarter"),
        (0.5, "half way"),
        (0.75, "three quarters"),
        (1, "subset 0/1"),
    ]:
        losses = []
        for dataset in datasets:
            part = dataset["families"][family]
            index = int(np.abs(np.array(part["x"]) - share).argmin())
            losses.append([part["curves"][name]["losses"][index] for name in learners])
        ranks = np.argsort(np.argsort(losses, axis=1), axis=1).mean(axis=0) + 1
        points.append(
            {
                "x": share,
                "title": title,
                "mean_ranks": dict(zip(learners, ranks.tolist(), strict=True)),
                "critical_difference": 1.4,
                "friedman_p": 0.0123,
                "n_datasets": len(datasets),
            }
        )
    return points


def finding(statement, verdict, figures, where):
    return {
        "statement": statement,
        "verdict": verdict,
        "figures": figures,
        "where": where,
        "measured": "what is measured",
        "figure": "curves/one--binomial",
    }


def make_contents(skills=STUDY, label_counts=(("emotions", 6), ("yeast", 14)), **changes):
    """A whole study of random predictions."""
    rng = np.random.default_rng(0)
    families = ["binomial", "polynomial"]
    baseline = changes.get("baseline", "Default" if "Default" in skills else None)
    datasets = [
        {
            "name": name,
            "n_rows": 300,
            "n_labels": n_labels,
            "labels": [f"label {i}" for i in range(n_labels)],
            "same_as_baseline": [],
            "families": {family: family_contents(rng, skills, n_labels, family, baseline) for family in families},
        }
        for name, n_labels in label_counts
    ]
    models = [name for name in skills if name != baseline]
    learner, dataset = models[0], datasets[0]["name"]
    contents = {
        "kind": "study",
        "title": "Nine learners from Hamming to subset 0/1 loss",
        "created": "2026-11-15",
        "predictions": "hard",
        "answer": [
            f"{models[-1]} predicts whole label sets best, {models[0]} single labels.",
            "On most data sets the curves cross: who is better depends on how many labels must be right together.",
        ],
        "learners": list(skills),
        "baseline": baseline,
        "families": families,
        "datasets": datasets,
        "across": {family: rank_contents(datasets, family, models) for family in families},
        "sections": [
            {
                "title": "Claims",
                "prose": ["Judged by <losses>."],
                "findings": [
                    finding("Curves of learners cross.", "holds", "31 of 36 pairs.", "Two at a time"),
                    finding("One is best everywhere.", "does not hold", "None is.", "All data sets"),
                    finding("Flat is better.", "holds in part", "5 of 9 data sets.", "Tables"),
                    finding("It scales.", "cannot be told", "Not measured.", "Notes"),
                ],
                "summaries": [],
            },
            {
                "title": "Published figures",
                "prose": [],
                "findings": [],
                "summaries": [
                    {
                        "caption": "Ours and the published figures",
                        "columns": ["data set", "learner", "folds", "ours", "published", "distance"],
                        "rows": [[dataset, learner, 8, 0.21, None, -0.0034], [dataset, "<b>", 9, 0.1, 0.2, 0.1]],
                        "footer": ["all", "", 17, 0.155, None, 0.05],
                    }
                ],
            },
        ],
        "failures": [{"dataset": dataset, "learner": learner, "fold": "3", "reason": "MemoryError: out of\nmemory"}],
        "notes": ["Folds are shared by all learners.", "Bands are bootstrap bands of 95 %."],
        "plan": '[study]\nfolds = 10\n\tlearners = ["<BR>"]\n',
        "versions": {"choral": "0.1.0", "python": "3.11.9"},
    }
    return contents | changes


NINE = {f"learner {i}": (0.05 * i, 0.2 + 0.02 * i) for i in range(9)}
NINE_SETS = [(f"data set {k}", k) for k in (6, 7, 12, 14, 19, 27, 45, 53, 75)]
ONE = {"only": (0.2, 0.2)}
EMPTY = {"across": None, "sections": [], "failures": [], "notes": [], "plan": None}


@pytest.fixture(scope="session")
def session_browser(tmp_path_factory):
    browser = start_browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def browser(session_browser):
    """One browser for all; whatever a test does, the console stays silent and nothing leaves the page."""
    yield session_browser
    assert session_browser.messages() == []
    assert [each for each in session_browser.requests() if not each.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture(scope="session")
def study():
    return make_contents()


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """Write a page, each only once."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def write(contents):
        if id(contents) not in known:
            known[id(contents)] = (contents, folder / f"{len(known)}.html")  # contents are kept: so is their id
            write_page(*known[id(contents)])
        return known[id(contents)][1]

    return write


@pytest.fixture
def open_study(browser, study, page_of):
    """The page of the study, in whatever state the last test has left it."""
    browser.visit(page_of(study))
    return browser


def show_curves(browser, *, dataset=0, family=1, index=0):
    browser.choose("#curves select", dataset)
    browser.click(f"#curves .choices label:nth-child({family}) input")
    browser.choose("#curves input[type=range]", index)


def ranked(part, index, baseline="Default"):
    """What the ranking should say at one parameter, by the contents."""
    losses = {name: curve["losses"][index] for name, curve in part["curves"].items()}
    best = min(loss for name, loss in losses.items() if name != baseline)
    rows, place = [], 0
    for name in sorted(losses, key=losses.get):
        place += name != baseline
        gap = losses[name] - best
        rank, to_best = MISSING if name == baseline else str(place), f"+{gap:.4f}" if gap else MISSING
        rows.append([rank, name, f"{losses[name]:.4f}", to_best])
    return rows


def fixed(value):
    return f"{value:.4f}".replace("-", MINUS)


# ---------------------------------------------------------------- in a browser


def test_the_answer_comes_first_and_nothing_is_fetched(browser, study, page_of):
    browser.open(page_of(study))
    text = browser.script("return document.body.innerText")
    places = [
        text.index(part) for part in (study["title"], "2 data sets", *study["answer"], "From Hamming to subset 0/1\n")
    ]
    assert places == sorted(places)
    size = "getComputedStyle(document.querySelector(each)).fontSize"
    sizes = browser.script(f"return ['#answer p', 'h1', 'h2'].map(each => parseFloat({size}))")
    assert sizes[0] > max(sizes[1:])
    # some Plotly asks whether the browser knows WebP by a picture that it holds itself
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page_of(study).as_uri()]


def test_the_slider_ranks_anew(open_study, study):
    part = study["datasets"][0]["families"]["binomial"]
    assert [row[1] for row in ranked(part, 0)] != [row[1] for row in ranked(part, 5)]
    for index in (0, 3, 5):
        show_curves(open_study, index=index)
        assert open_study.cells("#curves table") == ranked(part, index)
        assert open_study.find("#curves output").text == f"k = {index + 1}"
        assert open_study.script("return document.querySelector('#curves .chart').layout.shapes[0].x0") == index + 1
        assert open_study.find("#curves [aria-live]").get_attribute("textContent").startswith(f"k = {index + 1}: 1. ")


def test_the_slider_moves_by_keyboard(open_study):
    from selenium.webdriver.common.keys import Keys

    show_curves(open_study)
    slider = open_study.find("#curves input[type=range]")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert slider.get_attribute("aria-valuetext") == "k = 2"
    slider.send_keys(Keys.END)
    assert open_study.find("#curves output").text == "k = 6"


def visible(browser, part):
    return {trace["name"] for trace in browser.traces("#curves") if trace["part"] == part and trace["visible"]}


def test_checkboxes_hide_learners_and_bands(open_study):
    show_curves(open_study)
    everyone = {"BR", "CC", "LP", "Default"}
    assert visible(open_study, "line") == visible(open_study, "band") == everyone
    open_study.click("#curves .legend label:nth-child(2) input")
    assert visible(open_study, "line") == visible(open_study, "band") == everyone - {"CC"}
    assert {row[1] for row in open_study.cells("#curves table")} == everyone - {"CC"}
    assert "1 learner hidden" in open_study.find("#curves .panel").text
    open_study.click("#curves .controls > .check input")
    assert visible(open_study, "band") == set()
    open_study.click("#curves .legend label:nth-child(2) input")
    open_study.click("#curves .controls > .check input")
    assert visible(open_study, "line") == visible(open_study, "band") == everyone


def test_families_and_data_sets_switch(open_study, study):
    show_curves(open_study, dataset=1)
    part = study["datasets"][1]["families"]["binomial"]
    traces = {trace["name"]: trace for trace in open_study.traces("#curves") if trace["part"] == "line"}
    assert traces["LP"]["x"] == part["parameters"]
    assert traces["LP"]["y"] == part["curves"]["LP"]["losses"]
    show_curves(open_study, dataset=1, family=2, index=54)
    part = study["datasets"][1]["families"]["polynomial"]
    traces = {trace["name"]: trace for trace in open_study.traces("#curves") if trace["part"] == "line"}
    losses = part["curves"]["LP"]["losses"]
    assert traces["LP"]["y"] == [*losses[:-1], None, losses[-1]]  # no line leads to infinity
    assert traces["LP"]["x"][:-2] == pytest.approx(np.log10(part["parameters"][:-1]), abs=1e-12)
    assert open_study.find("#curves output").text == "\N{GREEK SMALL LETTER ALPHA} = ∞"
    assert open_study.cells("#curves table") == ranked(part, 54)


def test_hovering_tells_learner_parameter_loss_and_band(open_study, study):
    show_curves(open_study)
    curve = study["datasets"][0]["families"]["binomial"]["curves"]["CC"]
    index = [(trace["name"], trace["part"]) for trace in open_study.traces("#curves")].index(("CC", "line"))
    lines = hover_lines(open_study, "#curves", index, 2)
    band = f"band {fixed(curve['lower'][2])} to {fixed(curve['upper'][2])}"
    assert lines == ["CC", "k = 3", f"loss {fixed(curve['losses'][2])}", band]


def hover_lines(browser, section, trace, point):
    code = (
        "const [section, curveNumber, pointNumber, done] = arguments;"
        "const chart = document.querySelector(section + ' .chart');"
        "const read = () => done([...chart.querySelectorAll('.hovertext tspan.line')].map(line => line.textContent));"
        "Plotly.Fx.hover(chart, [{curveNumber, pointNumber}]);"
        "setTimeout(read, 80);"  # Plotly waits a little before it shows another point
    )
    return browser.driver.execute_async_script(code, section, trace, point)


def test_charts_cannot_be_sent_away(open_study):
    code = "return [...document.querySelectorAll('#curves .modebar-btn')].map(each => each.dataset.title)"
    titles = open_study.script(code)
    assert "download plot as a png" in {title.lower() for title in titles}
    assert {title.lower() for title in titles} <= {"zoom", "pan", "reset axes", "download plot as a png"}


def test_mean_ranks_over_data_sets(open_study, study):
    open_study.choose("#ranks input[type=range]", 4)
    point = study["across"]["binomial"][4]
    expected = sorted(point["mean_ranks"].items(), key=lambda item: item[1])
    assert [row[1:3] for row in open_study.cells("#ranks table")] == [[name, f"{rank:.2f}"] for name, rank in expected]
    assert open_study.find("#ranks output").text == "subset 0/1"
    assert "Friedman test: p = 0.012. Critical difference: 1.40." in open_study.find("#ranks .panel").text
    shade = open_study.script("return document.querySelector('#ranks .chart').layout.shapes[0]")
    assert (shade["y0"], shade["y1"]) == pytest.approx((expected[0][1], expected[0][1] + 1.4))


LOSSES, DIFFERENCE = "Losses against each other", "Difference along the axis"


def show_pair(browser, *, first=0, second=1, view=LOSSES, dataset=0):
    browser.choose("#pairs label:nth-child(1) select", first)
    browser.choose("#pairs label:nth-child(2) select", second)
    place = browser.texts("#pairs .controls fieldset:nth-of-type(1) label").index(view) + 1
    browser.click(f"#pairs .controls fieldset:nth-of-type(1) label:nth-child({place}) input")
    browser.choose("#pairs .controls > label:last-child select", dataset)


def test_a_pair_of_learners(open_study, study):
    show_pair(open_study)
    parts = [dataset["families"]["binomial"] for dataset in study["datasets"]]
    lines = [trace for trace in open_study.traces("#pairs") if trace["part"] == "line"]
    assert [trace["name"] for trace in lines] == ["emotions", "yeast"]
    assert [trace["x"] for trace in lines] == [part["curves"]["BR"]["losses"] for part in parts]
    assert [trace["y"] for trace in lines] == [part["curves"]["CC"]["losses"] for part in parts]
    marks = [trace for trace in open_study.traces("#pairs") if trace["part"] == "crossing"]
    assert [len(trace["x"]) for trace in marks] == [len(part["pairs"][0]["crossings"]) for part in parts]
    assert all(trace["x"] == pytest.approx(trace["y"]) for trace in marks)  # on the diagonal
    notes = open_study.script("return document.querySelector('#pairs .chart').layout.annotations.map(a => a.text)")
    assert notes == ["BR better", "CC better"]


def test_the_difference_of_a_pair_turned_around(open_study, study):
    pair = study["datasets"][1]["families"]["binomial"]["pairs"][1]
    assert (pair["first"], pair["second"]) == ("BR", "LP")
    show_pair(open_study, first=2, second=0, view=DIFFERENCE, dataset=2)
    traces = {trace["part"]: trace for trace in open_study.traces("#pairs")}
    assert traces["line"]["y"] == pytest.approx(np.negative(pair["difference"]), abs=1e-12)
    lower, upper = np.negative(pair["upper"]), np.negative(pair["lower"])
    assert traces["band"]["y"][:-1] == pytest.approx([*upper, *lower[::-1], upper[0]], abs=6e-5)
    significant = [y is not None for y in traces["significant"]["y"]]
    assert significant == [p < 0.05 for p in pair["p"]]
    assert len(set(significant)) == 2
    assert open_study.cells("#pairs table")[0][-1] == f"{sum(significant)} of {len(significant)}"
    assert "positive where LP is better" in open_study.find("#pairs .panel").text


def test_a_crossing_before_infinity(browser, page_of):
    alphas, losses = [1, 2, np.inf], {"BR": [0.1, 0.2, 0.6], "LP": [0.2, 0.3, 0.5]}
    curves = {name: LossCurve("polynomial", alphas, values, n_labels=6, name=name) for name, values in losses.items()}
    plain = {"lower": None, "upper": None, "slope": None, "area": None}
    contents = make_contents({"BR": (0, 0), "LP": (0, 0)}, [("emotions", 6)], families=["polynomial"], **EMPTY)
    contents["datasets"][0]["families"] = {
        "polynomial": {
            "parameters": [1, 2, "inf"],
            "x": [0, 0.1, 1],
            "curves": {name: {"losses": values, **plain} for name, values in losses.items()},
            "pairs": [pair_contents(np.random.default_rng(0), PairwiseCurve(*curves.values()), spread=0.01)],
        }
    }
    browser.open(page_of(contents))
    show_pair(browser)
    crossing = {trace["part"]: trace for trace in browser.traces("#pairs")}["crossing"]
    assert (crossing["x"], crossing["y"]) == (pytest.approx([0.4]), pytest.approx([0.4]))  # halfway, on the diagonal
    assert browser.cells("#pairs table")[0][3] == "4"
    show_pair(browser, view=DIFFERENCE)
    traces = {trace["part"]: trace for trace in browser.traces("#pairs")}
    assert traces["line"]["x"][2] is None  # no line leads to infinity
    last, infinity = traces["line"]["x"][1], traces["line"]["x"][3]
    assert traces["crossing"]["x"] == pytest.approx([(last + infinity) / 2])


def chosen_pair(browser):
    code = "return [...document.querySelectorAll('#pairs select')].slice(0, 2).map(s => s.selectedOptions[0].text)"
    return browser.script(code)


def test_a_pair_of_one_and_the_same_is_not_possible(open_study):
    show_pair(open_study)
    open_study.choose("#pairs label:nth-child(1) select", 1)  # CC, which was second
    assert chosen_pair(open_study) == ["CC", "BR"]


def test_differences_on_all_data_sets_have_bands(open_study, study):
    show_pair(open_study, view=DIFFERENCE)
    pairs = [dataset["families"]["binomial"]["pairs"][0] for dataset in study["datasets"]]
    lines = [trace for trace in open_study.traces("#pairs") if trace["part"] == "line"]
    for trace, dataset, pair in zip(lines, study["datasets"], pairs, strict=True):
        assert trace["x"] == pytest.approx(dataset["families"]["binomial"]["x"])
        assert trace["y"] == pytest.approx(pair["difference"], abs=1e-12)
    bands = [trace for trace in open_study.traces("#pairs") if trace["part"] == "band"]
    for trace, pair in zip(bands, pairs, strict=True):
        assert trace["y"][: len(pair["upper"])] == pytest.approx(pair["upper"], abs=6e-5)


def step(browser, title):
    browser.click(f"#pairs .stepper button:nth-of-type({1 if title == 'Previous pair' else 2})")
    return chosen_pair(browser), browser.find("#pairs .stepper output").get_attribute("textContent")


def test_steps_from_pair_to_pair(open_study):
    show_pair(open_study, first=1, second=0)
    assert open_study.texts("#pairs .stepper button") == ["Previous pair", "Next pair"]
    assert step(open_study, "Next pair") == (["BR", "LP"], "2 of 3: BR against LP")
    assert step(open_study, "Next pair") == (["CC", "LP"], "3 of 3: CC against LP")
    assert step(open_study, "Next pair") == (["BR", "CC"], "1 of 3: BR against CC")
    assert step(open_study, "Previous pair") == (["CC", "LP"], "3 of 3: CC against LP")
    assert {trace["name"] for trace in open_study.traces("#pairs")} == {"emotions", "yeast"}
    assert open_study.find("#pairs .chart").get_attribute("aria-label").startswith("CC against LP")


def checked_pair(browser):
    return browser.script("return document.querySelector('.overview label:has(:checked) .name').textContent")


def test_the_overview_shows_all_pairs_and_chooses_one(open_study, study):
    from selenium.webdriver.common.keys import Keys

    show_pair(open_study)
    names = [f"{second} {MINUS} {first}" for first, second in itertools.combinations(["BR", "CC", "LP"], 2)]
    assert open_study.texts(".overview .name") == names
    assert checked_pair(open_study) == names[0]
    open_study.click(".overview label:nth-child(3)")
    assert chosen_pair(open_study) == ["CC", "LP"]
    open_study.find(".overview label:nth-child(3) input").send_keys(Keys.ARROW_LEFT)
    assert chosen_pair(open_study) == ["BR", "LP"]
    assert checked_pair(open_study) == names[1]
    open_study.choose("#pairs label:nth-child(2) select", 1)  # CC
    assert checked_pair(open_study) == names[0]


def test_a_picture_of_the_overview_has_its_scale(open_study, study):
    for family, title in enumerate(study["families"], start=1):
        open_study.click(f"#pairs .controls fieldset:nth-of-type(2) label:nth-child({family}) input")
        for index, scale in enumerate(open_study.texts(".overview svg + span")):
            pairs = [dataset["families"][title]["pairs"][index] for dataset in study["datasets"]]
            limit, largest = float(scale.removeprefix("±")), max(np.abs(pair["difference"]).max() for pair in pairs)
            assert limit / 1.7 < largest <= limit
            drawing = "[...document.querySelectorAll('.overview svg')[arguments[0]].children]"
            zero, *paths = open_study.script(f"return {drawing}.map(path => path.getAttribute('d'))", index)
            assert zero == "M0 30H100"
            for path, pair in zip(paths, pairs, strict=True):
                points = np.array([point.split() for point in path[1:].split("L")], dtype=float)
                assert 30 - points[:, 1] == pytest.approx(30 * np.array(pair["difference"]) / limit, abs=0.06)
    open_study.click("#pairs .controls fieldset:nth-of-type(2) label:nth-child(1) input")


def test_a_line_far_beyond_the_others_leaves_its_picture(browser, study, page_of):
    """The difference of the fourth data set is more than 2.5 times as large as that of the others."""
    sets = []
    for number, size in enumerate((0.01, 0.02, 0.03, 0.4)):
        part = dict(study["datasets"][0]["families"]["binomial"])
        losses = part["curves"]["BR"]["losses"]
        moved = part["curves"]["CC"] | {"losses": [loss + size for loss in losses]}
        part |= {"curves": part["curves"] | {"CC": moved}, "pairs": part["pairs"][:1]}
        sets.append(study["datasets"][0] | {"name": f"set {number}", "families": {"binomial": part}})
    browser.open(page_of(study | {"datasets": sets, "families": ["binomial"], "across": None, "learners": list(STUDY)}))
    assert browser.script("return document.querySelector('.overview').hidden")  # a single pair: nothing to choose
    assert browser.texts(".overview svg + span") == ["±0.03, 1 beyond"]


@pytest.fixture(scope="session")
def same(study):
    """CC predicts the same as the baseline on the second data set."""
    first, second = study["datasets"]
    return study | {"datasets": [first, second | {"same_as_baseline": ["CC"]}]}


def test_a_learner_that_predicts_the_same_as_the_baseline_is_named_so(browser, same, page_of):
    browser.visit(page_of(same))
    sentence = "On yeast, CC predicts the same as the baseline (Default)."
    show_curves(browser)
    assert browser.texts("#curves .legend label")[1] == "CC"
    assert sentence not in browser.find("#curves .panel").text
    show_curves(browser, dataset=1)
    assert browser.texts("#curves .legend label")[1] == "CC (same as baseline)"
    assert sentence in browser.find("#curves .panel").text
    browser.click("#curves .legend label:nth-child(2) input")
    assert sentence not in browser.find("#curves .panel").text  # hidden
    assert sentence in browser.find("#ranks .panel").text
    for second, is_said in ((1, True), (2, False)):
        show_pair(browser, second=second)
        assert (sentence in browser.find("#pairs .panel").text) == is_said
    assert sentence in browser.find("#summary").find_element("xpath", "../following-sibling::p").text
    browser.choose("#tables .table-head select", 1)
    assert browser.find("#losses .note").text == sentence
    for title, name in (("all losses", "losses.csv"), ("slopes", "slopes.csv")):
        _, *rows = download(browser, title, name)
        assert {(row[0], row[2]) for row in rows if row[-1]} == {("yeast", "CC")}
        assert {row[-1] for row in rows} == {"", "Default"}


def test_tables_sort_by_keyboard(open_study):
    from selenium.webdriver.common.keys import Keys

    header = open_study.find("#summary th:nth-child(3)")
    for direction in ("ascending", "descending"):
        header.find_element("css selector", "button").send_keys(Keys.ENTER)
        assert header.get_attribute("aria-sort") == direction
        losses = [float(row[2]) for row in open_study.cells("#summary")]
        assert losses == sorted(losses, reverse=direction == "descending")
    open_study.find("#summary th:nth-child(2) button").send_keys(Keys.SPACE)
    assert header.get_attribute("aria-sort") is None
    learners = [row[1] for row in open_study.cells("#summary")]
    assert learners == sorted(["BR", "CC", "LP", "Default"] * 2)


def download(browser, title, name):
    """Rows of a CSV file, which has the line ends of RFC 4180 and nothing else."""
    buttons = "return [...document.querySelectorAll('button')].find(b => b.textContent.includes(arguments[0])).click()"
    browser.script(buttons, title)
    text = browser.downloaded(name).decode()
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert text.endswith("\r\n")
    return rows


def test_downloads_hold_every_digit(open_study, study):
    parts = [(d["name"], name, part) for d in study["datasets"] for name, part in d["families"].items()]
    header, *rows = download(open_study, "all losses", "losses.csv")
    assert header == ["dataset", "family", "learner", "parameter", "loss", "lower", "upper", "same_as"]
    expected = [
        [dataset, family, learner, str(parameter), *figures]
        for dataset, family, part in parts
        for learner, curve in part["curves"].items()
        for parameter, *figures in zip(part["parameters"], curve["losses"], curve["lower"], curve["upper"], strict=True)
    ]
    assert [[*row[:3], float(row[3]), *map(float, row[4:7])] for row in rows] == [
        [*row[:3], float(row[3]), *row[4:]] for row in expected
    ]
    header, *rows = download(open_study, "slopes", "slopes.csv")
    together = ["togetherness", "togetherness_lower", "togetherness_upper", "togetherness_independent"]
    assert header == ["dataset", "family", "learner", "slope", "area", *together, "same_as"]
    assert [[*row[:3], *map(float, row[3:9])] for row in rows] == [
        [dataset, family, learner, curve["slope"], curve["area"], *curve["togetherness"].values()]
        for dataset, family, part in parts
        for learner, curve in part["curves"].items()
    ]
    header, *rows = download(open_study, "crossings", "crossings.csv")
    assert header == ["dataset", "family", "first", "second", "parameter"]
    assert [[*row[:4], float(row[4])] for row in rows] == [
        [dataset, family, pair["first"], pair["second"], crossing]
        for dataset, family, part in parts
        for pair in part["pairs"]
        for crossing in pair["crossings"]
    ]


def test_the_plan_can_be_kept(open_study, study):
    open_study.click("#reproduce button")
    assert open_study.downloaded("plan.toml").decode() == study["plan"]


@pytest.fixture(scope="session")
def hostile():
    skills = dict(zip((*HOSTILE, "constructor"), NINE.values(), strict=False))
    contents = make_contents(skills, [(name, 4) for name in HOSTILE], title=HOSTILE[0], answer=list(HOSTILE))
    for part in contents["datasets"][0]["families"].values():  # as if it had failed there
        del part["curves"]["constructor"]
        part["pairs"] = [pair for pair in part["pairs"] if "constructor" not in (pair["first"], pair["second"])]
    return contents | {
        "across": None,
        "sections": [
            {
                "title": name,
                "prose": [name],
                "findings": [finding(name, "holds", name, name)],
                "summaries": [{"caption": name, "columns": [name], "rows": [[name]], "footer": [name]}],
            }
            for name in HOSTILE
        ],
        "failures": [{"dataset": name, "learner": name, "fold": name, "reason": name} for name in HOSTILE],
        "notes": list(HOSTILE),
        "plan": "\n".join(HOSTILE[:4]),
        "versions": {HOSTILE[0]: HOSTILE[1]},
    }


def shown(name):
    return name.replace("\u2028", "\\u2028")


def test_hostile_names_show_as_text(browser, hostile, page_of):
    browser.visit(page_of(hostile))  # an alert would end the test
    assert browser.driver.title == f"{HOSTILE[0]}: {len(HOSTILE)} data sets"
    assert browser.script("return document.images.length") == 0
    assert browser.script("return [...document.scripts].map(each => each.id || each.type)") == ["contents", "", ""]
    assert browser.texts("#answer p") == [name.strip() for name in HOSTILE]
    assert browser.texts("#curves .legend .name") == [*map(shown, HOSTILE), "constructor"]
    assert browser.texts("#curves option") == [*map(shown, HOSTILE)]
    ranking = ranked(hostile["datasets"][0]["families"]["binomial"], 0)
    assert [row[1] for row in browser.cells("#curves table")] == [shown(row[1]) for row in ranking]
    for index, trace in enumerate(browser.traces("#curves")):
        if trace["part"] == "line":
            assert hover_lines(browser, "#curves", index, 0)[0] == shown(trace["name"])
    show_pair(browser)
    assert browser.texts("#pairs .chart .xtitle") == [f"loss of {HOSTILE[0]}"]
    assert browser.texts("#pairs .overview .name")[0] == f"{shown(HOSTILE[1])} {MINUS} {shown(HOSTILE[0])}"
    assert browser.find("#plan").get_attribute("textContent") == hostile["plan"]


def test_names_in_downloads_are_no_formulas(browser, hostile, page_of):
    browser.visit(page_of(hostile))
    _, *rows = download(browser, "slopes", "slopes.csv")
    names = {name if name[0] != "=" else "'" + name for name in HOSTILE}
    assert {row[0] for row in rows} == names
    assert {row[2] for row in rows} == names | {"constructor"}


@pytest.fixture(scope="session")
def long_names():
    """Names of 200 characters without a break."""
    skills = {f"{letter * 200}": skill for letter, skill in zip("ABC", STUDY.values(), strict=False)}
    return make_contents(skills, (("d" * 200, 3), ("e" * 200, 4)))


@pytest.mark.parametrize("which", ["study", "hostile", "one", "long_names"])
def test_a_phone_needs_no_sideways_scrolling(browser, request, page_of, which):
    browser.open(page_of(request.getfixturevalue(which)), size=PHONE)
    assert browser.script("return [innerWidth, document.documentElement.scrollWidth]") == [PHONE[0], PHONE[0]]
    assert browser.script("return document.querySelector('.chart svg').clientWidth") <= PHONE[0]


def test_dark_mode_reaches_the_charts(browser, study, page_of):
    looks = (
        "const {layout, data} = document.querySelector('#curves .chart');"
        "return [getComputedStyle(document.body).backgroundColor, layout.font.color, data.at(-1).line.color]"
    )
    browser.open(page_of(study), scheme="dark")
    dark = browser.script(looks)
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.wait(lambda: browser.script(looks) == ["rgb(255, 255, 255)", "#1b1f24", "#767676"])
    assert dark == ["rgb(20, 23, 26)", "#e9ecef", "#9aa0a6"]


@pytest.fixture(scope="session")
def one():
    """A single model, data set, family, label and parameter; a name without a place to break it."""
    contents = make_contents(ONE, [("one" * 40, 1)], title="One", kind="evaluation", families=["binomial"], **EMPTY)
    del contents["datasets"][0]["families"]["polynomial"]
    return contents


def test_an_evaluation_of_one_model_with_one_label(browser, one, page_of):
    browser.open(page_of(one))
    assert browser.texts("h2") == ["From Hamming to subset 0/1", "Tables", "How to reproduce"]
    text = browser.script("return document.body.innerText").lower()
    assert "models shown" in text
    assert "learner" not in text
    loss = one["datasets"][0]["families"]["binomial"]["curves"]["only"]["losses"][0]
    assert browser.cells("#curves table") == [["1", "only", fixed(loss), MISSING]]
    assert not browser.find("#curves input[type=range]").is_enabled()
    assert not browser.find("#curves select").is_displayed()


@pytest.fixture(scope="session")
def odd(study):
    """A data set where nothing finished, and one with a tie and a curve that stops early."""
    first, second = study["datasets"]
    empty = {name: part | {"curves": {}, "pairs": [], "x": []} for name, part in first["families"].items()}
    part = second["families"]["binomial"]
    losses = part["curves"]["BR"]["losses"]
    curves = {
        name: {"losses": losses[1:5], "lower": None, "upper": None, "slope": None, "area": None} for name in STUDY
    }
    curves["LP"]["losses"] = [loss / 2 for loss in losses[1:5]]
    short = {"parameters": part["parameters"][1:5], "x": part["x"][1:5], "curves": curves, "pairs": []}
    datasets = [first | {"families": empty}, second | {"families": {**second["families"], "binomial": short}}]
    return study | {"datasets": datasets}


def test_a_data_set_where_nothing_finished(browser, odd, page_of):
    browser.visit(page_of(odd))
    show_curves(browser)
    assert browser.cells("#curves table") == []
    assert browser.texts("#curves .legend label")[0] == "BR (no result)"


def test_ties_share_a_rank_and_ends_have_their_names(browser, odd, page_of):
    browser.visit(page_of(odd))
    show_curves(browser, dataset=1)
    assert [row[:2] for row in browser.cells("#curves table")] == [
        ["1", "LP"],
        ["2", "BR"],
        ["2", "CC"],
        [MISSING, "Default"],
    ]
    assert browser.texts("#curves .ends span") == ["k = 2", "k = 5"]
    for place in (1, 2, 3):
        browser.click(f"#curves .legend label:nth-child({place}) input")
    loss = odd["datasets"][1]["families"]["binomial"]["curves"]["Default"]["losses"][0]
    assert browser.cells("#curves table") == [[MISSING, "Default", fixed(loss), MISSING]]


def test_without_scripts_the_answer_and_the_figures_are_there(browser, study, page_of):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page_of(study))
        assert browser.find("#answer").text.startswith(study["answer"][0])
        assert browser.find("#summary").is_displayed()
        assert not browser.find("#curves").is_displayed()
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_on_a_wide_screen_the_curves_stand_beside_the_answer(browser, study, page_of):
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
    browser.open(page_of(study), size=(1400, 900))
    answer, chart = browser.script(box, "#answer"), browser.script(box, "#curves .chart")
    assert chart["left"] > answer["right"]
    assert browser.script(box, "#curves")["top"] == answer["top"]
    assert chart["bottom"] < 900
    browser.open(page_of(study), size=PHONE)
    answer, chart = browser.script(box, "#answer"), browser.script(box, "#curves .chart")
    assert chart["top"] > answer["bottom"]


def test_the_axis_names_both_ends(browser, study, one, page_of):
    browser.open(page_of(study))
    assert browser.texts("#curves .chart .xtitle") == ["Hamming ← size of label sets, k → subset 0/1"]
    browser.click("#curves .choices label:nth-child(2) input")
    assert browser.texts("#curves .chart .xtitle") == ["Hamming ← exponent, \N{GREEK SMALL LETTER ALPHA} → subset 0/1"]
    browser.open(page_of(study), size=PHONE)
    assert browser.texts("#curves .chart .xtitle") == ["Hamming ← k → subset 0/1"]
    browser.open(page_of(one))
    assert browser.texts("#curves .chart .xtitle") == ["size of label sets, k (Hamming = subset 0/1)"]


def test_boxes_end_below_a_whole_row(browser, study, page_of):
    rows = [{"dataset": f"set {i}", "learner": "BR", "n_cells": i, "text": "w " * i} for i in range(1, 60)]
    browser.open(page_of(study | {"warnings": rows}))
    code = (
        "const box = document.getElementById('warnings-table').parentElement;"
        "const end = box.getBoundingClientRect().top + box.clientTop + box.clientHeight;"
        "const ends = [...box.querySelectorAll('tr')].map(row => row.getBoundingClientRect().bottom);"
        "return [box.scrollHeight > box.clientHeight, Math.min(...ends.map(each => Math.abs(each - end)))]"
    )
    browser.wait(lambda: browser.script(code)[1] <= 1)
    assert browser.script(code)[0]


# ---------------------------------------------------------------- without a browser


def test_the_header_names_data_and_files(study):
    page = render_page(study)
    size = f"{study['datasets'][0]['n_rows']} rows, {study['datasets'][0]['n_labels']} labels"
    assert f"<title>{study['title']}: 2 data sets</title>" in page
    assert f"<li>emotions: {size}</li>" in page
    evaluation = study | {"kind": "evaluation", "datasets": study["datasets"][:1], "title": "truth"}
    page = render_page(evaluation | {"files": ["truth.csv", "<b>.csv"]})
    assert f"<title>BR, CC and LP on truth: {size}</title>" in page
    assert "<h1>BR, CC and LP on truth</h1>" in page
    assert "<h1>BR, CC and LP</h1>" in render_page(evaluation | {"title": None})
    assert f"<li>{size}</li>" in page
    assert '<ul class="facts"><li>truth.csv</li><li>&lt;b&gt;.csv</li></ul>' in page


def test_many_names_in_the_header_are_cut_short():
    names = {f"model {i}": (0.1, 0.2) for i in range(8)}
    page = render_page(make_contents(names, [(f"set {i}", 3) for i in range(9)]))
    assert "<li>3 more</li>" in page
    assert "set 6: " not in page


def test_short_names_are_spelled_out_once(study):
    page = render_page(study | {"spelled_out": {"BR": "binary relevance", "<b>": "<i>"}})
    assert page.count("binary relevance") == 1
    assert "<div><dt>BR</dt><dd>binary relevance</dd></div><div><dt>&lt;b&gt;</dt><dd>&lt;i&gt;</dd></div>" in page
    assert "short-names" not in render_page(study).split("</style>")[1]


def test_warnings_have_a_table(study):
    found = [{"dataset": "emotions", "learner": "BR", "n_cells": 3, "text": "ConvergenceWarning: <b>"}]
    page = render_page(study | {"warnings": found})
    cells = '<td>emotions</td><td>BR</td><td class="number" data-value="3">3</td><td>ConvergenceWarning: &lt;b&gt;</td>'
    assert f"<tr>{cells}</tr>" in page
    assert '<section id="warnings"' not in render_page(study)


def test_nine_learners_on_nine_data_sets_stay_below_six_megabytes():
    assert len(render_page(make_contents(NINE, NINE_SETS)).encode()) < 6e6


def test_sections_without_data_do_not_appear(study):
    page = render_page(study | EMPTY | {"datasets": []})
    for name in ("curves", "ranks", "pairs", "tables", "analysis-1", "analysis-2", "failures", "notes"):
        assert f'<section id="{name}"' not in page
    assert '<section id="reproduce"' in page


def test_the_summary_has_both_ends_slopes_and_areas(study):
    page = render_page(study)
    families = study["datasets"][0]["families"]
    binomial, polynomial = (families[name]["curves"]["BR"] for name in study["families"])
    figures = [binomial["losses"][0], binomial["losses"][-1]]
    figures += [curve[what] for curve in (binomial, polynomial) for what in ("slope", "area")]
    cells = "".join(f'<td class="number" data-value="{figure!r}">{figure:.4f}</td>' for figure in figures)
    value = binomial["togetherness"]["value"]
    cells += f'<td data-value="{value!r}"><span class="interval">{value:.2f} (0.10 to 0.90)</span></td>'
    cells += '<td class="number" data-value="0.25">0.2500</td>'
    assert f"<tr><td>emotions</td><td>BR</td>{cells}</tr>" in page
    assert "Togetherness (by the binomial losses): 1 if all mistakes" in page


def test_ends_that_a_curve_does_not_reach_are_left_open(study):
    part = study["datasets"][0]["families"]["polynomial"]
    curve = {
        key: None if key in ("slope", "area", "togetherness") else value[1:-1]
        for key, value in part["curves"]["BR"].items()
    }
    part = {"parameters": part["parameters"][1:-1], "x": part["x"][1:-1], "curves": {"BR": curve}, "pairs": []}
    dataset = study["datasets"][0] | {"families": {"polynomial": part}}
    page = render_page(study | {"datasets": [dataset], "families": ["polynomial"]})
    assert "<tr><td>emotions</td><td>BR</td>" + f'<td class="number">{MISSING}</td>' * 6 + "</tr>" in page


def test_colours_are_those_of_the_figures(study):
    page = render_page(study).lower()
    css = page[page.index("<style>") : page.index("</style>")]
    light, dark = css[: css.index("@media")], css[css.index("@media") :]
    for index, colour in enumerate(COLOURS):
        assert f"--line-{index}: {colour.lower()};" in light
    assert f"--line-baseline: {GREY.lower()};" in light
    assert re.findall(r"--line-(\w+):", dark) == [*map(str, range(len(COLOURS))), "baseline"]


def test_what_json_does_not_know_leaves_the_former_page(study, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("former")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_page(study | {"across": {"binomial": [{"x": float("nan")}]}}, path)
    assert path.read_text() == "former"
    assert list(tmp_path.iterdir()) == [path]


def test_plotly_is_asked_for(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ModuleNotFoundError, match=r"try: pip install plotly \(or choral's extra 'report'\)"):
        render_page(study)


@pytest.fixture(scope="module")
def real_study(tmp_path_factory):
    """A study that was really run, with hostile names of data set, label and learner."""
    evil = HOSTILE[0]
    X, Y = study_zoo.make_data(n_rows=40)
    dataset = Dataset(X, Y, ("sea", evil, "sky"), evil)
    plan = Plan(
        [StudyData(evil, dataset), StudyData("plain", dataset)],
        [StudyLearner(evil, BinaryRelevance()), StudyLearner("LP", LabelPowerset())],
        split=Split(folds=2),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", study_zoo.run_here)
        return run_study(plan, tmp_path_factory.mktemp("study"))


def test_a_real_study_shows_what_is_stored(browser, real_study, tmp_path):
    write_page(study_contents(real_study), tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    assert HOSTILE[0] in browser.script("return document.body.innerText")
    _, *rows = download(browser, "all losses", "losses.csv")
    stored = real_study.tables()["losses"]
    assert [[*row[:3], float(row[3]), float(row[4])] for row in rows] == [
        [dataset, family, learner, float(parameter), loss]
        for dataset, family, learner, parameter, loss, *_ in stored.rows
    ]
    found = {(row[0], row[2], float(row[3])): float(row[4]) for row in rows if row[1] == "binomial"}
    for cells in (real_study.cells(dataset) for dataset in real_study.datasets):
        Y, _ = real_study.labels(cells[0].dataset)
        for learner in real_study.learners:
            predictions = np.zeros_like(Y)
            for cell in cells:
                if cell.learner == learner:
                    predictions[real_study.test_rows(cell)] = real_study.cell_predictions(cell)
            place = cells[0].dataset, learner
            assert found[*place, 1.0] == pytest.approx(hamming_loss(Y, predictions))
            assert found[*place, 3.0] == pytest.approx(zero_one_loss(Y, predictions))


def test_a_baseline_far_off_is_hidden_at_first(browser, page_of):
    skills = {"BR": (0.9, 0.02), "LP": (0.95, 0.02), "Default": (0.0, 0.6)}
    contents = make_contents(skills)
    browser.open(page_of(contents))
    part = contents["datasets"][0]["families"]["binomial"]
    assert min(part["curves"]["Default"]["losses"]) > max(part["curves"]["BR"]["losses"])
    ticked = "return [...document.querySelectorAll('#curves .legend-box input')].map(each => each.checked)"
    assert browser.script(ticked) == [True, True, False]
    ranked_names = "return document.querySelector('#curves .ranking').innerText"
    assert "Default" not in browser.script(ranked_names)
    browser.script("document.querySelectorAll('#curves .legend-box input')[2].click()")
    assert "Default" in browser.script(ranked_names)
