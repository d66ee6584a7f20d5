"""The state: where training starts, which units are removed, and what its parts are called."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, evidence, init, is_finite, path_name, question, remove, scales_of

NETWORK = Network((4, 6, 2))
RNG = np.random.default_rng(0)
X, Y = RNG.normal(2, 3, size=(50, 4)), RNG.normal(-1, 0.5, size=(50, 2))


def started() -> State:
    """The start of a training, on the host."""
    return jax.device_get(init(NETWORK, Settings(), np.random.default_rng(1), X, Y))


def test_the_prior_fits_the_data() -> None:
    """identity: z of the prior has variance one, at the outputs that of y; biases have the mean square of y."""
    first, last = started().layers
    np.testing.assert_allclose(first.centre, X.mean(0))
    prior_var = np.square(X - X.mean(0)).sum(1).mean() * first.base_var
    np.testing.assert_allclose(prior_var, 1.0)
    np.testing.assert_allclose(last.base_var * NETWORK.widths[1], Y.var(0).mean())
    np.testing.assert_allclose(last.bias_base_var, np.square(Y).mean())
    np.testing.assert_allclose(last.bias.mean, Y.mean(0))


def test_weights_are_copies_in_the_scales() -> None:
    """identity: a row of weight 3 counts as three rows."""
    weight = RNG.integers(1, 4, len(X))
    weighted = scales_of(NETWORK, X, Y, weight.astype(float))
    copied = scales_of(NETWORK, X.repeat(weight, 0), Y.repeat(weight, 0))
    for one, other in zip(weighted, copied, strict=True):
        np.testing.assert_allclose(one, other)


def test_a_constant_counts_as_having_variance_one() -> None:
    """contract: of inputs and of targets, though rounding makes it vary."""
    scales = scales_of(NETWORK, np.full((9, 4), 0.1), np.full((9, 2), 1e6 + 0.1))
    assert scales.x_power == 1 and (scales.y_var == 1).all()


def test_a_scale_that_its_type_has_no_room_for() -> None:
    """contract: an error before the first step."""
    with pytest.raises(ValueError, match="too large or too small for float32"):
        init(NETWORK, Settings(), RNG, np.float32(1e-30) * X.astype(np.float32), Y.astype(np.float32))


def test_removed_units() -> None:
    """contract: nothing leaves them, their own parameters are the prior's, and the others keep every bit."""
    before, active = started(), [np.array([True, False, True, True]), np.arange(6) != 2]
    after = jax.device_get(remove(before, active))
    first, last = after.layers
    for layer, gone in ((first, 1), (last, 2)):
        assert not layer.weight.mean[gone].any() and not layer.weight.var[gone].any() and layer.active_prob[gone] == 0
        assert layer.offset[gone] == -np.inf
    assert first.bias.mean[2] == 0 and first.bias.var[2] == first.bias_base_var
    kept = np.ix_(active[0], active[1])
    np.testing.assert_array_equal(first.weight.mean[kept], before.layers[0].weight.mean[kept])
    np.testing.assert_array_equal(last.weight.var[active[1]], before.layers[1].weight.var[active[1]])
    assert not jax.device_get(question(after, 0.0, None, from_here=False)).layers[1].offset[2] > -np.inf


def test_evidence_that_is_there_already() -> None:
    """identity: `from_here` takes it off, so that offset and evidence sum to the prior's log-odds."""
    state = started()
    asked = jax.device_get(question(state, -1.5, None, from_here=True))
    for layer, shown in zip(asked.layers, evidence(state, None), strict=True):
        np.testing.assert_allclose(layer.offset + shown, -1.5, rtol=1e-5)
        assert not layer.sure


def test_numbers_that_are_not_finite() -> None:
    """contract: offsets may be infinite; no other part may."""
    state = started()
    assert np.isinf(state.layers[0].offset).all() and is_finite(state)
    broken = state.layers[1]._replace(bias=state.layers[1].bias._replace(mean=np.array([0.0, np.nan])))
    assert not is_finite(state._replace(layers=(state.layers[0], broken)))
    assert not is_finite(state._replace(noise_var=np.array([1.0, np.inf])))


def test_names_of_leaves() -> None:
    """contract: layers by number, fields by name, each once."""
    names = [path_name(path) for path, _ in jax.tree_util.tree_leaves_with_path(started())]
    assert {"layers.0.weight.mean", "layers.1.bias.var", "noise_var"} <= set(names)
    assert len(set(names)) == len(names)
