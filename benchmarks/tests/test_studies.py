"""The parts of the studies: the exact probit integral, HMC, state evolution, and an engine with a term taken away."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tdamp import Network, Settings, fit
from tdamp.cli import main
from tdamp.engine.predict import mean_network
from tdamp.engine.state import init
from tdamp.factors.layers import dense
from tdamp.factors.likelihoods.probit import Probit
from tdamp.numerics.beliefs import Moments
from tdamp.training import epoch
from tdamp_bench.figures.options import Options
from tdamp_bench.studies import exact_probit, planted_layer, sampler, shift, small_networks, sweeps
from tdamp_bench.studies.engine import replaced, without_onsager
from tdamp_bench.studies.study import Arm, Study, paired, summary


def log_evidence(mean, var, label, noise):
    """log of the integral over the label's score, by the trapezoidal rule on 20,001 points."""
    y_std = jnp.sqrt(var[label])
    t = jnp.linspace(-60, 60, 20_001)
    rest = jax.scipy.stats.norm.logcdf((t[:, None] - mean) / jnp.sqrt(noise + var))
    rest = jnp.where(jnp.arange(len(mean)) == label, 0, rest).sum(1)
    density = jax.scipy.stats.norm.logpdf(t, mean[label], y_std) + rest
    return jax.scipy.special.logsumexp(density) + jnp.log(t[1] - t[0])


@pytest.mark.parametrize("classes", [4, 10])
def test_exact_probit_moments(classes):
    """autodiff: mean + var d log Z and var + var^2 d2 log Z of the integral by the trapezoidal rule."""
    rng = np.random.default_rng(classes)
    with jax.enable_x64(True):
        mean, var = 2 * rng.standard_normal((3, classes)), 10 ** rng.uniform(-1, 1, (3, classes))
        label, noise = rng.integers(classes, size=3), np.asarray(0.5)
        found = jax.jit(exact_probit.posterior)(Moments(mean, var), label, noise)
        at = jnp.asarray(mean), jnp.asarray(var), jnp.asarray(label)
        first = jax.jit(jax.vmap(jax.grad(log_evidence), (0, 0, 0, None)))(*at, noise)
        second = jax.jit(jax.vmap(jax.hessian(log_evidence), (0, 0, 0, None)))(*at, noise)
        np.testing.assert_allclose(found.mean, mean + var * first, atol=1e-7)
        np.testing.assert_allclose(found.var, var + var**2 * jnp.diagonal(second, axis1=1, axis2=2), rtol=1e-7)


