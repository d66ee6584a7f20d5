"""Adam and AdamW by optax."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tdamp_bench.methods.baselines import adam_optax
from tdamp_bench.methods.baselines.adam import Adam
from tdamp_bench.methods.baselines.recipe import strong
from tdamp_bench.methods.baselines.start import Orders, he_init, minibatches


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
    """twin: three steps of Kingma and Ba's Adam written out in float64."""
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
    for actual, expected in zip(jax.tree.leaves(state.params), jax.tree.leaves(params), strict=True):
        np.testing.assert_allclose(actual, expected, atol=2e-5)


def test_padding_of_a_ragged_minibatch_has_no_weight(blobs):
    """identity: garbage rows behind the mask leave the loss as it is."""
    params = adam_optax.init((12, 8, 3), seed=0).params
    plain = adam_optax.loss(params, "classification", blobs.x[:7], blobs.y[:7], jnp.ones(7))
    padded = adam_optax.loss(params, "classification", blobs.x[:9], blobs.y[:9], jnp.array([1.0] * 7 + [0.0] * 2))
    assert float(plain) == pytest.approx(float(padded), rel=1e-6)


def test_adam_learns(blobs):
    """contract: The loop, the order of rows and the scores fit together."""
    model = Adam("optax", blobs, (12, 16, 3), 3e-3, 20, seed=0)
    assert all(seconds > 0 for seconds in model.epochs(20))
    assert (model.predictive(blobs.x_test).argmax(1) == blobs.y_test).mean() > 0.9


def test_adamw_is_that_of_optax(blobs):
    """twin: optax.adamw with its cosine schedule, three epochs of ragged minibatches."""
    recipe, widths, seed = strong(1e-2, 0.3, 0.0), (12, 8, 3), 2
    ours = adam_optax.Learner(blobs, widths, recipe, 50, seed, epochs=3)
    schedule = optax.cosine_decay_schedule(1e-2, 9)
    theirs = optax.adamw(schedule, weight_decay=0.3)
    params = jax.tree.map(jnp.asarray, he_init(widths, seed))
    state, orders = theirs.init(params), Orders(120, seed)
    for order, _ in zip(orders, range(3), strict=False):
        ours.epoch(order)
        for rows, present in zip(*minibatches(order, 50), strict=True):
            grads = jax.grad(adam_optax.loss)(params, "classification", blobs.x[rows], blobs.y[rows], present)
            updates, state = theirs.update(grads, state, params)
            params = optax.apply_updates(params, updates)
    for actual, expected in zip(jax.tree.leaves(ours.state.params), jax.tree.leaves(params), strict=True):
        np.testing.assert_allclose(actual, expected, atol=2e-5)


def test_weight_decay_of_an_unused_weight(blobs):
    """identity: the weights of an input that is always 0 shrink by the product of 1 - rate x weight decay."""
    x = blobs.x.copy()
    x[:, 5] = 0
    model = Adam("optax", replace(blobs, x=x), (12, 8, 3), strong(0.02, 0.5, 0.1), 50, seed=0, epochs=4)
    before = np.array(model.learner.state.params[0][0])
    list(model.epochs(4))
    shrunk = np.prod(1 - 0.5 * np.asarray(optax.cosine_decay_schedule(0.02, 12)(np.arange(12))))
    after = np.asarray(model.learner.state.params[0][0])
    np.testing.assert_allclose(after[5], shrunk * before[5], rtol=1e-5)
    assert np.abs(after[4] - shrunk * before[4]).max() > 1e-3


def test_dropout_in_training_and_none_in_prediction(blobs):
    """calibration: the share left out is binomial, the mean stays; predictions are the whole network's."""
    share, units = 0.3, jnp.ones((400, 50))
    dropped = adam_optax.Dropped(jnp.float32(share), jax.random.PRNGKey(0))
    result = np.asarray(dropped.of(units, 0))
    gone = (result == 0).mean()
    assert abs(gone - share) < 5 * np.sqrt(share * (1 - share) / result.size)
    np.testing.assert_allclose(result[result > 0], 1 / (1 - share), rtol=1e-6)
    assert (np.asarray(dropped.of(units, 1)) != result).any()
    model = Adam("optax", blobs, (12, 8, 3), strong(1e-2, 0.0, 0.5), 50, seed=0, epochs=1)
    params = model.learner.state.params
    (w1, b1), (w2, b2) = jax.tree.map(np.asarray, params)
    whole = np.maximum(blobs.x_test @ w1 + b1, 0) @ w2 + b2
    np.testing.assert_allclose(model.point(blobs.x_test), whole, atol=1e-5)
    present = jnp.ones(120)
    plain, noisy = (adam_optax.loss(params, "classification", blobs.x, blobs.y, present, d) for d in (None, dropped))
    assert abs(float(plain) - float(noisy)) > 1e-3
    keys = {int(k[1]) for k in (adam_optax.dropped_now(s, _regular()).key for s in _two_states())}
    assert len(keys) == 2  # every step draws anew


