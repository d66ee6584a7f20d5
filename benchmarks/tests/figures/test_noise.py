"""The figure of the noise rules: verdicts from numbers made by hand, and a data set that it does not have."""

import io

import pandas as pd
import pytest
from rich.console import Console

from tdamp import Settings
from tdamp_bench.core.jobs import Job
from tdamp_bench.figures import methods as listed
from tdamp_bench.figures import noise, tidy
from tdamp_bench.figures.options import Options, WrongOption


def table(**curves: list[list[float]]) -> pd.DataFrame:
    """`tidy.table` of MNIST from a list of epochs for every seed."""
    rows = [
        ("mnist", name, 1.0, epoch, seed, value, 912)
        for name, seeds in curves.items()
        for seed, values in enumerate(seeds)
        for epoch, value in enumerate(values, 1)
    ]
    return pd.DataFrame(rows, columns=tidy.COLUMNS)


def test_conclusions_by_hand():
    """identity: a factor of 2 in epoch 1 and of 1.1 at the end; errors 0.1 apart, with an error of 0.01."""
    noises = table(em_printed=[[20.0, 11.0]], numerical_printed=[[10.0, 10.0]], fixed_printed=[[100.0, 100.0]])
    losses = table(
        em_printed=[[9, 0.1], [9, 0.2]], numerical_printed=[[9, 0.19], [9, 0.31]], fixed_printed=[[9, 0.5], [9, 0.6]]
    )
    results = {one.verdict.claim: one for one in noise.conclusions(losses, noises)}
    alike = results["as printed, once an epoch: largest factor between the noise variances of an epoch"]
    assert alike.verdict.value == pytest.approx(2.0) and not alike.verdict.met
    assert "ends at 1.1 " in alike.sentence and "epoch 1" in alike.sentence
    error = results["as printed, once an epoch: test error, Gumbel rule - numerical, in standard errors"]
    assert (
        error.verdict.value == pytest.approx(-10.0) and error.verdict.met and "-10.00 ± 1.00 points" in error.sentence
    )
    assert len(results) == 4 and all(one.verdict.met for claim, one in results.items() if "fixed" in claim)
    assert {one.variant for one in results.values()} == {"tdamp_paper"}


def test_a_worse_rule_is_judged_worse():
    """identity: losses the other way round."""
    losses = table(em_minibatch=[[0.5], [0.61]], fixed=[[0.1], [0.2]])
    (one,) = noise.conclusions(losses, losses.iloc[:0])
    assert not one.verdict.met and "worse than it" in one.sentence


def test_all_rules_start_from_the_same_noise(blobs):
    """contract: both rules and the fixed noise, in tdamp's preset and in the method as printed."""
    made = [(c.method, listed.load(c.method).settings(Job(blobs, 0, 1.0, c.config), 20, 3)) for c in noise.PLAN.curves]
    assert {s.noise_init for _, s in made} == {100.0} and len(made) == 6
    assert {(method, s.noise_update) for method, s in made} == {
        (method, rule) for method in ("tdamp_variant", "tdamp_printed") for rule in ("em", "numerical", "fixed")
    }
    for method, s in made:
        if method == "tdamp_printed":
            more = {"noise_update": s.noise_update, "noise_init": 100.0, "init_active_prob": 1.0}
            assert s == Settings.paper(batch_size=20, max_epochs=3, **more)
        else:
            assert s.pasp == "anchored" and (s.noise_every == "minibatch" or s.noise_update == "fixed")
    assert set(noise.STYLES) == {curve.name for curve in noise.PLAN.curves}
    quick = [curve.name for curve in noise.PLAN.curves[noise.QUICK]]
    assert quick == ["em_minibatch", "numerical_minibatch", "fixed", "em_printed"]


def test_boston_has_no_noise_figure(tmp_path):
    """contract: the option is refused before anything runs."""
    console = Console(file=io.StringIO())
    with pytest.raises(WrongOption, match="MNIST"):
        noise.run(Options(1, True, tmp_path / "other", ("boston",)), console)
