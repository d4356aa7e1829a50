"""Rules in files: read back to the last bit, and whatever else a file holds is refused in one line."""

import json
import pickle
import re
import zipfile

import numpy as np
import pytest

from choral import AtLeastMeasure, JointCalibrator, ThresholdTuner
from choral.calibration import load_rule, save_rule
from choral.calibration.rule_files import check_rule_suffix

RNG = np.random.default_rng(0)
Y = np.eye(3, dtype=int)[RNG.integers(3, size=60)]
SCORES = RNG.normal(2 * Y - 1, 1.5)
NEW = RNG.normal(size=(40, 3))


@pytest.fixture(scope="module")
def calibrator():
    calibrator = JointCalibrator("k=2", n_components=2, cv=2).fit(SCORES, Y)
    calibrator.chosen_rule("f1")
    calibrator.chosen_rule("micro_f1")
    return calibrator


@pytest.fixture(scope="module")
def tuner():
    return ThresholdTuner("f1", per_label=True).fit(SCORES, Y)


@pytest.fixture(params=["json", "npz"])
def suffix(request):
    return request.param


def test_a_calibrator_is_read_back_to_the_last_bit(tmp_path, calibrator, suffix):
    save_rule(tmp_path / f"rule.{suffix}", calibrator)
    again = load_rule(tmp_path / f"rule.{suffix}")
    before, after = calibrator.to_dict(), again.to_dict()
    assert before.keys() == after.keys()
    for name in ("slopes", "intercepts", "mixture_weights", "mixture_frequencies", "size_lifts", "exponents", "score"):
        np.testing.assert_array_equal(before[name], after[name])
    assert again.measure == "k=2"
    for loss in (None, "f1", "micro_f1"):
        np.testing.assert_array_equal(again.predict(NEW, loss), calibrator.predict(NEW, loss))
        assert again.left_out_losses(loss) == calibrator.left_out_losses(loss)


def test_a_tuner_is_read_back_to_the_last_bit(tmp_path, tuner, suffix):
    save_rule(tmp_path / f"rule.{suffix}", tuner)
    again = load_rule(tmp_path / f"rule.{suffix}")
    np.testing.assert_array_equal(again.thresholds_, tuner.thresholds_)
    assert (again.loss_, again.loss, again.per_label) == (tuner.loss_, "f1", True)
    np.testing.assert_array_equal(again.predict(NEW), tuner.predict(NEW))


@pytest.mark.parametrize("which", ["calibrator", "tuner"])
def test_names_of_labels_are_kept(tmp_path, request, suffix, which):
    rule = type(request.getfixturevalue(which)).from_dict(
        {**request.getfixturevalue(which).to_dict(), "labels": ["sea", "straße", "a,b"]}
    )
    save_rule(tmp_path / f"rule.{suffix}", rule)
    assert load_rule(tmp_path / f"rule.{suffix}").feature_names_in_.tolist() == ["sea", "straße", "a,b"]


def test_a_calibrator_for_a_loss_without_a_short_name_is_not_saved(tmp_path):
    calibrator = JointCalibrator(AtLeastMeasure(2), n_components=2, cv=2).fit(SCORES, Y)
    with pytest.raises(ValueError, match=re.escape("measure must have a short name to be written down")):
        save_rule(tmp_path / "rule.json", calibrator)
    assert not list(tmp_path.iterdir())


def test_a_calibrator_that_was_read_back_has_no_rows(calibrator):
    with pytest.raises(ValueError, match="read back has no rows to compare rules on"):
        JointCalibrator.from_dict(calibrator.to_dict()).left_out_rows()


def test_no_pickles_by_suffix():
    with pytest.raises(ValueError, match=r"--save must name a file that ends in .json or .npz; got 'rule.pkl'"):
        check_rule_suffix("--save", "rule.pkl")


def test_only_rules_are_saved(tmp_path):
    with pytest.raises(TypeError, match="rule must be a ThresholdTuner or a JointCalibrator; got dict"):
        save_rule(tmp_path / "rule.json", {})


def test_an_unwritable_place(tmp_path, tuner):
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        save_rule(tmp_path / "nowhere" / "rule.json", tuner)


def test_a_failed_write_leaves_the_former_file(tmp_path, tuner, monkeypatch):
    path = tmp_path / "rule.json"
    path.write_text("before")
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="cannot be written: No space left on device"):
        save_rule(path, tuner)
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


