"""How Adam trains: plain, as in the paper, or AdamW with cosine decay, weight decay and dropout.

AdamW: Loshchilov and Hutter, 2019. Cosine decay: the same, 2017. Dropout: Srivastava et al., 2014.
"""

from __future__ import annotations

from typing import NamedTuple

from ...core.jobs import Config

SHARES = "weight_decay", "dropout", "input_dropout"
"""What a configuration may leave out, where it is 0."""


class Recipe(NamedTuple):
    """A learning rate; by default it is constant and nothing else is done.

    `cosine`: the rate falls to 0 over all epochs. `weight_decay`: every step takes the share rate x weight_decay off
    every parameter. `dropout`: the share of each hidden layer's units that is left out in training, never in
    prediction; `input_dropout`: the same of the inputs, as tdamp's setting of that name.
    """

    rate: float
    weight_decay: float = 0.0
    dropout: float = 0.0
    cosine: bool = False
    input_dropout: float = 0.0

    @classmethod
    def of(cls, value: float | Recipe | Config) -> Recipe:
        """From a mere rate, or from a configuration, whose other entries are left alone."""
        if isinstance(value, Recipe):
            return value
        if isinstance(value, dict):
            known = {name: float(value[name]) for name in SHARES if name in value}
            return cls(float(value.get("rate", 0.0)), cosine=bool(value.get("cosine", 0)), **known)
        return cls(float(value))

    @property
    def plain(self) -> bool:
        """Whether this is Adam at a constant rate."""
        return self == Recipe(self.rate)

    @property
    def config(self) -> Config:
        """As a point of a grid. Without input dropout it is not named, so that finished runs are known again."""
        fields = self._asdict() | {"cosine": int(self.cosine)}
        if not self.input_dropout:
            del fields["input_dropout"]
        return {"rate": self.rate} if self.plain else fields

    def __str__(self) -> str:
        if self.plain:
            return f"{self.rate:g}"
        schedule = ", cosine" if self.cosine else ""
        inputs = f", input dropout {self.input_dropout:g}" if self.input_dropout else ""
        return f"{self.rate:g}{schedule}, weight decay {self.weight_decay:g}, dropout {self.dropout:g}{inputs}"


def strong(rate: float, weight_decay: float, dropout: float, input_dropout: float = 0.0) -> Recipe:
    """AdamW with cosine decay."""
    return Recipe(rate, weight_decay, dropout, cosine=True, input_dropout=input_dropout)
