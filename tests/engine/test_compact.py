"""Compaction and padding change the arrays, not the network."""

from __future__ import annotations

from concurrent.futures import Future

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers.one_epoch import em_step
from tdamp.engine import compact, predict
from tdamp.engine.network import Network
from tdamp.engine.plan import knobs_of, plan_of
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, evidence, init, remove
from tdamp.training.batches import shuffle

NETWORK, DEEP = Network((9, 12, 2)), Network((9, 12, 10, 2))
REMAIN = (6, 9, 5)
SETTINGS = Settings(batch_size=16)
ROWS = 16
output_moments = jax.jit(predict.output_moments, static_argnums=0)
mean_network = jax.jit(predict.mean_network, static_argnums=0)


def pruned(network: Network, seed: int) -> tuple[State, list[np.ndarray], np.ndarray, np.ndarray]:
    """A state after an epoch of training with units switched off, which units remain, and data."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(ROWS, 9)), rng.normal(size=(ROWS, 2))
    state = init(network, SETTINGS, np.random.default_rng(seed), x, y)
    state = jax.tree.map(lambda a: a * np.exp(0.1 * rng.normal(size=a.shape)) if a.dtype.kind == "f" else a, state)
    active = [np.arange(n) < k for n, k in zip(network.widths[:-1], REMAIN, strict=False)]
    active = [rng.permutation(mask) for mask in active]
    return remove(state, active), active, x, y


@pytest.mark.parametrize("bucket", [1, 4, 8])
def test_predictions_are_the_masked_networks(bucket: int) -> None:
    """identity: the compacted network, padded or not, predicts what the masked one does, to 1e-10 in float64."""
    state, active, x, _ = pruned(DEEP, 0)
    small, network, index = compact.take(state, DEEP, active, bucket)
    assert network.widths[:-1] == tuple(-(-n // bucket) * bucket for n in (6, 9, 5))
    full, ours = output_moments(DEEP, state.layers, x), output_moments(network, small.layers, x[:, index[0]])
    np.testing.assert_allclose(ours.mean, full.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.var, full.var, rtol=1e-10)
    point = mean_network(network, small.layers, x[:, index[0]])
    np.testing.assert_allclose(point, mean_network(DEEP, state.layers, x), rtol=1e-10, atol=1e-12)
    changed = mean_network(DEEP, state.layers, np.where(active[0], x, x + 1e3))
    np.testing.assert_array_equal(changed, mean_network(DEEP, state.layers, x))  # removed inputs are not read


@pytest.mark.parametrize("trust", [1e9, 0.1], ids=["free", "held back"])
def test_a_step_on_padded_arrays_is_the_step(trust: float) -> None:
    """identity: after an epoch the units that remain agree, whether the others are masked, padded or gone."""
    state, active, x, y = pruned(NETWORK, 1)
    order = shuffle(np.random.default_rng(0), ROWS, ROWS, SETTINGS.batch_size)
    ends = {}
    for name, bucket in (("gone", 1), ("padded", 8), ("masked", None)):
        start, network, index = state, NETWORK, [np.arange(n) for n in NETWORK.widths[:-1]]
        real = active
        if bucket is not None:
            start, network, index = compact.take(state, NETWORK, active, bucket)
            real = [np.arange(len(i)) < mask.sum() for i, mask in zip(index, active, strict=True)]
        settings = Settings(batch_size=16, trust=trust)
        knobs = knobs_of(settings, 0, float(ROWS))
        plan = plan_of(network, settings)
        done, info = em_step(
            plan, knobs, None, start, x[:, index[0]] - start.layers[0].centre, y, np.ones(ROWS), *order
        )
        assert (int(info.clips.restrained) > 0) == (trust < 1)
        ends[name] = compact.take(done, network, real, 1)[0]
    for name in ("padded", "masked"):
        for a, b in zip(jax.tree.leaves(ends[name]), jax.tree.leaves(ends["gone"]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=name)


def test_removed_units_carry_no_evidence() -> None:
    """identity: what is left of a removed hidden unit is its base prior: no evidence comes from its column."""
    state, active, _, _ = pruned(DEEP, 2)
    small, _, _ = compact.take(state, DEEP, active, 1)
    for ours, masked, mask in zip(evidence(small, None), evidence(state, None), active, strict=True):
        np.testing.assert_allclose(ours, masked[mask], rtol=1e-10, atol=1e-10)


def test_padding_adds_no_evidence_to_a_group() -> None:
    """identity: the groups of the remaining inputs have the same evidence, padded or not."""
    state, active, _, _ = pruned(NETWORK, 3)
    group_of = np.arange(9) // 2
    found = []
    for bucket in (1, 8):
        small, _, index = compact.take(state, NETWORK, active, bucket)
        found.append(evidence(small, jnp.asarray(group_of[index[0]]))[0][: active[0].sum()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10)


def test_when_compiling_pays() -> None:
    """contract: when the work has fallen to a quarter, padding included, and enough rows are still to come."""
    network, plenty = Network((64, 64, 2)), 1e9
    some, most, padded = ([np.arange(64) < n, np.arange(64) < n] for n in (32, 24, 25))  # 25 are padded to 32
    assert compact.pays(network, most, plenty)
    assert not compact.pays(network, some, plenty) and not compact.pays(network, padded, plenty)
    assert not compact.pays(network, most, 1e6)  # saves 4 x 1e6 x 3600 multiply-adds


def test_room_for_what_is_expected() -> None:
    """contract: SPARE more than expected, padded, and never more than there is now; `holds` counts the units."""
    network = Network((64, 40, 16, 2))
    expected = [np.arange(n) < k for n, k in ((64, 9), (40, 20), (16, 14))]
    widths = compact.room(network, expected, bucket=8)
    assert widths == (24, 32, 16, 2)  # 17, 28 and 22 padded; the last has 16 today
    arrays = compact.Smaller(widths, due=3, compiled=Future())
    assert arrays.holds([np.arange(n) < k for n, k in ((64, 24), (40, 32), (16, 16))])
    assert not arrays.holds([np.arange(n) < k for n, k in ((64, 24), (40, 33), (16, 16))])


def test_padded_to_given_widths() -> None:
    """identity: with room to spare the network predicts the same."""
    state, active, x, _ = pruned(DEEP, 4)
    small, network, index = compact.take(state, DEEP, active, 1, (7, 12, 8, 2))
    assert network.widths == (7, 12, 8, 2)
    full, ours = output_moments(DEEP, state.layers, x), output_moments(network, small.layers, x[:, index[0]])
    np.testing.assert_allclose(ours.mean, full.mean, rtol=1e-10, atol=1e-12)
