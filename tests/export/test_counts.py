"""Files of counts: rates of log-normal size, over the numeric range."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from helpers.random_fitted import random_fitted
from tdamp.engine.network import Network
from tdamp.export import Plain, load_torch, plain_of, save_torch, to_numpy, to_onnx, to_torch
from tdamp.export.plain import PlainLayer
from tdamp.numerics.counts import MAX_LOG_RATE
from tdamp.numerics.distribution import CountDistribution

MEANS = np.array([[-20.0], [-3.0], [0.0], [0.7], [12.0], [25.0]], np.float32)


def counts_of(var: float) -> Plain:
    """x is the mean of the log rate; its variance comes from the bias alone."""
    fitted = random_fitted(Network((1, 1), likelihood="poisson", activation="identity"), 1, seed=0)
    layer = PlainLayer(np.zeros(1), np.eye(1), np.zeros((1, 1)), np.zeros(1), np.full(1, var))
    return dataclasses.replace(plain_of(fitted, n_features=1, x_mean=0.0, x_scale=1.0), layers=(layer,))


@pytest.mark.parametrize("var", [1e-10, 1e-4, 0.3, 5.0, 12.0])
def test_moments(var: float, tmp_path: Path) -> None:
    """twin: the predictive distribution of a log-normal rate; mean and standard deviation give its log rate back."""
    plain, expected = counts_of(var), CountDistribution.from_log_rate(MEANS.astype(np.float64), np.full((6, 1), var))
    to_numpy(plain, tmp_path / "counts.py")
    mean, std = runpy.run_path(str(tmp_path / "counts.py"))["predict_distribution"](MEANS)
    np.testing.assert_allclose(mean, expected.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(std, expected.std[:, 0], rtol=1e-6)
    if var > 1e-3:
        again = expected._replace(epistemic_std=np.sqrt(np.maximum(std**2 - mean, 0))[:, None])
        np.testing.assert_allclose(again.log_rate[1][2:], var, rtol=1e-5)
    to_onnx(plain, tmp_path / "counts.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "counts.onnx"), providers=["CPUExecutionProvider"])
    mean, variance, epistemic = session.run(["mean", "variance", "epistemic_variance"], {"x": MEANS})
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(variance), expected.std, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(epistemic), expected.epistemic_std, rtol=1e-5)
    assert session.get_modelmeta().custom_metadata_map["likelihood"] == "poisson"


def test_the_posterior_mean_network(tmp_path: Path) -> None:
    """identity: exp of the log rate, held below exp(MAX_LOG_RATE), also saved and loaded; the whole module pickles."""
    plain, x = counts_of(0.3), torch.tensor([[-20.0], [0.7], [100.0]])
    save_torch(plain, tmp_path / "counts.pt")
    torch.save(to_torch(plain), tmp_path / "whole.pt")
    for model in (to_torch(plain), load_torch(tmp_path / "counts.pt")):
        found = model(x).detach().numpy()[:, 0]
        np.testing.assert_allclose(found, np.exp([-20.0, 0.7, MAX_LOG_RATE]), rtol=1e-5)
    assert torch.equal(torch.load(tmp_path / "whole.pt", weights_only=False)(x), to_torch(plain)(x))
