"""The stages of a training that prunes: how many epochs each has, and how often the data count in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.engine.prune import progress
from tdamp.engine.settings import PRUNING_DATA_WEIGHT, PRUNING_MEMORY, Settings
from tdamp.estimators.stages import LEAST, LONG_MEMORY, staged

WHOLE = Settings(max_epochs=20, data_weight=tuple(np.linspace(1, 20, 10)), memory=tuple(np.linspace(0.5, 5, 20)))


def test_the_first_stage_is_the_training_that_does_not_prune() -> None:
    """identity: epoch by epoch; then units go, and data count little; the last stage ends as the first one."""
    settings = staged(WHOLE)
    assert settings.max_epochs == 50 and not settings.prunes
    weights = [settings.data_weight_at(epoch) for epoch in range(50)]
    memory = [settings.memory_at(epoch) for epoch in range(50)]
    assert weights[:20] == [WHOLE.data_weight_at(epoch) for epoch in range(20)]
    assert memory[:20] == [WHOLE.memory_at(epoch) for epoch in range(20)] == memory[30:]
    assert set(weights[20:30]) == {1.0} and set(memory[20:30]) == {PRUNING_MEMORY}
    assert weights[30] == pytest.approx(LEAST * weights[0]) and weights[40:] == weights[10:20]
    share = [progress(replace(settings, keep=0.5), epoch) for epoch in range(51)]
    assert share[20] == share[22] == 0 and 0 < share[23] < share[29] < 1 and share[31] == 1


def test_rows_held_out_choose_how_fast_a_regression_forgets_while_units_go() -> None:
    """contract: a clean target is remembered for longer than a noisy one; a classification has no choice."""
    x, clean = make_friedman1(300, n_features=8, noise=0.3, random_state=0)
    noisy = clean + np.random.default_rng(0).normal(scale=15, size=300)

    def memory_of(model: Any, y: np.ndarray) -> float:
        settings = model.set_params(hidden_layer_sizes=(12,), keep=0.5, random_state=0).fit(x, y).settings_
        return settings.memory_at(int(0.5 * settings.max_epochs))

    assert memory_of(TDAMPRegressor(), clean) == LONG_MEMORY
    assert memory_of(TDAMPRegressor(), noisy) == PRUNING_MEMORY
    assert memory_of(TDAMPClassifier(), clean > np.median(clean)) == PRUNING_MEMORY


def test_heavy_data_count_less_while_units_go() -> None:
    """contract: at most PRUNING_DATA_WEIGHT times."""
    settings = staged(replace(WHOLE, data_weight=10.0))
    assert settings.data_weight_at(25) == PRUNING_DATA_WEIGHT


@pytest.mark.parametrize("epochs", [1, 2, 3, 7, 60])
def test_epochs_that_are_given(epochs: int) -> None:
    """contract: no more than these, and units are gone after the last of them."""
    settings = replace(staged(WHOLE, epochs), keep=0.5)
    assert settings.max_epochs == epochs and progress(settings, epochs) == 1
    assert len(settings.data_weight) == len(settings.memory) == epochs  # type: ignore[arg-type]
