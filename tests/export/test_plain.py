"""The plain form, the tails that exports share, and missing libraries.

covers: _optional, export.tails, export.torch_rate
"""

from __future__ import annotations

import dataclasses
import sys
from typing import get_args

import mpmath
import numpy as np
import pytest
from jax import Array
from numpy.polynomial import polynomial

from helpers.random_fitted import random_fitted, random_plain
from tdamp._optional import MissingExtra, need
from tdamp.engine.network import Network
from tdamp.engine.turbo import posterior
from tdamp.export import onnx, plain, predictor, tails, to_onnx, torch
from tdamp.factors.likelihoods.base import ExportForm, Likelihood
from tdamp.factors.likelihoods.catalog import LIKELIHOODS
from tdamp.factors.likelihoods.gaussian import Gaussian
from tdamp.factors.likelihoods.heteroscedastic import Heteroscedastic
from tdamp.numerics.beliefs import Moments
from tdamp.numerics.distribution import Distribution

NETWORK = Network((3, 4, 2))


def test_plain_of_picks_the_columns_and_the_marginals() -> None:
    """identity: scales of the columns that are read, in their order; marginals with the spikes in them."""
    fitted = random_fitted(NETWORK, 7, seed=0)
    mean, scale = np.arange(7.0), 1 + np.arange(7.0)
    found = plain.plain_of(fitted, n_features=7, x_mean=mean, x_scale=scale, feature_names=np.array(list("abcdefg")))
    np.testing.assert_array_equal(found.x_mean, mean[fitted.inputs])
    np.testing.assert_array_equal(found.x_scale, scale[fitted.inputs])
    assert found.network == NETWORK and found.feature_names == tuple("abcdefg")
    for ours, layer in zip(found.layers, fitted.state.layers, strict=True):
        weight, bias = posterior(layer)
        assert (np.asarray(weight.mean) != np.asarray(layer.weight.mean)).any()  # some units are in question
        for a, b in zip(ours, (layer.centre, *weight, *bias), strict=True):
            assert type(a) is np.ndarray
            np.testing.assert_array_equal(a, b)


def test_labels_become_plain_values() -> None:
    """contract: NumPy's label types and Python's; anything else is refused."""
    fitted = random_fitted(Network((3, 4, 2), "classification"), 3, seed=0)
    for labels in (np.array(["a", "b"]), np.array([1, 2]), np.array([0.5, 1.5]), np.array([False, True]), ["é", "b"]):
        found = plain.plain_of(fitted, n_features=3, x_mean=0.0, x_scale=1.0, classes=labels).classes
        assert found == tuple(labels) and {type(label) for label in found} <= {str, int, float, bool}
    with pytest.raises(ValueError, match="expected text, numbers or booleans"):
        plain.plain_of(fitted, n_features=3, x_mean=0.0, x_scale=1.0, classes=[None, b"x"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_features": 2}, "reads column"),
        ({"x_mean": np.zeros(3)}, "x_mean: expected one number or 7"),
        ({"x_scale": np.zeros(7)}, "x_scale: expected positive"),
        ({"y_scale": [1.0, np.nan]}, "y_scale: expected positive"),
        ({"classes": ["a"]}, "expected 2 labels"),
        ({"feature_names": ["a"]}, "expected 7 names"),
    ],
)
def test_wrong_scales_are_refused(wrong: dict, message: str) -> None:
    """contract: each wrong argument is named."""
    right = {"n_features": 7, "x_mean": np.zeros(7), "x_scale": np.ones(7)}
    with pytest.raises(ValueError, match=message):
        plain.plain_of(random_fitted(NETWORK, 7, seed=0), **(right | wrong))


@pytest.mark.parametrize(("degree", "tolerance"), [("float32", 2e-7), ("float64", 1e-13)])
def test_tail_series(degree: str, tolerance: float) -> None:
    """identity: J_0, J_1, J_2 in closed form by erfc at 80 digits; ours from one series, a = 0..1e4."""
    a = np.concatenate([[0.0], np.geomspace(1e-3, 1e4, 60)])
    y = (a - tails.CENTRE) / (a + tails.CENTRE)
    second = polynomial.polyval(y, tails.series(tails.DEGREE[degree])) / (a + tails.CENTRE) ** 3
    ours = (second + a) / (1 + a * a), (1 - a * second) / (1 + a * a), second
    with mpmath.workdps(80):
        for i, at in enumerate(map(mpmath.mpf, a)):
            mass = mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(at * at / 2) * mpmath.erfc(at / mpmath.sqrt(2))
            for found, exact in zip(ours, (mass, 1 - at * mass, (1 + at * at) * mass - at), strict=True):
                assert abs(found[i] / exact - 1) < tolerance


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """contract: the error names the library and the command that installs it; nothing is written."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    fitted = random_fitted(NETWORK, 7, seed=0)
    with pytest.raises(MissingExtra, match=r"needs onnx.*pip install 'tdamp\[export\]'"):
        to_onnx(random_plain(fitted, 7, seed=0)[0], tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
    assert need("json", "export").dumps([1]) == "[1]"


def test_a_likelihood_without_an_export_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: one that predicts in its own way is not exported as its base; one that does not keeps the base's form;
    a form of its own is taken at its word."""

    class Same(Gaussian):
        name = "toy"

    class Toy(Gaussian):
        name = "toy"

        def predictive(self, z: Moments, noise_var: Array) -> Distribution:
            return Distribution.from_vars(2 * z.mean, z.var, noise_var)

    class WithForm(Toy):
        export_form = "mean"

    fitted = random_fitted(Network((3, 2)), 3, seed=0)
    for kind in (Same, Toy, WithForm):
        monkeypatch.setitem(LIKELIHOODS, "toy", kind())
        other = dataclasses.replace(fitted, network=Network((3, 2), likelihood="toy"))
        if kind is Toy:
            with pytest.raises(ValueError, match="likelihood='toy' has no export yet"):
                plain.plain_of(other, n_features=3, x_mean=0.0, x_scale=1.0)
        else:
            found = plain.plain_of(other, n_features=3, x_mean=0.0, x_scale=1.0)
            assert found.form == "mean" and found.network == other.network
    assert Heteroscedastic.export_form == "mean_and_log_noise" and Likelihood.export_form is None


def test_scales_of_counts_are_refused() -> None:
    """contract: counts keep their unit, so that scales of y could only be forgotten."""
    fitted = random_fitted(Network((3, 2)), 3, seed=0)
    other = dataclasses.replace(fitted, network=Network((3, 2), likelihood="poisson"))
    for wrong in ({"y_mean": 1.0}, {"y_scale": [1.0, 2.0]}):
        with pytest.raises(ValueError, match="'poisson' takes targets in their own units"):
            plain.plain_of(other, n_features=3, x_mean=0.0, x_scale=1.0, **wrong)
    found = plain.plain_of(other, n_features=3, x_mean=0.0, x_scale=1.0, y_mean=np.zeros(2), y_scale=1.0)
    assert found.form == "log_rate" and found.network == other.network
    assert plain.describe(found)["likelihood"] == "poisson"


@pytest.mark.parametrize("form", get_args(ExportForm))
def test_every_exporter_knows_every_form(form: str) -> None:
    """contract: what a likelihood may say of its outputs has its place in each exporter."""
    assert form in onnx.OUTPUTS and form in predictor.FORMS and form in torch.FORMATS
