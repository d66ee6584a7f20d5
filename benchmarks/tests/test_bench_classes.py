"""The pieces of `tdamp bench classes`, and a quick run of all of it on scikit-learn's digits."""

import importlib
import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from tdamp import _optional, metrics
from tdamp.cli import main
from tdamp_bench.core import presets, problems
from tdamp_bench.core.problems import Problem
from tdamp_bench.core.scoring import nll
from tdamp_bench.methods import tdamp as ours
from tdamp_bench.methods.baselines import temperature
from tdamp_bench.methods.baselines.adam import Adam, softmax
from tdamp_bench.methods.baselines.recipe import strong
from tdamp_bench.suites.classes import contenders, our_tuning, run, scores, shifts, summary, table, tuning
from tdamp_bench.suites.classes.framed import framed
from tdamp_bench.suites.classes.plan import QUICK
from tdamp_bench.suites.classes.sets import TITLES, Sets, sets, small_digits
from tdamp_bench.suites.classes.timed import Seconds

PLAN = replace(QUICK, validation_rows=200, hidden=(16,), rates=(3e-3, 1e-2), angles=(0, 90))


@pytest.fixture(scope="module")
def digits():
    """scikit-learn's digits as large as MNIST's: 1,000 to train on, 150 to test."""
    x, y = small_digits()
    return Problem("classification", x[:1000], y[:1000], x[1000:1150], y[1000:1150])


@pytest.fixture
def quiet():
    """A console that writes into memory."""
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def little(digits, monkeypatch):
    """The command on few digits, by a little plan."""
    monkeypatch.setattr(problems, "mnist", lambda rows, test_rows: digits)
    monkeypatch.setattr(run, "QUICK", PLAN)
    monkeypatch.setattr(our_tuning, "CANDIDATES", our_tuning.CANDIDATES[:1])


def test_quick_run_has_every_method(little, quiet, tmp_path):
    """enumeration: legal JSON with every score of every method, tables and a picture."""
    pytest.importorskip("optax")
    pytest.importorskip("matplotlib")
    families = [name for name in contenders.FAMILIES if name != "laplace" or _has_laplace()]
    out = tmp_path / "classes.json"
    run.run(quick=True, out=out, console=quiet, families=families)
    parts = json.loads(out.read_text(), parse_constant=pytest.fail)["parts"]
    methods = parts["summary"]["methods"]
    expected = [name for name in contenders.LABELS if _has_laplace() or "laplace" not in name]
    assert list(methods) == expected and len(parts["summary"]["verdicts"]) == 2 * (2 + 3 + 4 + 4)
    for one in methods.values():
        mean = one["mean"]
        assert mean["test"]["error"] < 0.5 and 0 < mean["test"]["nll"] < 2 and mean["seconds"]["processor"] > 0
        assert list(mean["turned"]) == ["0", "90"] and list(mean["outside"]) == list(TITLES)
        assert mean["turned"]["0"]["nll"] == mean["test"]["nll"] < mean["turned"]["90"]["nll"]
    assert methods["adam"]["mean"]["test"]["error"] == methods["adam_temperature"]["mean"]["test"]["error"]
    page = out.with_suffix(".md").read_text()
    assert all(contenders.LABELS[name] in page for name in methods) and "A quick run" in page
    assert out.with_suffix(".png").stat().st_size > 10_000
    assert "training time" in quiet.file.getvalue()


def _has_laplace():
    try:
        importlib.import_module("laplace")
    except ImportError:
        return False
    return True


