"""What a study does, as a value: data sets, learners, the split, seeds, and the losses to look at."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from choral._last_learner import last_learner, takes_measure
from choral._text import printable
from choral._typing import Features, LabelMatrix
from choral._validation import check_matrix, check_vector
from choral.datasets import Dataset
from choral.learners.base import is_seed
from choral.learners.joint import has_distribution
from choral.measures.families import FAMILIES, get_family
from choral.scores import check_threshold
from choral.study.faults import FAULTS, describe_fault
from choral.study.results import Results
from choral.study.sections import Section
from choral.study.splits import Split, check_folds, check_seed

Parameters = Sequence[float] | Literal["even"] | None  # of a family; None is its default grid
N_EVEN, EVEN_REACH = 12, 3  # twelve alphas, from 1 to 3 times the number of labels


@dataclass(frozen=True, eq=False)
class StudyData:
    """A data set of a study.

    Parameters
    ----------
    name : str
        What it is called in tables and figures.
    source : Dataset, pair (X, Y), or callable that returns either
        A function is called when the study begins, and again when its cells are run: it must return the same data.
    folds : array-like of shape (n_rows,) or (n_repeats, n_rows), optional
        In which fold each row is tested, 0, 1, ...; unless given, the split of the plan says so.

    See Also
    --------
    Plan : All that a study does.
    choral.datasets.Dataset : Features, labels and their names.

    Examples
    --------
    >>> data = StudyData("tiny", ([[0.0], [1.0]], [[0, 1], [1, 1]]))
    >>> data.load().Y.shape
    (2, 2)
    """

    name: str
    source: Dataset | tuple[Features, LabelMatrix] | Callable[[], Dataset | tuple[Features, LabelMatrix]]
    folds: ArrayLike | None = None

    def __post_init__(self) -> None:
        _check_name("a data set", self.name)
        if not isinstance(self.source, Dataset | tuple) and not callable(self.source):
            kind = type(self.source).__name__
            raise TypeError(f"the source of {self.name} must be a Dataset, a pair (X, Y) or a function; got {kind}.")
        if self.folds is not None:
            object.__setattr__(self, "folds", check_folds(self.folds))

    def load(self) -> Dataset:
        """The data set, labels checked."""
        found = self._call() if callable(self.source) else self.source
        found = found if isinstance(found, Dataset) else _dataset_of_pair(self.name, found)
        if found.X.shape[0] != len(found.Y):
            raise ValueError(f"{self.name} has {found.X.shape[0]} rows of features and {len(found.Y)} of labels.")
        if self.folds is not None and np.shape(self.folds)[1] != len(found.Y):
            raise ValueError(f"{self.name} has {len(found.Y)} rows, its folds are given for {np.shape(self.folds)[1]}.")
        return found

    def _call(self) -> Any:
        try:
            return self.source()  # type: ignore[operator]
        except (OSError, ModuleNotFoundError):
            raise  # their own messages say what is missing
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
        except FAULTS as error:  # a function of the user's, where anything may go wrong
            raise ValueError(f"{self.name}: its source failed, {describe_fault(error)}.") from error


@dataclass(frozen=True, eq=False)
class StudyLearner:
    """A learner of a study.

    Parameters
    ----------
    name : str
        What it is called in tables and figures.
    estimator : estimator
        Unfitted, of scikit-learn's kind; it is cloned for each cell. Where its ``random_state`` (or that of a part of
        it) is None, the seeds of the study take its place.
    threshold : float, optional
        Predict a label where its score of ``predict_proba`` is at least this; by default that of the plan.
    is_baseline : bool
        Whether it is there for comparison only: drawn grey, and never said to win.
    each_loss : bool
        Whether it predicts anew for each loss: by its own ``predict_curve``, else what is best by its
        ``predict_distribution``, else by ``predict(X, measure=...)``. One of the last two it must have.
    seeds : sequence of int, optional
        Seeds of its own, say a single one where it takes long; by default those of the plan.

    See Also
    --------
    Plan : All that a study does.
    choral.learners.MultiLabelClassifier : Parent of all learners.

    Examples
    --------
    >>> from choral.learners import ConstantLabels
    >>> StudyLearner("none", ConstantLabels(), is_baseline=True).name
    'none'
    """

    name: str
    estimator: Any
    threshold: float | None = None
    is_baseline: bool = False
    each_loss: bool = False
    seeds: Sequence[int] | None = None

    def __post_init__(self) -> None:
        _check_name("a learner", self.name)
        if not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "get_params")):
            raise TypeError(f"the estimator of {self.name} must have fit and get_params; got {self.estimator!r}.")
        _check_probability(self.threshold)
        if self.seeds is not None:
            object.__setattr__(self, "seeds", _check_seeds(self.seeds))

    @property
    def seed_parameters(self) -> list[str]:
        """Names of the parameters that take the seed of a cell; whatever the estimator raises where it is asked."""
        parameters = self.estimator.get_params(deep=True)
        return sorted(name for name, value in parameters.items() if is_seed(name) and value is None)

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages whose version is told with the results: those that the estimator names in ``packages``."""
        try:
            return tuple(package for package in getattr(self.estimator, "packages", ()) if isinstance(package, str))
        except FAULTS:  # a property of the user's, where anything may go wrong; versions are for readers alone
            return ()


