"""Lines of a soak's store."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def line() -> Callable[..., dict[str, Any]]:
    """Makes a made-up problem."""

    def make(clips=(0,) * 6, of=(10,) * 6, wrong=(), outcome="OK") -> dict[str, Any]:
        made_up = {"configuration": 0, "problem": 0, "tricks": ["outlier"], "warnings": [], "seconds": 1.0}
        return made_up | {"kind": "problem", "outcome": outcome, "faults": list(wrong), "clips": clips, "places": of}

    return make