def test_what_has_finished_is_not_run_again(little, quiet, tmp_path, monkeypatch):
    """enumeration: an interrupted command goes on where it was; other settings or grids run again what they concern."""
    pytest.importorskip("matplotlib")
    ran, out = [], tmp_path / "classes.json"

    def fake(family, method):
        def train(problem, plan, tuned, seed):
            if interrupts and (family, seed) == ("ensemble", 0):
                raise KeyboardInterrupt
            ran.append((family, seed))
            return {method: contenders.Contender(lambda x: np.full((len(x), 10), 0.1), Seconds(1.0, 1.0))}

        return train

    interrupts = True
    names = ("tdamp", "adam", "ensemble", "adamw", "tdamp_tuned")
    monkeypatch.setattr(run, "FAMILIES", {name: fake(name, name) for name in names})
    monkeypatch.setattr(run, "TUNINGS", {name: lambda *_, name=name: ran.append(name) or {} for name in run.TUNINGS})

    def again():
        ran.clear()
        run.run((0, 1), quick=True, out=out, console=quiet, families=names)
        return list(ran)

    with pytest.raises(KeyboardInterrupt):
        again()
    assert ran == [("tdamp", 0), "tuning", ("adam", 0)]
    interrupts = False
    rest = [("ensemble", 0), "tuning of AdamW", ("adamw", 0), "tuning of tdamp", ("tdamp_tuned", 0)]
    assert again() == [*rest, *((name, 1) for name in names)]
    assert again() == []
    monkeypatch.setattr(our_tuning.presets, "MNIST", replace(presets.MNIST, noise_init=0.5))
    assert again() == [("tdamp", 0), "tuning of tdamp", ("tdamp_tuned", 0), ("tdamp", 1), ("tdamp_tuned", 1)]
    monkeypatch.setitem(run.STRONG, "mnist", run.STRONG["mnist"][:2])
    assert again() == ["tuning of AdamW", ("adamw", 0), ("adamw", 1)]


