"""What a kind of bad input is, what may be expected of it, and the small tables that all kinds share.

Every kind has one outcome: it works, and is read as a stated plain table; or it is refused, with words that say what
was wrong and words that say what to do. Shapes are shared, so that little is compiled.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tdamp import TDAMPClassifier, TDAMPRegressor

ROWS = 24
rng = np.random.default_rng(0)
X = rng.normal(size=(ROWS, 3))
Y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=ROWS)
LABELS = (Y > 0).astype(int)
SMALL: dict[str, Any] = dict(
    hidden_layer_sizes=(4,), max_epochs=2, batch_size=8, sweeps=1, early_stopping=False, random_state=0
)


def regressor(**changes: Any) -> TDAMPRegressor:
    """A small one, not fitted."""
    return TDAMPRegressor(**{**SMALL, **changes})


def classifier(**changes: Any) -> TDAMPClassifier:
    """A small one, not fitted."""
    return TDAMPClassifier(**{**SMALL, **changes})


@dataclass(frozen=True)
class Works:
    """It is learned, and predicts what the plain values do that it stands for; `warns` is what it says then."""

    read_as: Callable[[], Any]
    warns: str = ""
    rtol: float = 1e-6


@dataclass(frozen=True)
class Refused:
    """An error of this type, whose words say what was wrong (`what`) and what to do (`remedy`)."""

    error: type[Exception]
    what: str
    remedy: str


@dataclass(frozen=True)
class Kind:
    """A kind of input: its name, how it is made, and what comes of it."""

    name: str
    make: Callable[[], Any]
    outcome: Works | Refused


def check_refused(outcome: Refused, call: Callable[[], Any]) -> None:
    """The error is of this very type, and says both things, in a message that a person can read."""
    with pytest.raises(outcome.error) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is outcome.error, message
    assert re.search(outcome.what, message), message
    assert re.search(outcome.remedy, message), message
    assert len(message) < 700, "a page of numbers is no message"


def expect_warning(words: str, call: Callable[[], Any]) -> Any:
    """The value of a call that says these words as a warning, or nothing at all if there are none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = call()
    messages = [str(warning.message) for warning in caught]
    assert all(re.search(words, message) for message in messages) if words else not messages, messages
    assert bool(messages) == bool(words), f"expected a warning: {words}"
    return value


def assert_proper(mean: np.ndarray, std: np.ndarray) -> None:
    """Finite predictions, positive standard deviations."""
    assert np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()