# Files that are not what they should be


def assert_refused(path, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load_rule(path)
    text = str(caught.value)
    assert path.name in text
    assert "\n" not in text


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is not a readable JSON file: Expecting value"),
        (b"{", "is not a readable JSON file"),
        (b"\xff\xfe\x00", "is not a readable JSON file"),
        (b"[" * 100_000, "is not a readable JSON file"),
        (b'{"format": NaN}', "is not a readable JSON file: NaN is no number of JSON"),
        (b"[1, 2]", "is not a rule: 'format' must be 'choral rule'"),
        (b'{"a": 1}', "is not a rule: 'format' must be 'choral rule'"),
        (b'{"format": "choral rule", "version": 7}', "this choral reads version 1 of rules; got '7'"),
        (b'{"format": "choral rule", "version": 1}', "'kind' must be thresholds or joint; got 'None'"),
        (b'{"format": "choral rule", "version": 1, "kind": []}', "'kind' must be thresholds or joint; got '[]'"),
        (b'{"format": "choral rule", "version": 1, "kind": "joint"}', "rules are not there"),
        (b'{"format": "choral rule", "version": 1, "kind": "thresholds"}', "a tuner needs loss, per_label"),
    ],
)
def test_json_of_another_kind(tmp_path, content, message):
    path = tmp_path / "rule.json"
    path.write_bytes(content)
    assert_refused(path, message)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"slopes": [1.0, 2.0]}, "slopes must have the shape (3 labels); got (2)"),
        ({"slopes": [[1.0, 2.0, 3.0]]}, "slopes must have the shape (3 labels); got (1, 3)"),
        ({"slopes": ["1", "2", "3"]}, "slopes must hold numbers"),
        ({"slopes": [1.0, [2.0], 3.0]}, "slopes must hold numbers"),
        ({"slopes": None}, "slopes must hold numbers"),
        ({"slopes": [1.0, 2.0, 1e300]}, "slopes must be at most 1e+09; slopes[2] is 1e+300"),
        ({"slopes": [1.0, 2.0, 10**400]}, "slopes must hold numbers"),
        ({"labelsets": [[0, 1, 2]] * 3}, "labelsets must be 0 or 1; labelsets[0, 2] is 2.0"),
        ({"labelsets": []}, "labelsets must have the shape (label sets, labels); got (0)"),
        ({"counts": [-1] * 3}, "counts must be whole numbers, at least 0; counts[0] is -1.0"),
        ({"counts": [0.5] * 3}, "counts must be whole numbers, at least 0; counts[0] is 0.5"),
        ({"mixture_weights": [0.0, 1.0]}, "mixture_weights must be positive; mixture_weights[0] is 0.0"),
        (
            {"mixture_frequencies": [[0.5] * 3, [0.5, 1.0, 0.5]]},
            "mixture_frequencies must lie between 0 and 1; mixture_frequencies[1, 1] is 1.0",
        ),
        ({"exponents": [1.0]}, "exponents must have the shape (6 exponents); got (1)"),
        ({"size_lifts": [0.0] * 3}, "size_lifts must have the shape (4 sizes); got (3)"),
        ({"are_logits": 1}, "are_logits must be True or False; got 1"),
        ({"score": "high"}, "score must hold numbers"),
        ({"score": -1e10}, "score must be at most 1e+09; score[0] is -10000000000.0"),
        ({"measure": 3}, "measure must be the short name of a loss, or None"),
        ({"rules": []}, "rules must be a mapping from losses to rules"),
        ({"rules": {"x": {}}}, "the rule for 'x' needs name, losses and thresholds"),
        (
            {"rules": {"x": {"name": "dice", "losses": {}, "thresholds": None}}},
            "the rule for 'x' must be one of joint, calibrated threshold, labels, threshold, cut; got 'dice'",
        ),
        (
            {"rules": {"x": {"name": "cut", "losses": {"dice": 1}, "thresholds": [0.5] * 3}}},
            "the rule for 'x' must have losses of joint",
        ),
        (
            {"rules": {"x": {"name": "cut", "losses": {}, "thresholds": [0.5] * 2}}},
            "thresholds must have the shape (3 labels); got (2)",
        ),
        ({"rules": {"x": {"name": "cut", "losses": {"cut": "low"}, "thresholds": [0.5] * 3}}}, "the loss of cut must"),
        ({"labels": ["a", "b"]}, "labels must be 3 distinct names; got 2, 2 distinct"),
        ({"labels": ["a", "b", "b"]}, "labels must be 3 distinct names; got 3, 2 distinct"),
        ({"labels": [1, 2, 3]}, "labels must be a list of names"),
    ],
)
def test_calibrators_that_do_not_fit_together(tmp_path, calibrator, changes, message):
    path = tmp_path / "rule.json"
    save_rule(path, calibrator)
    contents = json.loads(path.read_text())
    path.write_text(json.dumps({**contents, **changes}))
    assert_refused(path, f"is not a readable rule: {message}")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"thresholds": []}, "thresholds must be a non-empty 1-D sequence of numbers"),
        ({"thresholds": [0.5, 1e999]}, "thresholds must be finite"),
        ({"per_label": "yes"}, "per_label must be True or False; got 'yes'"),
        ({"loss": 3}, "loss must be text"),
        ({"loss_value": None}, "loss_value"),
        ({"labels": ["a"]}, "labels must name each of 3 labels"),
        ({"labels": ["a", "a", "b"]}, "labels must be 3 distinct names"),
        ({"labels": 3}, "is not a readable rule"),
    ],
)
def test_tuners_that_do_not_fit_together(tmp_path, tuner, changes, message):
    path = tmp_path / "rule.json"
    save_rule(path, tuner)
    text = json.dumps({**json.loads(path.read_text()), **changes}).replace("Infinity", "1e999")
    path.write_text(text)
    assert_refused(path, message)


