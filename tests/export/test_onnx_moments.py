"""Activations of any number of regions through the exports: ONNX nodes and the NumPy file, against the factor."""

from __future__ import annotations

import runpy
from math import inf
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest

from helpers.random_fitted import random_fitted, random_plain
from tdamp.engine.network import Network
from tdamp.export import to_numpy
from tdamp.export.onnx_graph import Graph
from tdamp.export.onnx_moments import activate
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.catalog import ACTIVATIONS, Activation, TorchModule
from tdamp.factors.activations.piecewise import Region
from tdamp.numerics.beliefs import Moments

forward = jax.jit(piecewise.forward, static_argnums=0)


def lines(kinks: tuple[float, ...], slopes: tuple[float, ...], start: float = 0.0) -> tuple[Region, ...]:
    """The continuous function with these kinks and slopes whose leftmost line has intercept `start`."""
    bounds, intercepts = (-inf, *kinks, inf), [start]
    for kink, left, right in zip(kinks, slopes, slopes[1:], strict=False):
        intercepts.append(intercepts[-1] + (left - right) * kink)
    return tuple(map(Region, bounds, bounds[1:], slopes, intercepts))


SHAPES = {name: activation.regions for name, activation in ACTIVATIONS.items()} | {
    "line": lines((), (-0.5,), 2.0),
    "kink away from zero": lines((0.7,), (0.3, -1.5), -1.0),
    "relu6": lines((0.0, 6.0), (0.0, 1.0, 0.0)),
    "falling clamp": lines((-0.5, 0.25), (0.0, -2.0, 0.0), 0.3),
    "soft threshold": lines((-1.0, 1.0), (1.0, 0.0, 1.0), 1.0),
    "leaky clamp": lines((-1.0, 1.0), (0.1, 1.0, 0.1)),
    "bump": lines((-1.0, 0.0, 1.0), (0.0, 1.0, -1.0, 0.0)),
    "four slopes": lines((-2.0, 0.0, 1.5), (0.5, -1.0, 2.0, -0.25), -1.0),
    "staircase": lines((-2.0, -1.0, 1.0, 2.0), (0.0, 1.0, 0.0, 1.0, 0.0), -1.0),
}


def moments(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Means of up to +-1e3 standard deviations around the kinks, and variances 1e-14..1e8."""
    rng = np.random.default_rng(0)
    std = 10 ** rng.uniform(-7, 4, 4000)
    mean = rng.choice([-2, -1, 0, 1, 1.5, 6], 4000) + std * rng.normal(size=4000) * 10 ** rng.uniform(-2, 3, 4000)
    return mean.astype(dtype), np.square(std).astype(dtype)


def assert_moments(
    ours: tuple[np.ndarray, np.ndarray], regions: tuple[Region, ...], z_fwd: tuple[np.ndarray, np.ndarray], tol: float
) -> None:
    """Means to `tol` of their size or u's standard deviation, standard deviations to `tol` where u is not constant.

    The factor measures u from a kink, in float64, and so has the rounding of the kink itself.
    """
    rounding = 8 * np.finfo(np.float64).eps * max(abs(b) for region in regions for b in (*region[:2], 1) if b**2 < inf)
    mean, var = (np.asarray(part, np.float64) for part in z_fwd)
    exact = forward(regions, Moments(jnp.asarray(mean), jnp.asarray(var)))
    u_std, z_std = np.sqrt(np.asarray(exact.var)), np.sqrt(var)
    assert np.all(np.abs(ours[0] - exact.mean) <= tol * np.maximum(np.abs(exact.mean), u_std) + rounding)
    alive = u_std > 1e-6 * np.minimum(z_std, 1)
    assert alive.mean() > 0.3
    np.testing.assert_allclose(np.sqrt(ours[1])[alive], u_std[alive], rtol=tol, atol=rounding)
    assert np.all(np.sqrt(ours[1])[~alive] <= 1.1e-6 * np.minimum(z_std, 1)[~alive])


@pytest.mark.parametrize("shape", SHAPES)
def test_onnx_moments(shape: str) -> None:
    """twin: the factor's forward moments in float64; float32 nodes to 1e-5."""
    mean, var = moments(np.float32)
    g = Graph()
    g.at = "f/"
    for name, tensor in zip(("u_mean", "u_var"), activate(g, SHAPES[shape], "mean", "var"), strict=True):
        g.output(name, tensor)
    model = g.model({"mean": 1, "var": 1}, {"u_mean": 1, "u_var": 1}, {})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    u_mean, u_var = session.run(None, {"mean": mean[:, None], "var": var[:, None]})
    assert_moments((u_mean[:, 0], u_var[:, 0]), SHAPES[shape], (mean, var), 1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_moments(shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the factor's forward moments in float64, to 1e-9."""
    monkeypatch.setitem(ACTIVATIONS, "toy", Activation(SHAPES[shape], TorchModule("Identity")))
    plain, _ = random_plain(random_fitted(Network((3, 4, 1), activation="toy"), 5, seed=0), 5, seed=0)
    to_numpy(plain, tmp_path / "predictor.py")
    mean, var = moments(np.float64)
    ours = runpy.run_path(str(tmp_path / "predictor.py"))["_activate"](mean, var)
    assert_moments(ours, SHAPES[shape], (mean, var), 1e-9)
