"""The Adams. They need the extra `bench`; what happens without it is tested in test_bench_ground.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tdamp.bench.baselines.adam import Adam
from tdamp.bench.baselines.start import Orders, he_init

optax = pytest.importorskip("optax")
from tdamp.bench.baselines import adam_grid, adam_optax  # noqa: E402  (needs the extra)


def numpy_gradients(params, x, y):
    """Gradients of the mean cross-entropy of a one-hidden-layer ReLU network, by hand."""
    (w1, b1), (w2, b2) = params
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    probs = np.exp(scores - scores.max(1, keepdims=True))
    probs /= probs.sum(1, keepdims=True)
    delta = (probs - np.eye(w2.shape[1])[y]) / len(x)
    back = (delta @ w2.T) * (hidden > 0)
    return [(x.T @ back, back.sum(0)), (hidden.T @ delta, delta.sum(0))]


def test_adam_step_equals_numpy(blobs):
    """Twin: three steps of Kingma and Ba's Adam written out in float64."""
    rate, widths = 1e-2, (12, 8, 3)
    state = adam_optax.init(widths, seed=1)
    params = [[a.astype(np.float64) for a in layer] for layer in he_init(widths, seed=1)]
    first = [[np.zeros_like(a) for a in layer] for layer in params]
    second = [[np.zeros_like(a) for a in layer] for layer in params]
    for t in range(1, 4):
        x, y = blobs.x[t * 20 : t * 20 + 20], blobs.y[t * 20 : t * 20 + 20]
        state = adam_optax.step("classification", state, x, y, jnp.ones(20, jnp.float32), jnp.float32(rate))
        for l, layer in enumerate(numpy_gradients(params, x.astype(np.float64), y)):
            for k, grad in enumerate(layer):
                first[l][k] = 0.9 * first[l][k] + 0.1 * grad
                second[l][k] = 0.999 * second[l][k] + 0.001 * grad**2
                step = (first[l][k] / (1 - 0.9**t)) / (np.sqrt(second[l][k] / (1 - 0.999**t)) + 1e-8)
                params[l][k] = params[l][k] - rate * step
    for found, expected in zip(jax.tree.leaves(state.params), jax.tree.leaves(params), strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-5)


def test_padding_of_a_ragged_minibatch_has_no_weight(blobs):
    """Identity: garbage rows behind the mask leave the loss as it is."""
    params = adam_optax.init((12, 8, 3), seed=0).params
    plain = adam_optax.loss(params, "classification", blobs.x[:7], blobs.y[:7], jnp.ones(7))
    padded = adam_optax.loss(params, "classification", blobs.x[:9], blobs.y[:9], jnp.array([1.0] * 7 + [0.0] * 2))
    assert float(plain) == pytest.approx(float(padded), rel=1e-6)


def test_adam_learns(blobs):
    """The loop, the order of rows and the scores fit together."""
    model = Adam("optax", blobs, (12, 16, 3), 3e-3, 20, seed=0)
    assert all(seconds > 0 for seconds in model.epochs(20))
    assert (model.predictive(blobs.x_test).argmax(1) == blobs.y_test).mean() > 0.9


def test_grid_equals_single_runs(lines):
    """Twin: the vmapped grid against one run at a time."""
    from tdamp.bench.scoring import nmse

    rates = (1e-3, 1e-2)
    curves = adam_grid.nmse_curves(lines, (4, 6, 1), rates, batch=20, epochs=3)
    assert curves.shape == (2, 2, 3)
    model = Adam("optax", lines[1], (4, 6, 1), rates[1], 20, seed=1)
    for epoch, _ in enumerate(model.epochs(3)):
        single = nmse(model.point(lines[1].x_test), lines[1].y_test, lines[1].y)
        assert curves[1, 1, epoch] == pytest.approx(single, rel=1e-4)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_torch_and_optax_agree(task, blobs, lines):
    """Twin: same weights give the same loss; an epoch, ragged minibatch included, the same outputs."""
    torch = pytest.importorskip("torch")
    problem = blobs if task == "classification" else lines[0]
    widths = (problem.x.shape[1], 8, 3 if task == "classification" else 1)
    from tdamp.bench.baselines import adam_torch

    theirs = adam_torch.Learner(problem, widths, 1e-3, 25, seed=3)
    ours = adam_optax.Learner(problem, widths, 1e-3, 25, seed=3)
    present = jnp.ones(len(problem.x), jnp.float32)
    loss = adam_optax.loss(ours.state.params, task, problem.x, problem.y, present)
    with torch.no_grad():
        assert float(theirs.loss(theirs.net(theirs.x), theirs.y)) == pytest.approx(float(loss), rel=1e-5)
    order = next(Orders(len(problem.x), 3))
    theirs.epoch(order)
    ours.epoch(order)
    np.testing.assert_allclose(theirs.point(problem.x_test), ours.point(problem.x_test), atol=1e-4)
