"""What a training is of, as JSON has it: two with the same fingerprint come to the same bits, on one machine."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

import jax
import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings
from ..io.records import digest
from .data import Data
from .fitted import Fitted
from .stored import Stored

SHORT = 30
"""Characters of a value that a message shows; of longer ones it says only that they differ."""

DRAWN = ("seed",)
"""Not shown either: it is drawn from the seed that people gave."""

Fingerprint = dict[str, Any]


def fingerprint_of(
    network: Network,
    data: Data | Stored,
    settings: Settings,
    seed: int,
    groups: np.ndarray | None,
    start: Fitted | None,
    **more: Any,
) -> Fingerprint:
    """Data, groups and start by their SHA-256, all else as it is, the versions of tdamp and JAX too.

    Not in it, as functions have no bytes: callbacks and monitors.
    """
    from .. import __version__  # here, as the package is still being imported when this module is

    parts = {
        "tdamp": __version__,
        "jax": f"{jax.__version__} {jax.default_backend()}",
        "x64": jax.config.jax_enable_x64,  # type: ignore[attr-defined]
        **asdict(network),
        **asdict(settings),
        **more,
        "seed": seed,
        "x": digest(data.x),
        "y": digest(data.y),
        "sample_weight": digest(data.weight),
        "groups": None if groups is None else digest(np.asarray(groups)),
        "start": None if start is None else _start(start),
    }
    return json.loads(json.dumps(parts, default=_plain))


def differences(before: Fingerprint, now: Fingerprint) -> list[str]:
    """What differs, in words."""
    names = []
    for name in sorted(before.keys() | now.keys()):
        a, b = before.get(name), now.get(name)
        if a != b:
            brief = name not in DRAWN and max(len(repr(a)), len(repr(b))) <= SHORT
            names.append(f"{name} was {a!r} and is {b!r}" if brief else f"{name} differs")
    return names


def _start(start: Fitted) -> str:
    """Fingerprint of the posterior that a training begins at, and of how far it had come; its seconds do not matter."""
    arrays = [*jax.tree.leaves(jax.device_get(start.state)), *start.kept]
    arrays += [] if start.unseen is None else [start.unseen]
    counted = [(record["epoch"], record["counted"]) for record in start.history[-1:]]
    return hashlib.sha256(repr(([digest(np.asarray(a)) for a in arrays], counted)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """NumPy's arrays and numbers as Python's."""
    return value.tolist()
