"""Where the loss comes from: which labels, which labels together, which rows."""

from choral.explanation.shares import loss_shares

__all__ = ["loss_shares"]
