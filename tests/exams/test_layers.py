"""The exam of every kind of layer in the catalog: its map, its messages, training, compaction, files and exports.

covers: factors.layers.base, factors.layers.catalog
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tdamp
from oracles import loops
from tdamp import Network, Settings, TDAMPRegressor, fit
from tdamp.engine import compact, predict
from tdamp.engine.settings import check_network
from tdamp.engine.state import init, remove
from tdamp.estimators import parameters
from tdamp.export.numpy import to_numpy
from tdamp.factors.layers.base import Linear
from tdamp.factors.layers.catalog import LAYERS
from tdamp.factors.layers.dense import Dense
from tdamp.federated.terms import Terms
from tdamp.numerics.beliefs import Moments, Score, as_message

N_ROWS, N_IN, N_OUT = 4, 6, 3
WIDTHS = (N_IN, 9, 5, 1)

output_moments = jax.jit(predict.output_moments, static_argnums=0)
mean_network = jax.jit(predict.mean_network, static_argnums=0)


def network_of(name: str) -> Network:
    """Three layers of one kind."""
    return Network(WIDTHS, layers=(name,) * (len(WIDTHS) - 1))


def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows whose first two inputs say y."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, N_IN)).astype(np.float32)
    return x, x[:, :1] - x[:, 1:2] + 0.1 * rng.normal(size=(120, 1)).astype(np.float32)


def beliefs(seed: int, dtype: str = "float64", scale: float = 1.0) -> tuple[Moments, Moments, Moments, Score]:
    """u, w, b and a score, of means and deviations of about this size."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> tuple[jax.Array, jax.Array]:
        mean, var = scale * rng.normal(size=shape), scale**2 * rng.exponential(size=shape)
        return jnp.asarray(mean, dtype), jnp.asarray(var, dtype)

    u, w, b = (Moments(*drawn(*shape)) for shape in ((N_ROWS, N_IN), (N_IN, N_OUT), (N_OUT,)))
    return u, w, b, Score(*drawn(N_ROWS, N_OUT))


def coefficients(layer: Linear, n_in: int, n_out: int) -> np.ndarray:
    """c of z_j = sum c_(k,n,m,j) u_k W_nm, from unit vectors one by one."""
    found = np.zeros((n_in, n_in, n_out, n_out))
    for n, m in np.ndindex(n_in, n_out):
        w = np.zeros((n_in, n_out))
        w[n, m] = 1
        for k in range(n_in):
            found[k, n, m] = layer.mix(np.eye(n_in)[k], w)
    return found


def switches(layer: Linear) -> np.ndarray:
    """Which weight of the table has a part in its output, 0 or 1."""
    return np.einsum("nnmm->nm", coefficients(layer, N_IN, N_OUT))


def test_names() -> None:
    """contract: kinds stand under the names that they give themselves, networks take them, and JSON holds them."""
    for name, kind in LAYERS.items():
        network = network_of(name)
        assert kind.name == name and network.linear == (kind(),) * 3 == network.layers
        check_network(network)
        assert Network(**json.loads(json.dumps(asdict(network))) | {"widths": WIDTHS}) == network
        assert hash(network) == hash(network_of(name))
    assert Network(WIDTHS).linear == network_of("dense").linear


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (("dense",), "expected 3"),
        ("dense", "expected 3"),
        (("dense", "dense", "sense"), "has 'sense': expected one of dense"),
        (("dense", "dense", {"name": "sense"}), "expected one of dense"),
        (("dense", "dense", Linear()), "expected one of dense"),
        (("dense", "dense", type("Mine", (Dense,), {})()), "expected one of dense"),
    ],
)
def test_layers_that_there_are_not(layers: Any, message: str) -> None:
    """contract: too few, none of the catalog, or an object whose kind is not in it; each with a sentence."""
    with pytest.raises(ValueError, match=message):
        fit(Network(WIDTHS, layers=layers), *data())


