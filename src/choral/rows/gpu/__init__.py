"""Kernels in Triton for torch tensors on a CUDA device: data is read once, and little but results is written.

Everything here has a slower twin that runs anywhere and gives the same numbers; `serves` says when to come here.
"""

from importlib.util import find_spec
from typing import Any

HAS_TRITON = find_spec("triton") is not None
MAX_SORTED_LABELS = 1024  # labels of a row that a warp can sort


def serves(*tensors: Any) -> bool:
    """Whether all are torch tensors on one CUDA device, and Triton is there to compile for it."""
    if not HAS_TRITON or not all(type(tensor).__module__.partition(".")[0] == "torch" for tensor in tensors):
        return False
    return tensors[0].is_cuda and len({tensor.device for tensor in tensors}) == 1
