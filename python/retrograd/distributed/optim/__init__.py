"""Optimizers that divide their state among processes."""

from retrograd.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer, clip_grad_norm_

__all__ = ["ZeroRedundancyOptimizer", "clip_grad_norm_"]
