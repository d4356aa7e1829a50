"""The section "Where the loss comes from", in plain HTML: numbers, order, escapes, and what is left out."""

import re

import pytest

from choral.report.explanations import explanations
from choral.report.markup import MISSING
from choral.report.sections import links, sections

EVIL = '<script>alert("1")</script>'
ONE = {
    "dataset": "scene",
    "model": "BR",
    "labels": ["sea", "sky", EVIL],
    "rates": [0.1, 0.2, 0.3],
    "share_hamming": [0.1, 0.2, 0.1],
    "share": [0.3, 0.2, 0.1],
    "loss": 0.6,
    "measure": "subset 0/1 loss",
}
MORE = {
    "pairs": [
        {"first": "sea", "second": EVIL, "together": 0.2, "expected": 0.05, "lower": 0.1, "upper": 0.3, "p": None},
    ],
    "matrix": {"labels": ["sea", "sky", EVIL], "values": [[1, 0.5, -0.25], [0.5, 1, None], [-0.25, None, 1]]},
    "rows": [{"id": 17, "loss": 1.0, "true": ["sea", EVIL], "predicted": []}],
    "mistakes": [{"true": ["sea"], "predicted": "sea, sky", "n": 12}],
    "never": [["sea", "sky"], [EVIL]],
    "figures": {"F1, micro": 0.75, "convention": EVIL, "by label": [1, 2]},
    "togetherness": {"value": 0.25, "lower": 0.125, "upper": 0.5, "independent": 0.0625},
}


def render(*found):
    return explanations({"explanations": list(found)})


