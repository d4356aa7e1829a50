"""How many of some independent events happen: the Poisson-binomial distribution, without simulation.

All terms of the recursions are positive, so that small probabilities keep their digits. Only products of long
distributions go by way of a Fourier transform, which keeps the digits of the largest one.
"""

import numpy as np
from scipy import fft

EVENTS_AT_A_TIME = 64  # of many events, so many are counted one by one; the counts of such groups are then added
LONGEST_DIRECT = 128  # longer distributions are added by a Fourier transform
LOG_TAIL = np.log(1e-18)  # of the probability of more events than are kept


@np.errstate(under="ignore")
def number_of_events(probabilities: np.ndarray, max_events: int | None = None) -> np.ndarray:
    """Probability of 0, 1, ... events, by dynamic programming over the events.

    Parameters
    ----------
    probabilities : ndarray of shape (..., n_events)
        Of each event; independent along the last axis.
    max_events : int, optional
        More events than these are left out; all are kept unless given.

    Returns
    -------
    counts : ndarray of shape (..., min(n_events, max_events) + 1)

    Examples
    --------
    >>> number_of_events(np.array([0.5, 0.5, 0.0]))
    array([0.25, 0.5 , 0.25, 0.  ])
    """
    *shape, n_events = probabilities.shape
    most = n_events if max_events is None else min(n_events, max_events)
    counts = np.zeros((*shape, most + 1))
    counts[..., 0] = 1
    for event in range(n_events):
        chance = probabilities[..., event, np.newaxis]
        seen = min(event, most) + 1
        happens = counts[..., : min(seen, most)] * chance
        counts[..., :seen] *= 1 - chance
        counts[..., 1 : happens.shape[-1] + 1] += happens
    return counts


def with_event(counts: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Probability of 0, 1, ... events, when one more event with a chance for each row is added to them."""
    happens = counts * chances[:, np.newaxis]
    counts = np.pad(counts * (1 - chances)[:, np.newaxis], ((0, 0), (0, 1)))
    counts[:, 1:] += happens
    return counts


@np.errstate(under="ignore")
def number_of_many_events(probabilities: np.ndarray) -> np.ndarray:
    """Likewise for many events, of which few may happen: numbers that all rows hardly ever reach are left out.

    More events than are kept have a probability of at most 1e-18 by Chernoff's bound, for each sum of some events.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_events)

    Returns
    -------
    counts : ndarray of shape (n_rows, n_kept)

    Examples
    --------
    >>> number_of_many_events(np.full((1, 100_000), 1e-5)).shape
    (1, 21)
    """
    probabilities = probabilities[:, probabilities.any(axis=0)]  # others never happen
    n_rows, n_events = probabilities.shape
    n_groups = max(1, -(-n_events // EVENTS_AT_A_TIME))
    groups = np.pad(probabilities, ((0, 0), (0, n_groups * EVENTS_AT_A_TIME - n_events)))
    groups = groups.reshape(n_rows, n_groups, EVENTS_AT_A_TIME)
    expected = groups.sum(axis=2)
    counts = number_of_events(groups, max_events_of(expected.max(), n_events))
    while counts.shape[1] > 1:
        if counts.shape[1] % 2:  # a group of no events, of which surely none happens
            nothing = np.zeros_like(counts[:, :1])
            nothing[..., 0] = 1
            counts = np.concatenate([counts, nothing], axis=1)
            expected = np.pad(expected, ((0, 0), (0, 1)))
        expected = expected[:, ::2] + expected[:, 1::2]
        width = max_events_of(expected.max(), n_events) + 1
        counts = _distribution_of_sum(counts[:, ::2], counts[:, 1::2])[..., :width]
    return counts[:, 0]


def max_events_of(expected: float, n_events: int) -> int:
    """The number of events that is exceeded with a probability of at most 1e-18, given how many happen on average."""
    if not expected:
        return 0
    numbers = np.arange(int(expected) + 1, n_events + 1)
    # Chernoff: P(N >= n) <= exp(n - m - n log(n / m)) for n > m, the mean
    log_tails = numbers - expected - numbers * np.log(numbers / expected)
    return int(numbers[0] - 1 + np.count_nonzero(log_tails > LOG_TAIL)) if numbers.size else n_events


def _distribution_of_sum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The distribution of the sum of two independent counts: a convolution along the last axis."""
    width = first.shape[-1]
    if width > LONGEST_DIRECT:
        size = fft.next_fast_len(2 * width - 1, real=True)
        product = fft.irfft(fft.rfft(first, size) * fft.rfft(second, size), size)
        return product[..., : 2 * width - 1].clip(0)
    total = np.zeros((*first.shape[:-1], 2 * width - 1))
    for number in range(width):
        total[..., number : number + width] += first[..., number, np.newaxis] * second
    return total
