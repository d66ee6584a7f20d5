"""Deep ensembles, trained by Adam or AdamW."""

import jax
import numpy as np
import pytest
from scipy.stats import norm

from tdamp_bench.methods.baselines import deep_ensemble
from tdamp_bench.methods.baselines.recipe import Recipe, strong


def test_moments_of_a_mixture():
    """quadrature: mean and variance of the mixture's density on a grid; one member is itself."""
    mean, var = np.array([[-1.0], [0.5], [3.0]]), np.array([[0.2], [1.0], [0.4]])
    grid = np.linspace(-12, 14, 20_001)
    density = norm.pdf(grid, mean, np.sqrt(var)).mean(0)
    first = np.trapezoid(grid * density, grid)
    second = np.trapezoid((grid - first) ** 2 * density, grid)
    result = deep_ensemble.mixture(mean, var)
    np.testing.assert_allclose([result.mean[0], result.std[0] ** 2], [first, second], rtol=1e-8)
    np.testing.assert_allclose(deep_ensemble.mixture(mean[:1], var[:1]).std ** 2, var[0])


def test_ensemble_trains_each_network_by_its_own_rows_and_rate(line):
    """twin: a loop over the steps of one network, of the second of two splits, rates and members."""
    task, _ = line
    x, y = np.stack([task.x, task.x[::-1]]), np.stack([task.y, task.y[::-1]])
    recipes = (Recipe(1e-3), Recipe(3e-2))
    work = deep_ensemble.Effort(recipes, 2, 1, 32)
    nets, alone = (deep_ensemble.Nets(x, y, [4, 7], 6, [recipes] * 2, work) for _ in range(2))
    nets.advance(2)
    one = jax.tree.map(lambda a: a[1, 1, 1], alone.state)
    step = jax.jit(deep_ensemble.train)
    for _ in range(2):
        rows, present = deep_ensemble.minibatches(next(alone.orders[1]), 32)
        for here, mask in zip(rows, present, strict=True):
            one = step(one, x[1], y[1], here[None], mask[None], recipes[1].rate)
    outputs = deep_ensemble.forward(one.params, task.x_test)
    both = nets.predict(np.stack([task.x_test] * 2))
    np.testing.assert_allclose(both.mean[1, 1, 1], outputs.mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(both.var[1, 1, 1], outputs.var, rtol=1e-4)
    assert np.abs(both.mean[1, 0, 1] - both.mean[1, 1, 1]).max() > 0.1


@pytest.mark.parametrize("recipes", [(Recipe(1e-3), Recipe(1e-2)), (strong(1e-2, 0.01, 0.05),)])
def test_ensemble_learns_a_line_and_its_noise(recipes, line, monkeypatch):
    """calibration: nearly the log score of the line, which no method beats by much."""
    monkeypatch.setattr(deep_ensemble, "effort", lambda *_: deep_ensemble.Effort(recipes, 100, 10, 32))
    task, y_test = line
    (answer,) = deep_ensemble.predict([task])
    slope, *_ = np.linalg.lstsq(task.x, task.y, rcond=None)
    truth = norm.logpdf(y_test, task.x_test @ slope, np.std(task.y - task.x @ slope)).mean()
    assert answer.predictive.log_score(y_test) > truth - 0.3


def test_an_ensemble_may_choose_adamw(line, monkeypatch):
    """contract: eight recipes to choose from, the plain ones among them; the choice is reported."""
    assert (
        deep_ensemble.effort(400, recipes=deep_ensemble.PLAIN + deep_ensemble.ADAMW).recipes[:4] == deep_ensemble.PLAIN
    )
    assert len(deep_ensemble.ADAMW) == 4 and all(recipe.cosine for recipe in deep_ensemble.ADAMW)
    task, _ = line
    (answer,) = deep_ensemble.predict_adamw([task], quick=True)
    recipe = Recipe.of(answer.chosen)
    assert recipe in (deep_ensemble.PLAIN[0], deep_ensemble.ADAMW[-1]) and answer.chosen["epochs"] in (2, 4)


def test_dropout_of_the_members_differs(line):
    """identity: a key for each split and member, the same for all recipes."""
    task, _ = line
    work = deep_ensemble.Effort(deep_ensemble.ADAMW, 1, 1, 32)
    nets = deep_ensemble.Nets(np.stack([task.x] * 2), np.stack([task.y] * 2), [0, 1], 4, [work.recipes] * 2, work)
    keys = np.asarray(nets.regular.key)
    assert keys.shape[:3] == (2, 4, 5) and (keys[:, :1] == keys).all()
    assert len({tuple(key) for key in keys[:, 0].reshape(10, -1)}) == 10
    np.testing.assert_allclose(nets.regular.dropout[0, :, 0], [0.0, 0.05, 0.0, 0.05])
