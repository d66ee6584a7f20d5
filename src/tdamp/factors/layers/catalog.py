"""The kinds of layers by name. A new one is a file here and a line below (CONTRIBUTING.md has a skeleton)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Linear
from .dense import Dense

LAYERS: dict[str, type[Linear]] = {member.name: member for member in (Dense,)}


def layer_of(layer: Any) -> Any:
    """The layer that a name, or its fields as JSON has them, stand for; what is neither is given back as it is."""
    name = layer.get("name") if isinstance(layer, Mapping) else layer
    if not isinstance(name, str) or name not in LAYERS:
        return layer
    fields = {k: v for k, v in layer.items() if k != "name"} if isinstance(layer, Mapping) else {}
    return LAYERS[name](**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
