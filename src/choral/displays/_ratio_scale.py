"""A logarithmic axis of ratios around 1, with ticks that people read: 0.8, 1, 1.25."""

from collections.abc import Iterable

import numpy as np

LEAST = 1.05  # how far the axis goes from 1 at least: closer ratios are the same to the eye, and should look so
OTHER_SIDE = 1 / 3  # of the way from 1 to the further end, how far the axis goes to the other side at least
MARGIN = 0.06  # beyond the outermost ratio, of the height in logarithms
GAP = 0.09  # between two ticks at least, of the height in logarithms
# Ticks in the order in which they are wanted, powers of ten after 1 and before the rest.
BETWEEN = (2, 0.5, 5, 0.2, 1.25, 0.8, 1.5, 0.7, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98)


def ratio_limits(ratios: Iterable[np.ndarray]) -> tuple[float, float]:
    """Limits that hold all finite ratios and 1, and leave room on both sides of it.

    Examples
    --------
    >>> low, high = ratio_limits([np.array([1.0, 2.0, np.inf]), np.array([0.0, 1.5])])
    >>> round(low, 2), round(high, 2)
    (0.75, 2.11)
    """
    logs = np.log([LEAST, 1 / LEAST, *(ratio for line in ratios for ratio in line if 0 < ratio < np.inf)])
    high = max(logs.max(), -OTHER_SIDE * logs.min())
    low = min(logs.min(), -OTHER_SIDE * high)
    margin = MARGIN * (high - low)
    return float(np.exp(low - margin)), float(np.exp(high + margin))


def ratio_ticks(low: float, high: float) -> list[float]:
    """Ticks between two limits: 1 first, then round numbers as long as there is room.

    Examples
    --------
    >>> ratio_ticks(0.75, 2.11)
    [0.8, 0.9, 1, 1.1, 1.25, 1.5, 2]
    """
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    tens = sorted((float(power) for power in powers if power != 1), key=lambda power: abs(np.log(power)))
    wanted = [1, *tens, *BETWEEN, *(factor * power for power in tens for factor in (2, 5))]
    ticks: list[float] = []
    for tick in wanted:
        apart = [abs(np.log(tick / other)) for other in ticks]
        if low <= tick <= high and min(apart, default=np.inf) >= GAP * np.log(high / low):
            ticks.append(tick)
    return sorted(ticks)
