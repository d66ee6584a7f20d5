"""The Gaussian prior: every unit is needed, unless it has been removed.

Density: prod_j N(w_j; 0, base_var). Exact. Oracle: ridge regression.
"""

from __future__ import annotations

from .base import Prior


class GaussianPrior(Prior):
    """No group is in question."""

    name = "gaussian"
    in_question = False
