"""The arms of the ablations: the loop, the projection, rules for rho, no PasP, and who is judged how."""

import io
import json
import math
from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tdamp import Network, Settings
from tdamp.algorithm import knobs_of, minibatch_step, plan_of
from tdamp.engine.state import init, question, remove
from tdamp.engine.turbo import active_logit, look
from tdamp.factors.priors import group
from tdamp.training.fit import fit
from tdamp_bench.ablations import arms, contest, findings, loop, methods, no_pasp, projection, rho
from tdamp_bench.core.jobs import Job
from tdamp_bench.core.problems import Problem
from tdamp_bench.core.record import Verdict
from tdamp_bench.figures import ablations, tasks, tidy
from tdamp_bench.figures import methods as listed
from tdamp_bench.figures.options import Options, WrongOption
from tdamp_bench.methods.tdamp_configurations import Tdamp

WIDTHS = (12, 6, 3)
step = jax.jit(minibatch_step, static_argnums=0)
SMALL = Settings(max_epochs=3, batch_size=20)


@pytest.fixture
def state(blobs: Problem):
    """A network after the start."""
    return init(Network(WIDTHS, "classification", "relu"), SMALL, np.random.default_rng(0), blobs.x, blobs.y)


def same(a, b) -> None:
    """Two states are the same to the last bit."""
    jax.tree.map(np.testing.assert_array_equal, a.layers, b.layers)


class Keep(loop.Arm):
    """Nothing changed; remembers the last state."""

    def end(self, state):
        self.last = state
        return state


@pytest.mark.parametrize("keep", [None, 0.5])
@pytest.mark.parametrize("printed", [False, True])
def test_the_loop_is_fit(blobs, keep, printed):
    """twin: `training.fit` with the group prior, with and without removal: the same posterior after every epoch."""
    settings = replace(SMALL, prior="group", keep=keep)
    if printed:
        settings = Settings.paper(keep=keep, max_epochs=3, batch_size=20, active_threshold=0.51)
    arm = Keep()
    run = loop.train(Job(blobs, 3, keep or 1.0, {}), WIDTHS, settings, arm)
    means = []
    fitted = fit(
        Network(WIDTHS, "classification", "relu"), blobs.x, blobs.y, settings, seed=3,
        callback=lambda epoch, fitted, record: means.append(fitted.state),
    )  # fmt: skip
    assert run.units == fitted.n_units and all(map(math.isfinite, run.loss))
    assert (9 < run.units < 18 if keep else run.units == 18) if printed else run.units == (9 if keep else 18)
    last = means[-1].layers[0].weight
    there = np.asarray(arm.last.layers[0].offset) > -np.inf
    kept = np.asarray(means[-1].layers[0].offset) > -np.inf
    heard = np.asarray(arm.last.layers[1].offset) > -np.inf
    heard_too = np.asarray(means[-1].layers[1].offset) > -np.inf
    np.testing.assert_allclose(
        np.asarray(arm.last.layers[0].weight.mean)[there][:, heard],
        np.asarray(last.mean)[kept][:, heard_too],
        rtol=1e-4,
        atol=1e-6,
    )
    np.testing.assert_allclose(run.extra["noise_var"][-1], float(means[-1].noise_var), rtol=1e-4)


def test_projection_has_the_moments_of_the_mixture(state):
    """quadrature-free identity: P mean and P (var + mean^2) - (P mean)^2, with log-odds of about zero and of -1."""
    asked = question(state, -1.0, None, from_here=True)
    layer = asked.layers[0]
    found = projection.project(layer)
    p = 1 / (1 + np.exp(-np.asarray(active_logit(layer, "group", None), float)))[:, None]
    np.testing.assert_allclose(p, 1 / (1 + np.e), rtol=1e-3)
    mean, var = (np.asarray(part, float) for part in layer.weight)
    np.testing.assert_allclose(found.weight.mean, p * mean, rtol=1e-5)
    np.testing.assert_allclose(found.weight.var, p * (var + mean**2) - (p * mean) ** 2, rtol=1e-4)
    assert np.isfinite(active_logit(found, "group", None)).all()


def test_ep_is_turbo_where_groups_are_certain(state, blobs):
    """identity: all groups surely on: the projection changes no bit, and so does a whole training."""
    same(projection.project_all(state), state)
    asked = question(state, 50.0, None, from_here=True)
    sure = asked._replace(layers=tuple(look(layer, "group", None) for layer in asked.layers))
    assert all(bool(layer.sure) for layer in sure.layers)
    same(projection.project_all(sure), sure)
    never = replace(SMALL, prior="group", warm_up=99)
    job = Job(blobs, 0, 1.0, {})
    turbo, ep = (loop.train(job, WIDTHS, never, arm) for arm in (loop.Arm(), projection.ProjectEachMinibatch()))
    assert turbo.loss == ep.loss and turbo.extra == ep.extra


