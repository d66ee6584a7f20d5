"""The layers of a network in their places: what each reads, through what, and to what it is added.

Value 0 are the data, value l + 1 the activations of layer l; layer l reads value l. A value has the shape
(rows, *places, units): single units have no places, images have two axes of them, and units are then channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..factors.layers.base import Linear
from ..factors.layers.dense import DENSE, Dense
from ..factors.layers.fixed_filter import FixedFilter
from ..factors.layers.maps import Map, Places, n_places
from ..factors.layers.residual import Residual


class Place(NamedTuple):
    """A layer that learns, where it stands."""

    linear: Linear
    maps: tuple[Map, ...] = ()  # what its input goes through first
    copies: int = 1  # rows of the table for each unit of the input
    n_places: int = 1  # of the output
    skip: int | None = None  # the value that is added to its z
    skip_maps: tuple[Map, ...] = ()  # through these


class Layout(NamedTuple):
    """All layers that learn, and the fixed filters before them."""

    places: tuple[Place, ...]
    filters: tuple[FixedFilter, ...] = ()
    input_places: Places = ()  # of the data after the filters
    widths: tuple[int | None, ...] = ()  # units of each value, where layers say them

    @property
    def rigid(self) -> frozenset[int]:
        """As `Network.rigid`."""
        ends = {value for l, place in enumerate(self.places) if place.skip is not None for value in (place.skip, l + 1)}
        return frozenset(ends | {0} if self.input_places else ends)

    @property
    def shares_weights(self) -> bool:
        """As `Network.shares_weights`."""
        return any(place.linear.shares_weights for place in self.places)


def flat(layers: tuple[Linear, ...]) -> Layout:
    """Layers one after another, on single units."""
    return Layout(tuple(Place(linear) for linear in layers))


@lru_cache(maxsize=256)
def lay_out(layers: tuple[Any, ...], input_shape: tuple[int, ...]) -> Layout:
    """The places of layers as they are described: Dense, Conv, AvgPool, Residual, FixedFilter."""
    if not input_shape or not all(isinstance(n, int) and n >= 1 for n in input_shape):
        raise ValueError(f"input_shape={input_shape!r}: expected positive whole numbers, such as (28, 28, 1)")
    plan = _Plan(input_shape)
    filters = []
    layers = tuple(layers)
    while layers and isinstance(layers[0], FixedFilter):
        layers[0].check(plan.before, plan.units)
        filters.append(layers[0])
        plan.before, plan.units = layers[0].places(plan.before), layers[0].units
        layers = layers[1:]
    if not filters and layers and type(layers[0]) is Dense:  # every number of a row is an input of its own
        plan.before, plan.units = (), n_places(input_shape)
    start = plan.before
    plan.widths.append(plan.units)
    plan.add(layers)
    if plan.maps or not plan.places:
        raise ValueError(f"layers={layers!r}: expected a layer that learns, such as Dense, at the end")
    return Layout(tuple(plan.places), tuple(filters), start, tuple(plan.widths))


class _Plan:
    """Layers placed so far: `before` are the places of what the next one reads, `units` its units."""

    def __init__(self, input_shape: tuple[int, ...]) -> None:
        *places, self.units = input_shape
        self.before: Places = tuple(places)
        self.places: list[Place] = []
        self.widths: list[int | None] = []
        self.maps: tuple[Map, ...] = ()

    def add(self, layers: Sequence[Any]) -> None:
        """Place these layers after the others."""
        for layer in layers:
            if isinstance(layer, Residual):
                self._add_block(layer)
            elif isinstance(layer, Map):
                self.before, self.maps = layer.places(self.before), (*self.maps, layer)
            elif isinstance(layer, Linear):
                self._add_linear(layer)
            else:
                raise ValueError(f"layers has {layer!r}: expected Dense, Conv, AvgPool or Residual here")

    def _add_linear(self, layer: Linear) -> None:
        copies = layer.copies_at(self.before)
        linear, maps, after = layer.placed(self.before)
        if layer.units is None:
            raise ValueError(f"layers has {layer!r}: say how many units it has, such as Dense(64)")
        self.places.append(Place(linear, (*self.maps, *maps), copies, n_places(after)))
        self.maps, self.before, self.units = (), after, layer.units
        self.widths.append(layer.units)

    def _add_block(self, block: Residual) -> None:
        value, maps, shape = len(self.places), self.maps, (self.before, self.units)
        if not value:
            raise ValueError("Residual: put a layer that learns before it, such as Conv(16)")
        self.add(block.body)
        if self.maps or len(self.places) == value or (self.before, self.units) != shape:
            raise ValueError(
                f"Residual: its body ends with {self.units} units at the places {self.before}, and is given {shape[1]} "
                f"at {shape[0]}: expected the same, from a layer that learns"
            )
        if self.places[-1].skip is not None:
            raise ValueError("Residual: its body ends with another Residual; put a layer after that")
        self.places[-1] = self.places[-1]._replace(skip=value, skip_maps=maps)


def dense(n_layers: int) -> Layout:
    """Dense layers alone."""
    return flat((DENSE,) * n_layers)
