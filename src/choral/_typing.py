"""Names for what users pass in and get back: for type checkers, and for readers of signatures."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy's, which ships no types of its own."""

    @property
    def nnz(self) -> int: ...

    def tocsr(self, copy: bool = ...) -> Any: ...


class DeviceArray(Protocol):
    """An array of another library than NumPy, wherever it lies: a torch tensor, a CuPy or JAX array."""

    def __dlpack_device__(self) -> Any: ...


class Frame(Protocol):
    """A table with named columns: a frame of pandas, polars or Dask."""

    @property
    def columns(self) -> Any: ...


class Estimator(Protocol):
    """A fitted estimator of scikit-learn's kind."""

    def predict(self, X: Any) -> Any: ...


class Splitter(Protocol):
    """A splitter of scikit-learn's kind, such as `KFold`."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Iterable[tuple[Any, Any]]: ...


#: Labels or scores of shape (n_samples, n_labels): all kinds that the door of `choral.rows` takes.
LabelMatrix: TypeAlias = ArrayLike | SparseMatrix | DeviceArray | Frame
#: One number for each row.
RowWeights: TypeAlias = ArrayLike | DeviceArray
#: Features of shape (n_samples, n_features): whatever the estimator that gets them takes.
Features: TypeAlias = Any
#: An inner cross-validation: a number of folds, a splitter, or pairs of training and test rows.
CrossValidation: TypeAlias = int | Splitter | Iterable[tuple[Any, Any]]
#: Seeds whatever is random, as in scikit-learn.
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
LabelArray: TypeAlias = NDArray[np.uint8]
