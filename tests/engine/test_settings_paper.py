"""The paper as printed, in one word: `Settings.paper` against a transcription of Algorithm 1 and its pruning rule."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logit

from oracles import algorithm1
from oracles.algorithm1_paper import Printed
from tdamp import Network, Outcome, Settings, fit
from tdamp.engine.state import init
from tdamp.engine.turbo import active_logit, posterior
from tdamp.factors.priors import spike_slab
from tdamp.numerics import gumbel
from tdamp.numerics.beliefs import natural

ROWS, BATCH, EPOCHS, SEED = 23, 5, 6, 3
RHO_TH, RHO_0, TARGET = 0.8, 0.7, 4.4
CASES = {
    "regression": (Network((4, 6, 4, 1)), 0.1),
    "classification": (Network((4, 6, 4, 3), "classification"), 0.5),
}
"""The network, and the noise-to-signal ratio of its start."""


def problem(network: Network) -> tuple[np.ndarray, np.ndarray]:
    """Rows in float64, of which two of the four inputs matter."""
    rng = np.random.default_rng(7)
    x = 0.3 + rng.normal(size=(ROWS, 4))
    signal = np.maximum(x[:, 0] - x[:, 1], 0) + 0.1 * rng.normal(size=ROWS)
    return x, signal if network.task == "regression" else np.digitize(signal, [0.2, 1.0])


def printed(network: Network, settings: Settings, x: np.ndarray, y: np.ndarray) -> Printed:
    """The transcription after all epochs, from the engine's own first means and variances, which the paper lacks."""
    y = y[:, None] if network.task == "regression" else y
    state = init(network, settings, np.random.default_rng(SEED), x, y)
    layers = []
    for layer in state.layers:
        slabs = (*natural(layer.weight), *natural(layer.bias))
        layers.append(
            SimpleNamespace(
                **dict(zip(("w_shift", "w_prec", "b_shift", "b_prec"), map(np.array, slabs), strict=True)),
                rho=np.full(layer.weight.var.shape[0], logit(RHO_0)),
                rho_b=np.full(layer.bias.var.shape[0], logit(RHO_0)),
                centre=0.0,
                bias_base_var=float(layer.bias_base_var),
            )
        )
    rules = algorithm1.Rules(
        task=network.task, prior="group", pasp="paper", noise_every="epoch", sweeps=1, damping=0.0, trust=math.inf,
        noise_rate=0.0, centre_rate=0.0, pasp_power=1.0, data_weight=1.0, memory=1.0, n_rows=ROWS,
        learn_base_var=False, best_noise_var=lambda ratio: float(gumbel.best_noise_var(jnp.float64(ratio))),
    )  # fmt: skip
    scale = np.array(state.noise_scale)
    found = Printed(rules, layers, np.array(state.noise_var), scale, TARGET, RHO_TH, RHO_0)
    assert not np.asarray(state.layers[0].centre).any(), "as printed the first layer's inputs are the data"
    for epoch in range(EPOCHS):
        order = np.random.default_rng((SEED, epoch)).permutation(ROWS)
        parts = [order[i : i + BATCH] for i in range(0, ROWS, BATCH)]
        found.epoch([(x[rows], y[rows], np.ones(len(rows))) for rows in parts])
    return found


