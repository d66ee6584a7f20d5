"""The exam of every likelihood in the catalog: messages, checks, noise, training, files and exports.

covers: factors.likelihoods.base, factors.likelihoods.catalog, factors.likelihoods.poisson, numerics.finite
"""

from __future__ import annotations

import dataclasses
import pickle
import runpy
from copy import copy
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import tdamp
from helpers.likelihood_cases import CASES
from tdamp import Network, Settings, TDAMPClassifier, TDAMPRegressor, fit
from tdamp.cli import export_check
from tdamp.engine.predict import output_moments
from tdamp.export import load_torch
from tdamp.factors.likelihoods.catalog import LIKELIHOODS
from tdamp.numerics.beliefs import Moments

NOISE_VAR = 0.7
MEANS, VARS = (-1.0, 0.4), (0.02, 0.6, 2.5)


def outputs(name: str, mean: float, var: float, dtype: str = "float64") -> Moments:
    """Moments of one row's outputs, each a little different."""
    n = CASES[name].n_outputs
    return Moments(
        jnp.asarray([[mean + 0.3 * k for k in range(n)]], dtype),
        jnp.asarray([[var * (1 + 0.5 * k) for k in range(n)]], dtype),
    )


def target(name: str, y: float, dtype: str = "float64") -> jax.Array:
    """One row of y as the likelihood takes it."""
    return jnp.asarray([int(y)]) if LIKELIHOODS[name].has_classes else jnp.asarray([[y]], dtype)


def noise(name: str, dtype: str = "float64") -> jax.Array:
    """The noise variance in the likelihood's shape."""
    return jnp.asarray(NOISE_VAR if LIKELIHOODS[name].has_classes else [NOISE_VAR], dtype)


def total(values: jax.Array) -> jax.Array:
    """Of a row, over its targets."""
    return jnp.sum(values)


def test_every_likelihood_is_examined() -> None:
    """contract: a member of the catalog has a case here, under the name that it gives itself."""
    assert set(CASES) == set(LIKELIHOODS)
    assert all(name == one.name for name, one in LIKELIHOODS.items())


@pytest.mark.parametrize("name", CASES)
def test_log_partition(name: str) -> None:
    """quadrature: the log of the integral of the density over Gaussian outputs, by a dense grid."""
    case, likelihood = CASES[name], LIKELIHOODS[name]
    nodes = np.linspace(-9, 9, 401)
    weights = np.exp(-0.5 * nodes**2)
    for mean in MEANS:
        for var in VARS:
            z = outputs(name, mean, var)
            axes = np.meshgrid(*[np.arange(401)] * case.n_outputs, indexing="ij")
            index = np.stack([axis.ravel() for axis in axes], -1)
            points = np.asarray(z.mean) + np.sqrt(np.asarray(z.var)) * nodes[index]
            share = np.prod(weights[index] / weights.sum(), -1)
            for y in case.targets:
                expected = np.log(share @ np.exp(case.log_density(points, y, NOISE_VAR)))
                actual = total(likelihood.log_partition(z, target(name, y), noise(name)))
                assert abs(actual - expected) < case.error


