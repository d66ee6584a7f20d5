"""Exports of calibrated regressions, and of noise that depends on the inputs."""

from __future__ import annotations

import dataclasses
import json
import runpy
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from helpers.random_fitted import random_fitted, random_plain, scaled
from tdamp.engine.network import Network
from tdamp.export import to_numpy, to_onnx, to_torch
from tdamp.export.plain import plain_of
from tdamp.prediction import batched
from tdamp.training.calibration import Calibration

BY = Calibration(np.array([3.0, 0.4]), np.array([1.5, 2.5]), np.array([5.0, 40.0]))


@pytest.mark.parametrize("noise", ["constant", "varying"])
def test_every_export_predicts_as_wide(noise: str, tmp_path: Path) -> None:
    """twin: the library's own stretched prediction, to the files' rounding; the tails are told."""
    network = Network((4, 6, 2 if noise == "constant" else 4), noise=noise)  # type: ignore[arg-type]
    made = random_fitted(Network(network.widths), 7, seed=2, decades=0.3)
    state = made.state._replace(noise_var=made.state.noise_var[:2])
    fitted = dataclasses.replace(made, network=network, state=state, calibration=BY)
    _, x = random_plain(made, 7, seed=2)
    plain = plain_of(
        fitted,
        n_features=7,
        x_mean=x.mean(0),
        x_scale=x.std(0),
        y_mean=np.array([3.0, -2.0]),
        y_scale=np.array([2.0, 0.1]),
    )
    rows = np.zeros((len(x), 7))
    rows[:, plain.inputs] = scaled(plain, x)
    exact = batched.predicted(fitted, rows)
    mean = plain.y_mean + plain.y_scale * exact.mean
    var = plain.y_scale**2 * (exact.var)
    assert (np.ptp(exact.aleatoric_var, axis=0) > 0).all() == (noise == "varying")

    to_onnx(plain, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    found = session.run(None, {"x": x})
    np.testing.assert_allclose(found[0], mean, atol=1e-3 * np.sqrt(var).min())
    np.testing.assert_allclose(found[1], var, rtol=1e-3)
    np.testing.assert_allclose(found[2], plain.y_scale**2 * exact.epistemic_var, rtol=1e-3)
    properties = {p.key: p.value for p in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert json.loads(properties["dof"]) == [5.0, 40.0]

    to_numpy(plain, tmp_path / "model.py")
    alone = runpy.run_path(str(tmp_path / "model.py"))
    np.testing.assert_allclose(alone["predict_distribution"](x)[0], mean, atol=1e-4 * np.sqrt(var).min())
    np.testing.assert_allclose(alone["predict_distribution"](x)[1], np.sqrt(var), rtol=1e-4)
    assert alone["MODEL"]["dof"] == [5.0, 40.0]

    import torch

    model = to_torch(plain)
    point = model(torch.from_numpy(x[:, model.inputs])).detach().numpy()
    np.testing.assert_allclose(
        point,
        plain.y_mean + plain.y_scale * batched.point(fitted, rows)[:, :2],
        rtol=1e-2,
        atol=1e-2 * plain.y_scale.max(),
    )
