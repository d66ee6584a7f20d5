"""A block whose input is added to its output: u + body(u), before the activation.

Density: delta(z - z_body - u). Beliefs: mean and variance are sums, those of z_body and of u as it came from below.
Messages: the score of z is the score of both, so that u hears from z twice, through the body and past it. Taken as
independent: the doubt about u and the doubt about body(u). Oracle: the same sum as one layer of a dense network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Residual:
    """The layers of `body`, whose last one gives as many channels at as many places as the first one is given."""

    name: str = field(default="residual", init=False)
    body: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """A list becomes a tuple; an empty body is refused."""
        object.__setattr__(self, "body", tuple(self.body))
        if not self.body:
            raise ValueError("Residual(body=()): expected the layers of the block, such as (Conv(16), Conv(16))")