def test_exact_probit_score_of_two_classes():
    """twin: EP's sweep is exact for two classes; float32, as in training, a label far behind included."""
    mean = np.array([[0.0, 1.0], [-30.0, 0.0], [30.0, 0.0]], np.float32)
    z = Moments(jnp.asarray(mean), jnp.full((3, 2), 2.0, jnp.float32))
    label, noise = jnp.zeros(3, jnp.int32), jnp.asarray(0.3, jnp.float32)
    score, prec = jax.jit(exact_probit.score)(z, label, noise)
    true_score, true_prec = Probit().score(z, label, noise)
    np.testing.assert_allclose(score, true_score, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(prec, true_prec, rtol=1e-3, atol=1e-5)  # 1 - var / var: rounding over float32's 1e-7


def test_hmc_of_a_gaussian():
    """calibration: means and variances of a Gaussian within five of their standard errors, by the effective draws."""
    std = np.array([0.5, 1.0, 2.0], np.float32)
    starts = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    draws, accept = sampler.sample(
        lambda q: -0.5 * jnp.sum((q - 1) ** 2 / std**2), starts, 0, sampler.Length(300, 1000, 8, 1)
    )
    assert draws.shape == (4, 1000, 3) and 0.6 < accept.mean() < 0.95 and (sampler.r_hat(draws) < 1.05).all()
    n = np.minimum(sampler.ess(draws), sampler.ess((draws - 1) ** 2))
    assert (n > 200).all()
    flat = draws.reshape(-1, 3).astype(np.float64)
    assert (np.abs(flat.mean(0) - 1) < 5 * std / np.sqrt(n)).all()
    assert (np.abs(flat.var(0) / std**2 - 1) < 5 * np.sqrt(2 / n)).all()


def test_chains_that_disagree():
    """calibration: R-hat of chains with other means is large; an AR(1) chain has (1 - c) / (1 + c) of its draws."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4, 2000))
    assert sampler.r_hat(noise) < 1.01 < 1.5 < sampler.r_hat(noise + np.arange(4)[:, None])
    ar, c = noise.copy(), 0.8
    for i in range(1, 2000):
        ar[:, i] += c * ar[:, i - 1]
    assert sampler.ess(ar) == pytest.approx(8000 * (1 - c) / (1 + c), rel=0.25)
    assert sampler.ess(noise) == pytest.approx(8000, rel=0.15)


def test_hmc_samples_the_engines_network():
    """twin: the network of a vector of weights in prior deviations is the engine's, prior and centre included."""
    rows, task = small_networks.problem("4-D", small_networks.QUICK, 0), small_networks.TASKS["4-D"]
    network = small_networks.network_of("4-D")
    state = init(
        network,
        small_networks.settings_of(small_networks.QUICK, 1.0, 1, rows.y),
        np.random.default_rng(0),
        rows.x,
        rows.y,
    )
    assert float(state.noise_var[0]) == pytest.approx(small_networks.NOISE_STD**2, rel=1e-5)
    parts = []
    for layer in state.layers:
        parts += [layer.weight.mean / np.sqrt(layer.base_var), layer.bias.mean / np.sqrt(layer.bias_base_var)]
    theta = np.concatenate([np.ravel(part) for part in parts])
    ours = mean_network(network, state.layers, rows.x)[:, 0]
    np.testing.assert_allclose(small_networks.output(state, task, theta, rows.x), ours, rtol=1e-4, atol=1e-4)


def test_mmse():
    """identity: v / (1 + v) for a Gaussian. calibration: the squared error of Bayes' rule over a million draws."""
    assert planted_layer.mmse(0.3, 1.0) == pytest.approx(0.3 / 1.3, rel=1e-6)
    rng, rho, noise, n = np.random.default_rng(0), 0.1, 0.2, 1_000_000
    u = (rng.random(n) < rho) * rng.standard_normal(n) / np.sqrt(rho)
    r = u + np.sqrt(noise) * rng.standard_normal(n)
    wide = 1 / rho + noise
    odds = rho / (1 - rho) * np.sqrt(noise / wide) * np.exp(0.5 * r**2 * (1 / noise - 1 / wide))
    square = (u - odds / (1 + odds) * r / (rho * wide)) ** 2
    assert abs(planted_layer.mmse(noise, rho) - square.mean()) < 4 * square.std() / np.sqrt(n)


def test_the_planted_layer_ends_at_ridge():
    """identity: AMP's fixed point of a Gaussian model is the posterior mean, which is ridge regression."""
    model, n = planted_layer.MODELS["gaussian"], 60
    rng = np.random.default_rng(0)
    x = rng.standard_normal((90, n)).astype(np.float32)
    y = (x @ rng.standard_normal((n, 1)) / np.sqrt(n)).astype(np.float32)
    found = planted_layer._infer(n, False, planted_layer.layer_of(model, n), x, y, model.noise_var, 200)
    ridge = np.linalg.solve(x.T @ x + n * model.noise_var * np.eye(n), x.T @ y)
    np.testing.assert_allclose(found, ridge, atol=2e-4)


def test_a_term_is_taken_away_and_comes_back(lines):
    """twin: without the Onsager term two sweeps differ and one does not; afterwards all is as before, to the bit."""
    rows, network = lines[0], Network((4, 8, 1))

    def trained(sweeps):
        fitted = fit(network, rows.x, rows.y, Settings(max_epochs=2, sweeps=sweeps, batch_size=20))
        return np.asarray(fitted.state.layers[0].weight.mean)

    before, kept = {sweeps: trained(sweeps) for sweeps in (1, 2)}, epoch._e_step.compiled
    with pytest.raises(KeyError), replaced(dense, "forward", without_onsager):
        np.testing.assert_array_equal(trained(1), before[1])
        assert np.abs(trained(2) - before[2]).max() > 1e-4
        raise KeyError
    assert dense.forward is not without_onsager and epoch._e_step.compiled is kept
    np.testing.assert_array_equal(trained(2), before[2])


def test_a_study_measures_what_is_missing(tmp_path):
    """enumeration: every arm and seed once, lists in order; a second call measures only new seeds."""
    calls = []

    def measure(arm, seed):
        calls.append((arm.method, seed))
        return {"list": [seed, 2.0], "one": 3 * seed + (arm.method == "b")}

    arms = [Arm("x", "a", {"k": 1}), Arm("x", "b", {"k": 1})]
    for seeds in (2, 3):
        study = Study("some", Options(seeds=seeds, out=tmp_path), Console(quiet=True))
        runs = study.measured(arms, measure)
    assert sorted(calls) == [(name, seed) for name in "ab" for seed in range(3)] and study.n_new == 2
    one = runs[runs["number"] == "one"]
    assert paired(one[one["method"] == "b"], one[one["method"] == "a"]) == (1.0, 0.0)
    points = summary(runs).set_index(["method", "number", "at"])
    assert points.loc[("a", "one", 0), "mean"] == 3 and points.loc[("a", "one", 0), "n"] == 3
    assert points.loc[("a", "one", 0), "se"] == pytest.approx(np.sqrt(3))
    assert points.loc[("b", "list", 1), "se"] == 0
    assert isinstance(runs, pd.DataFrame) and list(runs.columns)[:3] == ["data", "method", "k"]


@pytest.mark.parametrize("words", [["--data", "boston"], ["--methods", "tdamp"]])
def test_a_study_has_its_own_data_and_methods(tmp_path, capsys, words):
    """enumeration: what cannot be chosen is refused, exit code 2."""
    assert main.main(["reproduce", "hmc", "--quick", "--out", str(tmp_path), *words]) == 2
    assert "Leave out --data and --methods" in capsys.readouterr().err


def test_validation_rows_choose_the_data_weight():
    """enumeration: the least mean validation NLL of each arm, whatever the test rows say."""
    rows = [
        {"data": "d", "method": m, "sweeps": 1, "epochs": 2, "data_weight": k, "seed": s, "number": n, "value": v}
        for m, flip in (("a", 1), ("b", -1))
        for k in (2.0, 8.0)
        for s in (0, 1)
        for n, v in (("validation", flip * k + s), ("nll", -flip * k))
    ]
    chosen = sweeps.choose(pd.DataFrame(rows))
    assert chosen.groupby("method")["data_weight"].unique().map(list).to_dict() == {"a": [2.0], "b": [8.0]}
    assert len(chosen) == 8


def test_shift_is_judged_seed_by_seed():
    """identity: by hand: 0.5 below with an error of 0.1 is better, 0.1 above with 0.1 a tie, 0.5 above worse."""
    wiggle = np.array([-0.1, 0.1, 0.0]) * np.sqrt(3)  # standard error of the mean: 0.1
    ours = np.array([1.0, 2.0, 3.0])
    rivals = {"ensemble": ours + 0.5 + wiggle, "laplace": ours - 0.1 + wiggle, "ensemble_adamw": ours - 0.5 + wiggle}
    rows = [
        {"data": data, "method": name, "seed": seed, "number": number, "at": 0, "value": value}
        for data, number in (("friedman1", "nll"), ("mnist", "turned nll"))
        for name, values in (rivals | {"tdamp": ours}).items()
        for seed, value in reversed(list(enumerate(values)))
    ]
    rows += [row | {"number": "coverage", "value": 0.95} for row in rows if row["number"] == "nll"]
    plan = shift.Plan(deltas=(0.0,), angles=(0,), noises=(0.0,))
    found = shift.findings(pd.DataFrame(rows), plan)
    assert len(found) == 1 + 3 + 3 and found[0].verdict.met
    for judged in (found[1:4], found[4:]):
        assert [(one.verdict.met, one.verdict.tied) for one in judged] == [(True, False), (False, True), (False, False)]
        assert [one.verdict.value for one in judged] == pytest.approx([-5, 1, 5])
        assert all(text in one.sentence for text, one in zip(("better", "tied", "worse"), judged, strict=True))
    assert "difference -0.5 ± 0.1" in found[1].sentence
