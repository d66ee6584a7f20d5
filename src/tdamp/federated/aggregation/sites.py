"""The rule "sites": every client has its own factor of the posterior of every layer (the maths: `site_factors`).

Paper: none; partitioned variational inference, Ashman et al., 2022.
Oracle: the fixed point is the exact posterior of a conjugate model; in the first round, quadrature of the product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...engine.plan import Anchor
from ...engine.turbo import Layer
from ...io.records import below
from ..messages import Arrays
from . import site_factors
from .base import Aggregate, AggregationRule, Round, on_host
from .site_factors import Factors, Site

LayerSites = tuple[dict[int, Site], dict[int, Site]]
Memory = list[LayerSites]
"""The sites of every layer's weights and biases, by client."""

PARTS = ("weight", "bias")


class Sites(AggregationRule):
    """Partitioned variational inference, with the damping and forgetting of `site_factors`."""

    name: ClassVar[str] = "sites"
    divides_base_prior: ClassVar[bool] = True
    server_step: ClassVar[bool] = False
    same_broadcast: ClassVar[bool] = False

    def initial(self, layers: Sequence[Layer]) -> Memory:
        """No client has a site before the first round."""
        return [({}, {}) for _ in layers]

    def anchors(self, layers: Sequence[Layer], memory: Memory, client: int, power: float) -> tuple[Anchor, ...]:
        """The client's cavities, as float32."""
        anchors = []
        for layer, sites in zip(layers, memory, strict=True):
            weight, bias = (site_factors.cavity(factors, client, power) for factors in _factors(layer, sites))
            anchors.append(Anchor(on_host(*weight, np.float32), on_host(*bias, np.float32), layer.centre))
        return tuple(anchors)

    def aggregate(self, round: Round, memory: Memory) -> Aggregate:
        """New layers and sites, and how many cavities stood at their floor.

        In the first round clients were anchored to the base prior.
        """
        total = sum(round.rows[k] for k in sorted(round.rows))
        shares = {k: rows / total for k, rows in round.rows.items()}
        powers = {k: round.power(k) for k in round.posteriors}
        before = self._before_data(round.layers, shares) if round.first else memory
        layers, after, floored = [], Memory(), 0
        for l, (layer, sites) in enumerate(zip(round.layers, before, strict=True)):
            new = []
            for factors, part in zip(_factors(layer, sites), PARTS, strict=True):
                learned = {k: getattr(posterior[l], part) for k, posterior in round.posteriors.items()}
                cavities = {k: _cavity(factors, k, powers[k], round.first) for k in learned}
                floored += sum(site_factors.n_floored(factors, cavity) for cavity in cavities.values())
                new.append(site_factors.update(factors, cavities, learned, powers, shares, round.step, round.forget))
            layers.append(layer._replace(weight=new[0].posterior, bias=new[1].posterior))
            after.append((new[0].sites, new[1].sites))
        return Aggregate(layers, after, floored)

    def take(self, memory: Memory, rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]) -> Memory:
        """The sites of the units that remain."""
        return [
            (_taken(weight, np.ix_(here, there)), _taken(bias, there))
            for (weight, bias), here, there in zip(memory, rows, columns, strict=True)
        ]

    def to_arrays(self, memory: Memory) -> Arrays:
        """Every site's arrays: `layer.part.client.field`."""
        arrays: Arrays = {}
        for l, layer in enumerate(memory):
            for part, sites in zip(PARTS, layer, strict=True):
                for k, site in sites.items():
                    arrays |= {f"{l}.{part}.{k}.{name}": array for name, array in site._asdict().items()}
        return arrays

    def from_arrays(self, arrays: Arrays, n_layers: int) -> Memory:
        """The sites that `to_arrays` gave."""
        return [(_stored(arrays, l, "weight"), _stored(arrays, l, "bias")) for l in range(n_layers)]

    def _before_data(self, layers: Sequence[Layer], shares: Mapping[int, float]) -> Memory:
        """Sites that hold the random start in place."""
        memory = Memory()
        for layer in layers:
            parts = _factors(layer, ({}, {}))
            weight, bias = (site_factors.begin(part.posterior.mean, part.base_prec, shares) for part in parts)
            memory.append((weight, bias))
        return memory


def _cavity(factors: Factors, client: int, power: float, first: bool) -> Any:
    if not first:
        return site_factors.cavity(factors, client, power)
    shape = np.shape(factors.posterior.mean)
    return on_host(np.zeros(shape), np.full(shape, 1 / factors.base_prec))


def _taken(sites: Mapping[int, Site], place: Any) -> dict[int, Site]:
    return {client: Site(site.prec[place], site.slope[place]) for client, site in sites.items()}


def _stored(arrays: Arrays, l: int, part: str) -> dict[int, Site]:
    fields = below(arrays, f"{l}.{part}")
    clients = sorted({int(name.split(".")[0]) for name in fields})
    return {k: Site(**{name: fields[f"{k}.{name}"] for name in Site._fields}) for k in clients}


def _factors(layer: Layer, sites: LayerSites) -> tuple[Factors, Factors]:
    weight = Factors(layer.weight, 1 / float(layer.base_var), sites[0])
    return weight, Factors(layer.bias, 1 / float(layer.bias_base_var), sites[1])