def test_temperature_against_a_grid():
    """enumeration: no temperature of a fine grid is better; scores thrice as large want thrice the temperature."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 400)
    outputs = 4 * (rng.standard_normal((400, 4)) + np.eye(4)[y])
    found = temperature.fit_temperature(outputs, y)
    grid = np.exp(np.linspace(-2, 3, 2001))
    losses = [nll(temperature.scaled(outputs, t), y) for t in grid]
    assert found == pytest.approx(grid[np.argmin(losses)], rel=5e-3) and found > 1.5
    assert nll(temperature.scaled(outputs, found), y) <= min(losses) + 1e-9
    assert temperature.fit_temperature(3 * outputs, y) == pytest.approx(3 * found, rel=1e-3)


def test_an_ensemble_is_the_mean_of_its_members():
    """identity: two networks by hand; ensembles of different seeds share no member."""

    class Sure:
        def __init__(self, k):
            self.k = k

        def predictive(self, x):
            return np.tile(np.eye(3)[self.k], (len(x), 1))

    np.testing.assert_allclose(contenders.mean_probs([Sure(0), Sure(2)], np.zeros((4, 1))), [[0.5, 0, 0.5]] * 4)
    together = [*contenders.member_seeds(0, 5), *contenders.member_seeds(1, 5), *contenders.member_seeds(2, 5)]
    assert together == list(range(15))


def test_turned_by_ninety_degrees(digits):
    """identity: numpy.rot90, which moves pixels only; no angle changes nothing, and values stay in [0, 1]."""
    x = np.concatenate([digits.x_test[:3], np.random.default_rng(0).random((2, 784), np.float32)])
    for turns in (1, 2):
        expected = np.rot90(x.reshape(-1, 28, 28), turns, axes=(1, 2)).reshape(x.shape)
        np.testing.assert_allclose(shifts.turned(x, 90 * turns), expected, atol=1e-6)
    assert shifts.turned(x, 0) is x
    slanted = shifts.turned(x, 30)
    assert slanted.min() >= 0 and slanted.max() <= 1 and slanted.dtype == np.float32


def test_pieces_are_the_quarters_in_another_order():
    """enumeration: each quarter of each picture is found once, and never are all four in their places."""
    x = np.random.default_rng(1).random((30, 784), np.float32)
    before, after = _quarters(x), _quarters(shifts.pieces(x))
    same = np.array([[(a == b).all((1, 2)) for b in before] for a in after])
    assert (same.sum(0) == 1).all() and (same.sum(1) == 1).all()
    assert (np.trace(same) < 4).all() and len({tuple(order) for order in same.argmax(1).T}) > 5


def _quarters(x):
    return [x.reshape(-1, 28, 28)[:, i : i + 14, j : j + 14] for i in (0, 14) for j in (0, 14)]


def test_permuted_and_inverted(digits):
    """identity: every picture in the same order; black for white."""
    x = digits.x_test
    order = np.argsort(shifts.permuted(np.arange(784.0)[None])[0])
    np.testing.assert_array_equal(shifts.permuted(x)[:, order], x)
    np.testing.assert_array_equal(shifts.inverted(x) + x, np.ones_like(x))


def test_letters_are_drawn_alike_every_time():
    """identity: the same pixels twice, in [0, 1]; 52 letters x 4 styles x 3 sizes, centred, no two letters alike."""
    pytest.importorskip("matplotlib")
    from tdamp_bench.suites.classes.letters import SIZES, letters

    found = letters((15.0,))
    np.testing.assert_array_equal(found, letters((15.0,)))
    assert found.shape == (52 * 4 * len(SIZES), 784) and found.min() == 0 and 0.9 < found.max() <= 1
    pages = found.reshape(-1, 28, 28)
    longer = np.maximum(_extent(pages, 1), _extent(pages, 2))
    assert set(longer) <= {size - cut for size in SIZES for cut in (0, 1, 2)}
    mass = pages.sum((1, 2))
    for axis in (1, 2):
        centre = (pages.sum(3 - axis) * np.arange(28)).sum(1) / mass
        assert np.abs(centre - 13.5).max() <= 0.5 + 1e-4
    assert len(np.unique(found, axis=0)) > 0.99 * len(found)


def _extent(pages, axis):
    """How many rows (axis 1) or columns (axis 2) of each page hold ink, from the first to the last."""
    ink = pages.max(3 - axis) > 0
    return ink.shape[1] - ink.argmax(1) - ink[:, ::-1].argmax(1)


def test_framed_by_hand():
    """identity: one dot goes to the middle, a picture as large as the page stays, no ink is an error."""
    dot = np.zeros((20, 20))
    dot[0, 3] = 1
    assert np.argwhere(framed(dot[:1, 3:4])).tolist() == [[14, 14]]
    assert np.argwhere(framed(dot)).tolist() == [[8, 11]]  # the picture's edge meets the page's
    full = np.full((28, 28), 0.5)
    np.testing.assert_array_equal(framed(full), full)
    with pytest.raises(ValueError, match="some ink"):
        framed(np.zeros((3, 3)))


def test_scores_are_wired_to_their_sets(digits):
    """identity: sure and right about digits, at a loss about the rest: AUROC 1, and 0 the other way round."""
    asked = sets(digits.x_test, digits.y_test, PLAN)
    right = softmax(20 * np.eye(10)[digits.y_test])

    found = scores.scores(lambda x: right if x is asked.test else _flat(x), asked)
    assert all(how == {"entropy": 1.0, "max_prob": 1.0} for how in found["outside"].values())
    assert found["test"]["error"] == found["turned"]["0"]["error"] == 0  # the test digits themselves
    assert found["turned"]["90"]["entropy"] == pytest.approx(np.log(10))
    assert found["small_digits"]["nll"] == pytest.approx(np.log(10))
    back = scores.scores(lambda x: right[:1].repeat(len(x), 0) if x is not asked.test else _flat(x), asked)
    assert all(how == {"entropy": 0.0, "max_prob": 0.0} for how in back["outside"].values())


def _flat(x):
    return np.full((len(x), 10), 0.1)


def test_test_scores_by_hand():
    """identity: three rows of two classes, one of them wrong; empty bins are None."""
    y, probs = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    found = scores.on_test(y, probs)
    assert found["error"] == pytest.approx(1 / 3) and found["nll"] == pytest.approx(-np.log([0.9, 0.8, 0.3]).mean())
    assert found["ece"] == pytest.approx((0.1 + 0.2 + 0.7) / 3) and found["aurc"] == pytest.approx(1 / 9)
    assert found["brier"] == pytest.approx(2 * (0.1**2 + 0.2**2 + 0.7**2) / 3)
    assert found["reliability"]["rows"] == [0] * 10 + [1, 1, 0, 1, 0] and found["reliability"]["accuracy"][0] is None
    np.testing.assert_allclose(scores.entropy(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0])


def test_tuning_is_validation_nll_alone_and_together(digits):
    """Twin: networks trained one by one on the same split; the least entries are what is chosen."""
    pytest.importorskip("optax")
    found = tuning.tune(digits, PLAN)
    held_out = digits.validation(PLAN.validation_rows)
    probs = []
    for member in range(2):
        adam = Adam("optax", held_out, (784, 16, 10), 1e-2, PLAN.batch, member)
        list(adam.epochs(2))
        probs.append(adam.predictive(held_out.x_test))
    alone = np.mean([nll(one, held_out.y_test) for one in probs])
    assert found["one_nll"]["0.01"][1] == pytest.approx(alone, rel=1e-6)
    assert found["ensemble_nll"]["0.01"][1] == pytest.approx(nll(np.mean(probs, 0), held_out.y_test), rel=1e-6)
    assert found["ensemble_nll"]["0.01"][1] < found["one_nll"]["0.01"][1]
    for kind in ("one", "ensemble"):
        by_rate = found[f"{kind}_nll"]
        assert by_rate[f"{found[kind]['rate']:g}"][found[kind]["epochs"] - 1] == min(map(min, by_rate.values()))


def test_adamw_is_tuned_by_its_last_epoch(digits, monkeypatch):
    """Twin: one recipe trained by itself on the same split for tdamp's epochs; the least is chosen, for each kind."""
    pytest.importorskip("optax")
    recipes = (strong(3e-3, 0.1, 0.1), strong(1e-2, 0.05, 0.3))
    monkeypatch.setitem(tuning.STRONG, "mnist", recipes)
    found = tuning.tune_strong(digits, PLAN)
    held_out = digits.validation(PLAN.validation_rows)
    each = []
    for member in range(2):
        adam = Adam("optax", held_out, (784, 16, 10), recipes[1], PLAN.batch, member, PLAN.epochs)
        list(adam.epochs(PLAN.epochs))
        each.append(nll(adam.predictive(held_out.x_test), held_out.y_test))
    assert found["one_nll"][str(recipes[1])] == pytest.approx(np.mean(each), rel=1e-6)
    for kind in ("one", "ensemble"):
        choice = tuning.Choice(**found[kind])
        losses = found[f"{kind}_nll"]
        assert losses[str(choice.recipe)] == min(losses.values()) and choice.epochs == PLAN.epochs


