"""The equations of the AMP baseline against loops."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from tdamp.numerics.beliefs import Moments
from tdamp_bench.methods.baselines import amp_step
from tdamp_bench.methods.baselines.amp_step import Layer


def relu_by_quadrature(p, v, b, a):
    """Mean and variance of u = max(z, 0), and g and Gamma, for z ~ N(p, v) and a message exp(b u - a u^2 / 2)."""
    z = np.linspace(p - 12 * np.sqrt(v), p + 12 * np.sqrt(v), 40001)
    u = np.maximum(z, 0)
    weight = np.exp(-((z - p) ** 2) / (2 * v) + b * u - a * u * u / 2)
    weight /= weight.sum()
    u_mean, z_mean = weight @ u, weight @ z
    z_var = weight @ (z - z_mean) ** 2
    return u_mean, weight @ (u - u_mean) ** 2, (z_mean - p) / v, max((1 - z_var / v) / v, 0.0)


def argmax_by_hand(p, v, label):
    """g and Gamma of one row's scores, rival by rival."""
    g, gamma = np.zeros(len(p)), np.zeros(len(p))
    for k in set(range(len(p))) - {label}:
        std = np.sqrt(v[k] + v[label])
        a = (p[label] - p[k]) / std
        h = np.exp(norm.logpdf(a) - norm.logcdf(a))
        g[k], gamma[k] = -h / std, h * (a + h) / std**2
    g[label], gamma[label] = -g.sum(), gamma.sum()
    return g, gamma


def minibatch_by_loops(task, iterations, priors, means, x, y, noise_var):
    """The equations of appendix A.7 index by index: k output unit, i input unit, n row. Lists of priors and means."""
    depth, rows = len(priors), len(x)
    widths = [prior[0].shape[0] - 1 for prior in priors] + [priors[-1][0].shape[1]]
    m = [a.copy() for a in means]
    s = [prior[1].copy() for prior in priors]
    g = [np.zeros((rows, w)) for w in widths[1:]]
    big_a, big_b = ([np.zeros((rows, w)) for w in widths[1:]] for _ in "ab")
    m_old, u_old = m, [np.zeros((rows, w + 1)) for w in widths[:-1]]
    for _ in range(iterations):
        u = [np.hstack([x, np.ones((rows, 1))])]
        d = [np.zeros_like(u[0])]
        p, v, gamma = [], [], [np.zeros_like(a) for a in g]
        for l in range(depth):
            p.append(np.zeros((rows, widths[l + 1])))
            v.append(np.full((rows, widths[l + 1]), amp_step.VAR_FLOOR))
            for n in range(rows):
                for k in range(widths[l + 1]):
                    for i in range(widths[l] + 1):
                        w, var, un, dn, go = m[l][i, k], s[l][i, k], u[l][n, i], d[l][n, i], g[l][n, k]
                        p[l][n, k] += w * un - go * var * un * u_old[l][n, i] - go * w * m_old[l][i, k] * dn
                        p[l][n, k] += go**2 * var * m_old[l][i, k] * u_old[l][n, i] * dn
                        v[l][n, k] += w**2 * dn + var * un**2 + var * dn
            if l < depth - 1:
                u.append(np.ones((rows, widths[l + 1] + 1)))
                d.append(np.zeros((rows, widths[l + 1] + 1)))
                for n, k in np.ndindex(rows, widths[l + 1]):
                    message = big_b[l][n, k], big_a[l][n, k]
                    u[-1][n, k], d[-1][n, k], _, _ = relu_by_quadrature(p[l][n, k], v[l][n, k], *message)
        m_new, s_new = [a.copy() for a in m], [a.copy() for a in s]
        for l in reversed(range(depth)):
            for n in range(rows):
                if l == depth - 1 and task == "classification":
                    g[l][n], gamma[l][n] = argmax_by_hand(p[l][n], v[l][n], y[n])
                elif l == depth - 1:
                    g[l][n], gamma[l][n] = (y[n] - p[l][n]) / (v[l][n] + noise_var), 1 / (v[l][n] + noise_var)
                else:
                    for k in range(widths[l + 1]):
                        message = big_b[l][n, k], big_a[l][n, k]
                        _, _, g[l][n, k], gamma[l][n, k] = relu_by_quadrature(p[l][n, k], v[l][n, k], *message)
                for i in range(widths[l] if l > 0 else 0):
                    w, var, gn, cn = m[l][i], s[l][i], g[l][n], gamma[l][n]
                    big_a[l - 1][n, i] = sum(w**2 * cn)
                    big_b[l - 1][n, i] = sum(w * gn) + u[l][n, i] * (sum(w**2 * cn) - sum(var * cn))
            for i, k in np.ndindex(*m[l].shape):
                big_g = sum(u[l][:, i] ** 2 * gamma[l][:, k])
                big_h = sum(u[l][:, i] * g[l][:, k]) + m[l][i, k] * (big_g - sum(d[l][:, i] * gamma[l][:, k]))
                prior_mean, prior_var = priors[l][0][i, k], priors[l][1][i, k]
                s_new[l][i, k] = 1 / (1 / prior_var + big_g)
                posterior_mean = (prior_mean / prior_var + big_h) * s_new[l][i, k]
                m_new[l][i, k] = 0.8 * m[l][i, k] + 0.2 * posterior_mean
                if l == 0 and i == 0 and k == 0:
                    first_posterior = posterior_mean
        m_old, u_old, m, s = m, u, m_new, s_new
    return m, s, first_posterior


