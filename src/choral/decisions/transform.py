r"""The risks of all 2^K predictions at once, by Walsh-Hadamard transforms.

The loss depends on which labels are wrong, that is on :math:`c \oplus y`, so the risks of all predictions c are a
convolution over bit vectors: the distribution is transformed once, and each measure takes a product and one transform
back, K 2^K steps instead of 4^K. Relevance weighting depends on y as well, but only through factors: it is a sum of
such convolutions.

It runs where the arrays of the distribution lie, and nothing is read back. All that measures need goes there first,
since a device that is sent numbers finishes its work before it takes them. Of all predictions whose risk is within the
tolerance of the least, that one is taken whose key is least. A key has the number of labels in its highest bits; below
them label i has bit K - 1 - i, which is 0 where the label is predicted. So keys are in the order in which ties are
broken, and they say what they stand for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce

import numpy as np

from choral._array_api import Array, as_real, is_foreign, to_library_of, xp_of
from choral.decisions.decision import Decision, exact_decisions
from choral.decisions.device_arrays import count_up, gather
from choral.decisions.hadamard import hadamard_transform, transform_by_size
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.risks.table import loss_table, mass_table
from choral.decisions.support import row_blocks
from choral.decisions.ties import TOLERANCE
from choral.measures.forms import ByCount, ByRelevance, Form, Table, Terms
from choral.measures.subsets import set_sizes, zeta_transform
from choral.rows.gpu import serves

MAX_LABELS_OF_SHORT_KEYS = 26  # up to which a key has 32 bits

Found = tuple[Array, Array]  # the keys of the best predictions, and their risks


class AllSets:
    """All 2^K sets of labels where an array lies: their keys and their sizes."""

    def __init__(self, n_labels: int, like: Array):
        self.xp, self.n_labels, self.like = xp_of(like), n_labels, like

    @cached_property
    def keys(self) -> Array:
        """The key of each set. Kernels find keys by themselves."""
        n_labels = self.n_labels
        dtype = self.xp.int32 if n_labels <= MAX_LABELS_OF_SHORT_KEYS else self.xp.int64
        nothing = count_up(1, self.like, dtype) + ((1 << n_labels) - 1)
        steps = [(1 << n_labels) - (1 << (n_labels - 1 - label)) for label in range(n_labels)]
        return reduce(lambda keys, step: self.xp.concat([keys, keys + step]), steps, nothing)

    @cached_property
    def sizes(self) -> Array:
        """The number of labels in each set."""
        return self.xp.astype(self.keys >> self.n_labels, self.xp.int32 if is_foreign(self.like) else self.xp.uint8)

    def of_sizes(self, values: np.ndarray) -> Array:
        """One value for each size as one for each set."""
        return gather(to_library_of(values, self.like), self.sizes)

    def has_label(self, label: int) -> Array:
        """1 for the sets that have a label, else 0."""
        bits = self.xp.reshape(as_real(count_up(2, self.like)), (1, 2, 1))
        return self.xp.reshape(self.xp.broadcast_to(bits, (1 << (self.n_labels - 1 - label), 2, 1 << label)), (-1,))

    def members(self, keys: Array) -> Array:
        """The sets with these keys, as 0 and 1 along a further axis."""
        bits = self.n_labels - 1 - count_up(self.n_labels, keys, keys.dtype)
        return self.xp.astype(1 - ((keys[..., None] >> bits) & 1), self.xp.uint8)

    def least_keys(self, risks: Array) -> Found:
        """The key of the prediction of least risk in each row, ties broken, and that risk."""
        if _kernels_serve(risks):
            from choral.rows.gpu import walsh_double

            return walsh_double.least_keys(risks, TOLERANCE)
        xp = self.xp
        least = xp.min(risks, axis=1)
        no_key = xp.full_like(self.keys[:1], xp.iinfo(self.keys.dtype).max)
        return xp.min(xp.where(risks <= least[:, None] + TOLERANCE, self.keys, no_key), axis=1), least

    def least_keys_of_products(self, table: Array, factors: Array) -> Found:
        """The same where risks are transforms of a table times factors for the sizes of sets: for each row of factors.

        Both have the shape (n_products, n_rows).
        """
        if _kernels_serve(table):
            from choral.rows.gpu import walsh_double

            return walsh_double.least_keys_of_products(table, factors, TOLERANCE)
        products = (table * gather(factors[number, :], self.sizes) for number in range(factors.shape[0]))
        return self.stack(self.least_keys(hadamard_transform(product)) for product in products)

    def stack(self, found: Iterable[Found]) -> Found:
        """What was found for some forms as arrays of shape (n_forms, n_instances)."""
        keys, least = zip(*found, strict=True)
        return self.xp.stack(keys), self.xp.stack(least)


def _kernels_serve(table: Array) -> bool:
    """Whether kernels look for the least number of a table."""
    if not serves(table):
        return False
    from choral.rows.gpu import walsh_double

    return walsh_double.serves_doubles(table)


class Spectrum:
    """Probabilities of all label sets for some instances, and their transform."""

    def __init__(self, weights: Array):
        self.weights = weights  # (n_instances, 2 ** n_labels)

    @cached_property
    def transformed(self) -> Array:
        """The transform, which serves all measures but relevance weighting."""
        return hadamard_transform(self.weights)


Risks = Callable[[Spectrum], Array]  # of all 2^K predictions for each instance


def transform(distribution: LabelDistribution, forms: Sequence[Form]) -> list[Decision]:
    """The optimum for each form of a measure, proven by looking at every prediction."""
    n_labels, most = distribution.n_labels, distribution.max_dense_labels
    if n_labels > most:
        raise ValueError(
            f"method 'transform' looks at all 2 ** n_labels predictions, for up to {most} labels; got {n_labels}."
        )
    sets = AllSets(n_labels, distribution.weights)
    search, add_up = _search(forms, sets), distribution.make_sums(forms)
    found = []
    for rows in row_blocks(distribution.n_instances, 1 << n_labels, sets.like):
        found.append(search(Spectrum(distribution.instances(rows).all_weights())))
    keys, least = (sets.xp.concat(parts, axis=1) for parts in zip(*found, strict=True))
    labels = sets.members(keys)
    # The risks are added up anew: a transform keeps the digits of the largest risk, a sum those of each.
    return exact_decisions(labels, add_up(labels), least)


def _search(forms: Sequence[Form], sets: AllSets) -> Callable[[Spectrum], Found]:
    """The best predictions for several forms; measures by count take one product of the transform each."""
    counting = [form for form in forms if isinstance(form, ByCount)]
    if len(counting) < len(forms):
        risks_of = [_all_risks(form, sets) for form in forms]
        return lambda spectrum: sets.stack(sets.least_keys(risks(spectrum)) for risks in risks_of)
    factors = np.stack([transform_by_size(form.all_deficits) for form in counting])
    there = to_library_of(factors / (1 << sets.n_labels), sets.like)  # of a transform there and back
    return lambda spectrum: sets.least_keys_of_products(spectrum.transformed, there)


def _all_risks(form: Form, sets: AllSets) -> Risks:
    """The risks of all predictions, as a function of the distribution."""
    match form:
        case ByCount() | Terms() | Table():
            of_sets = hadamard_transform(to_library_of(loss_table(form), sets.like)) / (1 << sets.n_labels)
            return lambda spectrum: hadamard_transform(spectrum.transformed * of_sets)
        case ByRelevance(base=base):
            if isinstance(base, ByCount):
                return _risks_by_relevance_of_count(form, base, sets)
            return _risks_by_relevance(form, base, sets)


def _risks_by_relevance_of_count(form: ByRelevance, base: ByCount, sets: AllSets) -> Risks:
    r"""With s labels predicted, R relevant and j right, :math:`(s + R - K + j) / 2` are right and relevant.

    So the worth is a sum of convolutions with v(j) and v(j) / j, in which R is a factor before and s one after.
    """
    n_labels, scale = form.n_labels, 1 << form.n_labels
    n_relevant = np.arange(n_labels + 1)
    right = n_labels - n_relevant
    values = base.values[right]  # by the number of wrong labels
    of_values = transform_by_size((1 + form.beta / 2) * values) / scale
    of_shares = transform_by_size(form.beta / 2 * values / np.maximum(right, 1)) / scale
    scales = np.zeros(n_labels + 1)  # where no label or every label is relevant, it is the base measure itself
    scales[1:-1] = 1 / (1 + form.beta * n_relevant[1:-1] / n_labels)

    def risks(spectrum: Spectrum) -> Array:
        scaled = spectrum.weights * sets.of_sizes(scales)
        sums = hadamard_transform(scaled * sets.of_sizes(n_relevant - float(n_labels))) * sets.of_sizes(of_shares)
        scaled = hadamard_transform(scaled)
        sums = sums + scaled * sets.of_sizes(of_values)
        worth = hadamard_transform(sums)
        del sums
        worth = worth + hadamard_transform(scaled * sets.of_sizes(of_shares)) * sets.of_sizes(n_relevant.astype(float))
        worth = worth + spectrum.weights[:, :1] * sets.of_sizes(values)
        worth = worth + spectrum.weights[:, -1:] * sets.of_sizes(values[::-1])
        return 1 - worth

    return risks


def _risks_by_relevance(form: ByRelevance, base: Terms | Table, sets: AllSets) -> Risks:
    r"""The worth of a set A where y is true is :math:`(\mu(A) + \beta \sum_{i \in y} \phi_i(A)) / S(y)`.

    With :math:`\phi_i` the share of label i in the worth, and S what the masses add up to. So it is a sum of K + 1
    convolutions, of :math:`p(y) / S(y)` with :math:`\mu` and, where i is in y, with :math:`\phi_i`.
    """
    relevant = sum(share * sets.has_label(label) for label, share in enumerate(form.shapley.tolist()))
    irrelevant = sum(1 - sets.has_label(label) for label in form.carriers.tolist())
    are_all = irrelevant == 0  # there the base remains
    scales = 1 / sets.xp.where(are_all, sets.xp.ones_like(relevant), 1 + form.beta * relevant)
    growths = sets.xp.where(are_all, sets.xp.zeros_like(relevant), form.beta * scales)

    def risks(spectrum: Spectrum) -> Array:
        worths = to_library_of((1 - loss_table(base)) / (1 << form.n_labels), sets.like)
        sums = hadamard_transform(spectrum.weights * scales) * hadamard_transform(worths)
        for label, shares in enumerate(_share_tables(base)):
            with_label = hadamard_transform(spectrum.weights * growths * sets.has_label(label))
            of_wrong = to_library_of(shares[::-1] / (1 << form.n_labels), sets.like)
            sums = sums + with_label * hadamard_transform(of_wrong)
        return 1 - hadamard_transform(sums)

    return risks


def _share_tables(base: Terms | Table) -> Iterator[np.ndarray]:
    """The share of each label in the worth of each set, label after label: together they may not fit into memory."""
    masses = mass_table(base)
    even = masses / np.maximum(set_sizes(base.n_labels), 1)
    index = np.arange(even.size)
    for label in range(base.n_labels):
        yield zeta_transform(np.where(index >> label & 1, even, 0.0))
