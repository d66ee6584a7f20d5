"""Seconds of a training: of the clock, and of the processor, which other programs on the machine do not lengthen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

Made = TypeVar("Made")


class Seconds(NamedTuple):
    """`processor` counts every thread of this process."""

    clock: float
    processor: float

    def __add__(self, other: Seconds) -> Seconds:  # type: ignore[override]
        """One training after the other."""
        return Seconds(self.clock + other.clock, self.processor + other.processor)


def timed(make: Callable[[], Made]) -> tuple[Made, Seconds]:
    """What `make` gives, and what it took."""
    clock, processor = time.perf_counter(), time.process_time()
    made = make()
    return made, Seconds(time.perf_counter() - clock, time.process_time() - processor)
