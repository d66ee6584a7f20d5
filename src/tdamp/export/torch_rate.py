"""The module of PyTorch that makes rates of their logarithms; importing it imports PyTorch."""

from __future__ import annotations

import torch

from ..numerics.counts import MAX_LOG_RATE


class Rate(torch.nn.Module):
    """exp(z), held below exp(MAX_LOG_RATE) as in predictions."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Rates of outputs z."""
        return torch.exp(torch.clamp(z, max=MAX_LOG_RATE))