@dataclass(frozen=True, eq=False)
class Plan:
    """All that a study does.

    Parameters
    ----------
    datasets : sequence of StudyData
        The data sets.
    learners : sequence of StudyLearner
        At most one is a baseline.
    title : str
        The title to show.
    split : Split
        For data sets without folds of their own.
    seeds : sequence of int
        A learner with randomness runs once with each, others once; losses are averaged.
    families : mapping from name to parameters
        Which losses: ``"binomial"`` and ``"polynomial"``, with values of k or alpha; None is the default grid of
        `choral.loss_curve`. Values of k beyond the number of labels of a data set are left out there. ``"even"`` is
        for K labels at most twelve k evenly from 1 to K, or twelve alphas evenly in their logarithms from 1 to 3 K.
    predictions : {"hard", "soft"}
        Labels of ``predict`` (of ``predict_proba`` where there is a threshold), or scores of ``predict_proba``.
    threshold : float, optional
        For hard predictions; see `StudyLearner`.
    time_limit : float, optional
        Seconds that a cell may take.
    analyses : sequence of callables (results) -> Section
        What else to find out when all cells have run: each is called with the `Results`, and what it returns is
        shown with the results. One that has a method ``check`` is asked by ``check(plan)``, before anything runs,
        whether it can analyse this plan.
    left_out : sequence of str
        Data sets that the study is without, since their files are not there; a note says so.
    text : str, optional
        The file it was read from.

    See Also
    --------
    read_plan : Read a plan from a file or by name.
    run_study : Run a study.

    Examples
    --------
    >>> from choral.learners import BinaryRelevance, ConstantLabels
    >>> data = [StudyData("tiny", ([[0.0], [1.0]] * 5, [[0, 1], [1, 1]] * 5))]
    >>> learners = [StudyLearner("BR", BinaryRelevance()), StudyLearner("none", ConstantLabels(), is_baseline=True)]
    >>> Plan(data, learners, split=Split(folds=5)).parameters("binomial", 2)
    array([1, 2])
    """

    datasets: Sequence[StudyData]
    learners: Sequence[StudyLearner]
    title: str = "Study"
    split: Split = field(default_factory=Split)
    seeds: Sequence[int] = (0,)
    families: Mapping[str, Parameters] = field(default_factory=lambda: dict.fromkeys(FAMILIES))
    predictions: Literal["hard", "soft"] = "hard"
    threshold: float | None = None
    time_limit: float | None = None
    analyses: Sequence[Callable[[Results], Section]] = ()
    left_out: Sequence[str] = ()
    text: str | None = None

    def __post_init__(self) -> None:
        _check_name("a study", self.title)
        for what in ("datasets", "learners"):
            values = tuple(getattr(self, what))
            if not values:
                raise ValueError(f"{what} must not be empty.")
            object.__setattr__(self, what, values)
        check_distinct("datasets", [data.name for data in self.datasets])
        check_distinct("learners", [learner.name for learner in self.learners])
        object.__setattr__(self, "seeds", _check_seeds(self.seeds))
        if not self.families:
            raise ValueError(f"families must name at least one of {', '.join(FAMILIES)}.")
        for name, parameters in self.families.items():
            _check_parameters(name, parameters)
        if self.predictions not in ("hard", "soft"):
            raise ValueError(f"predictions must be 'hard' or 'soft'; got {self.predictions!r}.")
        self._check_thresholds()
        self._check_each_loss()
        if self.time_limit is not None and not (0 < self.time_limit < math.inf):
            raise ValueError(f"time_limit must be a positive number of seconds; got {self.time_limit}.")
        if len(baselines := [learner.name for learner in self.learners if learner.is_baseline]) > 1:
            raise ValueError(f"at most one learner may be the baseline; got {', '.join(baselines)}.")
        if len(baselines) == len(self.learners):
            raise ValueError("learners must hold at least one that is not the baseline.")
        object.__setattr__(self, "analyses", tuple(self.analyses))
        self._check_analyses()

    def _check_thresholds(self) -> None:
        _check_probability(self.threshold)
        given = [learner for learner in self.learners if learner.threshold is not None]
        if self.predictions == "soft" and (self.threshold is not None or given):
            raise ValueError("threshold makes predictions hard; it does not go with predictions = 'soft'.")
        if self.predictions == "soft" or self.threshold is not None:
            given = list(self.learners)
        for learner in given:
            if not hasattr(learner.estimator, "predict_proba"):
                raise ValueError(f"{learner.name} has no predict_proba, which scores and thresholds need.")

    def _check_each_loss(self) -> None:
        for learner in (learner for learner in self.learners if learner.each_loss):
            if not (has_distribution(learner.estimator) or takes_measure(last_learner(learner.estimator))):
                needed = "predict_distribution or predict(X, measure=...)"
                raise ValueError(f"{learner.name} must have {needed} for each_loss; it has neither.")
            if self.predictions == "soft":
                raise ValueError(
                    f"{learner.name}: each_loss makes hard labels; it does not go with predictions = 'soft'."
                )
            if self.threshold is not None or learner.threshold is not None:
                raise ValueError(f"{learner.name}: each_loss decides without scores; it does not go with a threshold.")

    def _check_analyses(self) -> None:
        for analysis in self.analyses:
            if not callable(analysis):
                raise TypeError(f"an analysis must be a function of the results; got {analysis!r}.")
            if hasattr(analysis, "check"):
                analysis.check(self)

    @property
    def baseline(self) -> str | None:
        """The name of the learner that is the baseline."""
        return next((learner.name for learner in self.learners if learner.is_baseline), None)

    @property
    def each_loss(self) -> tuple[str, ...]:
        """The names of the learners that predict anew for each loss."""
        return tuple(learner.name for learner in self.learners if learner.each_loss)

    def parameters(self, family: str, n_labels: int) -> np.ndarray:
        """The values of k or alpha for a data set with so many labels.

        Parameters
        ----------
        family : {"binomial", "polynomial"}
            The family of losses.
        n_labels : int
            The number of labels, K.
        """
        values = self.families[family]
        if isinstance(values, str):
            even = even_ks if family == "binomial" else even_alphas
            return get_family(family).parameters(even(n_labels), n_labels)
        if values is not None and family == "binomial":
            values = [k for k in values if k <= n_labels] or [n_labels]
        return get_family(family).parameters(values, n_labels)

    def notes(self, name: str, n_labels: int) -> list[str]:
        """What is not done on a data set of this name and number of labels, though the plan asks for it.

        Parameters
        ----------
        name : str
            The name of the data set.
        n_labels : int
            The number of labels, K.
        """
        values = self.families.get("binomial")
        if values is None or isinstance(values, str) or not (beyond := [f"{k:g}" for k in values if k > n_labels]):
            return []
        return [f"binomial: k = {', '.join(beyond)} is beyond the {n_labels} labels of {name}, left out."]

    def fold_numbers(self, data: StudyData, Y: np.ndarray) -> np.ndarray:
        """The fold in which each row is tested, of shape (repeats, n_rows).

        Parameters
        ----------
        data : StudyData
            The data set.
        Y : array of shape (n_rows, n_labels)
            Labels, 0 and 1.
        """
        return self.split.fold_numbers(Y) if data.folds is None else np.asarray(data.folds)

    def n_cells(self) -> int:
        """The number of cells: a data set, a learner, a seed, a repeat and a fold each."""
        runs = sum(len(self.seeds_of(learner)) for learner in self.learners)
        own = self.split.repeats * self.split.folds
        given = [np.asarray(data.folds) for data in self.datasets if data.folds is not None]
        splits = own * (len(self.datasets) - len(given)) + sum(len(folds) * (int(folds.max()) + 1) for folds in given)
        return runs * splits

    def seeds_of(self, learner: StudyLearner) -> Sequence[int]:
        """All seeds for a learner with randomness, the first for any other.

        Parameters
        ----------
        learner : StudyLearner
            A learner of the plan.
        """
        seeds = self.seeds if learner.seeds is None else learner.seeds
        try:
            return seeds if learner.seed_parameters else seeds[:1]
        except FAULTS:  # of the learner's own code, which its cells tell
            return seeds[:1]