def trained(problem, *recipe):
    """Weights and predictions after two epochs."""
    model = Adam("optax", problem, (12, 8, 3), strong(*recipe), 50, seed=0, epochs=2)
    list(model.epochs(2))
    return model, [np.asarray(leaf) for leaf in jax.tree.leaves(model.learner.state.params)]


def test_input_dropout_in_training_and_none_in_prediction(blobs):
    """calibration: each input of each row goes with the share's probability, apart from the hidden units, and the mean
    stays; it changes what is learned, and predictions are the whole network's."""
    share, rows = 0.3, jnp.ones((400, 50))
    dropped = adam_optax.Dropped(None, jax.random.PRNGKey(0), jnp.float32(share))
    result = np.asarray(dropped.of(rows, adam_optax.INPUTS))
    assert abs((result == 0).mean() - share) < 5 * np.sqrt(share * (1 - share) / result.size)
    assert result.mean() == pytest.approx(1, abs=5 * np.sqrt(share / (1 - share) / result.size))
    np.testing.assert_allclose(result[result > 0], 1 / (1 - share), rtol=1e-6)
    np.testing.assert_array_equal(dropped.of(rows, 0), rows)  # a hidden layer
    both = adam_optax.Dropped(jnp.float32(share), jax.random.PRNGKey(0), jnp.float32(share))
    assert (np.asarray(both.of(rows, 0)) != result).any()
    (model, noisy), (_, plain) = trained(blobs, 1e-2, 0.1, 0.0, 0.3), trained(blobs, 1e-2, 0.1, 0.0)
    assert max(np.abs(a - b).max() for a, b in zip(noisy, plain, strict=True)) > 1e-2
    w1, b1, w2, b2 = noisy
    whole = np.maximum(blobs.x_test @ w1 + b1, 0) @ w2 + b2
    np.testing.assert_allclose(model.point(blobs.x_test), whole, atol=1e-5)


def test_a_step_with_input_dropout_is_one_on_rows_that_were_dropped(blobs):
    """twin: a plain step on the rows after dropout, and not on the rows themselves."""
    state, regular = adam_optax.init((12, 8, 3), 0), _regular(strong(1e-2, 0.0, 0.0, 0.4))
    rest = blobs.y[:50], jnp.ones(50), jnp.float32(1e-2)
    ours = adam_optax.step("classification", state, blobs.x[:50], *rest, regular)
    rows = adam_optax.dropped_now(state, regular).of(jnp.asarray(blobs.x[:50]), adam_optax.INPUTS)
    theirs = adam_optax.step("classification", state, rows, *rest)
    for actual, expected in zip(jax.tree.leaves(ours.params), jax.tree.leaves(theirs.params), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_no_input_dropout_is_nothing(blobs, dropout):
    """identity: a share of 0, alone or beside a network that has one, gives the bits of a recipe without the word."""
    recipe = strong(1e-2, 0.1, dropout)
    (_, before), (_, after) = trained(blobs, 1e-2, 0.1, dropout), trained(blobs, 1e-2, 0.1, dropout, 0.0)
    assert all((a == b).all() for a, b in zip(before, after, strict=True))
    assert "input_dropout" not in recipe.config and "input" not in str(recipe)
    alone, beside = (adam_optax.regular_of([recipe, *more], [0, 1][: 1 + len(more)]) for more in ([], [_WITH]))
    assert alone.input_dropout is None and beside.input_dropout.tolist() == pytest.approx([0.0, 0.1])
    state, x = adam_optax.init((12, 8, 3), 0), blobs.x[:50]
    steps = [
        adam_optax.step(
            "classification", state, x, blobs.y[:50], jnp.ones(50), jnp.float32(0.1), jax.tree.map(lambda a: a[0], each)
        )
        for each in (alone, beside)
    ]
    assert all((a == b).all() for a, b in zip(*map(jax.tree.leaves, steps), strict=True))


_WITH = strong(1e-2, 0.1, 0.2, 0.1)


_HALF = strong(1e-2, 0.0, 0.5)


def _regular(recipe=_HALF):
    return jax.tree.map(lambda leaf: leaf[0], adam_optax.regular_of([recipe], [0]))


def _two_states():
    first = adam_optax.init((12, 8, 3), 0)
    return first, first._replace(moments=first.moments._replace(count=first.moments.count + 1))
