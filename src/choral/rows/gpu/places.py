"""Numbers written at places among many, for which the array API standard has no words."""

import torch


def add_at_places(values: torch.Tensor, places: torch.Tensor, size: int) -> torch.Tensor:
    """Rows of ``size`` numbers: the sum of the values at each place, 0 elsewhere.

    In which order a GPU adds is left open. Sums are exact, whatever the order, where at most one value at a place is
    not 0.

    Parameters
    ----------
    values : Tensor of shape (n_rows, n_values)
        What is written.
    places : Tensor of shape (n_values,)
        Where in each row.
    size : int
        How long rows are.
    """
    return values.new_zeros(values.shape[0], size).index_add_(1, places, values)