def close(ours: object, theirs: object) -> None:
    """To 1e-10 of the largest."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("task", CASES)
def test_the_engine_is_algorithm_1(task: str) -> None:
    """twin: six epochs with a ragged last batch and two restarts of the pruning rule, in float64, to 1e-10."""
    network, init_noise = CASES[task]
    x, y = problem(network)
    settings = Settings.paper(
        keep=TARGET / network.n_units, batch_size=BATCH, max_epochs=EPOCHS, active_threshold=RHO_TH,
        init_active_prob=RHO_0, init_scale=1.5, init_noise=init_noise,
    )  # fmt: skip
    slow = printed(network, settings, x, y)
    fitted = fit(network, x, y, settings, seed=SEED)
    assert fitted.state.noise_var.dtype == np.float64
    assert len(slow.restarts) > 1 and slow.restarts[1] < EPOCHS, "the rule is meant to act before the end"
    assert [record["active_units"] for record in fitted.history] == slow.left
    close(fitted.state.noise_var, slow.noise_var)
    columns = [*fitted.kept[1:], np.arange(network.widths[-1])]
    for ours, theirs, rows, there in zip(fitted.state.layers, slow.layers, fitted.kept, columns, strict=True):
        weight, bias = natural(ours.weight), natural(ours.bias)
        here = np.ix_(rows, there)
        close(weight.prec, theirs.w_prec[here])
        close(weight.shift, theirs.w_shift[here])
        close(bias.prec, theirs.b_prec[there])
        close(bias.shift, theirs.b_shift[there])
        close(active_logit(ours, "group", None), theirs.rho[rows])
        bias_logit = spike_slab.active_logit(ours.bias_offset, ours.bias, ours.bias_base_var)
        close(bias_logit, theirs.rho_b[there])


def test_the_recipe() -> None:
    """contract: what the paper fixes, and nothing else; what is given explicitly wins."""
    settings = Settings.paper(keep=0.3)
    assert settings == Settings(
        keep=0.3, prior="group", pasp="paper", pasp_power=1.0, noise_every="epoch", pruning="paper", sweeps=1,
        trust=math.inf, centre_rate=0.0, centre_inputs=False, prediction="mean",
    )  # fmt: skip
    assert Settings.paper().keep is None and not Settings.paper().prunes
    mine = Settings.paper(keep=0.3, trust=2.0, prediction="posterior", batch_size=7)
    assert mine == replace(settings, trust=2.0, prediction="posterior", batch_size=7)


@pytest.mark.parametrize("task", CASES)
def test_rho_of_one_is_a_gaussian_prior(task: str) -> None:
    """twin: groups that are surely active are those of the Gaussian prior; one in question is not."""
    network, init_noise = CASES[task]
    x, y = problem(network)

    def weights(**more: Any) -> np.ndarray:
        fitted = fit(network, x, y, Settings.paper(batch_size=BATCH, max_epochs=EPOCHS, init_noise=init_noise, **more))
        return np.concatenate([np.ravel(m) for layer in fitted.state.layers for m in posterior(layer)[0]])

    plain = weights(prior="gaussian")
    close(weights(init_active_prob=1.0), plain)
    assert np.abs(weights(init_active_prob=1 - 1e-6) - plain).max() > 1e-7, "the two would be told apart"
    with pytest.raises(ValueError, match="init_active_prob=1: units"):
        Settings.paper(keep=0.5, init_active_prob=1.0)


def test_no_trust_region() -> None:
    """identity: an infinite trust, or None, is one that is never reached, to the bit; a small one is not."""
    network, _ = CASES["regression"]
    x, y = problem(network)

    def weights(trust: float | None) -> np.ndarray:
        fitted = fit(network, x, y, Settings(trust=trust, max_epochs=2, batch_size=BATCH))
        assert fitted.outcome is Outcome.OK and (fitted.history[-1]["restrained"] > 0) == (trust == 0.1)
        return np.asarray(fitted.state.layers[0].weight.mean)

    for trust in (None, math.inf):
        np.testing.assert_array_equal(weights(trust), weights(1e30))
    assert (weights(0.1) != weights(1e30)).any()
    assert Settings(trust=None) == Settings(trust=math.inf)


@pytest.mark.parametrize("bad", ["no", 0, -1.0, math.nan, True])
def test_a_trust_that_is_no_number(bad: object) -> None:
    """contract: refused, with what is expected."""
    with pytest.raises(ValueError, match=r"trust=.*or None for no limit"):
        Settings(trust=bad)


def test_numbers_of_numpy_are_numbers() -> None:
    """contract: a float32 setting is not taken for a whole number, which would make it zero."""
    network, _ = CASES["regression"]
    x, y = problem(network)
    centres = [
        np.asarray(
            fit(network, x, y, Settings(centre_rate=rate, max_epochs=1, batch_size=BATCH)).state.layers[1].centre
        )
        for rate in (np.float32(0.5), 0.5)
    ]
    np.testing.assert_array_equal(*centres)
    assert np.abs(centres[0]).max() > 0
