"""Every client's sites in every layer: anchors for a round, and new layers after it (`sites` has the maths)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.plan import Anchor
from ...engine.turbo import Layer
from ..messages import Belief
from . import sites
from .averages import on_host
from .sites import Factors, Site

Sites = list[tuple[dict[int, Site], dict[int, Site]]]
"""Of every layer's weights and biases, by client."""


def anchors(layers: Sequence[Layer], known: Sites, client: int, power: float) -> tuple[Anchor, ...]:
    """What a client falls back to: its cavities, as float32."""
    found = []
    for layer, its in zip(layers, known, strict=True):
        weight, bias = (sites.cavity(factors, client, power) for factors in _factors(layer, its))
        found.append(Anchor(on_host(*weight, np.float32), on_host(*bias, np.float32), layer.centre))
    return tuple(found)


def first(layers: Sequence[Layer], shares: Mapping[int, float]) -> Sites:
    """Sites before the first round."""
    found = []
    for layer in layers:
        weight, bias = (sites.begin(part.posterior.mean, part.base_prec, shares) for part in _factors(layer, ({}, {})))
        found.append((weight, bias))
    return found


def update(
    layers: Sequence[Layer],
    known: Sites,
    posteriors: Mapping[int, Sequence[Belief]],
    powers: Mapping[int, float],
    shares: Mapping[int, float],
    step: float,
    forget: float,
    first_round: bool,
) -> tuple[list[Layer], Sites, int]:
    """New layers and sites, and how many cavities stood at their floor.

    In the first round clients were anchored to the base prior.
    """
    found, after, floors = [], Sites(), 0
    for l, (layer, its) in enumerate(zip(layers, known, strict=True)):
        new = []
        for factors, part in zip(_factors(layer, its), ("weight", "bias"), strict=True):
            learned = {k: getattr(posterior[l], part) for k, posterior in posteriors.items()}
            shape = np.shape(factors.posterior.mean)
            base = on_host(np.zeros(shape), np.full(shape, 1 / factors.base_prec))
            cavities = {k: base if first_round else sites.cavity(factors, k, powers[k]) for k in posteriors}
            floors += sum(sites.n_floored(factors, cavity) for cavity in cavities.values())
            new.append(sites.update(factors, cavities, learned, powers, shares, step, forget))
        found.append(layer._replace(weight=new[0].posterior, bias=new[1].posterior))
        after.append((new[0].sites, new[1].sites))
    return found, after, floors


def taken(known: Sites, rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]) -> Sites:
    """The sites of the units that remain."""
    return [
        (_taken(weight, np.ix_(here, there)), _taken(bias, there))
        for (weight, bias), here, there in zip(known, rows, columns, strict=True)
    ]


def _taken(known: Mapping[int, Site], place: Any) -> dict[int, Site]:
    return {client: Site(site.prec[place], site.slope[place]) for client, site in known.items()}


def _factors(layer: Layer, known: tuple[dict[int, Site], dict[int, Site]]) -> tuple[Factors, Factors]:
    weight = Factors(layer.weight, 1 / float(layer.base_var), known[0])
    return weight, Factors(layer.bias, 1 / float(layer.bias_base_var), known[1])
