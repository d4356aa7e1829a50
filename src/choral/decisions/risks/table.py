"""Risks under any measure on few labels, from the worth of each of the 2^K sets of labels."""

import numpy as np

from choral._array_api import Array, as_real, to_library_of, xp_of
from choral.decisions.device_arrays import gather
from choral.decisions.instances import Instances, PairsOfSets
from choral.decisions.risks.base import Bound, Risk, gains, keep_relevance
from choral.measures.forms import ByCount, ByRelevance, PlainForm, Table, Terms
from choral.measures.subsets import set_sizes, zeta_transform


class TableRisk(Risk):
    """Expected loss from a table by the set of wrong labels."""

    def __init__(self, form: Table, like: Array):
        self._table = to_library_of(loss_table(form), like)

    def _losses_at(self, pairs: PairsOfSets, wrong: Array) -> Array:
        """The loss by the index of the set of wrong labels."""
        return gather(self._table, wrong)

    def losses(self, pairs: PairsOfSets) -> Array:
        return self._losses_at(pairs, pairs.index_differences())

    def flips(self, instances: Instances, labels: Array) -> Array:
        pairs = instances.pairs(labels)
        wrong = pairs.index_differences()
        after = [self._losses_at(pairs, wrong ^ (1 << label)) for label in range(labels.shape[1])]
        return xp_of(labels).stack([instances.total(losses) for losses in after], axis=1)

    def bound(self, instances: Instances, labels: Array, decided: Array) -> Bound:
        """All that is not decided matches."""
        pairs = instances.pairs(labels)
        wrong = pairs.index_differences() & pairs.of_predictions(instances.wrap(decided).index)
        certain = self._losses_at(pairs, wrong)
        return Bound(instances.total(certain), *gains(instances, decided, 1 - certain))


class RelevanceTableRisk(TableRisk):
    """Expected loss under relevance weighting of a table, from the share of each label in the worth of each set."""

    def __init__(self, form: ByRelevance, base: Table, like: Array):
        super().__init__(base, like)
        # By the set of wrong labels; the complement of a set has the index from the other end.
        self._shares = [to_library_of(shares[::-1], like) for shares in base.shares]
        self._relevance = keep_relevance(form)

    def _losses_at(self, pairs: PairsOfSets, wrong: Array) -> Array:
        betas, scales = map(pairs.of_labelsets, self._relevance(pairs.labelsets))
        part = sum(
            pairs.of_labelsets(as_real(pairs.labelsets.labelsets[..., label])) * gather(shares, wrong)
            for label, shares in enumerate(self._shares)
        )
        return 1 - (1 - gather(self._table, wrong) + betas * part) * scales


def loss_table(form: PlainForm) -> np.ndarray:
    """One minus the worth of what is left, by the index of the set of wrong labels."""
    match form:
        case ByCount():
            return form.deficits()[set_sizes(form.n_labels)]
        case Terms():
            return 1 - zeta_transform(mass_table(form))[::-1]
        case Table():
            return 1 - form.values[::-1]  # the complement of a set has the index from the other end


def mass_table(form: Terms | Table) -> np.ndarray:
    """The 2^K Moebius masses of a form that tells labels apart."""
    if isinstance(form, Table):
        return form.masses
    masses = np.zeros(1 << form.n_labels)
    for labels, mass in form.all_terms:
        masses[sum(1 << label for label in labels)] += mass
    return masses
