"""What decides the bits of a training, and the sentence for what differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tdamp import Network, Settings, fit
from tdamp.training.data import Data
from tdamp.training.fingerprint import SHORT, differences, fingerprint_of

RNG = np.random.default_rng(0)
NETWORK, SETTINGS = Network((2, 3, 1)), Settings(max_epochs=2)
DATA = Data(RNG.normal(size=(12, 2)), RNG.normal(size=(12, 1)), np.ones(12))
FITTED = fit(NETWORK, DATA.x, DATA.y, SETTINGS)


def problem(**change: Any) -> dict[str, Any]:
    """A problem, of which `change` changes a part."""
    parts: dict[str, Any] = {"network": NETWORK, "data": DATA, "settings": SETTINGS, "seed": 0, "groups": None}
    parts |= {"start": None, **change}
    return fingerprint_of(**parts)


def moved(values: np.ndarray) -> np.ndarray:
    """The same but for the last bit of the last number."""
    moved = values.copy()
    moved.flat[-1] = np.nextafter(moved.flat[-1], np.inf)
    return moved


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"network": replace(NETWORK, widths=(2, 4, 1))}, "widths"),
        ({"settings": replace(SETTINGS, max_epochs=3)}, "max_epochs"),
        ({"seed": 1}, "seed"),
        ({"data": DATA._replace(x=moved(DATA.x))}, "x"),
        ({"data": DATA._replace(y=moved(DATA.y))}, "y"),
        ({"data": DATA._replace(weight=moved(DATA.weight))}, "sample_weight"),
        ({"data": DATA._replace(x=DATA.x.astype(np.float32))}, "x"),
        ({"groups": np.zeros(2, np.int32)}, "groups"),
        ({"start": FITTED}, "start"),
    ],
)
def test_what_changes_the_bits_changes_the_problem(change: dict[str, Any], part: str) -> None:
    """contract: a bit of the data is enough, and the sentence names the part."""
    [sentence] = differences(problem(), problem(**change))
    assert sentence.startswith((f"{part} was ", f"{part} differs"))


def test_the_same_again() -> None:
    """identity: copies of all arrays, and a fit of other seconds, are the same problem."""
    copies = Data(*(part.copy() for part in DATA))
    assert problem() == problem(data=copies)
    later = replace(FITTED, history=tuple({**record, "seconds": 9.0} for record in FITTED.history))
    assert problem(start=FITTED) == problem(start=later)


def test_long_values_and_seeds_are_not_shown() -> None:
    """contract: short values before and after, of others only that they differ."""
    assert differences({"a": 1}, {"a": 2}) == ["a was 1 and is 2"]
    assert differences({"a": 1}, {"a": "b" * SHORT}) == ["a differs"]
    assert differences({"seed": 1}, {"seed": 2}) == ["seed differs"]
    assert differences({}, {"a": 1}) == ["a was None and is 1"]
