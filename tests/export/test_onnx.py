"""ONNX files against tdamp's own predictions in float64.

covers: export.onnx_argmax, export.onnx_graph
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest

import tdamp
from helpers.random_fitted import class_probs, exact_probs, exact_regression, random_fitted, random_plain, scale_of
from tdamp.engine.network import Network
from tdamp.export import plain_of, to_onnx
from tdamp.export.plain import PlainLayer
from tdamp.factors.activations.catalog import ACTIVATIONS
from tdamp.numerics.beliefs import Moments

TOLERANCE = 1e-4
SHAPES = [(3, 2), (1, 1, 2), (5, 8, 1), (4, 7, 6, 2)]


def run(path: Path, x: np.ndarray) -> dict[str, np.ndarray]:
    """Every output by its name."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": x}), strict=True))


@pytest.mark.parametrize("widths", SHAPES, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_regression(activation: str, widths: tuple[int, ...], tmp_path: Path) -> None:
    """twin: tdamp's predictive moments; random networks, scales 1e-3..1e3 of data, outputs and every layer."""
    for seed in range(3):
        fitted = random_fitted(Network(widths, activation=activation), 7, seed, decades=3.0)
        plain, x = random_plain(fitted, 7, seed)
        path = tmp_path / "model.onnx"
        to_onnx(plain, path)
        mean, var, epistemic = exact_regression(fitted, plain, x)
        for rows in (x, x[:1]):
            ours, n = run(path, rows), len(rows)
            assert [part.shape for part in ours.values()] == [(n, widths[-1])] * 3
            scale = scale_of(mean, var)
            assert np.all(np.abs(ours["mean"] - mean[:n]) < TOLERANCE * scale)
            np.testing.assert_allclose(np.sqrt(ours["variance"]), np.sqrt(var[:n]), rtol=TOLERANCE)
            np.testing.assert_allclose(np.sqrt(ours["epistemic_variance"]), np.sqrt(epistemic[:n]), rtol=TOLERANCE)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_classification(activation: str, tmp_path: Path) -> None:
    """twin: tdamp's class probabilities; random networks of 2 and 10 classes; the sum is one."""
    for seed, widths in enumerate([(3, 2), (4, 7, 6, 2), (5, 8, 10)]):
        fitted = random_fitted(Network(widths, "classification", activation), 7, seed, decades=1.0)
        plain, x = random_plain(fitted, 7, seed)
        path = tmp_path / "model.onnx"
        to_onnx(plain, path)
        exact = exact_probs(fitted, plain, x)
        assert np.ptp(exact, axis=0).max() > 0.01
        for rows in (x, x[:1]):
            ours = run(path, rows)["probabilities"]
            np.testing.assert_allclose(ours, exact[: len(rows)], atol=TOLERANCE)
            np.testing.assert_allclose(ours.sum(1), np.ones(len(rows)), rtol=1e-5)


def test_class_probs_at_the_extremes(tmp_path: Path) -> None:
    """twin: scores of +-1e6, variances of 1e-12..1e12, mixed: finite, sum to one, tdamp's in float64 to 1e-4.

    x is the scores: the network is the identity with a variance that comes from the biases alone.
    """
    rng = np.random.default_rng(2)
    fitted = random_fitted(Network((4, 4), "classification", "identity"), 4, seed=0)
    start = plain_of(fitted, n_features=4, x_mean=0.0, x_scale=1.0)
    for _ in range(12):
        mean = rng.choice([-1e6, -30.0, 0.0, 30.0, 1e6], (50, 4)).astype(np.float32)
        var = 10.0 ** rng.choice([-12.0, 0.0, 12.0], 4)
        layer = PlainLayer(np.zeros(4), np.eye(4), np.zeros((4, 4)), np.zeros(4), var)
        to_onnx(dataclasses.replace(start, layers=(layer,), noise_var=np.array(1e-6)), tmp_path / "model.onnx")
        ours = run(tmp_path / "model.onnx", mean)["probabilities"]
        exact = class_probs(Moments(jnp.asarray(mean, jnp.float64), jnp.broadcast_to(var, mean.shape)), 1e-6)
        np.testing.assert_allclose(ours, exact, atol=TOLERANCE)


def test_a_trained_and_pruned_network(tmp_path: Path) -> None:
    """twin: a float32 fit pruned to half its units, from the table's columns to the probabilities."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 3] > 0).astype(int)
    settings = tdamp.Settings(batch_size=50, keep=0.5, max_epochs=4)
    fitted = tdamp.fit(Network((6, 12, 2), "classification"), x, y, settings)
    raw = 2000 + 5 * x
    plain = plain_of(
        fitted, n_features=6, x_mean=np.full(6, 2000.0), x_scale=np.full(6, 5.0), classes=np.array(["no", "yes"])
    )
    assert len(plain.inputs) < 6 and plain.network.n_units == 9
    to_onnx(plain, tmp_path / "model.onnx")
    exact = exact_probs(fitted, plain, raw)
    np.testing.assert_allclose(run(tmp_path / "model.onnx", raw)["probabilities"], exact, atol=TOLERANCE)
    assert np.mean((exact[:, 1] > 0.5) == y) > 0.8


def test_digits_of_a_large_mean_are_kept(tmp_path: Path) -> None:
    """twin: columns at 1e6 +- 1, shifted by a mean that float32 cannot hold."""
    fitted = random_fitted(Network((3, 5, 1)), 3, seed=0)
    plain = plain_of(fitted, n_features=3, x_mean=np.full(3, 1e6 + 0.03), x_scale=1.0)
    x = (1e6 + np.random.default_rng(0).normal(size=(50, 3))).astype(np.float32)
    to_onnx(plain, tmp_path / "model.onnx")
    mean, var, _ = exact_regression(fitted, plain, x)
    assert np.abs(run(tmp_path / "model.onnx", x)["mean"] - mean).max() < 1e-5 * scale_of(mean, var)


def test_the_file_speaks_for_itself(tmp_path: Path) -> None:
    """contract: metadata, opset, readable unique names; the file is whole and alone in its folder."""
    fitted = random_fitted(Network((3, 4, 2), "classification"), 4, seed=0)
    names = ("größe", "b", "c", "d")
    plain, _ = random_plain(fitted, 4, seed=0, classes=["no", "ja"], feature_names=names)
    folder = tmp_path / "übung 模型"
    folder.mkdir()
    to_onnx(plain, folder / "model.onnx")
    assert [path.name for path in folder.iterdir()] == ["model.onnx"]
    model = onnx.load_from_string((folder / "model.onnx").read_bytes())
    onnx.checker.check_model(model, full_check=True)
    props = {p.key: p.value for p in model.metadata_props}
    assert json.loads(props["classes"]) == ["no", "ja"] and json.loads(props["feature_names"]) == list(names)
    assert json.loads(props["inputs"]) == plain.inputs.tolist() and props["tdamp"] == tdamp.__version__
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 17)]
    nodes = [node.name for node in model.graph.node]
    assert len(set(nodes)) == len(nodes) and {"layer1/z_mean", "layer1/u_var", "layer2/z_var"} <= set(nodes)


def test_weights_too_large_for_float32_are_refused(tmp_path: Path) -> None:
    """contract: the error names the tensor; no file is left."""
    fitted = random_fitted(Network((3, 4, 2)), 3, seed=0)
    plain, _ = random_plain(fitted, 3, seed=0)
    first = plain.layers[0]._replace(w_mean=plain.layers[0].w_mean * 1e40)
    with pytest.raises(ValueError, match="layer1/w_mean: not a finite number in float32"):
        to_onnx(dataclasses.replace(plain, layers=(first, plain.layers[1])), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
