"""What pickles of version 0.1 hold: layers that had a chain for every prior.

The module stands in for `tdamp.turbo` when such a pickle is read.
"""

from __future__ import annotations

from typing import Any

from ..engine import turbo


class Layer:
    """Makes a layer of today of the ten fields of version 0.1."""

    def __new__(cls, *fields: Any) -> Any:
        """`chain` was the eighth of ten; where the prior has no use for it, it does no harm."""
        names = [*turbo.Layer._fields[:7], "prior_state", "active_prob", "sure"]
        return turbo.Layer(**dict(zip(names, fields, strict=True)))