def test_tdamp_is_tuned_on_validation_rows(digits, monkeypatch):
    """Twin: one choice trained by itself on the same split; the least NLL is chosen; schedules by hand."""
    settings = our_tuning.choices(PLAN)["pace 0.4, noise 0.2"]
    assert settings.data_weight[:2] == (0.4, 0.8) and settings.data_weight[-1] == 12
    assert settings.noise_init == 0.2 and settings.noise_update == "fixed"
    monkeypatch.setattr(our_tuning, "CANDIDATES", (our_tuning.Candidate(0.4, None),))
    found = our_tuning.tune_ours(digits, PLAN)
    losses = {name: one["nll"] for name, one in found["validation"].items()}
    assert list(losses) == ["preset", "annealed", "pace 0.4, noise learned"]
    assert found["chosen"] == min(losses, key=losses.get)
    settings, held_out = our_tuning.choices(PLAN)["pace 0.4, noise learned"], digits.validation(PLAN.validation_rows)
    models = [ours.train(held_out, (784, 16, 10), settings, seed, lambda *_: None) for seed in our_tuning.SEEDS]
    each = [nll(model.predictive(held_out.x_test), held_out.y_test) for model in models]
    assert losses["pace 0.4, noise learned"] == pytest.approx(np.mean(each), rel=1e-5)


def test_summary_and_verdicts_by_hand():
    """identity: two seeds of four methods; one that lacks a seed is left out; rivals are met seed by seed."""

    def part(seed, method, error, processor):
        test = {"error": error, "nll": 0.05 + error, "ece": 0.003, "reliability": {"accuracy": [None, 0.5 + seed]}}
        run = {"test": test, "seconds": {"processor": processor}, "notes": {"settings": "some", "rate": 0.1}}
        return {"seed": seed, "methods": {method: run}}

    parts = {"tuning": {"one": {}}, "tdamp, seed 0": part(0, "tdamp", 0.01, 8.0)}
    parts |= {"tdamp, seed 1": part(1, "tdamp", 0.03, 10.0), "adam, seed 0": part(0, "adam", 0.1, 1.0)}
    parts |= {f"adamw, seed {seed}": part(seed, "adamw", error, 1.0) for seed, error in ((0, 0.02), (1, 0.041))}
    parts |= {f"ensemble, seed {seed}": part(seed, "ensemble", 0.025, 50.0) for seed in (1, 0)}
    found = summary.summary(parts, (0, 1))
    assert list(found["methods"]) == ["tdamp", "adamw", "ensemble"]
    ours = found["methods"]["tdamp"]
    assert ours["mean"]["test"]["error"] == pytest.approx(0.02) and ours["mean"]["notes"] == {"rate": 0.1}
    assert ours["mean"]["test"]["reliability"]["accuracy"] == [None, 1.0]
    assert ours["standard_error"]["error"] == pytest.approx(0.01)
    said = summary.verdicts(parts, found)
    limits, adamw, ensemble = said[:2], said[2:5], said[5:]
    assert [v.met for v in limits] == [False, True]
    assert [(v.met, v.tied) for v in adamw] == [(True, False), (True, False), (False, True)]
    assert adamw[0].value == pytest.approx(stats.ttest_rel([0.01, 0.03], [0.02, 0.041]).statistic)
    assert [(v.met, v.tied) for v in ensemble] == [(False, True)] * 3 + [(True, False)]  # 0.02 against 0.025: a tie