def even_ks(n_labels: int) -> np.ndarray:
    """The k of ``"even"``.

    Examples
    --------
    >>> even_ks(4)
    array([1, 2, 3, 4])
    >>> even_ks(45)
    array([ 1,  5,  9, 13, 17, 21, 25, 29, 33, 37, 41, 45])
    """
    return np.unique(np.linspace(1, n_labels, N_EVEN).round().astype(int))


def even_alphas(n_labels: int) -> np.ndarray:
    """The alphas of ``"even"``.

    Examples
    --------
    >>> even_alphas(6)[[0, 1, -1]].round(2)
    array([ 1. ,  1.3, 18. ])
    """
    return np.geomspace(1, EVEN_REACH * n_labels, N_EVEN)


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"the name of {what} must be text that is not empty; got {name!r}.")
    if not name.isprintable():
        raise ValueError(f"the name of {what} must not hold line breaks or other control characters; got {name!r}.")


def _check_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    checked = tuple(check_seed("a seed", seed) for seed in seeds)
    if not checked:
        raise ValueError("seeds must not be empty.")
    check_distinct("seeds", checked)
    return checked


def _check_probability(threshold: float | None) -> None:
    """Refuse a threshold that every probability reaches (0 or less), or none does (above 1)."""
    if threshold is not None and not 0 < check_threshold(threshold) <= 1:
        raise ValueError(f"threshold must lie above 0, and be at most 1; got {threshold}.")


