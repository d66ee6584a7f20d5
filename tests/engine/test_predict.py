"""Predictions: sampled weights, plain NumPy, and integrals over the noisy scores."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from tdamp.engine import predict
from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, init
from tdamp.numerics import gaussian_argmax
from tdamp.numerics.beliefs import Moments
from tdamp.prediction import batched

output_moments = jax.jit(predict.output_moments, static_argnums=0)
mean_network = jax.jit(predict.mean_network, static_argnums=0)
class_probs = jax.jit(predict.class_probs)
log_class_probs = jax.jit(predict.log_class_probs)


def random_state(network: Network, seed: int = 0) -> tuple[State, np.ndarray]:
    """A state with random centres and moments of the order of a trained one, and four rows of data."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(50, network.widths[0]))
    state = init(network, Settings(), np.random.default_rng(seed), x, rng.normal(size=(50, network.widths[-1])))
    layers = []
    for layer in state.layers:
        n_in, n_out = layer.weight.var.shape
        prec = 10 * n_in * (0.5 + rng.exponential(size=(n_in, n_out)))
        bias_prec = 20 * (0.5 + rng.exponential(size=n_out))
        layers.append(
            layer._replace(
                weight=Moments(jnp.asarray(rng.normal(size=prec.shape) / np.sqrt(n_in)), jnp.asarray(1 / prec)),
                bias=Moments(jnp.asarray(rng.normal(size=n_out)), jnp.asarray(1 / bias_prec)),
                centre=jnp.asarray(rng.normal(size=n_in)),
                active_prob=jnp.asarray((rng.random(n_in) < 0.8).astype(float)),
            )
        )
    return state._replace(layers=tuple(layers)), x[:4]


def sampled(state: State, x: np.ndarray, n_samples: int) -> np.ndarray:
    """Outputs of ReLU networks whose parameters are drawn from the posterior, (samples, rows, outputs)."""
    rng = np.random.default_rng(1)
    outputs = []
    for _ in range(n_samples):
        u = x
        for l, layer in enumerate(state.layers):
            draws = [np.asarray(m) + rng.normal(size=v.shape) * np.sqrt(v) for m, v in (layer.weight, layer.bias)]
            u = (u - np.asarray(layer.centre)) @ (np.asarray(layer.active_prob)[:, None] * draws[0]) + draws[1]
            u = np.maximum(u, 0) if l < len(state.layers) - 1 else u
        outputs.append(u)
    return np.array(outputs)


@pytest.mark.parametrize(
    ("widths", "bias"), [((5, 3), 0.0), ((5, 300, 2), 0.02)], ids=["one layer, exact", "one wide hidden layer, 2 %"]
)
def test_output_moments(widths: tuple[int, ...], bias: float) -> None:
    """calibration: mean and variance of networks with sampled weights, within five standard errors.

    One layer is exact. With a hidden layer the units' outputs are correlated only through the data, so that the
    moments are exact too up to the forward Gaussians of the units, which here are Gaussian given x: 2 % are allowed.
    """
    network, n = Network(widths), 3000
    state, x = random_state(network)
    ours = output_moments(network, state.layers, x)
    outputs = sampled(state, x, n)
    std = outputs.std(0)
    assert np.all(np.abs(ours.mean - outputs.mean(0)) < 5 * std / np.sqrt(n) + bias * std)
    assert np.all(np.abs(ours.var / outputs.var(0) - 1) < 5 * np.sqrt(2 / n) + bias)


@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "abs", "hard_tanh", "identity"])
def test_mean_network(activation: str) -> None:
    """twin: the network of posterior means in plain NumPy."""
    network = Network((5, 7, 6, 2), activation=activation)
    state, x = random_state(network)
    functions = {
        "relu": lambda z: np.maximum(z, 0),
        "leaky_relu": lambda z: np.where(z > 0, z, 0.01 * z),
        "abs": np.abs,
        "hard_tanh": lambda z: np.clip(z, -1, 1),
        "identity": lambda z: z,
    }
    u = x
    for l, layer in enumerate(state.layers):
        weight = np.asarray(layer.active_prob)[:, None] * np.asarray(layer.weight.mean)
        u = (u - np.asarray(layer.centre)) @ weight + np.asarray(layer.bias.mean)
        u = functions[activation](u) if l < 2 else u
    np.testing.assert_allclose(mean_network(network, state.layers, x), u, rtol=1e-12, atol=1e-12)


