"""The kinds of layers by name. A new one is a file here and a line below (CONTRIBUTING.md has a skeleton)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Linear
from .conv import Conv
from .dense import Dense
from .fixed_filter import FixedFilter
from .maps import AvgPool
from .residual import Residual

LAYERS: dict[str, type[Linear]] = {member.name: member for member in (Dense,)}
"""Layers between single units, which a network may name beside its widths."""

PLACED: dict[str, Any] = {member.name: member for member in (Dense, Conv, AvgPool, Residual, FixedFilter)}
"""What a network of an `input_shape` is described with."""


def layer_of(layer: Any) -> Any:
    """The layer that a name, or its fields as JSON has them, stand for; what is neither is given back as it is."""
    name = layer.get("name") if isinstance(layer, Mapping) else layer
    kind = {**PLACED, **LAYERS}.get(name) if isinstance(name, str) else None
    if kind is None:
        return layer
    fields = {k: v for k, v in layer.items() if k != "name"} if isinstance(layer, Mapping) else {}
    return kind(**{field: _value(value) for field, value in fields.items()})


def _value(value: Any) -> Any:
    return tuple(map(_value, value)) if isinstance(value, list | tuple) else layer_of(value)
