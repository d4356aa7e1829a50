"""The answer of a study in words, on curves made by hand."""

from choral.study.answers import answer
from handmade_results import HandMade


def test_the_answer_names_the_best_at_each_end_and_where_the_winner_changes():
    table = {"BR": [0.1, 0.3, 0.5], "LP": [0.2, 0.3, 0.4], "CC": [0.11, 0.4, 0.6]}
    assert answer(HandMade({"emotions": table})) == [
        "LP for subset 0/1 loss. Elsewhere no learner is surely best; BR leads for Hamming loss, BR and LP halfway.",
        "By Hamming loss, BR has the lowest loss on emotions (0.1000); "
        "by the corrected t test CC may be as good, the others are worse.",
        "By the binomial loss halfway between the ends, BR and LP have the lowest loss on emotions (0.3000).",
        "By subset 0/1 loss, LP has the lowest loss on emotions (0.4000); "
        "by the corrected t test better than each of the others.",
        "Which learner is best depends on the loss: the winner changes on the way from Hamming to subset 0/1.",
    ]


def test_the_answer_over_data_sets_says_how_sure_it_is():
    table = {"BR": [0.1, 0.3, 0.5], "LP": [0.2, 0.31, 0.45], "PCT": [0.3, 0.4, 0.6], "none": [0.2, 0.5, 0.9]}
    sentences = answer(HandMade({f"set {number}": table for number in range(9)}, baseline="none"))
    assert sentences[0] == ("No learner is surely best; BR leads from Hamming loss to halfway, LP for subset 0/1 loss.")
    assert sentences[1] == (
        "By Hamming loss, BR has the best mean rank (1.00 over 9 data sets, best on 9); "
        "by Nemenyi's test LP may be as good, the others are worse."
    )
    assert sentences[-2] == (
        "Mistakes are most in the same rows with PCT (togetherness 0.58 on average: 1 if all are in as few rows as "
        "possible, 0 if they are spread evenly), least with BR (0.00)."  # of BR, the curve is above its upper bound
    )
    assert sentences[-1].startswith("Not better than the baseline (none) at some parameter: LP on set 0")
    assert sentences[-1].endswith("PCT on set 2 and 12 more.")


def test_two_learners_are_compared_by_wilcoxon_and_never_by_friedman():
    better, worse = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.5]}, {"A": [0.2, 0.3, 0.5], "B": [0.1, 0.2, 0.3]}
    sentences = answer(HandMade({f"set {number}": better for number in range(8)}))
    assert sentences[0] == "A, whatever the loss."
    assert sentences[1].endswith("best on 8); by Wilcoxon's test better than the other (p = 0.0078).")
    sentences = answer(HandMade({"a": better, "b": better, "c": worse}))
    assert sentences[0] == "No learner is surely best; A leads, whatever the loss."
    assert sentences[1] == (
        "With 3 data sets such a test has little power: learners may differ although it does not show it."
    )
    assert sentences[2].endswith("by Wilcoxon's test that may be chance (p = 1).")
    assert "Friedman" not in " ".join(sentences)


def test_learners_that_failed_are_named_and_count_nowhere():
    table = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.5], "C": [0.3, 0.4, 0.6]}
    without = {name: table[name] for name in "BC"}
    sentences = answer(
        HandMade({"1": table, "2": table, "3": without}, learners=("A", "B", "C", "none"), baseline="none")
    )
    assert "the best mean rank (1.00 over 2 data sets, best on 2)" in sentences[3]
    assert sentences[-2] == "The baseline (none) has not finished."
    assert (
        sentences[-1] == "Left out, since not all of their cells are done: none on 1, none on 2, A on 3 and none on 3."
    )
    sentences = answer(HandMade({"1": without, "2": without}, learners=("A", "B", "C")))
    assert sentences[1] == "By Hamming loss, B has the lowest loss on 2 of 2 data sets."
    alone = {"B": [0.1, 0.2, 0.3]}
    assert answer(HandMade({"1": alone}, learners=("A", "B"))) == [
        "No two learners have finished on one data set: there is nothing to compare.",
        "Left out, since not all of their cells are done: A on 1.",
    ]