def exact_probs(mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    """P(score y is the largest) by a dense grid around every score."""
    found = []
    for y in range(len(mean)):
        t = np.linspace(-9, 9, 20001)
        points = mean[y] + np.sqrt(var[y]) * t
        beats = [norm.cdf((points - mean[m]) / np.sqrt(var[m])) for m in range(len(mean)) if m != y]
        found.append((norm.pdf(t) * np.prod(beats, axis=0)).sum() * (t[1] - t[0]))
    return np.array(found)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("noise_var", [0.0, 0.5])
def test_class_probs(n_classes: int, noise_var: float) -> None:
    """quadrature: a dense grid, and for two classes the closed form; to 1e-5, and the sum is one."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        mean, var = 2 * rng.normal(size=n_classes), rng.uniform(0.5, 2.0, n_classes)
        ours = np.asarray(class_probs(Moments(jnp.asarray(mean), jnp.asarray(var)), noise_var))
        np.testing.assert_allclose(ours, exact_probs(mean, var + noise_var / 2), atol=1e-5)
        np.testing.assert_allclose(ours.sum(), 1, rtol=1e-12)
        if n_classes == 2:
            total = np.sqrt(var.sum() + noise_var)
            np.testing.assert_allclose(ours[0], norm.cdf((mean[0] - mean[1]) / total), atol=1e-6)


def test_class_probs_of_unlike_variances() -> None:
    """quadrature: scores whose standard deviations differ by up to ten, to 1e-5."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        mean, var = rng.normal(size=3), 10.0 ** rng.uniform(-1, 1, 3)
        ours = class_probs(Moments(jnp.asarray(mean), jnp.asarray(var)), 0.0)
        np.testing.assert_allclose(ours, exact_probs(mean, var), atol=1e-5)


def test_class_probs_at_the_extremes(dtype: str) -> None:
    """contract: scores of +-1e6, variances of 1e-12..1e12, mixed, give finite probabilities that sum to one."""
    rng = np.random.default_rng(2)
    mean = jnp.asarray(rng.choice([-1e6, -30.0, 0.0, 30.0, 1e6], (400, 4)), dtype)
    var = jnp.asarray(10.0 ** rng.choice([-12.0, 0.0, 12.0], (400, 4)), dtype)
    ours = np.asarray(class_probs(Moments(mean, var), jnp.asarray(1e-6, dtype)))
    assert ours.dtype == dtype and np.isfinite(ours).all() and (ours >= 0).all()
    np.testing.assert_allclose(ours.sum(1), np.ones(400), rtol=1e-5)
    logs = log_class_probs(Moments(mean, var), jnp.asarray(1e-6, dtype))
    np.testing.assert_allclose(np.exp(logs), ours, rtol=1e-5, atol=1e-30)
    shifted = class_probs(Moments(mean[:, [1, 2, 3, 0]], var[:, [1, 2, 3, 0]]), jnp.asarray(1e-6, dtype))
    np.testing.assert_allclose(shifted, ours[:, [1, 2, 3, 0]], atol=1e-6)  # classes have no order


def test_log_class_probs_of_a_lost_class() -> None:
    """identity: the log-probability of a class that has lost by ten sds, in float32, has a closed form."""
    z = Moments(jnp.asarray([[0.0, 20.0]], jnp.float32), jnp.ones((1, 2), jnp.float32))
    ours = log_class_probs(z, jnp.float32(2.0))
    np.testing.assert_allclose(ours[0, 0], norm.logcdf(-10.0), rtol=1e-5)  # margin -20, variance 1 + 1 + 2
    assert class_probs(z, jnp.float32(2.0))[0, 1] == 1


def test_known_scores_need_no_noise() -> None:
    """identity: without any variance the largest score has probability one, equal scores share it."""
    known = Moments(jnp.asarray([[0.0, 1.0, -1.0], [2.0, 2.0, 0.0]]), jnp.zeros((2, 3)))
    np.testing.assert_allclose(class_probs(known, 0.0), [[0, 1, 0], [0.5, 0.5, 0]], atol=1e-6)


def test_predictive_parts() -> None:
    """identity: epistemic variance is the outputs' own, aleatoric the noise, repeated for every row."""
    network = Network((5, 3))
    state, x = random_state(network)
    found = predict.predictive(network, state.layers, jnp.array([0.1, 0.2, 0.3]), x)
    z = output_moments(network, state.layers, x)
    np.testing.assert_allclose(found.mean, z.mean, rtol=1e-12)
    np.testing.assert_allclose(found.epistemic_var, z.var, rtol=1e-12)
    np.testing.assert_allclose(found.aleatoric_var, np.tile([0.1, 0.2, 0.3], (4, 1)), rtol=1e-12)


def varying_state(targets: int) -> tuple[Network, State, np.ndarray]:
    """A network whose noise varies, with a random posterior, and four rows."""
    network = Network((5, 4, 2 * targets), noise="varying")
    state, x = random_state(Network(network.widths))
    return network, state._replace(noise_var=jnp.linspace(0.1, 0.3, targets)), x


@pytest.mark.parametrize("targets", [1, 3])
def test_predictive_of_a_varying_noise(targets: int) -> None:
    """calibration: noise variances exp(h) of sampled h in the second half of the outputs; the first half are means."""
    network, state, x = varying_state(targets)
    found = predict.predictive(network, state.layers, state.noise_var, x)
    z = output_moments(network, state.layers, x)
    assert [part.shape for part in found[:3]] == [(4, targets)] * 3 and found.dof == np.inf
    np.testing.assert_allclose(found.mean, z.mean[:, :targets], rtol=1e-12)
    np.testing.assert_allclose(found.epistemic_var, z.var[:, :targets], rtol=1e-12)
    n, rng = 20000, np.random.default_rng(3)
    h = np.asarray(z.mean[:, targets:]) + np.sqrt(z.var[:, targets:]) * rng.normal(size=(n, 4, targets))
    drawn = np.asarray(state.noise_var) * np.exp(h)
    error = drawn.std(0) / np.sqrt(n)
    assert np.all(np.abs(found.aleatoric_var - drawn.mean(0)) < 5 * error)


def test_the_mean_network_of_a_varying_noise() -> None:
    """identity: the targets' outputs only, as the posterior-mean network in PyTorch has it."""
    network, state, x = varying_state(2)
    both = mean_network(Network(network.widths), state.layers, x)
    np.testing.assert_allclose(mean_network(network, state.layers, x), both[:, :2], rtol=1e-12)


def sizes(jaxpr: jax.extend.core.Jaxpr) -> Iterator[int]:
    """Of every array that a program makes, those of the programs inside it included."""
    for equation in jaxpr.eqns:
        yield from (int(np.prod(out.aval.shape)) for out in equation.outvars)
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda a: hasattr(a, "jaxpr")):
            if hasattr(inner, "jaxpr"):
                yield from sizes(inner.jaxpr)


@pytest.mark.parametrize("n_classes", [10, 400, 3000])
def test_memory_of_many_classes(n_classes: int) -> None:
    """contract: no array of a block of rows has more than MOST_NUMBERS numbers, or those of a single row."""
    rows = batched.rows_at_once(n_classes)
    z = jax.ShapeDtypeStruct((rows, n_classes), jnp.float32)
    program = jax.make_jaxpr(predict.log_class_probs)(Moments(z, z), jax.ShapeDtypeStruct((), jnp.float32))
    assert max(sizes(program.jaxpr)) <= max(batched.MOST_NUMBERS, n_classes**2)
    assert rows * n_classes * gaussian_argmax.NODES > batched.MOST_NUMBERS / 2 or n_classes > gaussian_argmax.NODES
