"""Kernels in Triton for torch tensors on a CUDA device: each input is read once."""