def test_npz_files_that_are_none(tmp_path, calibrator):
    path = tmp_path / "rule.npz"
    save_rule(path, calibrator)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"PK", pickle.dumps(calibrator.to_dict())):
        path.write_bytes(content)
        assert_refused(path, "is not a readable NPZ file")


def test_npz_files_with_other_arrays(tmp_path, calibrator):
    path = tmp_path / "rule.npz"
    np.savez(path, y=np.eye(2))
    assert_refused(path, "is not a rule: it has no text called 'rule'")
    np.savez(path, rule=np.array([{"format": "choral rule"}], dtype=object))
    assert_refused(path, "holds Python objects, which choral does not unpickle")
    np.savez(path, rule=np.array("{"))
    assert_refused(path, "is not a readable rule: Expecting property name")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "no arrays")
    assert_refused(path, "is not a rule: it has no text called 'rule'")


def test_npz_with_nan(tmp_path, calibrator):
    path = tmp_path / "rule.npz"
    save_rule(path, calibrator)
    with np.load(path) as arrays:
        np.savez(path.with_name("other.npz"), **{**arrays, "slopes": np.full(3, np.nan)})
    assert_refused(path.with_name("other.npz"), "slopes must be finite; slopes[0] is nan")


def test_files_that_are_not_there(tmp_path):
    assert_refused(tmp_path / "none.json", "does not exist; expected a file")
    assert_refused(tmp_path / "no\0ne.json", "does not exist; expected a file")
    (tmp_path / "folder.json").mkdir()
    assert_refused(tmp_path / "folder.json", "is a folder or a device; expected a file")
    assert_refused(tmp_path / "rule.txt", "path must name a file that ends in .json or .npz")


def test_a_file_that_is_too_large(tmp_path, monkeypatch, tuner):
    save_rule(tmp_path / "rule.json", tuner)
    monkeypatch.setattr("choral.calibration.rule_files.MAX_BYTES", 10)
    assert_refused(tmp_path / "rule.json", "bytes, the limit is 10")


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch, tuner):
    save_rule(tmp_path / "rule.json", tuner)

    def fail(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("choral.calibration.rule_files._read_json", fail)
    assert_refused(tmp_path / "rule.json", "cannot be read: Permission denied")


@pytest.mark.parametrize("order", "<>")
def test_text_beyond_unicode(tmp_path, order):
    path = tmp_path / "rule.npz"
    np.savez(path, rule=np.array([0x110000], dtype=f"{order}u4").view(f"{order}U1")[0:1].reshape(()))
    with pytest.raises(ValueError, match=r"array 'rule' is damaged: it holds text beyond Unicode\."):
        load_rule(path)
