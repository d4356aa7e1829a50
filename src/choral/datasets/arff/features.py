"""Features as numbers: a nominal attribute with more than two values becomes a column for each."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from choral.datasets.arff.columns import Columns
from choral.datasets.arff.domains import Nominal


def spread(X: Any, columns: Columns) -> tuple[Any, list[str]]:
    """Features and their names, those of nominal attributes as columns of zeros and ones.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        For a nominal attribute, places among the values listed.
    columns : Columns
        What the attributes are, all of them.
    """
    names = [columns.names[index] for index in columns.features.tolist()]
    # of two values, one column says which
    several = [isinstance(kind, Nominal) and len(kind.values) > 2 for kind in columns.kinds]
    wide = np.flatnonzero(np.array(several)[columns.kind_of[columns.features]]).tolist()
    if not wide:
        return X, names
    by_column = X.tocsc() if sparse.issparse(X) else X
    pieces, spread_names = [by_column[:, : wide[0]]], names[: wide[0]]
    for place, following in pairwise([*wide, len(names)]):
        values = columns.domain(columns.features[place]).values  # type: ignore[attr-defined]
        pieces += [_one_hot(by_column[:, [place]], len(values)), by_column[:, place + 1 : following]]
        spread_names += [f"{names[place]}={value}" for value in values] + names[place + 1 : following]
    return (sparse.hstack(pieces, format="csr") if sparse.issparse(X) else np.hstack(pieces)), spread_names


def _one_hot(column: Any, n_values: int) -> Any:
    """One column for each value, nan where it is missing; what a sparse column leaves out is the first one."""
    places = column.toarray() if sparse.issparse(column) else column
    hot = np.where(np.isnan(places), np.nan, places == np.arange(n_values))
    return sparse.csc_array(hot) if sparse.issparse(column) else hot