@pytest.mark.parametrize(("task", "hidden"), [("classification", (4,)), ("regression", (3, 4))])
@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_a_minibatch_equals_loops(task, hidden, iterations):
    """twin: the equations written index by index in NumPy, with the ReLU by quadrature; padding rows say nothing."""
    rng = np.random.default_rng(0)
    widths = (5, *hidden, 3 if task == "classification" else 1)
    x = rng.standard_normal((4, 5))
    y = np.array([0, 2, 1, 2]) if task == "classification" else rng.standard_normal((4, 1))
    shapes = [(a + 1, b) for a, b in pairwise(widths)]
    priors = [(0.4 * rng.standard_normal(shape), 0.05 + 0.1 * rng.random(shape)) for shape in shapes]
    means = [prior[0] + 0.05 * rng.standard_normal(prior[0].shape) for prior in priors]
    expected_mean, expected_var, first = minibatch_by_loops(task, iterations, priors, means, x, y, 0.3)
    layers = tuple(
        Layer(Moments(*map(jnp.asarray, prior)), jnp.asarray(mean)) for prior, mean in zip(priors, means, strict=True)
    )
    padded_x, padded_y = np.concatenate([x, 9 + x[:2]]), np.concatenate([y, y[:2]])
    present = jnp.array([1.0, 1, 1, 1, 0, 0])
    result, _ = amp_step.minibatch(
        task, iterations, layers, jnp.asarray(padded_x), jnp.asarray(padded_y), present, jnp.asarray(0.3)
    )
    for layer, mean, var in zip(result, expected_mean, expected_var, strict=True):
        np.testing.assert_allclose(layer.mean, mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(layer.prior.var, var, rtol=1e-4)
    assert float(result[0].prior.mean[0, 0]) == pytest.approx(first, rel=1e-4)


def test_argmax_equals_the_derivatives_of_its_log_partition():
    """autodiff: eq. (132), differentiated once and twice in every mean."""
    rng = np.random.default_rng(1)
    mean, var, label = jnp.asarray(rng.standard_normal(5)), jnp.asarray(0.1 + rng.random(5)), 3

    def log_partition(mean):
        terms = jax.scipy.stats.norm.logcdf((mean[label] - mean) / jnp.sqrt(var + var[label]))
        return terms.sum() - terms[label]

    score, prec = jax.jit(amp_step.argmax_score)(Moments(mean[None], var[None]), jnp.array([label]))
    np.testing.assert_allclose(score[0], jax.jit(jax.grad(log_partition))(mean), rtol=1e-6)
    np.testing.assert_allclose(prec[0], -jnp.diag(jax.jit(jax.hessian(log_partition))(mean)), rtol=1e-6)
