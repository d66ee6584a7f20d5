"""Smaller arrays are compiled beside the training: when they are used is decided by the problem, not by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from tdamp import Fitted, Network, Settings, fit
from tdamp.engine import compact
from tdamp.training import compaction, trainer
from tdamp.training.compiled import in_background
from tdamp.training.epoch import _e_step

NETWORK = Network((40, 16, 1))
ROWS, EPOCHS, LEAD = 128, 12, 3
SETTINGS = Settings(max_epochs=EPOCHS, batch_size=32, keep=0.2, prune_start=0.0, prune_end=0.5)
COMPILATION = (LEAD - 0.5) * compact.PRODUCTS * ROWS * NETWORK.n_multiply_adds


def data() -> tuple[np.ndarray, np.ndarray]:
    """Targets that need six of the inputs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 40)).astype("float32")
    return x, np.tanh(x[:, :6].sum(1, keepdims=True)) + np.float32(0.1) * x[:, 6:7]


def trained(settings: Settings = SETTINGS, **options: Any) -> tuple[Fitted, list[tuple[int, ...]]]:
    """A fit, and the widths of its arrays after each epoch."""
    widths: list[tuple[int, ...]] = []
    found = fit(NETWORK, *data(), settings, callback=lambda epoch, now, _: widths.append(now.network.widths), **options)
    return found, widths


def at_once(work: Callable[[], None]) -> Future[None]:
    """Compiled before the next epoch begins."""
    job = in_background(work)
    job.result()
    return job


def slowly(work: Callable[[], None]) -> Future[None]:
    """Compiled long after it is wanted."""

    def late() -> None:
        time.sleep(1)
        work()

    return in_background(late)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling counts as LEAD epochs."""
    monkeypatch.setattr(compact, "COMPILATION", COMPILATION)


@pytest.mark.usefixtures("cheap")
def test_the_clock_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: compiled at once or late, the arrays change LEAD epochs after they begin to pay, and all bits agree."""
    ends = []
    for background in (at_once, slowly):
        monkeypatch.setattr(compaction, "in_background", background)
        found, widths = trained()
        first = next(epoch for epoch, w in enumerate(widths, 1) if w != NETWORK.widths)
        orders = [r["epoch"] for r in found.history if compact.pays(NETWORK, masks(r["active_units"]), 1e9)]
        assert first == orders[0] + LEAD
        ends.append((found, widths))
    (one, widths), (other, others) = ends
    assert widths == others and widths[-1] != NETWORK.widths
    for a, b in zip(jax.tree.leaves(one.state), jax.tree.leaves(other.state), strict=True):
        np.testing.assert_array_equal(a, b)


def masks(counts: list[int]) -> list[np.ndarray]:
    """So many active units in each layer."""
    return [np.arange(n) < k for n, k in zip(NETWORK.widths, counts, strict=False)]


@pytest.mark.usefixtures("cheap")
def test_nothing_is_compiled_at_the_change() -> None:
    """contract: two programs in all, that of the full arrays and the one that was compiled beside the training."""
    before = set(_e_step.compiled)
    _, widths = trained(replace(SETTINGS, batch_size=31))  # of no other test
    new = [key[0].network.widths for key in set(_e_step.compiled) - before]
    assert sorted(new) == sorted(set(widths)) and len(new) == 2


def test_the_result_is_that_of_full_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: without smaller arrays the same units remain and the posterior agrees to float32's rounding."""
    monkeypatch.setattr(compact, "COMPILATION", np.inf)
    monkeypatch.setattr(compact, "epochs_to_compile", lambda network, rows: 1)
    full, never = trained()
    assert set(never) == {NETWORK.widths}
    monkeypatch.setattr(compact, "COMPILATION", COMPILATION)
    monkeypatch.setattr(compact, "epochs_to_compile", lambda network, rows: LEAD)
    small, widths = trained()
    assert widths[-1] != NETWORK.widths
    for a, b in zip(full.kept, small.kept, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(full.state.layers, small.state.layers, strict=True):
        np.testing.assert_allclose(a.weight.mean, b.weight.mean, rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("cheap")
def test_a_forecast_that_was_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: arrays without room are given up when no unit will go any more, and others are ordered and used."""
    made: list[compact.Smaller] = []
    order = compaction.order_smaller

    def ordered(*args: Any) -> compact.Smaller | None:
        arrays = order(*args)
        made.extend([arrays] if arrays else [])
        return arrays

    monkeypatch.setattr(trainer, "order_smaller", ordered)
    monkeypatch.setattr(compact.Smaller, "holds", lambda self, active: self is not made[0])
    _, widths = trained(replace(SETTINGS, max_epochs=16))
    assert len(made) == 2 and made[1].due == 16 * SETTINGS.prune_end + 1 + LEAD
    change = next(epoch for epoch, w in enumerate(widths, 1) if w != NETWORK.widths)
    assert change == made[1].due and widths[-1] == made[1].widths
