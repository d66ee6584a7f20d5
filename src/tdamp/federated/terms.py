"""The terms of a federation, which all parties share from before the first round."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any, Literal, get_args

from ..engine.network import Network
from ..engine.settings import Settings
from .aggregation.catalog import RULES, rule_named

Aggregation = str
"""A name in `aggregation.catalog.RULES`."""
NoiseAt = Literal["clients", "server"]
NOISE_AT = {"clients": True, "server": False}
"""Whether clients learn the noise themselves."""
Precision = Literal["full", "factored"]


@dataclass(frozen=True)
class Terms:
    """How a federation trains one network.

    settings: of Algorithm 1. Epochs are local ones, counted over all rounds; `keep` is the server's business.
    aggregation: "wga", the weighted geometric average of the clients' posteriors, each of which speaks for the whole
        federation; "waa", the algebraic one, for comparison; "sites", a factor of the posterior for every client, as in
        partitioned variational inference (`aggregation.sites`).
    noise: "clients" lets the noise run in local training and averages its logarithm; "server" holds it there and
        estimates it from all clients' statistics after every round, as printed.
    step, momentum: the server's new means lie `step` times as far from the old ones as the average of the clients', and
        go on in the last direction with `momentum`; 1 and 0 give the average itself. The first round takes the average.
    forget: with "sites", the part that a round takes from what sets a client's site apart. With 0 linear models
        end at their exact posterior; networks of clients with few classes come to rest with a little of it.
    hold_out: about this part of the rows is not trained on (`federated.held_out`); by their log score the best round
        is chosen, and how wide a regression predicts (`federated.calibration`). With 0 predictions are not calibrated.
    robust: uploads far from all others lose their share (`aggregation.robust`); not for clients that differ strongly.
    precision: "full" sends a mean and a variance for every weight, "factored" a mean alone, with variances of rows and
        columns: half the bytes (`federated.packing`).
    """

    network: Network
    settings: Settings
    rounds: int = 10
    local_epochs: int = 10
    seed: int = 0
    aggregation: Aggregation = "wga"
    noise: NoiseAt = "clients"
    step: float = 1.0
    momentum: float = 0.0
    forget: float = 0.0
    precision: Precision = "full"
    robust: bool = False
    hold_out: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for terms that cannot work."""
        rule_named(self.aggregation)
        if self.network.input_shape is None:
            self.network.check_dense("a federation has dense layers only so far; tdamp.fit trains others, on one table")
        self._check_removable()
        for name, kind in (("noise", NoiseAt), ("precision", Precision)):
            choices = get_args(kind)
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(map(repr, choices))}")
        for name in ("rounds", "local_epochs"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name}={value!r}: expected a whole number of at least 1")
        if not 0 < self.step <= 2 or not 0 <= self.momentum < 1 or not 0 <= self.forget <= 1:
            raise ValueError(
                f"step={self.step}, momentum={self.momentum}, forget={self.forget}: "
                "expected them in (0, 2], [0, 1) and [0, 1]"
            )
        if not 0 <= self.hold_out < 1:
            raise ValueError(f"hold_out={self.hold_out!r}: expected a fraction in [0, 1)")
        if not self.noise_at_clients and self.settings.noise_update == "numerical":
            raise ValueError('noise="server" needs noise_update="em" or "fixed": clients send no more than that takes')
        if self.settings.pasp == "paper":
            self._check_printed()

    @property
    def sends_losses(self) -> bool:
        """Whether uploads say what would be lost without each unit's group."""
        return self.prunes_exactly and self.settings.ranking == "loss"

    @property
    def prunes_exactly(self) -> bool:
        """Whether units go by the exact rule, whose cost rows held out judge."""
        return self.settings.prunes and self.settings.pruning == "exact"

    @property
    def noise_at_clients(self) -> bool:
        """Whether clients learn the noise variance themselves; otherwise the server does, from their statistics."""
        return NOISE_AT[self.noise]

    def _check_removable(self) -> None:
        """Raise ValueError where units may go that stay in the arrays: uploads have what remains, and nothing else."""
        rigid = set(self.network.layout.rigid) - (set() if self.settings.prune_inputs else {0})
        if self.settings.prunes and rigid:
            raise ValueError(
                "a federation removes neither channels of the data nor units on both ends of a Residual: leave keep "
                "and budgets out, or use prune_inputs=False and no Residual"
            )

    def _check_printed(self) -> None:
        """Raise ValueError for terms that need the base prior, of which nothing remains where posteriors are priors."""
        rule = rule_named(self.aggregation)
        others = " or ".join(f'"{name}"' for name, other in RULES.items() if not other.divides_base_prior)
        for wrong, what in (
            (
                rule.divides_base_prior,
                f'aggregation="{self.aggregation}" divides the base prior out: use {others}',
            ),
            (self.precision == "factored", 'precision="factored" sends what is above the base prior: use "full"'),
            (self.settings.learn_base_var, "learn_base_var learns the base prior from it: leave it out"),
        ):
            if wrong:
                raise ValueError(f'pasp="paper" leaves no base prior in the posterior, and {what}, or pasp="anchored"')

    @classmethod
    def paper(
        cls,
        network: Network,
        *,
        keep: float | None = None,
        rounds: int = 10,
        local_epochs: int = 10,
        seed: int = 0,
        **settings: Any,
    ) -> Terms:
        """Algorithm 2 as printed; `settings` are numbers that the paper leaves open, such as batch_size.

        The clients' posteriors are averaged geometrically and the average is taken as it is; PasP has power 1, so that
        a client counts its rows in every local epoch; noise and sparsity are the server's, after each round.
        """
        chosen = Settings.paper(keep, **{"max_epochs": rounds * local_epochs, **settings})
        return cls(network, chosen, rounds, local_epochs, seed, aggregation="wga", noise="server")

    @property
    def local(self) -> Settings:
        """The settings of a client: the server removes units, learns base variances and, if it is to, the noise."""
        held: dict[str, Any] = {"noise_update": "fixed"} if not self.noise_at_clients else {}
        return replace(self.settings, keep=None, max_params=None, max_multiply_adds=None, learn_base_var=False, **held)

    def to_json(self) -> dict[str, Any]:
        """The terms as JSON has them, for another process."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Terms:
        """The terms that `to_json` gave; JSON's lists were tuples."""
        network, settings = (_tuples(fields[name]) for name in ("network", "settings"))
        return cls(**{**fields, "network": Network(**network), "settings": Settings(**settings)})


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