@pytest.mark.parametrize("name", LAYERS)
def test_the_map(name: str) -> None:
    """identity: bilinear; an output is a sum of its own column's weights times their inputs, each once or never."""
    layer, rng = LAYERS[name](), np.random.default_rng(0)
    c, own = coefficients(layer, N_IN, N_OUT), switches(layer)
    np.testing.assert_array_equal(c, np.einsum("nm,kn,mj->knmj", own, np.eye(N_IN), np.eye(N_OUT)))
    assert set(np.unique(own)) <= {0, 1} and own.any()
    np.testing.assert_array_equal(layer.used(N_IN, N_OUT), own == 1)
    u, w = rng.normal(size=(2, N_ROWS, N_IN)), rng.normal(size=(N_IN, N_OUT))
    ours = layer.mix(u, w)
    assert isinstance(ours, np.ndarray) and ours.dtype == np.float64  # on the host, as it is given
    np.testing.assert_allclose(ours, np.einsum("knmj,rik,nm->rij", c, u, w), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(layer.mix(u[0, 0], w), ours[0, 0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", LAYERS)
def test_transposes(name: str) -> None:
    """identity: <mix(u, W), s> = <W, weight_adjoint> = <u, input_adjoint>; those of the base class are the same."""
    layer = LAYERS[name]()
    (u, _), (w, _), _, (s, _) = beliefs(1)
    inner = jnp.vdot(layer.mix(u, w), s)
    to_w, to_u = layer.weight_adjoint(u, s, w), layer.input_adjoint(s, w, u)
    np.testing.assert_allclose(jnp.vdot(w, to_w), inner, rtol=1e-12)
    np.testing.assert_allclose(jnp.vdot(u, to_u), inner, rtol=1e-12)
    np.testing.assert_allclose(to_w, Linear.weight_adjoint(layer, u, s, w), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(to_u, Linear.input_adjoint(layer, s, w, u), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", LAYERS)
def test_messages(name: str) -> None:
    """twin: index by index, with weights that have no part in an output taken out; Onsager term and clip included."""
    layer, (u, w, b, score) = LAYERS[name](), beliefs(4)
    own = switches(layer)
    parts = w.mean * own, w.var * own
    for previous in (None, score.score):
        expected = loops.linear_forward(*u, *parts, *b, np.zeros((N_ROWS, N_OUT)) if previous is None else previous)
        for ours, loop in zip(layer.forward(u, w, b, previous), expected, strict=True):
            np.testing.assert_allclose(ours, loop, rtol=1e-12, atol=1e-13)
    for fresh in (True, False):
        u_var, w_var = (np.zeros_like(u.var), np.zeros_like(w.var)) if fresh else (u.var, parts[1])
        (to_weight, n_weight), (to_input, n_input) = (
            layer.to_weight(u, w, score, fresh),
            layer.to_input(u, w, score, fresh),
        )
        for ours, (shift, prec), mask in (
            (as_message(to_weight, w), loops.linear_to_weight(u.mean, u_var, w.mean, *score), own),
            (to_input, loops.linear_to_input(u.mean, parts[0], w_var, *score), 1),
            (as_message(layer.to_bias(score), b), loops.linear_to_bias(b.mean, *score), 1),
        ):
            np.testing.assert_allclose(ours.shift, shift * mask, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(ours.prec, prec * mask, rtol=1e-12)
        assert n_weight == (0 if fresh else np.sum(((u.mean**2 - u_var).T @ score.prec < 0) & (own == 1)))
        assert n_input == np.sum(score.prec @ (parts[0] ** 2 - w_var).T < 0)


@pytest.mark.parametrize("name", LAYERS)
def test_numeric_range(name: str, dtype: str) -> None:
    """contract: finite in, finite out with variances that are not negative, for sizes from 1e-6 to 1e6."""
    layer = LAYERS[name]()
    for scale in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        u, w, b, score = beliefs(5, dtype, scale)
        data = Moments(u.mean, None)
        for inputs in (u, data):
            found = [layer.forward(inputs, w, b, previous) for previous in (None, score.score)]
            assert all(bool((z.var >= 0).all()) for z in found)
            for fresh in (True, False):
                found += [layer.to_weight(inputs, w, score, fresh)[0], layer.to_input(inputs, w, score, fresh)[0]]
            leaves = jax.tree.leaves(found)
            assert all(leaf.dtype == dtype and bool(jnp.isfinite(leaf).all()) for leaf in leaves)


@pytest.mark.parametrize("sweeps", [1, 2])
@pytest.mark.parametrize("name", LAYERS)
def test_it_trains_and_prunes(name: str, sweeps: int) -> None:
    """contract: exactly the units asked for remain; the smaller network is that of the units kept."""
    network, (x, y) = network_of(name), data()
    settings = Settings(max_epochs=10, batch_size=20, prior="group", keep=0.5, sweeps=sweeps)
    fitted = fit(network, x, y, settings, seed=0)
    assert fitted.n_units == 10 and fitted.network == network.take(fitted.kept)
    for layer in fitted.state.layers:
        assert all(bool(jnp.isfinite(leaf).all()) for leaf in (*layer.weight, *layer.bias))
    error = np.mean((mean_network(fitted.network, fitted.state.layers, x[:, fitted.inputs]) - y) ** 2)
    assert error < 0.5 * y.var()


@pytest.mark.parametrize("bucket", [1, 4])
@pytest.mark.parametrize("name", LAYERS)
def test_compaction(name: str, bucket: int) -> None:
    """identity: the compacted network, padded or not, once or twice, predicts what the masked one does."""
    network, rng = network_of(name), np.random.default_rng(1)
    x, y = rng.normal(size=(20, N_IN)), rng.normal(size=(20, 1))
    state = init(network, Settings(), rng, x, y)
    state = jax.tree.map(lambda a: a * np.exp(0.1 * rng.normal(size=a.shape)) if a.dtype.kind == "f" else a, state)
    first, second = (
        [rng.permutation(np.arange(n) < k) for n, k in zip(WIDTHS, left, strict=False)]
        for left in ((5, 8, 5), (4, 6, 3))
    )
    first = [np.asarray(a | b) for a, b in zip(first, second, strict=True)]
    masked = remove(state, second)
    expected = output_moments(network, masked.layers, x)
    once, small, index = compact.take(masked, network, second, bucket)
    half, between, before = compact.take(remove(state, first), network, first, 1)
    rest = [mask[i] for mask, i in zip(second, before, strict=True)]
    twice, smaller, after = compact.take(remove(half, rest), between, rest, bucket)
    both = [i[j] for i, j in zip(before, after, strict=True)]
    for state, shape, columns in ((once, small, index[0]), (twice, smaller, both[0])):
        ours = output_moments(shape, state.layers, x[:, columns])
        np.testing.assert_allclose(ours.mean, expected.mean, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ours.var, expected.var, rtol=1e-10)
        point = mean_network(shape, state.layers, x[:, columns])
        np.testing.assert_allclose(point, mean_network(network, masked.layers, x), rtol=1e-10, atol=1e-12)


def fitted_model(name: str, monkeypatch: pytest.MonkeyPatch) -> TDAMPRegressor:
    """An estimator whose network has layers of this kind alone, half of its units pruned."""
    monkeypatch.setattr(parameters, "Network", partial(Network, layers=(name,) * 2))
    x, y = data()
    model = TDAMPRegressor(hidden_layer_sizes=(8,), prior="group", keep=0.5, max_epochs=8, random_state=0)
    return model.fit(x, y[:, 0])


@pytest.mark.parametrize("name", LAYERS)
def test_files_and_exports(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: a loaded model predicts the same bits, a NumPy file the same numbers, unless it says what to do."""
    model, (x, _) = fitted_model(name, monkeypatch), data()
    tdamp.save(model, tmp_path / "model")
    loaded = tdamp.load(tmp_path / "model")
    assert loaded.network_ == model.network_ and loaded.fitted_.network == model.fitted_.network
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    assert model.fitted_.network.linear[0].name == name
    try:
        to_numpy(model.to_plain(), tmp_path / "predictor.py")
    except ValueError as refusal:
        assert name != "dense" and "predict in Python" in str(refusal)
        return
    np.testing.assert_allclose(imported(tmp_path / "predictor.py").predict(x), model.predict(x), rtol=1e-4, atol=1e-5)


def imported(path: Path) -> ModuleType:
    """A file of Python."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", LAYERS)
def test_federations(name: str) -> None:
    """contract: terms go through JSON as they are, or a federation refuses them with what to do."""
    network = network_of(name)
    try:
        terms = Terms(network, Settings())
    except ValueError as refusal:
        assert name != "dense" and "tdamp.fit" in str(refusal)
        return
    assert Terms.from_json(json.loads(json.dumps(terms.to_json()))).network == network