@pytest.mark.parametrize("name", CASES)
def test_score(name: str) -> None:
    """autodiff: first and minus second derivative of the log-partition in the means, where the case says exact."""
    case, likelihood = CASES[name], LIKELIHOODS[name]

    def log_partition(mean: jax.Array, var: jax.Array, goal: jax.Array) -> jax.Array:
        return total(likelihood.log_partition(Moments(mean[None], var), goal, noise(name)))

    derivatives = jax.jit(lambda *args: (jax.grad(log_partition)(*args), jax.hessian(log_partition)(*args)))
    for var in VARS:
        z = outputs(name, 0.3, var)
        for y in case.targets:
            slope, bend = derivatives(z.mean[0], z.var, target(name, y))
            score = likelihood.score(z, target(name, y), noise(name))
            for k in case.exact:
                np.testing.assert_allclose(score.score[0, k], slope[k], rtol=1e-5, atol=1e-7)
                np.testing.assert_allclose(score.prec[0, k], -bend[k, k], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_finite_over_the_numeric_range(name: str, dtype: str) -> None:
    """contract: finite scores and log-partitions for means of +-8 and variances of 1e-6 to 1e6; precisions within their
    bounds where the likelihood says that it is log-concave."""
    likelihood = LIKELIHOODS[name]
    messages = jax.jit(lambda *args: (likelihood.score(*args), likelihood.log_partition(*args)))
    for mean in (-8.0, 0.0, 8.0):
        for var in (1e-6, 1.0, 1e6):
            for y in CASES[name].targets:
                args = outputs(name, mean, var, dtype), target(name, y, dtype), noise(name, dtype)
                score, log_partition = messages(*args)
                assert all(bool(jnp.isfinite(a).all()) for a in (*score, log_partition))
                assert {a.dtype.name for a in score} == {dtype}
                if likelihood.log_concave:
                    assert bool((score.prec >= 0).all() and (score.prec * args[0].var <= 1 + 1e-4).all())


@pytest.mark.parametrize("name", CASES)
def test_rows_are_independent(name: str) -> None:
    """identity: permuting rows permutes scores."""
    likelihood, case = LIKELIHOODS[name], CASES[name]
    rng = np.random.default_rng(0)
    z = Moments(
        jnp.asarray(rng.normal(size=(5, case.n_outputs))), jnp.asarray(rng.uniform(0.1, 1, (5, case.n_outputs)))
    )
    y = jnp.concatenate([target(name, case.targets[i % len(case.targets)]) for i in range(5)])
    order = np.array([3, 1, 4, 0, 2])
    whole, permuted = (
        likelihood.score(z, y, noise(name)),
        likelihood.score(Moments(*(a[order] for a in z)), y[order], noise(name)),
    )
    np.testing.assert_allclose(permuted.score, whole.score[order], rtol=1e-12)
    np.testing.assert_allclose(permuted.prec, whole.prec[order], rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_targets_are_checked(name: str) -> None:
    """contract: the example passes; text, NaN and another number of columns are refused."""
    likelihood = LIKELIHOODS[name]
    n_targets = CASES[name].n_outputs // likelihood.outputs_per_target
    checked = likelihood.check_y(likelihood.example_y(n_targets), n_targets, np.float32)
    assert len(checked) == 1
    for bad in (np.array(["a", "b"]), np.array([[np.nan]]), np.zeros((2, 7))):
        with pytest.raises(ValueError):
            likelihood.check_y(bad, n_targets, np.float32)


@pytest.mark.parametrize("name", CASES)
def test_noise_statistics_add_up(name: str) -> None:
    """identity: the statistics of a batch are the sums of those of its parts, and of no rows they are zero."""
    likelihood, case = LIKELIHOODS[name], CASES[name]
    rng = np.random.default_rng(1)
    z = Moments(
        jnp.asarray(rng.normal(size=(6, case.n_outputs))), jnp.asarray(rng.uniform(0.1, 1, (6, case.n_outputs)))
    )
    y = jnp.concatenate([target(name, case.targets[i % len(case.targets)]) for i in range(6)])
    first = jnp.asarray([1.0, 1, 0, 0, 1, 0])
    parts = [likelihood.noise_stats("em", z, y, weight, noise(name)) for weight in (first, 1 - first, jnp.ones(6))]
    for a, b, whole in zip(*parts, strict=True):
        np.testing.assert_allclose(a + b, whole, rtol=1e-10)
    empty = likelihood.empty_noise_stats("em", case.n_outputs // likelihood.outputs_per_target, jnp.float64)
    assert [leaf.shape for leaf in empty] == [leaf.shape for leaf in parts[0]] and not any(
        np.any(leaf) for leaf in empty
    )
    moved = np.asarray(likelihood.noise_target("em", parts[2], noise(name)))
    assert np.isfinite(moved).all() and likelihood.learns_noise == bool(np.any(moved != noise(name)))


@pytest.mark.parametrize("name", CASES)
def test_the_unit_of_noise_statistics(name: str) -> None:
    """identity: scores, targets and noise ten times as large have the same statistics in their unit, where outputs and
    targets share one."""
    likelihood, case = LIKELIHOODS[name], CASES[name]
    n_targets = case.n_outputs // likelihood.outputs_per_target
    z, y = outputs(name, 0.4, 0.6), target(name, case.targets[1])
    moved = Moments(z.mean.at[:, :n_targets].mul(10), z.var.at[:, :n_targets].mul(100))
    results = []
    for outs, goal, var in ((z, y, noise(name)), (moved, y if likelihood.has_classes else 10 * y, 100 * noise(name))):
        sums = likelihood.noise_stats("em", outs, goal, jnp.ones(1), var).sums
        unit = likelihood.noise_unit(np.asarray(var))
        assert np.broadcast_shapes(np.shape(unit), sums.shape) == sums.shape
        results.append(sums / unit)
    if likelihood.learns_noise:
        np.testing.assert_allclose(results[0], results[1], rtol=1e-10)


def rows(name: str, n: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Targets that follow the first of two inputs."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, 2))
    return x, CASES[name].draw(rng, x)


@pytest.mark.parametrize("name", CASES)
def test_it_trains(name: str) -> None:
    """rate: the log score of the training rows gains at least a fifth of a nat a row over that of a constant."""
    x, y = rows(name)
    network = Network((2, 8, CASES[name].n_outputs), likelihood=name)
    fitted = fit(network, x.astype(np.float32), y, Settings(max_epochs=20, batch_size=16), seed=0)
    z = output_moments(fitted.network, fitted.state.layers, x[:, fitted.inputs])
    score = float(np.mean(network.output.log_scores(z, jnp.asarray(y), fitted.state.noise_var)))
    assert fitted.network.likelihood == name and score > CASES[name].constant_score(y) + 0.2


def fitted_model(name: str) -> Any:
    """A small estimator with this likelihood."""
    x, y = rows(name)
    kind = TDAMPClassifier if LIKELIHOODS[name].has_classes else TDAMPRegressor
    model = kind((6,), likelihood=name, max_epochs=5, early_stopping=False, random_state=0)
    return model.fit(x, y if LIKELIHOODS[name].has_classes else y[:, 0])


def predictions(model: Any, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Class probabilities, or mean and standard deviation of a new observation."""
    if model.network_.output.has_classes:
        return (model.predict_proba(x),)
    return model.predict(x, return_std=True)


@pytest.mark.parametrize("name", CASES)
def test_files(name: str, tmp_path: Path) -> None:
    """identity: a loaded model has the same likelihood and predicts the same bits; so does a pickled one."""
    model, (x, _) = fitted_model(name), rows(name)
    tdamp.save(model, tmp_path / "model")
    for again in (tdamp.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.fitted_.network == model.fitted_.network and again.network_.output is LIKELIHOODS[name]
        for ours, theirs in zip(predictions(again, x), predictions(model, x), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", CASES)
def test_exports(name: str, tmp_path: Path) -> None:
    """twin: every exported file predicts what the model does, unless it says what to do instead; the posterior-mean
    network of PyTorch what the model's own does."""
    model, (x, _) = fitted_model(name), rows(name)
    if LIKELIHOODS[name].export_form is None:
        with pytest.raises(ValueError, match=f"'{name}' has no export yet: predict in Python"):
            model.to_plain()
        return
    plain, x = model.to_plain(), x.astype(np.float32).astype(np.float64)
    for to in ("numpy", "onnx", "torch"):
        export_check.write(to, plain, tmp_path / to)
        assert export_check.difference(to, tmp_path / to, model) < 1e-4
    exported = runpy.run_path(str(tmp_path / "numpy"))
    expected = predictions(model, x)
    actual = exported["predict_distribution"](x)
    for ours, theirs in zip(actual if isinstance(actual, tuple) else (actual,), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    if model.network_.output.has_classes:
        np.testing.assert_array_equal(exported["predict"](x), model.predict(x))
    else:
        np.testing.assert_allclose(exported["predict"](x), model.predict(x), rtol=1e-4, atol=1e-5)
        point = mean_model(model).predict(x)
        module = load_torch(tmp_path / "torch")
        theirs = module(torch.from_numpy(x[:, module.inputs].astype(np.float32))).detach().numpy()[:, 0]
        np.testing.assert_allclose(theirs, point, rtol=1e-4, atol=1e-5)


def mean_model(model: Any) -> Any:
    """The same model, predicting by its posterior mean alone."""
    other = copy(model)
    other.fitted_ = dataclasses.replace(model.fitted_, prediction="mean")
    return other
