"""What pickles of version 0.1 hold: layers that had a chain for every prior.

The module stands in for `tdamp.turbo` when such a pickle is read.
"""

from __future__ import annotations

from typing import Any

from ..engine import turbo


class Layer:
    """Makes a layer of today of the ten fields of version 0.1."""

    def __new__(cls, *fields: Any) -> Any:
        """`chain` was the eighth; only the burst prior has one now, and where it is not needed it does no harm."""
        *before, chain, active_prob, sure = fields
        return turbo.Layer(*before, active_prob, sure, prior_state=chain)  # type: ignore[call-arg]