def test_no_end_is_claimed_that_the_parameters_do_not_reach():
    table = {"A": [0.1, 0.2, 0.6], "B": [0.2, 0.3, 0.5]}
    assert answer(HandMade({"flags": table}, whole=False)) == [
        "The parameters of this study reach no end.",
        "Which learner is best depends on the loss: the winner changes along the curve.",
    ]


def test_one_winner_all_along_and_too_little_to_say():
    best = {"BR": [0.1, 0.2, 0.3], "LP": [0.2, 0.3, 0.4]}
    assert answer(HandMade({"flags": best}))[0] == "BR, whatever the loss."
    assert answer(HandMade({"flags": best}))[-1] == (
        "The same learner has the lowest loss all along: the winner does not change on the way from Hamming to "
        "subset 0/1."
    )
    assert any(each.startswith("On every data set the same") for each in answer(HandMade({"a": best, "b": best})))
    changing = {"BR": [0.1, 0.4, 0.6], "LP": [0.2, 0.3, 0.4]}
    assert answer(HandMade({"flags": changing}))[0] == "BR for Hamming loss, LP from halfway to subset 0/1 loss."
    assert answer(HandMade({"flags": {"BR": [0.1, 0.2, 0.3]}})) == [
        "There is one learner, BR, and none to compare it with."
    ]
    alike = {f"set {number}": dict.fromkeys(("BR", "LP", "CC"), (0.1, 0.2, 0.3)) for number in "ab"}
    sentences = answer(HandMade(alike))
    assert sentences == ["The learners do not differ at any parameter."]


def test_some_losses_may_be_by_chance():
    sure = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.3], "C": [0.3, 0.4, 0.3]}
    sentences = answer(HandMade({f"set {number}": sure for number in range(6)}))
    assert sentences[1] == "By subset 0/1 loss, Friedman's test does not show that learners differ."
    two = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.4], "C": [0.3, 0.4, 0.5]}
    few = answer(HandMade({"a": two, "b": two}))
    assert few[:3] == [
        "No learner is surely best; A leads, whatever the loss.",
        "Friedman's test does not show that learners differ, at either end or halfway.",
        "With 2 data sets such a test has little power: learners may differ although it does not show it.",
    ]


def test_few_folds_are_said_to_show_little():
    near = {"A": [0.1, 0.2, 0.3], "B": [0.11, 0.21, 0.31]}
    sentence = "With 5 folds the corrected t test has little power: learners may differ although it does not show it."
    assert answer(HandMade({"flags": near}, folds=5))[:2] == [
        "No learner is surely best; A leads, whatever the loss.",
        sentence,
    ]
    assert sentence not in answer(HandMade({"flags": near}, folds=10))
    clear = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.4]}
    assert sentence not in answer(HandMade({"flags": clear}, folds=5))


def test_a_stretch_is_not_joined_over_a_sure_place():
    table = {"A": [0.1, 0.2, 0.3], "B": [0.11, 0.3, 0.31]}
    assert answer(HandMade({"flags": table}))[0] == (
        "A halfway. Elsewhere no learner is surely best; A leads for Hamming loss, A for subset 0/1 loss."
    )


def test_who_predicts_the_same_as_the_baseline_is_named():
    nothing, better = [0.2, 0.5, 0.9], [0.1, 0.2, 0.3]
    one = {"PCT": nothing, "LP": better, "all irrelevant": nothing}
    sets = {"birds": one, "scene": one | {"PCT": better}, "llog-f": one}
    assert answer(HandMade(sets, baseline="all irrelevant"))[-2:] == [
        "PCT predicts the same as the baseline (all irrelevant) on birds and llog-f.",
        "Not better than the baseline (all irrelevant) at some parameter: PCT on birds and PCT on llog-f.",
    ]