def body_rows(html, name):
    table = html[html.index(f'<table id="{name}"') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [[re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", row)] for row in rows]


@pytest.mark.parametrize("contents", [{}, {"explanations": []}, {"explanations": None}])
def test_nothing_to_explain(contents):
    assert explanations(contents) == ""


def test_shares_in_per_cent_the_largest_first():
    html = render(ONE)
    evil = EVIL.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert body_rows(html, "shares-1") == [
        ["sea", "0.1000", "25.0 %", "50.0 %"],
        ["sky", "0.2000", "50.0 %", "33.3 %"],
        [evil, "0.3000", "25.0 %", "16.7 %"],
    ]
    assert re.findall(r"width:([\d.]+)%", html) == ["50.0", "100.0", "100.0", "66.7", "50.0", "33.3"]
    assert "BR: loss 0.6000" in html


def test_precision_recall_and_conventions():
    figures = {"precision": [0.5, None, 1.0], "recall": [0.25, 0.75, 0.0], "figures": {"F1": 0.5}, "conventions": EVIL}
    html = render({**ONE, **figures})
    assert [row[1:4] for row in body_rows(html, "shares-1")] == [
        ["0.1000", "0.5000", "0.2500"],
        ["0.2000", MISSING, "0.7500"],
        ["0.3000", "1.0000", "0.0000"],
    ]
    headings = re.findall(r"<th .*?>(.*?)</th>", html[html.index('<table id="shares-1"') :])
    assert headings[:4] == ["Label", "Error rate", "Precision", "Recall"]
    assert '<p class="note">&lt;script&gt;' in html
    assert EVIL not in html


def test_parts_that_are_not_given_do_not_appear():
    html = render(ONE)
    for absent in ("pairs-1", "rows-1", "mistakes-1", 'class="map"', 'class="figures"', "never predicted"):
        assert absent not in html


def test_everything_is_shown_as_text():
    html = render(ONE | MORE)
    assert "<script" not in html
    assert EVIL not in html
    assert body_rows(html, "pairs-1")[0][2:] == ["0.2000", "0.0500", "0.1500", "0.1000 to 0.3000", "\N{EN DASH}"]
    assert [row[0] for row in body_rows(html, "rows-1")] == ["17"]
    assert body_rows(html, "rows-1")[0][3] == "none"
    assert body_rows(html, "mistakes-1") == [["sea", "sea, sky", "12"]]
    assert "never predicted: sea, sky; &lt;script" in html
    assert "<dt>Togetherness</dt><dd>0.25 (0.12 to 0.50)</dd>" in html
    assert "<dt>If errors were independent</dt><dd>0.06</dd>" in html
    assert "<dt>F1, micro</dt><dd>0.7500</dd>" in html
    assert "by label" not in html


def test_pairs_say_what_their_interval_is_of():
    pair = {"first": "sea", "second": "sky", "together": 0.01, "expected": 0.03, "lower": None, "upper": None}
    html = render(ONE | {"confidence": 0.9, "pairs": [pair | {"p": 0.0004}, pair | {"p": 0.25}]})
    headings = re.findall(r"<th .*?>(.*?)</th>", html[html.index('<table id="pairs-1"') :])
    assert headings[4:7] == ["Excess", "90 % interval of the excess", "p"]
    assert [row[4:] for row in body_rows(html, "pairs-1")] == [
        ["\N{MINUS SIGN}0.0200", "\N{EN DASH}", "&lt; 0.001"],
        ["\N{MINUS SIGN}0.0200", "\N{EN DASH}", "0.250"],
    ]
    assert "Intervals and p hold for all pairs of labels at once." in html


def test_how_shares_change_along_the_losses():
    along = {"symbol": "alpha", "parameters": [1, 2.5, "inf"], "shares": [[1, 2, 1], [2, 2, 2], [5, 4, 1]]}
    html = render(ONE | {"along": along})
    assert '<th scope="col">Change along alpha = 1, 2.5, \N{INFINITY}</th>' in html
    # in per cent: sea 25, 33.3, 50; sky 50, 33.3, 40; the last 25, 33.3, 10
    assert [row[4] for row in body_rows(html, "shares-1")] == [
        "25.0 %, 33.3 %, 50.0 %+25.0",
        "50.0 %, 33.3 %, 40.0 %\N{MINUS SIGN}10.0",
        "25.0 %, 33.3 %, 10.0 %\N{MINUS SIGN}15.0",
    ]
    assert re.findall(r'<polyline points="(.*?)"', html) == [
        "0.0,9.0 32.0,6.3 64.0,1.0",
        "0.0,9.0 32.0,14.3 64.0,12.2",
        "0.0,9.0 32.0,6.3 64.0,13.8",
    ]


def test_one_point_has_no_line():
    html = render(ONE | {"along": {"symbol": "k", "parameters": [1], "shares": [[1, 1, 1]]}})
    assert "Change along" not in html
    assert "small-line" not in html


def test_rows_that_two_models_judge_differently():
    row = {"id": EVIL, "losses": [0.0, 1.0], "true": ["sea"], "predicted": [["sea"], [EVIL]]}
    between = {"dataset": "scene", "models": ["BR", EVIL], "n_first_better": 1, "n_second_better": 12, "rows": [row]}
    html = explanations({"explanations": [ONE], "disagreements": [between], "explained": f"The best, {EVIL}."})
    assert "<script" not in html
    (cells,) = body_rows(html, "disagreements-1")
    assert cells[1:5] == ["0.0000", "1.0000", "sea", "sea"]
    assert "BR has the smaller loss in 1 row, &lt;script" in html
    assert "in 12 rows.</p>" in html
    assert '<p class="note">The best, &lt;script' in html


def test_rows_judged_differently_follow_the_models_of_their_data_set():
    row = {"id": 1, "losses": [0.0, 1.0], "true": ["sea"], "predicted": [["sea"], []]}
    between = {"dataset": "scene", "models": ["BR", "LP"], "n_first_better": 1, "n_second_better": 0, "rows": [row]}
    html = explanations({"explanations": [ONE, ONE | {"dataset": "yeast"}], "disagreements": [between]})
    assert re.findall(r"<summary>(.*?)</summary>", html) == [
        "BR on scene: loss 0.6000",
        "Rows that BR and LP judge differently on scene",
        "BR on yeast: loss 0.6000",
    ]


def test_the_map_has_a_sign_and_says_what_is_not_known():
    html = render(ONE | MORE)
    cells = re.findall(r'<td class="(\w+)" style="--depth:(\d+)%".*?<span>(.*?)</span>', html)
    assert cells == [("together", "85", "0.50"), ("apart", "42", "\N{MINUS SIGN}0.25")]
    assert ' and sky: not known"></td>' in html
    assert "labels with the largest shares" not in html  # they are all there


def test_a_large_map_keeps_its_numbers_for_screen_readers():
    n_labels = 13
    values = [[0.1] * n_labels for _ in range(n_labels)]
    html = render(ONE | {"matrix": {"labels": list(range(n_labels)), "values": values}})
    assert html.count('<span class="visually-hidden">0.10</span>') == n_labels * (n_labels - 1) / 2


@pytest.mark.parametrize("labels", [[], ["sea"]])
def test_fewer_than_two_labels_have_no_map(labels):
    assert 'class="map"' not in render(ONE | {"matrix": {"labels": labels, "values": [[1]] * len(labels)}})


def test_no_loss_and_no_errors():
    zeros = {"share_hamming": [0, 0, 0], "share": [0, 0, 0], "rates": [0, None, 0], "loss": 0}
    none = {"labels": ["a", "b"], "values": [[1, 0.0], [0.0, 1]]}
    html = render(ONE | zeros | {"matrix": none, "togetherness": {"value": 0.5}})
    assert body_rows(html, "shares-1")[1] == ["sky", "\N{EN DASH}", "0.0 %", "0.0 %"]
    assert "--depth:0%" in html
    assert "<dd>0.50</dd>" in html


def test_many_labels_are_counted():
    many = {key: [0.001 * i for i in range(250)] for key in ("labels", "rates", "share_hamming", "share")}
    html = render(ONE | many)
    assert len(body_rows(html, "shares-1")) == 200
    assert "50 labels with smaller shares left out." in html


@pytest.mark.parametrize("n_explanations, n_rows, n_cells", [(6, 40, 24 * 23 / 2), (7, 25, 12 * 11 / 2)])
def test_many_explanations_are_shorter(n_explanations, n_rows, n_cells):
    many = {key: [0.001 * i for i in range(40)] for key in ("labels", "rates", "share_hamming", "share")}
    matrix = {"labels": list(range(24)), "values": [[0.1] * 24] * 24}
    html = render(*([ONE | many | {"matrix": matrix}] * n_explanations))
    assert len(body_rows(html, "shares-1")) == n_rows
    assert ("15 labels with smaller shares left out." in html) == (n_rows == 25)
    assert html.count('class="together"') == n_explanations * n_cells
    assert f"The {12 if n_rows == 25 else 24} labels with the largest shares." in html


def test_several_models_are_folded_and_data_sets_named():
    html = render(ONE, ONE | {"model": "LP"}, ONE | {"model": "LP", "dataset": "yeast", "measure": "k = 3"})
    assert re.findall(r'class="explanation"( open)?><summary>(.*?):', html) == [
        (" open", "BR on scene"),
        ("", "LP on scene"),
        ("", "LP on yeast"),
    ]
    assert "(subset 0/1 loss and k = 3)" in html
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))


def test_the_section_is_on_the_page_and_needs_no_script():
    contents = {
        "kind": "evaluation",
        "datasets": [],
        "across": None,
        "sections": [],
        "failures": [],
        "notes": [],
        "plan": None,
        "versions": {},
        "explanations": [ONE],
    }
    assert '<li><a href="#explanations">Where the loss comes from</a></li>' in links(contents)
    assert '<section id="explanations" aria-labelledby' in sections(contents)
