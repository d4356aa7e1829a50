"""Losses and metrics for PyTorch: the same measures, the same small summary, on tensors."""
