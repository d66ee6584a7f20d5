"""Adam by PyTorch."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tdamp_bench.methods.baselines import adam_optax, adam_torch
from tdamp_bench.methods.baselines.adam import Adam
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.methods.baselines.start import Orders


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_torch_and_optax_agree(task, blobs, lines):
    """twin: same weights give the same loss; an epoch, ragged minibatch included, the same outputs."""
    problem = blobs if task == "classification" else lines[0]
    widths = (problem.x.shape[1], 8, 3 if task == "classification" else 1)
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


def test_torch_is_plain_adam(blobs):
    """contract: a recipe that it does not know is refused, not ignored."""
    with pytest.raises(ValueError, match="take optax"):
        Adam("torch", blobs, (12, 8, 3), strong(1e-2, 0.1, 0.1), 50, seed=0, epochs=1)
    with pytest.raises(ValueError, match=r"input dropout 0\.1: take optax"):
        Adam("torch", blobs, (12, 8, 3), Recipe(1e-2, input_dropout=0.1), 50, seed=0, epochs=1)
