"""Networks of an input shape: where layers stand, what they cost, what is refused; and what they compute.

covers: factors.layers.residual, factors.layers.fixed_filter
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tdamp import Network, Settings, fit
from tdamp.engine import compact, predict
from tdamp.engine.state import init, remove
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.catalog import ACTIVATIONS
from tdamp.factors.layers.conv import Conv
from tdamp.factors.layers.dense import Dense
from tdamp.factors.layers.fixed_filter import FixedFilter
from tdamp.factors.layers.maps import AvgPool
from tdamp.factors.layers.residual import Residual

output_moments = jax.jit(predict.output_moments, static_argnums=0)
mean_outputs = jax.jit(predict.mean_outputs, static_argnums=0)

SHAPE = (8, 6, 2)
EDGES = FixedFilter(weights=np.random.default_rng(3).normal(size=(3, 3, 2, 4)), activation="relu")
CNN = (Conv(4, 3, stride=2), Conv(5, 3), Dense(6), Dense(3))
RESIDUAL = (Conv(4, 3), AvgPool(2), Residual([Conv(6, 3), Conv(4, 1)]), Dense(3))
KINDS = {"cnn": CNN, "residual": RESIDUAL, "pool first": (AvgPool(2), Dense(5), Dense(3)), "filters": (EDGES, *CNN)}


def network_of(name: str) -> Network:
    """A classifier of small images."""
    return Network(input_shape=SHAPE, layers=KINDS[name], task="classification")


def data(rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Images with a bright column; which third it lies in is the class."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 0.3, (rows, *SHAPE)), rng.integers(0, 3, rows)
    for row, label in enumerate(y):
        x[row, :, 2 * label : 2 * label + 2] += 1
    return x.reshape(rows, -1).astype(np.float32), y


def test_places() -> None:
    """contract: widths are channels and units; tables, parameters and multiply-adds by hand."""
    network = network_of("cnn")
    assert network.widths == (2, 4, 5, 6, 3) and network.n_columns == 96 and not network.is_flat
    assert network.tables == ((18, 4), (36, 5), (60, 6), (6, 3))  # 8 x 6 places become 4 x 3
    assert network.n_params == 18 * 4 + 4 + 36 * 5 + 5 + 60 * 6 + 6 + 18 + 3
    assert network.n_multiply_adds == 12 * (18 * 4) + 12 * (36 * 5) + 60 * 6 + 18
    assert network_of("residual").widths == (2, 4, 6, 4, 3)
    assert [place.skip for place in network_of("residual").places] == [None, None, 1, None]
    assert network_of("filters").widths == (4, 4, 5, 6, 3)
    assert (
        network_of("filters").n_multiply_adds - replace(network_of("cnn"), widths=(4, 4, 5, 6, 3)).n_multiply_adds
        == 48 * 72
    )
    flat = Network(input_shape=SHAPE, layers=(Dense(7), Dense(1)))
    assert flat.widths == (96, 7, 1) and flat.is_flat and flat.linear == Network((96, 7, 1)).linear


@pytest.mark.parametrize("name", KINDS)
def test_json(name: str) -> None:
    """contract: a network is data; JSON gives it back."""
    network = network_of(name)
    stored = json.loads(json.dumps(asdict(network)))
    again = Network(**stored | {"widths": tuple(stored["widths"])})
    assert again == network and hash(again) == hash(network) and again.places == network.places


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ((), "layer that learns"),
        ((Conv(2), AvgPool(2)), "layer that learns"),
        ((Conv(2), Dense()), "how many units"),
        ((Conv(2, 9, padding="valid"), Dense(2)), "does not fit"),
        ((Conv(2), FixedFilter(np.ones((1, 1, 2, 1))), Dense(2)), "expected Dense, Conv"),
        ((FixedFilter(np.ones((1, 1, 3, 1))), Dense(2)), "channels"),
        ((Residual((Conv(2),)), Dense(2)), "before it"),
        ((Conv(2), Residual((Conv(3),)), Dense(2)), "3 units"),
        ((Conv(2), Residual((Conv(2, stride=2),)), Dense(2)), "expected the same"),
        ((Conv(2), Residual((Conv(2), AvgPool(2))), Dense(2)), "expected the same"),
        ((Dense(4), Conv(2), Dense(2)), "does not fit|axes"),
        ((Conv(2), "sense", Dense(2)), "'sense'"),
    ],
)
def test_refused(layers: Any, message: str) -> None:
    """contract: layers that do not fit one another are refused with a sentence."""
    with pytest.raises(ValueError, match=message):
        Network(input_shape=SHAPE, layers=layers)


def plain(network: Network, state: Any, x: np.ndarray) -> np.ndarray:
    """The posterior means as a network of NumPy loops over places."""
    relu = ACTIVATIONS[network.activation].regions
    image = x.reshape(len(x), *SHAPE).astype(np.float64)
    layers = iter(jax.device_get(state.layers))

    def learned(spec: Any, u: np.ndarray) -> np.ndarray:
        layer = next(layers)
        weight, bias = np.asarray(layer.weight.mean, np.float64), np.asarray(layer.bias.mean, np.float64)
        centre = np.asarray(layer.centre, np.float64)
        if isinstance(spec, Dense):
            return (u.reshape(len(u), -1) - centre) @ weight + bias
        k, s = spec.kernel, spec.stride
        after = [-(-n // s) for n in u.shape[1:3]]
        more = [max((o - 1) * s + k - n, 0) for o, n in zip(after, u.shape[1:3], strict=True)]
        u = np.pad(u, ((0, 0), *((m // 2, m - m // 2) for m in more), (0, 0)))
        z = np.zeros((len(u), *after, weight.shape[1]))
        for i, j in np.ndindex(*after):
            z[:, i, j] = (u[:, i * s : i * s + k, j * s : j * s + k].reshape(len(u), -1) - centre) @ weight + bias
        return z

    def walk(specs: Any, u: np.ndarray, skip: np.ndarray | None = None) -> np.ndarray:
        for i, spec in enumerate(specs):
            if isinstance(spec, AvgPool):
                n, h, w, c = u.shape
                u = u.reshape(n, h // 2, 2, w // 2, 2, c).mean((2, 4))
            elif isinstance(spec, Residual):
                u = walk(spec.body, u, skip=u)
            else:
                z = learned(spec, u)
                z = z + skip if skip is not None and i == len(specs) - 1 else z
                last = specs is network.layers and i == len(specs) - 1
                u = z if last else piecewise.apply(relu, z)
        return u

    return walk(network.layers, image)


@pytest.mark.parametrize("name", ["cnn", "residual"])
def test_mean_network(name: str) -> None:
    """twin: the posterior-mean network is the one of loops over places, centres, padding, pools and skips included."""
    network, (x, y) = network_of(name), data()
    fitted = fit(network, x, y, Settings(max_epochs=2, batch_size=20))
    ours = mean_outputs(network, fitted.state.layers, jnp.asarray(x))
    np.testing.assert_allclose(ours, plain(network, fitted.state, x), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize(("name", "sweeps"), [("cnn", 1), ("residual", 3), ("pool first", 1), ("filters", 1)])
def test_it_learns(name: str, sweeps: int) -> None:
    """rate: training lowers the error to a tenth of guessing, with one sweep and with three, and stays finite."""
    x, y = data(200)
    fitted = fit(network_of(name), x, y, Settings(max_epochs=6, batch_size=20, sweeps=sweeps))
    z = output_moments(fitted.network, fitted.state.layers, jnp.asarray(x))
    assert np.isfinite(z.mean).all() and (np.asarray(z.var) > 0).all()
    assert np.mean(np.asarray(z.mean).argmax(1) != y) < 0.07


def test_one_place_is_dense() -> None:
    """twin: a filter as large as the image is a dense layer, and trains as one, linear activations and no centres."""
    x, y = data(80)
    settings = Settings(max_epochs=3, batch_size=16, centre_inputs=False, centre_rate=0.0)
    filtered = Network(
        input_shape=SHAPE,
        layers=(Conv(5, (8, 6), padding="valid"), Dense(3)),
        task="classification",
        activation="identity",
    )
    dense = Network((96, 5, 3), task="classification", activation="identity")
    ours, theirs = (fit(network, x, y, settings) for network in (filtered, dense))
    for layer, other in zip(ours.state.layers, theirs.state.layers, strict=True):
        np.testing.assert_allclose(layer.weight.mean, other.weight.mean, rtol=2e-3, atol=2e-4)
        np.testing.assert_allclose(layer.weight.var, other.weight.var, rtol=2e-3)


@pytest.mark.parametrize("name", KINDS)
def test_compaction(name: str) -> None:
    """identity: the network without the removed channels and units predicts what the masked one does."""
    network, (x, y) = network_of(name), data()
    state = init(network, Settings(), np.random.default_rng(0), x, y)
    rng = np.random.default_rng(1)
    active = [np.arange(n) < max(1, n - rng.integers(1, 3)) for n in network.widths[:-1]]
    masked = remove(state, active, network.rigid)
    small, smaller, index = compact.take(masked, network, active, bucket=1)
    ours = output_moments(smaller, small.layers, jnp.asarray(x))
    expected = output_moments(network, masked.layers, jnp.asarray(x))
    for part, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-4, atol=1e-5)
    for value, (kept, width) in enumerate(zip(index, network.widths, strict=False)):
        gone = network.is_removable(value)
        assert len(kept) == (active[value].sum() if gone else width)
    assert smaller.n_params < network.n_params


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("cnn", {"keep": 0.6}),
        ("residual", {"keep": 0.6}),
        ("cnn", {"max_params": 320}),
        ("cnn", {"max_multiply_adds": 1500}),
    ],
)
def test_pruned_to_a_goal(name: str, goal: dict[str, Any]) -> None:
    """contract: exactly so many channels and units are left, or budgets are kept, and every layer has some."""
    network, (x, y) = network_of(name), data()
    fitted = fit(network, x, y, Settings(max_epochs=4, batch_size=20, **goal))
    if "keep" in goal:
        assert fitted.n_units == round(0.6 * network.n_units)
    else:
        assert getattr(fitted.network, f"n_{next(iter(goal))[4:]}") <= next(iter(goal.values()))
    assert all((np.asarray(layer.offset) > -np.inf).any() for layer in fitted.state.layers)