def test_ep_differs_where_groups_are_in_question(blobs):
    """identity: the same start; after the warm-up of one epoch the two ways of EP and turbo part."""
    settings = replace(SMALL, prior="group", warm_up=1, init_active_prob=0.01)
    kinds = loop.Arm, projection.ProjectEachMinibatch, projection.ProjectEachEpoch
    runs = [loop.train(Job(blobs, 0, 1.0, {}), WIDTHS, settings, kind()) for kind in kinds]
    noises = [run.extra["noise_var"] for run in runs]
    assert noises[0][0] == noises[1][0] == noises[2][0] and len({noise[-1] for noise in noises}) == 3


def test_a_removed_unit_stays_removed_by_the_projection(state):
    """identity: its weights stay known to be zero; a group surely off keeps finite log-odds."""
    asked = question(state, -200.0, None, from_here=True)
    gone = np.arange(12) == 3
    layer = remove(asked, [~gone, np.ones(6, bool)]).layers[0]
    found = projection.project(layer)
    assert not np.asarray(found.weight.var)[3].any() and (np.asarray(found.weight.var)[~gone] > 0).all()
    assert np.isfinite(np.asarray(active_logit(found, "group", None))[~gone]).all()


def test_fixed_rho_keeps_its_prior_log_odds(blobs, state):
    """identity: at the beginning of every epoch the log-odds are the target's, whatever was learned; EM's are not."""
    seen = {}

    class Spy(rho.FixedRho):
        def begin(self, state):
            state = super().begin(state)
            seen.setdefault("fixed", []).append(active_logit(state.layers[0], "group", None))
            return state

    class SpyEM(rho.PlainEM):
        def begin(self, state):
            seen.setdefault("em", []).append(active_logit(state.layers[0], "group", None))
            return state

    settings = replace(SMALL, prior="group", pruning="paper", pasp="paper")
    runs = [loop.train(Job(blobs, 0, 0.2, {}), WIDTHS, settings, arm(0.2)) for arm in (Spy, SpyEM)]
    np.testing.assert_allclose(seen["fixed"], math.log(0.25), atol=2e-3)
    np.testing.assert_allclose(seen["em"][0], math.log(0.25), atol=2e-3)
    assert np.abs(np.asarray(seen["em"][2]) - math.log(0.25)).min() > 0.01
    assert all(0 <= run.units <= 18 and math.isfinite(run.loss[-1]) for run in runs)


def test_units_more_likely_on_than_off_are_counted(state):
    """enumeration: probabilities set by hand."""
    layers = [layer._replace(active_prob=np.full(len(layer.active_prob), 0.4)) for layer in state.layers]
    layers[1] = layers[1]._replace(active_prob=np.array([0.6, 0.4, 0.9, 0.5, 0.1, 0.51]))
    assert rho.PlainEM(0.5).n_units(state._replace(layers=tuple(layers))) == 3


def batches(problem: Problem):
    """Six minibatches of twenty."""
    order = np.arange(120, dtype=np.int32).reshape(6, 20)
    x = problem.x - problem.x.mean(0)
    return x, problem.y, np.ones(120, np.float32), order, np.ones_like(order, bool)