def test_laplace_stands_on_the_weights_of_adam(digits):
    """Twin: the PyTorch network says what Adam's does; Laplace is less sure, and keeps its samples."""
    pytest.importorskip("optax")
    pytest.importorskip("laplace")
    from tdamp_bench.methods.baselines.laplace_classes import Laplace, network_of, torch

    adam = Adam("optax", digits, (784, 16, 10), 1e-2, 100, seed=0)
    list(adam.epochs(3))
    params = adam.learner.state.params
    with torch.no_grad():
        outputs = network_of(params)(torch.from_numpy(digits.x_test)).numpy()
    np.testing.assert_allclose(outputs, adam.point(digits.x_test), atol=1e-4)
    fitted = Laplace(params, digits, samples=20, seed=0)
    assert fitted.prior_precision > 0 and fitted.prior_precision != 1
    for link in ("probit", "mc"):
        probs = fitted.predictive(digits.x_test, link)
        np.testing.assert_allclose(probs.sum(1), 1, rtol=1e-4)
        assert scores.entropy(probs).mean() > scores.entropy(adam.predictive(digits.x_test)).mean()
        np.testing.assert_array_equal(probs, fitted.predictive(digits.x_test, link))
        assert metrics.error_rate(digits.y_test, probs) < 0.3


def test_missing_laplace_names_the_extra(monkeypatch, capsys, tmp_path):
    """Without the library the command ends at once and says what to install."""
    pytest.importorskip("optax")
    monkeypatch.setitem(sys.modules, "laplace", None)
    assert main.main(["bench", "classes", "--quick", "--out", str(tmp_path / "x.json")]) == 2
    assert "tdamp[bench]" in capsys.readouterr().err and not list(tmp_path.iterdir())
    monkeypatch.delitem(sys.modules, "tdamp_bench.methods.baselines.laplace_classes", raising=False)
    with pytest.raises(_optional.MissingExtra, match="laplace"):
        importlib.import_module("tdamp_bench.methods.baselines.laplace_classes")


def test_tables_of_a_part():
    """identity: cells by hand, with and without a standard error."""
    test = {"error": 0.0174, "nll": 0.057, "ece": 0.003, "adaptive_ece": 0.002, "brier": 0.026, "aurc": 0.0004}
    mean = {
        "test": test,
        "turned": {str(angle): {"error": 0.5, "nll": 2.0, "entropy": 0.7} for angle in range(0, 181, 15)},
        "outside": {name: {"entropy": 0.9, "max_prob": 0.8} for name in TITLES},
        "small_digits": {"error": 0.25, "nll": 1.0, "entropy": 0.5},
        "seconds": {"processor": 20.0},
    }
    wide = {key: value / 10 for key, value in test.items()}
    found = {"seeds": [0, 1], "methods": {"tdamp": {"mean": mean, "standard_error": wide}}, "verdicts": []}
    first, *_, outside, small = table.tables(found)
    assert first.rows[0][1:4] == ["1.74 (0.17)", "0.0570 (0.0057)", "0.30 (0.03)"] and first.rows[0][-1] == "1.00"
    assert outside.rows[0][1] == "0.9000 / 0.8000" and small.rows[0][1:] == ["25.0", "1.000", "0.500"]
    turned = table.tables(found)[1]
    assert turned.columns[1:] == [f"{angle}°" for angle in range(0, 181, 30)]
    assert "| tdamp | 1.74 (0.17) |" in table.markdown(found, quick=False)


def test_sets_hold_what_they_say(digits):
    """Shapes: all are rows of 784 pixels; the small digits have their labels."""
    asked = sets(digits.x_test, digits.y_test, PLAN)
    assert isinstance(asked, Sets) and len(asked.y_small) == len(asked.small) == 1797
    for x in (*asked.turned.values(), *asked.outside.values(), asked.small):
        assert x.shape[1] == 784 and x.dtype == np.float32 and x.min() >= 0 and x.max() <= 1
