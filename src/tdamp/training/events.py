"""What trainings tell the logger "tdamp": a short sentence, and the same as fields.

A record has its fields as `record.tdamp`, a dictionary with the `event`, the `part` and what belongs to the event.
Nothing is shown or written unless the user gives the logger a level and a handler. A fit may consist of several
trainings: those that only judge have a part of their own and are told at level DEBUG, the one whose posterior is kept
is told at INFO.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any

import numpy as np

from ..engine.network import Network

LOG = logging.getLogger("tdamp")
LOG.addHandler(logging.NullHandler())
KEPT = "training"
"""The part whose posterior is kept."""
_part: ContextVar[str] = ContextVar("part", default=KEPT)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Whatever is told inside, and in this thread, belongs to this part of a fit."""
    token = _part.set(name)
    try:
        yield
    finally:
        _part.reset(token)


def log_event(event: str, sentence: str, **fields: Any) -> None:
    """A record for the logger, if anyone listens."""
    now = _part.get()
    level = logging.INFO if now == KEPT else logging.DEBUG
    if LOG.isEnabledFor(level):
        message = sentence if now == KEPT else f"{now}: {sentence}"
        LOG.log(level, message, extra={"tdamp": {"event": event, "part": now, **fields}})


def outline(network: Network, settings: Any, rows: int) -> dict[str, Any]:
    """What a training starts with, flat: the network's fields, the rows, and every setting."""
    return {**asdict(network), "rows": rows, **asdict(settings)}


def in_words(record: Mapping[str, Any]) -> str:
    """An epoch in a few words."""
    name, key = ("held-out", "held_out") if "held_out" in record else ("evidence", "log_evidence")
    noise = float(np.mean(record["noise_var"]))
    return f"{name} {record[key]:.3f}  noise {noise:.2g}  units {sum(record['active_units'])}"
