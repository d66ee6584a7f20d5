"""The AMP baseline: its equations against loops, its masks, and its training."""

from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from tdamp.numerics.beliefs import Moments
from tdamp_bench.core.jobs import Job, n_keep
from tdamp_bench.core.progress import silent
from tdamp_bench.methods.baselines import amp, amp_step
from tdamp_bench.methods.baselines.amp import Amp, Fleet, random_units
from tdamp_bench.methods.baselines.amp_step import Layer

WIDTHS = (12, 16, 3)
CONFIG = {"iterations": 1, "init_var": 0.3}


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
                    said = big_b[l][n, k], big_a[l][n, k]
                    u[-1][n, k], d[-1][n, k], _, _ = relu_by_quadrature(p[l][n, k], v[l][n, k], *said)
        m_new, s_new = [a.copy() for a in m], [a.copy() for a in s]
        for l in reversed(range(depth)):
            for n in range(rows):
                if l == depth - 1 and task == "classification":
                    g[l][n], gamma[l][n] = argmax_by_hand(p[l][n], v[l][n], y[n])
                elif l == depth - 1:
                    g[l][n], gamma[l][n] = (y[n] - p[l][n]) / (v[l][n] + noise_var), 1 / (v[l][n] + noise_var)
                else:
                    for k in range(widths[l + 1]):
                        said = big_b[l][n, k], big_a[l][n, k]
                        _, _, g[l][n, k], gamma[l][n, k] = relu_by_quadrature(p[l][n, k], v[l][n, k], *said)
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
    """Twin: the equations written index by index in NumPy, with the ReLU by quadrature; padding rows say nothing."""
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
    found, _ = amp_step.minibatch(
        task, iterations, layers, jnp.asarray(padded_x), jnp.asarray(padded_y), present, jnp.asarray(0.3)
    )
    for layer, mean, var in zip(found, expected_mean, expected_var, strict=True):
        np.testing.assert_allclose(layer.mean, mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(layer.prior.var, var, rtol=1e-4)
    assert float(found[0].prior.mean[0, 0]) == pytest.approx(first, rel=1e-4)


def test_argmax_equals_the_derivatives_of_its_log_partition():
    """Autodiff: eq. (132), differentiated once and twice in every mean."""
    rng = np.random.default_rng(1)
    mean, var, label = jnp.asarray(rng.standard_normal(5)), jnp.asarray(0.1 + rng.random(5)), 3

    def log_partition(mean):
        terms = jax.scipy.stats.norm.logcdf((mean[label] - mean) / jnp.sqrt(var + var[label]))
        return terms.sum() - terms[label]

    score, prec = jax.jit(amp_step.argmax_score)(Moments(mean[None], var[None]), jnp.array([label]))
    np.testing.assert_allclose(score[0], jax.jit(jax.grad(log_partition))(mean), rtol=1e-6)
    np.testing.assert_allclose(prec[0], -jnp.diag(jax.jit(jax.hessian(log_partition))(mean)), rtol=1e-6)


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.1, 0.33, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("widths", [(784, 128, 10), (13, 64, 64, 1)])
def test_units_are_counted_exactly(widths, keep):
    """Enumeration: exactly as many units as asked for, each once, at least one in each layer, other seeds others."""
    for seed in range(5):
        units = random_units(widths, keep, seed)
        assert sum(map(len, units)) == n_keep(widths, keep)
        for left, width in zip(units, widths[:-1], strict=True):
            assert 0 < len(left) == len(np.unique(left))
            assert left.min() >= 0 and left.max() < width
    if keep < 1:
        assert not np.array_equal(np.concatenate(random_units(widths, keep, 0)), np.concatenate(units))


def test_every_unit_can_be_drawn():
    """Rate: over many seeds each unit is left about as often as any other; 5 standard deviations."""
    left = np.zeros(30)
    for seed in range(400):
        first, second = random_units((20, 10, 3), 0.5, seed)
        left[first] += 1
        left[20 + second] += 1
    assert np.abs(left / 400 - 0.5).max() < 5 * np.sqrt(0.25 / 400)


@pytest.mark.parametrize("iterations", [1, 2])
def test_weights_of_removed_units_stay_zero(blobs, iterations):
    """Identity: in arrays of full size what is not left is exactly zero after training, and the rest has moved."""
    job = Job(blobs, 3, 0.4, CONFIG | {"iterations": iterations})
    fleet = Fleet([job], WIDTHS, 20, compact=False)
    before = jax.device_get(fleet.layers)
    fleet.train(2)
    first, second = fleet.units[0]
    for l, (here, above) in enumerate([(first, second), (second, np.arange(3))]):
        left = np.zeros(before[l].mean.shape[1:], bool)
        left[np.ix_([*range(len(here)), -1], range(len(above)))] = True
        mean, var = np.asarray(fleet.layers[l].mean[0]), np.asarray(fleet.layers[l].prior.var[0])
        assert (mean[~left] == 0).all() and (var[~left] == 0).all()
        assert (mean[left] != before[l].mean[0][left]).all()


def test_removed_inputs_do_not_matter(blobs):
    """Identity: a change in a removed column changes nothing, in a column that is left it does."""
    job = Job(blobs, 3, 0.4, CONFIG)
    left = random_units(WIDTHS, 0.4, 3)[0]
    removed = np.setdiff1d(np.arange(12), left)
    assert len(removed)

    def losses(column):
        x = blobs.x.copy()
        x[:, column] = 5.0
        return Amp().train([replace(job, problem=replace(blobs, x=x))], WIDTHS, 20, 2)[0].loss

    plain = Amp().train([job], WIDTHS, 20, 2)[0].loss
    assert losses(removed[0]) == plain
    assert losses(left[0]) != plain


def test_together_equals_one_by_one(lines, monkeypatch):
    """Twin: jobs together in arrays of full size, and each alone in arrays without the removed units."""
    jobs = [
        Job(lines[seed], seed, keep, {"iterations": iterations, "init_var": 0.1, "noise_var": noise_var})
        for seed, keep, iterations, noise_var in [(0, 0.5, 2, 0.1), (1, 1.0, 1, 0.3), (0, 0.7, 2, 0.3)]
    ]
    done = []
    together = Amp().train(jobs, (4, 6, 1), 20, 3, done.append)
    assert len(done) == 3
    monkeypatch.setattr(amp, "TOGETHER", 1)
    for job, run in zip(jobs, together, strict=True):
        (single,) = Amp().train([job], (4, 6, 1), 20, 3, silent)
        assert run.units == single.units == n_keep((4, 6, 1), job.keep)
        np.testing.assert_allclose(run.loss, single.loss, rtol=1e-3)


def test_seeds_decide(blobs):
    """Identity: the same seed gives the same run, another one another."""
    jobs = [Job(blobs, seed, 0.6, CONFIG) for seed in (0, 0, 1)]
    first, again, other = Amp().train(jobs, WIDTHS, 20, 3)
    assert first == again
    assert first.loss != other.loss


def test_it_learns_classes_and_a_line(blobs, lines):
    """Golden(the baseline must work on easy problems): error and NMSE far below chance and the mean."""
    classes = Amp().train([Job(blobs, 0, 1.0, CONFIG)], WIDTHS, 20, 5)[0]
    assert classes.loss[-1] < 0.05 and classes.note == ""
    config = {"iterations": 1, "init_var": 0.1, "noise_var": 0.1}
    line = Amp().train([Job(lines[0], 0, 1.0, config)], (4, 16, 1), 20, 40)[0]
    assert line.loss[-1] < 0.1 < line.loss[0]
    assert len(line.loss) == len(line.extra["clips"]) == 40


def test_divergence_is_infinite_and_told(lines):
    """Enumeration: from the first epoch that is not finite on the loss is infinite, never NaN, and the note says so."""
    broken = replace(lines[0], y=lines[0].y * np.float32(1e30))
    config = {"iterations": 1, "init_var": 0.1, "noise_var": 0.1}
    bad, good = Amp().train([Job(p, 0, 1.0, config) for p in (broken, lines[0])], (4, 6, 1), 20, 4)
    assert bad.note == "diverged in epoch 1"
    assert bad.loss == [np.inf] * 4
    assert np.isfinite(bad.extra["clips"]).all()
    assert good.note == "" and np.isfinite(good.loss).all()


def test_losses_stay_infinite():
    """Enumeration: a finite loss after an infinite one does not count."""
    run = amp.Run([], 1, {"clips": []})
    for epoch, loss in enumerate([0.5, np.inf, 0.3], start=1):
        amp.add(run, epoch, loss, 1.0)
    assert run.loss == [0.5, np.inf, np.inf]
    assert run.note == "diverged in epoch 2"


@pytest.mark.parametrize("data", ["boston", "mnist"])
def test_the_grid_has_six_configurations(data):
    """Enumeration: six different ones, a noise variance in the regression only."""
    grid = Amp().grid(data, 0.5)
    assert len(grid) == len({tuple(config.items()) for config in grid}) == 6
    assert all(("noise_var" in config) == (data == "boston") for config in grid)
