"""load_openml: multi-label data sets of OpenML, by id or by name."""

import os
import warnings
from collections.abc import Sequence
from functools import partial
from http.client import HTTPException
from json import JSONDecodeError
from typing import Any, Literal
from urllib.error import URLError

import numpy as np
import scipy.sparse as sp

from choral._memory import memory_limit
from choral._text import did_you_mean, some_of
from choral.datasets.dataset import Dataset
from choral.datasets.downloading import Allowance
from choral.datasets.nominal import one_hot

TIME_LIMIT = 1800  # seconds to fetch and parse a data set
FREE_BYTES = 2**30  # of each file
RELEVANT = {"true": 1, "1": 1, "1.0": 1, "yes": 1, "false": 0, "0": 0, "0.0": 0, "no": 0}


def load_openml(
    data_id: int | None = None,
    *,
    name: str | None = None,
    version: int | Literal["active"] = "active",
    labels: Sequence[str] | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load a multi-label data set of OpenML.

    `sklearn.datasets.fetch_openml` fetches it, compares its checksum and keeps it in a folder, so that it is fetched
    once. Attributes that OpenML has as row identifiers or as ignored are left out.

    It may take 30 minutes in all and bring files of 1 GiB, or of as many bytes as the environment variable
    ``CHORAL_MAX_BYTES`` says. What is larger, download in a browser and read by `read_arff`.

    Parameters
    ----------
    data_id : int, optional
        The number of the data set, as in ``https://www.openml.org/d/40589``.
    name : str, optional
        Its name, in place of the number.
    version : int or "active", default="active"
        The version of the data set of this name; the oldest active one unless given.
    labels : sequence of str, optional
        The attributes that are labels. By default those that OpenML has as default targets.
    data_home : path-like, optional
        Where downloads are kept; scikit-learn's own folder unless given.

    Returns
    -------
    dataset : Dataset
        A nominal feature with more than two values has a column for each value; missing values are nan.

    Raises
    ------
    ConnectionError
        If the data set is not in the folder and the server does not answer, breaks off, or finds no end.
    OSError
        If the folder cannot be written.
    ValueError
        If there is no such data set, or its labels are not known, not binary or missing in some rows; if no attribute
        is left as a feature; if the file is damaged, or has attributes of text or dates.

    See Also
    --------
    load : Load a data set of the paper.
    read_arff : Read an ARFF file.
    sklearn.datasets.fetch_openml : What fetches the data set.

    Examples
    --------
    >>> load_openml()
    Traceback (most recent call last):
    ValueError: give data_id, such as 40589, or name, such as 'emotions', and not both; got data_id=None, name=None.
    """
    if (data_id is None) == (name is None):
        wanted = "give data_id, such as 40589, or name, such as 'emotions', and not both"
        raise ValueError(f"{wanted}; got data_id={data_id!r}, name={name!r}.")
    if labels is not None:
        _check_names(labels)
    what = f"data set {data_id}" if name is None else f"data set {name!r}, version {version}"
    found = _fetch(what, data_id=data_id, name=name, version=version, data_home=data_home)
    targets = _choose_labels(what, found, labels)
    others = [attribute for attribute in found.feature_names if attribute not in targets]
    if not others:
        raise ValueError(f"{what}: every attribute is a label, so no attribute is left as a feature.")
    X, feature_names = _features(found, others)
    Y = np.column_stack([_read_label(what, label, _values(found, label)) for label in targets])
    n_nominal = sum(attribute in found.categories for attribute in others)
    title = str(found.details["name"])
    return Dataset(X, Y, tuple(targets), title, feature_names, n_nominal, len(others) - n_nominal)


def _check_names(labels: Sequence[str]) -> None:
    """Refuse what cannot be names of attributes, before anything is fetched."""
    if isinstance(labels, str):
        raise TypeError(f"labels must be a sequence of names; got the string {labels!r}.")
    for label in labels:
        if not isinstance(label, str):
            raise TypeError(f"labels must be names, as text; one of them is {label!r}.")
    if len(labels) == 0:
        raise ValueError("labels is empty; name at least one attribute, or leave labels out for the targets on OpenML.")


def _fetch(what: str, **chosen: Any) -> Any:
    """All attributes as numbers, nominal ones as places in their lists of values."""
    from sklearn.datasets import fetch_openml  # brings pandas along where it is installed
    from sklearn.externals._arff import ArffException

    allowance = Allowance(TIME_LIMIT, memory_limit(held=0, free=FREE_BYTES))
    try:
        with warnings.catch_warnings():
            # It tries again, and what is wrong is told once, when it gives up.
            warnings.filterwarnings("ignore", message="A network error occurred|Invalid cache, redownloading")
            fetch = partial(fetch_openml, **chosen, as_frame=False, parser="liac-arff", target_column=None)
            return allowance.run(fetch)
    except (URLError, TimeoutError, ConnectionError, HTTPException, JSONDecodeError) as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(
            f"{what} cannot be fetched from OpenML ({reason}). Try again later; or download the ARFF file in a browser "
            "and read it by choral.datasets.read_arff(path, labels=[...])."
        ) from error
    except OSError as error:
        folder = chosen["data_home"] or "scikit-learn's own folder"
        raise OSError(f"{what} cannot be kept in {folder} ({error}). Choose another folder by data_home.") from error
    except ArffException as error:
        # Not its message, which says "at line -1" of a dense row, and fails if a value has a percent sign.
        where = f" in line {error.line}" if error.line > 0 else ""
        raise ValueError(
            f"{what} has a file that cannot be read ({type(error).__name__}{where}): "
            "it is damaged, or an attribute is neither numeric nor nominal."
        ) from error
    except ValueError as error:
        # The second is of text in an attribute that OpenML ignores.
        if not any(sign in str(error) for sign in ("STRING attributes", "could not convert string")):
            raise
        raise ValueError(
            f"{what} has attributes of text; only numeric and nominal ones are read. "
            "Get a frame by sklearn.datasets.fetch_openml, and make numbers of the text."
        ) from error


def _choose_labels(what: str, found: Any, labels: Sequence[str] | None) -> list[str]:
    """The names of the labels, of those that there are."""
    targets = found.details.get("default_target_attribute")
    # Several targets are one text with commas, which may also be in a name.
    on_openml = [targets] if targets in found.feature_names else _named(found, "default_target_attribute")
    chosen = on_openml if labels is None else [str(label) for label in labels]
    if not chosen:
        raise ValueError(f"{what} has no targets on OpenML; give labels=[...], of {some_of(found.feature_names)}.")
    left_out = [*_named(found, "row_id_attribute"), *_named(found, "ignore_attribute")]
    for label in chosen:
        if label in left_out and label not in found.feature_names:
            raise ValueError(f"{what}: {label!r} is an identifier or ignored on OpenML, so it was left out.")
        if label not in found.feature_names:
            raise ValueError(f"{what} has no attribute {label!r}{did_you_mean(label, found.feature_names)}")
        if chosen.count(label) > 1:
            raise ValueError(f"{what}: {label!r} is more than once among the labels.")
    return chosen


def _named(found: Any, key: str) -> list[str]:
    """The attributes that OpenML names under this key: a list, or one text with commas."""
    names = found.details.get(key) or []
    return [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else names


def _values(found: Any, label: str) -> np.ndarray:
    """The values of an attribute; nominal ones as text, missing ones as nan."""
    column = found.data[:, [found.feature_names.index(label)]]
    numbers = np.asarray(column.toarray() if sp.issparse(column) else column, dtype=float)[:, 0]
    if label not in found.categories:
        return numbers + 0.0  # -0.0 is 0.0
    words = np.array([*found.categories[label], np.nan], dtype=object)
    return words[np.where(np.isnan(numbers), -1, numbers).astype(int)]


def _read_label(what: str, label: str, values: np.ndarray) -> np.ndarray:
    """0 and 1 for FALSE and TRUE, or what is meant the same."""
    words = [str(value).strip().lower() for value in values]
    bad = next((row for row, word in enumerate(words) if word not in RELEVANT), None)
    if bad is not None:
        got = "is missing" if words[bad] == "nan" else f"is {values.item(bad)!r}"
        problem = f"labels must be TRUE or FALSE, 1 or 0; {label!r} {got} in row {bad}"
        raise ValueError(f"{what}: {problem}. Choose the labels by labels=[...].")
    return np.array([RELEVANT[word] for word in words], dtype=np.uint8)


def _features(found: Any, names: list[str]) -> tuple[Any, tuple[str, ...]]:
    """The columns of X with their names."""
    is_sparse, columns, titles = sp.issparse(found.data), [], []
    data = found.data.tocsc() if is_sparse else found.data
    for name in names:
        column = data[:, [found.feature_names.index(name)]]
        values = found.categories.get(name, ())
        if len(values) <= 2:
            columns.append(column)
            titles.append(name)
            continue
        columns.append(one_hot(column.astype(float), len(values)))
        titles += [f"{name}={value}" for value in values]
    return sp.csr_array(sp.hstack(columns)) if is_sparse else np.hstack(columns).astype(float), tuple(titles)
