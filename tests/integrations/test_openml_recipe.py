"""The recipe for OpenML runs as it stands on its page, from a server on this machine."""

from choral.datasets import load_digits_segments
from openml_server import openml_server
from recipe_pages import run_page


def test_page(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    digits = load_digits_segments()
    lines = ["@relation emotions", *(f"@attribute pixel_{number} numeric" for number in range(64))]
    lines += [f"@attribute '{name}' {{FALSE,TRUE}}" for name in digits.label_names]
    rows = [
        ",".join([*map(str, features), *("TRUE" if label else "FALSE" for label in labels)])
        for features, labels in zip(digits.X[:200].tolist(), digits.Y[:200], strict=True)
    ]
    arff = "\n".join([*lines, "@data", *rows]) + "\n"
    with openml_server(monkeypatch, arff, ",".join(digits.label_names), name="emotions"):
        names = run_page("openml.md")
    assert names["emotions"].label_names == tuple(digits.label_names)
    assert (digits.Y[:200] == names["emotions"].Y).all()
    assert names["evaluation"].curves["AutoJoint"].losses[-1] < 0.6
