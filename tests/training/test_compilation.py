"""What is compiled, how often, and that vmap and permutations change nothing.

covers: training.batches, training.epoch
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers.one_epoch import em_step, whole_epoch
from tdamp import Network, Settings, fit
from tdamp.engine.plan import knobs_of, plan_of
from tdamp.engine.state import State, init
from tdamp.numerics.beliefs import Moments
from tdamp.training.batches import shuffle
from tdamp.training.compiled import Program
from tdamp.training.epoch import _e_step, _m_step

NETWORK, SETTINGS = Network((4, 5, 3), "classification"), Settings(max_epochs=2, batch_size=16)
ROWS = 16


def data(rows: int = ROWS, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Random rows and labels."""
    rng = np.random.default_rng(rows)
    return rng.normal(size=(rows, 4)).astype(dtype), rng.integers(0, 3, rows)


def shuffled(seed: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The order of an epoch."""
    return shuffle(np.random.default_rng(seed), rows, rows, SETTINGS.batch_size)


def start(seed: int) -> State:
    """A first state."""
    return init(NETWORK, SETTINGS, np.random.default_rng(seed), *data())


def epoch(state: State, x: np.ndarray, y: np.ndarray, seed: int = 0) -> State:
    """One EM iteration on all rows in one batch."""
    knobs = knobs_of(SETTINGS, 0, float(len(x)))
    plan = plan_of(NETWORK, SETTINGS)
    return em_step(plan, knobs, None, state, x, y, np.ones(len(x)), *shuffled(seed, len(x)))[0]


def assert_same(a: State, b: State) -> None:
    """All leaves agree in float64."""
    for p, q in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-10, atol=1e-12)


def test_vmap_over_seeds_is_the_loop() -> None:
    """twin: three seeds at once, states and row orders, against one after the other."""
    x, y = data()
    plan, knobs = plan_of(NETWORK, SETTINGS), knobs_of(SETTINGS, 0, float(ROWS))
    states = [start(seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    orders = [np.stack(parts) for parts in zip(*(shuffled(seed, ROWS) for seed in range(3)), strict=True)]
    rows = jnp.asarray(x), jnp.asarray(y), jnp.ones(ROWS)
    many = jax.vmap(lambda s, *order: whole_epoch(plan, knobs, None, s, *rows, *order)[0])(stacked, *orders)
    for seed in range(3):
        assert_same(jax.tree.map(lambda leaf, i=seed: leaf[i], many), epoch(states[seed], x, y, seed))


def test_order_of_rows_in_a_full_batch() -> None:
    """identity: shuffling the rows of one full batch, or drawing another order, changes rounding only."""
    x, y = data()
    order = np.random.default_rng(1).permutation(ROWS)
    once = epoch(start(0), x, y)
    assert_same(epoch(start(0), x[order], y[order]), once)
    assert_same(epoch(start(0), x, y, seed=9), once)


def test_order_of_units() -> None:
    """identity: permuting inputs, hidden units and classes permutes the posterior."""
    rng = np.random.default_rng(2)
    inputs, hidden, classes = (rng.permutation(n) for n in NETWORK.widths)

    def permuted(state: State) -> State:
        layers = []
        for layer, rows, columns in zip(state.layers, (inputs, hidden), (hidden, classes), strict=True):
            layers.append(
                layer._replace(
                    weight=Moments(*(a[np.ix_(rows, columns)] for a in layer.weight)),
                    bias=Moments(*(a[columns] for a in layer.bias)),
                    centre=layer.centre[rows],
                )
            )
        return state._replace(layers=tuple(layers))

    x, y = data()
    before = epoch(permuted(start(0)), x[:, inputs], np.argsort(classes)[y])
    assert_same(before, permuted(epoch(start(0), x, y)))
    assert np.any(np.asarray(before.layers[0].weight.mean) != np.asarray(epoch(start(0), x, y).layers[0].weight.mean))


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many programs there were before the test; none is let go in it."""
    monkeypatch.setattr("tdamp.training.compiled.MOST", 10**6)
    return {"e": count(_e_step), "m": count(_m_step)}


def count(program: Program) -> int:
    """Compilations, by JAX's own count where it keeps one."""
    return sum(getattr(compiled, "_cache_size", lambda: 1)() for compiled in program.compiled.values())


def test_nothing_is_compiled_twice(compilations: dict[str, int]) -> None:
    """contract: of seven fits in three groups of like shapes only the first of each compiles."""

    def new() -> tuple[int, int]:
        sizes = count(_e_step), count(_m_step)
        return sizes[0] - compilations["e"], sizes[1] - compilations["m"]

    settings = replace(SETTINGS, batch_size=15)  # of no other test
    fit(NETWORK, *data(130, "float32"), settings)
    assert new() == (1, 1)
    fit(NETWORK, *data(130, "float32"), settings, seed=5)
    fit(NETWORK, *data(140, "float32"), settings)  # padded to the same number of rows
    fit(NETWORK, *data(140, "float32"), replace(settings, data_weight=7.0, trust=2.0, noise_rate=0.5, max_epochs=3))
    assert new() == (1, 1)
    several = replace(settings, sweeps=2)
    fit(NETWORK, *data(130, "float32"), several)
    before = new()
    assert before[0] == 2
    fit(NETWORK, *data(131, "float32"), replace(several, sweeps=5, damping=0.1))
    assert new() == before
    fit(NETWORK, *data(130, "float64"), settings)
    assert new()[0] == 3  # another precision is another program: the counter does count
