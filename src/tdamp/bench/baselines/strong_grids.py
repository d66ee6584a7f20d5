"""What AdamW with cosine decay, weight decay and dropout is tuned over, in every benchmark: six recipes a data set.

As many as tdamp's grids have in the paper's evaluation. They were drawn up on validation rows, in 31 tries for MNIST
and 48 for Boston, with 13 and 20 more for pruning; test rows chose nothing.
"""

from __future__ import annotations

from ..jobs import Config
from .recipe import Recipe, strong

STRONG: dict[str, tuple[Recipe, ...]] = {
    "mnist": (
        strong(1e-2, 0.1, 0.1), strong(7e-3, 0.07, 0.1), strong(7e-3, 0.1, 0.1), strong(7e-3, 0.1, 0.05),
        strong(7e-3, 0.15, 0.1), strong(5e-3, 0.1, 0.1),
    ),
    "boston": (
        strong(1e-2, 0.3, 0.05), strong(1e-2, 0.1, 0.05), strong(1e-2, 0.3, 0.1), strong(3e-2, 0.01, 0.05),
        strong(1e-2, 0.1, 0.1), strong(2e-2, 0.1, 0.05),
    ),
}  # fmt: skip
"""Rate, weight decay, dropout."""
GRADUAL = {
    "mnist": (
        (7e-3, 0.1, 0.1, 1e-5, "sum"), (5e-3, 0.1, 0.1, 1e-5, "sum"), (3e-3, 0.1, 0.1, 1e-5, "mean"),
        (5e-3, 0.05, 0.0, 1e-5, "sum"), (3e-3, 0.1, 0.0, 1e-5, "sum"), (5e-3, 0.02, 0.0, 3e-5, "sum"),
    ),
    "mnist, small": (
        (5e-3, 0.1, 0.0, 1e-5, "sum"), (5e-3, 0.05, 0.0, 1e-5, "sum"), (3e-3, 0.1, 0.0, 1e-5, "sum"),
        (5e-3, 0.02, 0.0, 3e-5, "sum"), (1e-2, 0.05, 0.0, 1e-5, "sum"), (3e-3, 0.1, 0.1, 1e-5, "mean"),
    ),
    "boston": (
        (1e-2, 0.1, 0.05, 0.0, "mean"), (2e-2, 0.1, 0.0, 0.0, "sum"), (3e-2, 0.01, 0.0, 1e-3, "sum"),
        (2e-2, 0.01, 0.0, 1e-3, "sum"), (3e-2, 0.01, 0.0, 3e-3, "sum"), (2e-2, 0.1, 0.05, 1e-3, "sum"),
    ),
}  # fmt: skip
"""Rate, weight decay, dropout, penalty of group lasso, and how a unit's energy is taken."""
SMALL = 0.35
"""Below this share of units MNIST's networks have none to leave out."""


def pruned(data: str, keep: float) -> tuple[Config, ...]:
    """For gradual magnitude pruning; with all units AdamW itself."""
    if keep == 1:
        return tuple(recipe.config for recipe in STRONG[data])
    grid = GRADUAL["mnist, small" if data == "mnist" and keep < SMALL else data]
    return tuple(strong(r, w, d).config | {"penalty": p, "energy": by} for r, w, d, p, by in grid)
