"""Write the files of the README's examples: ``python scripts/examples.py [FOLDER]``, by default to ``docs/examples``.

For ``choral evaluate``, predictions of two models. Binary relevance learns one decision tree per label, label
powerset one tree for whole label sets, both from one fifth of the digits. Here the first has fewer wrong labels and
the second far more images that are right altogether; the curves show where the better one changes. (An illustration,
not a law: with more images the crossing moves to the Hamming end, and with forests in place of trees label powerset
wins everywhere.)

For ``choral decide``, the paper's distribution of all 32 label sets of five labels.

For ``choral tune``, in the folder ``segments``, scores of a logistic regression for each label: of 600 images by
cross-validation, so that no image was among those that its scores were learned from, and of 600 new images.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from choral.datasets import load_digits_segments
from choral.paper.examples import FIVE_LABELS

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


def predict_by_binary_relevance(X_train, Y_train, X_test):
    """One tree per label: each label on its own."""
    columns = [DecisionTreeClassifier(random_state=0).fit(X_train, y).predict(X_test) for y in Y_train.T]
    return np.column_stack(columns)


def predict_by_label_powerset(X_train, Y_train, X_test):
    """One tree whose classes are the label sets seen in training."""
    label_sets, classes = np.unique(Y_train, axis=0, return_inverse=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X_train, classes.ravel())
    return label_sets[tree.predict(X_test)]


def write_labels(path, ids, label_names, labels):
    """A row per image: its id, then its labels."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *label_names])
        writer.writerows([name, *row] for name, row in zip(ids, labels.tolist(), strict=True))


def write_label_sets(path, distribution):
    """A row per label set: its labels y1, y2, ..., then its probability."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"y{i + 1}" for i in range(distribution.n_labels)), "probability"])
        rows = zip(distribution.labelsets.tolist(), distribution.weights[0].tolist(), strict=True)
        writer.writerows([*labels, probability] for labels, probability in rows)


def predict():
    """Row ids, true labels and the two predictions of four fifths of the digits; and the names of the labels."""
    dataset = load_digits_segments()
    everything = dataset.X, dataset.Y, np.arange(len(dataset.X))
    X_train, X_test, Y_train, Y_test, _, ids = train_test_split(*everything, train_size=0.2, random_state=0)
    predictions = {
        "binary relevance": predict_by_binary_relevance(X_train, Y_train, X_test),
        "label powerset": predict_by_label_powerset(X_train, Y_train, X_test),
    }
    return ids, Y_test, predictions, dataset.label_names


def score():
    """True labels and scores of 600 images by cross-validation, and of 600 others by the model of all of the former."""
    dataset = load_digits_segments()
    X, Y = dataset.X[:1200] > 7, dataset.Y[:1200]  # pixels black or white
    model = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    held_out = cross_val_predict(model, X[:600], Y[:600], method="predict_proba")
    new = model.fit(X[:600], Y[:600]).predict_proba(X[600:])
    tables = {"true": Y[:600], "scores": held_out.round(4), "new_true": Y[600:], "new_scores": new.round(4)}
    return tables, dataset.label_names


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    ids, Y_test, predictions, label_names = predict()
    for name, labels in {"true": Y_test, **predictions}.items():
        write_labels(folder / f"{name.replace(' ', '_')}.csv", ids.tolist(), label_names, labels)
    write_label_sets(folder / "paper_labels.csv", FIVE_LABELS)
    tables, label_names = score()
    (folder / "segments").mkdir(exist_ok=True)
    for name, table in tables.items():
        first = 600 if name.startswith("new") else 0
        write_labels(folder / "segments" / f"{name}.csv", range(first, first + 600), label_names, table)


if __name__ == "__main__":
    main()
