"""Class probabilities of the exports where the scores' variances are unlike, against tdamp's in float64."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest

from helpers.random_fitted import class_probs, random_fitted
from tdamp.engine.network import Network
from tdamp.export import plain_of, to_numpy, to_onnx
from tdamp.export.plain import Plain, PlainLayer
from tdamp.numerics.beliefs import Moments


def scores(n_classes: int, var: np.ndarray) -> Plain:
    """A network that hands its inputs on as scores, with these variances."""
    fitted = random_fitted(Network((n_classes, n_classes), "classification", "identity"), n_classes, seed=0)
    start = plain_of(fitted, n_features=n_classes, x_mean=0.0, x_scale=1.0)
    known = np.zeros((n_classes, n_classes))
    layer = PlainLayer(np.zeros(n_classes), np.eye(n_classes), known, np.zeros(n_classes), var)
    return dataclasses.replace(start, layers=(layer,), noise_var=np.array(0.02))


@pytest.mark.parametrize("n_classes", [2, 3, 10, 30])
def test_unlike_variances(n_classes: int, tmp_path: Path) -> None:
    """twin: tdamp's class probabilities, variances that differ by up to 1e4: NumPy to 1e-6, ONNX to 1e-5."""
    rng = np.random.default_rng(n_classes)
    var = 10 ** rng.uniform(-2, 2, n_classes)
    x = (rng.choice([0.3, 1.0, 10.0], (40, 1)) * rng.normal(size=(40, n_classes))).astype(np.float32)
    plain = scores(n_classes, var.astype(np.float32))
    exact = class_probs(Moments(jnp.asarray(x, jnp.float64), jnp.broadcast_to(plain.layers[0].b_var, x.shape)), 0.02)
    to_numpy(plain, tmp_path / "predictor.py")
    np.testing.assert_allclose(
        runpy.run_path(str(tmp_path / "predictor.py"))["predict_distribution"](x), exact, atol=1e-6
    )
    to_onnx(plain, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"x": x})[0], exact, atol=1e-5)


def test_files_stay_small(tmp_path: Path) -> None:
    """contract: what the class probabilities of 100 classes add to the graph does not grow with their number."""
    sizes = []
    for n_classes in (3, 100):
        to_onnx(scores(n_classes, np.ones(n_classes)), tmp_path / "model.onnx")
        model = onnx.load(str(tmp_path / "model.onnx"))
        constants = [c for c in model.graph.initializer if c.name.startswith(("classes/", "constants/"))]
        sizes.append((len(model.graph.node), sum(len(c.raw_data) for c in constants)))
    assert sizes[0][0] == sizes[1][0] < 250
    assert max(size for _, size in sizes) < 4000