def test_minibatches_alone_and_averaged(blobs, state):
    """twin: minibatch steps from the first prior one by one; averages of precisions and shifts."""
    settings = replace(SMALL, pasp="paper", centre_rate=0.0)
    plan = plan_of(Network(WIDTHS, "classification", "relu"), settings)
    knobs = knobs_of(settings, 0, 120.0)
    x, y, weight, order, present = batches(blobs)
    posts, here = [], state
    for rows in order:
        here = state._replace(noise_var=here.noise_var)
        here, *_ = step(plan, knobs, None, here, x[rows], y[rows], weight[rows])
        posts.append(here.layers[0].weight)
    prec = np.mean([1 / np.asarray(post.var) for post in posts], 0)
    shift = np.mean([np.asarray(post.mean) / np.asarray(post.var) for post in posts], 0)
    for averaged, mean, var in ((False, *posts[-1]), (True, shift / prec, 1 / prec)):
        arm = no_pasp.Minibatches(averaged)
        arm.start(state)
        found, _ = arm.e_step(plan, knobs, state, x, y, weight, order, present)
        again, _ = arm.e_step(plan, knobs, found, x, y, weight, order, present)
        np.testing.assert_allclose(found.layers[0].weight.mean, mean, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(found.layers[0].weight.var, var, rtol=1e-3)
        assert again.noise_var != found.noise_var
        np.testing.assert_allclose(again.layers[0].weight.var, found.layers[0].weight.var, rtol=0.5)


def test_one_batch_of_all_rows_is_a_minibatch_step(lines):
    """twin: the first epoch of one sweep is `minibatch_step` on all rows; later sweeps go on from its messages."""
    problem = lines[0]
    settings = Settings(batch_size=61, noise_every="epoch", pasp="paper", centre_rate=0.0, data_weight=1.0)
    network = Network((4, 5, 1), "regression", "relu")
    start = init(network, settings, np.random.default_rng(0), problem.x, problem.y)
    plan, knobs = plan_of(network, settings), knobs_of(settings, 0, 61.0)
    x, ones = problem.x - problem.x.mean(0), np.ones(61, np.float32)
    one, stats, _ = step(plan, knobs, None, start, x, problem.y, ones)
    arm = no_pasp.Whole()
    arm.start(start)
    found, found_stats = arm.e_step(plan, knobs, start, x, problem.y, ones)
    for a, b in zip(jax.tree.leaves((found.layers, found_stats)), jax.tree.leaves((one.layers, stats)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    further, _ = arm.e_step(plan, knobs, found, x, problem.y, ones)
    assert np.abs(np.asarray(further.layers[0].weight.mean - found.layers[0].weight.mean)).max() > 1e-3


@pytest.mark.parametrize("curve", [curve for part in arms.PARTS.values() for curve in part], ids=lambda c: c.name)
def test_every_arm_is_a_listed_method(blobs, curve):
    """enumeration: its settings can be made at every share, with what the arm is about in them."""
    method = listed.load(curve.method)
    assert method.name == curve.method and isinstance(method, Tdamp) and len(method.grid("mnist", 0.5)) == 1
    for keep in curve.keeps:
        made = method.settings(Job(blobs, 0, keep, curve.config), 20, 2)
        assert made.max_epochs == 2 and made.keep == (None if keep == 1 or curve.method == "tdamp_rho" else keep)
        assert (made.prior == "group") == (curve in (*arms.TURBO, *arms.RHO[:3], arms.PASP[2]))
        if curve.method in ("tdamp_printed", "tdamp_rho") or curve.name.endswith("_printed"):
            prob = made.init_active_prob
            assert made == Settings.paper(keep=made.keep, batch_size=20, max_epochs=2, init_active_prob=prob)
            assert prob == (1.0 if curve.name == "as_printed" else 0.5)
        assert (made.noise_update == "fixed") == (curve in arms.NOISE[1:])
        if curve.name not in ("whole", "averaged", "alone"):
            assert (made.pasp == "paper") == (curve in (*arms.TURBO[3:], *arms.RHO[:4], *arms.PASP[1:3]))


def test_a_fixed_noise_stays_fixed(blobs):
    """identity: all epochs have the first value, and a learned noise leaves it."""
    jobs = [Job(blobs, 0, 1.0, {"noise_init": 0.25, "noise_update": rule}) for rule in ("fixed", "em")]
    fixed, learned = methods.Variant().train(jobs, WIDTHS, 20, 2, lambda what: None)
    assert fixed.extra["noise_var"] == [0.25, 0.25] and learned.extra["noise_var"][0] != 0.25


def test_an_unknown_arm_is_refused(blobs):
    """identity: the error names the arms there are."""
    with pytest.raises(ValueError, match="ep_epoch"):
        methods.Turbo().train([Job(blobs, 0, 1.0, {"arm": "x"})], WIDTHS, 20, 1, lambda what: None)


def test_a_diverged_arm_has_infinite_losses(blobs):
    """identity: a state that is no longer finite ends the training."""

    class Broken(loop.Arm):
        def end(self, state):
            return state._replace(noise_var=state.noise_var * np.nan)

    run = loop.train(Job(blobs, 0, 1.0, {}), WIDTHS, SMALL, Broken())
    assert run.loss == [math.inf] * 3 and "not finite" in run.note


def table(rows: list[tuple]) -> pd.DataFrame:
    """`tidy.table` from (data, method, keep, seed, loss, units)."""
    full = [(data, method, keep, 20, seed, loss, units) for data, method, keep, seed, loss, units in rows]
    return pd.DataFrame(full, columns=tidy.COLUMNS)


def test_a_claim_is_concluded_over_the_data_sets():
    """enumeration: all hold, some hold, none holds and none fails clearly, and the rest."""
    held, tie, lost = Verdict("", -3.0, "<", -2.0), Verdict("", 1.0, "<", -2.0, tied=True), Verdict("", 3.0, "<", -2.0)
    for found, word in (
        ([held, held], "confirmed"), ([held, tie], "partly confirmed"), ([tie, tie], "tied"),
        ([tie, lost], "not confirmed"), ([], "not confirmed"),
    ):  # fmt: skip
        assert contest.verdict_word(found) == word


def test_findings_by_hand():
    """enumeration: turbo wins on one data set; a rule within and one outside of its target; the best fixed noise."""
    rows = []
    for seed in range(3):
        wiggle = 0.001 * seed**2
        for data, ep in (("mnist", 0.2), ("boston", 0.1)):
            rows += [
                (data, "turbo", 1.0, seed, 0.1 + wiggle, 1),
                (data, "ep", 1.0, seed, ep + 2 * wiggle, 1),
            ]  # Boston: 1.4 s.e.
        rows += [("mnist", "rho_em", 0.5, seed, 0.1, 600), ("mnist", "exact", 0.5, seed, 0.1, 456)]
        rows += [("mnist", "learned", 1.0, seed, 0.1, 1), ("mnist", "noise_0.1", 1.0, seed, 0.05 + wiggle, 1)]
        rows += [("mnist", "noise_1", 1.0, seed, 0.3 + wiggle, 1)]
    found = findings.findings(table(rows), {"boston": tasks.boston(), "mnist": tasks.mnist()})
    words = {one.verdict.claim: one for one in found}
    assert len(found) == 5
    said = next(one for claim, one in words.items() if claim.startswith("MNIST: turbo"))
    tied = next(one for claim, one in words.items() if claim.startswith("Boston housing: turbo"))
    assert tied.verdict.tied and not tied.verdict.met and "tied with it" in tied.sentence
    assert said.verdict.met and "confirmed" in said.sentence and "10.17 % against 20.33 %" in said.sentence
    em, exact = (words[f"{name}: units left, worst distance from the target"].verdict for name in (
        "plain EM on rho", "exact rule, anchored PasP"))  # fmt: skip
    assert not em.met and em.value == pytest.approx(144 / 456) and exact.met and exact.value == 0
    noise = next(one for claim, one in words.items() if "best of 2 fixed" in claim)
    assert (
        not noise.verdict.met
        and not noise.verdict.tied
        and "0.1 (5.17 %" in noise.sentence
        and "better than 1." in noise.sentence
    )


def test_a_quick_run_leaves_its_files(tmp_path, monkeypatch):
    """enumeration: pictures of all parts, columns of the table, verdicts that are said; all arms that it lists."""
    pytest.importorskip("matplotlib")
    calls = []

    def train(self, jobs, widths, batch, epochs, tick):
        calls.append((self.name, jobs[0].config, jobs[0].keep))
        lists = {"noise_var": [0.1] * epochs}
        return [loop.Run([0.5 + 0.1 * job.seed + len(calls)] * epochs, 400, lists) for job in jobs]

    for kind in (methods.Variant, methods.Looped):
        monkeypatch.setattr(kind, "train", train)
    console = Console(file=io.StringIO(), width=200)
    options = Options(2, True, tmp_path)
    ablations.run(options, console)
    folder = tmp_path / "ablations"
    names = ["ablations", *(f"ablations-{part}" for part in arms.PARTS)]
    wanted = {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    assert {path.name for path in folder.iterdir()} == wanted | {"ablations.csv", "ablations.json", "runs.jsonl"}
    points = pd.read_csv(folder / "ablations.csv")
    assert list(points.columns) == [*tidy.POINT, "mean", "se", "n", "units"]
    assert {data: set(here["method"]) for data, here in points.groupby("data")} == {
        data: set(names) for data, names in arms.QUICK.items()
    }
    report = json.loads((folder / "ablations.json").read_text(), parse_constant=pytest.fail)
    assert report["verdicts"] and all(one["sentence"] in console.file.getvalue() for one in report["verdicts"])
    before = len(calls)
    ablations.run(options, console)
    assert len(calls) == before
    with pytest.raises(WrongOption, match="--data"):
        ablations.run(Options(1, True, tmp_path / "other", ("boston",), ("tdamp_rho",)), console)


def test_the_evidence_that_remains():
    """identity: log-odds after the projection are the prior's plus the evidence of the projected Gaussians."""
    rng = np.random.default_rng(1)
    network = Network((3, 2, 2), "classification", "relu")
    x = rng.standard_normal((9, 3)).astype(np.float32)
    layer = question(init(network, SMALL, rng, x, np.zeros(9, np.int32)), 0.3, None, from_here=True).layers[0]
    found = projection.project(layer)
    gained = group.evidence(found.weight, layer.base_var)
    np.testing.assert_allclose(active_logit(found, "group", None), layer.offset + gained, rtol=1e-5)


def test_presets_with_fewer_units(blobs, lines):
    """identity: Boston's memory is its data weight while units go; MNIST's settings adapt; nothing else changes."""
    boston, mnist = (methods.preset(Job(p, 0, 0.5, {}), 20, 9) for p in (lines[0], blobs))
    assert boston.memory == boston.data_weight == 10.0 and not boston.adapts and mnist.adapts
    assert methods.preset(Job(lines[0], 0, 1.0, {}), 20, 9).memory is None