def check_distinct(what: str, names: Sequence[Any]) -> None:
    """Refuse a name that comes twice."""
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"{what} must be distinct; {printable(str(name))!r} comes twice.")


def _check_parameters(family: str, parameters: Parameters) -> None:
    get_family(family)
    if parameters is not None and not (isinstance(parameters, str) and parameters == "even"):
        values = check_vector(f"the parameters of {family}", parameters)
        if not (np.diff(values) > 0).all() or not values[0] >= 1:
            raise ValueError(f"the parameters of {family} must increase, from 1 or more on; got {parameters}.")
        if family == "binomial" and not (np.isfinite(values).all() and (values == np.floor(values)).all()):
            raise ValueError(f"the parameters of binomial must be whole numbers; got {parameters}.")


def _dataset_of_pair(name: str, found: Any) -> Dataset:
    if not isinstance(found, tuple) or len(found) != 2:
        raise ValueError(f"the source of {name} must be or return a Dataset or (X, Y); got {type(found).__name__}.")
    X, Y = check_matrix("X", found[0]), check_matrix("Y", found[1])
    Y = Y.toarray() if hasattr(Y, "toarray") else Y
    if not np.isin(Y, (0, 1)).all():
        raise ValueError(f"the labels of {name} must be 0 or 1.")
    return Dataset(X, Y.astype(np.uint8), tuple(str(number) for number in range(1, Y.shape[1] + 1)), name)
