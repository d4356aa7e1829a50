"""Results: what a study found, read from its folder: records, comparisons, tables, and the sections of its analyses."""

from choral.study.comparisons import Comparisons
from choral.study.sections import Section
from choral.study.store import DamagedFile
from choral.study.tables import Table, make_tables


class Results(Comparisons):
    """What a study found.

    A learner counts on a data set when all its cells there are done: losses of other folds would not compare. Losses
    are means over all test rows, as in the published study, not means of the means of folds; over several repeats or
    seeds, of all of them.

    Parameters
    ----------
    folder : path-like
        Of the study: see `run_study`.
    n_bootstrap : int
        Samples of the paired bootstrap over the rows of a data set.
    confidence : float
        Of its intervals, pointwise.
    study : dict, optional
        What ``study.json`` says, where that is known already; unless given, it is read.

    Attributes
    ----------
    title, created, predictions : str
    datasets, learners, families : tuple of str
    baseline : str or None
        The learner that is there for comparison only.
    study : dict
        All that ``study.json`` says: plan, versions, parameters of the learners.
    each_loss : tuple of str
        The learners that predict anew for each loss: their loss at a parameter is that of the labels predicted for it.

    See Also
    --------
    run_study : Run a study.
    write_figures : Write all figures of a study.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from choral.datasets import make_dependent
    >>> from choral.learners import BinaryRelevance, LabelPowerset
    >>> from choral.study import Plan, Split, StudyData, StudyLearner, run_study
    >>> plan = Plan(
    ...     datasets=[StudyData("synthetic", make_dependent(60, 3, dependence=0.9))],
    ...     learners=[StudyLearner("BR", BinaryRelevance()), StudyLearner("LP", LabelPowerset())],
    ...     split=Split(folds=2),
    ... )
    >>> folder = TemporaryDirectory()
    >>> results = run_study(plan, folder.name)
    >>> results.datasets, results.learners
    (('synthetic',), ('BR', 'LP'))
    >>> sorted(results.tables())[:3]
    ['crossings', 'differences', 'losses']
    >>> folder.cleanup()
    """

    @property
    def sections(self) -> tuple[Section, ...]:
        """What the analyses of the plan found when the study was last run to its end."""
        try:
            return tuple(Section.from_dict(section) for section in self.study["sections"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedFile(f"the sections of {self.title} cannot be read ({error}); run the study again.") from error

    def tables(self) -> dict[str, Table]:
        """All tables by name: losses, wins, slopes, crossings, differences, ranks, and those of the sections.

        ``to_pandas`` of each makes a frame of it.
        """
        return make_tables(self) | {name: table for section in self.sections for name, table in section.tables.items()}
