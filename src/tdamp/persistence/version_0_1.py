"""What pickles of version 0.1 hold: layers that had a chain for every prior, and predictions made of variances.

The module stands in for `tdamp.turbo` when such a pickle is read, and `Predictive` for the class in `tdamp.predict`.
"""

from __future__ import annotations

from typing import Any

from ..engine import turbo
from ..numerics.distribution import Distribution


class Layer:
    """Makes a layer of today of the ten fields of version 0.1."""

    def __new__(cls, *fields: Any) -> Any:
        """`chain` was the eighth of ten; where the prior has no use for it, it does no harm."""
        names = [*turbo.Layer._fields[:7], "prior_state", "active_prob", "sure"]
        return turbo.Layer(**dict(zip(names, fields, strict=True)))


class Predictive:
    """Makes a `Distribution` of the three fields of version 0.1."""

    def __new__(cls, mean: Any, epistemic_var: Any, aleatoric_var: Any) -> Any:
        """Standard deviations took the place of variances."""
        return Distribution.from_vars(mean, epistemic_var, aleatoric_var)
