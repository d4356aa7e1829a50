"""Decisions on arrays that are not NumPy's: torch tensors, CuPy and JAX arrays, and others that follow the standard.

They stay on their device, and so do the results. Each method is written once more here, in what every array library
has, and registered for `ArrayDistribution`; NumPy's own is the reference that it is tested on.
"""

from choral.decisions.arrays.closed_form import closed_form_on_device
from choral.decisions.arrays.distribution import ArrayDistribution
from choral.decisions.arrays.search import search_on_device
from choral.decisions.arrays.transform import transform_on_device

__all__ = ["ArrayDistribution", "closed_form_on_device", "search_on_device", "transform_on_device"]
