"""`tdamp bench uci` on made-up tables: the protocol, the peers on toys, what is kept of a run.

Peers whose library is missing are left out, but for what happens without it.
"""

import io
import json
import sys

import jax
import numpy as np
import pytest
from rich.console import Console
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process import GaussianProcessRegressor

from tdamp import _optional
from tdamp.cli import main
from tdamp.datasets import Table
from tdamp_bench.cli import bench as commands_bench
from tdamp_bench.methods.baselines import deep_ensemble, gaussian_process
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.suites.uci import protocol, published, run, store, table, verdicts
from tdamp_bench.suites.uci.methods import METHODS
from tdamp_bench.suites.uci.scores import score, summary
from tdamp_bench.suites.uci.tasks import Answer, Gaussian, Task, standardised


def importable(method):
    """Whether its library is there, and fits the others."""
    try:
        return bool(METHODS[method].peer())
    except _optional.MissingExtra:
        return False


@pytest.fixture
def line():
    """y = 2 x_0 - x_1 + noise of deviation 0.5, 80 rows to learn and 40 to predict, all of them standardised."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 2))
    y = 2 * x[:, 0] - x[:, 1] + 0.5 * rng.standard_normal(120)
    x, y = (x - x[:80].mean(0)) / x[:80].std(0), (y - y[:80].mean()) / y[:80].std()
    x, y = x.astype(np.float32), y.astype(np.float32)
    return Task(0, 20, x[:80], y[:80], x[80:]), y[80:]


@pytest.fixture
def made_up(monkeypatch):
    """Two tables in place of Boston and yacht, of one shape so that programs are compiled once; counts of loads."""
    loads = []

    def load(name):
        loads.append(name)
        rng = np.random.default_rng(len(name))
        x = rng.standard_normal((100, 3))
        return Table(x, 10 + 3 * x[:, 0] + rng.standard_normal(100), ("a", "b", "c"))

    monkeypatch.setattr(run, "load", load)
    return loads


@pytest.mark.parametrize("rows", [45, 308, 506])
def test_splits_are_those_of_the_protocol(rows):
    """golden(the published procedure, transcribed): numpy's global generator, seeded once, and a cut after 90 %."""
    np.random.seed(1)  # noqa: NPY002
    for train, test in protocol.orders(rows, splits=3):
        permutation = np.random.choice(range(rows), rows, replace=False)  # noqa: NPY002
        end = int(np.round(rows * 9.0 / 10.0))
        np.testing.assert_array_equal(train, permutation[:end])
        np.testing.assert_array_equal(test, permutation[end:])


def test_tasks_hold_no_test_targets():
    """Identity: rows of the table, each once, and the targets of the test rows apart."""
    x = np.arange(40.0)[:, None]
    (task, y_test), *_ = protocol.tasks(Table(x, x[:, 0], ("a",)), hidden=7, splits=1)
    assert len(task.x) == 36 and task.hidden == 7 and task.split == 0
    np.testing.assert_array_equal(task.x[:, 0], task.y)
    np.testing.assert_array_equal(task.x_test[:, 0], y_test)
    np.testing.assert_array_equal(np.sort(np.concatenate([task.y, y_test])), np.arange(40.0))


def test_a_peer_sees_standard_rows_and_is_scored_in_the_units_of_the_table():
    """Identity: a peer that knows the truth in its units has the scores of the same Gaussian in ours."""
    rng = np.random.default_rng(0)
    x, y = 5 + 3 * rng.standard_normal((30, 2)), 100 + 20 * rng.standard_normal(30)
    seen = []

    def peer(tasks, quick):
        for task in tasks:
            seen.append(task)
            yield Answer(Gaussian(np.full(10, 0.5), np.full(10, 2.0)), 1.0)

    y_test = 100 + 20 * rng.standard_normal(10)
    (answer,) = standardised(peer)([Task(0, 5, x, y, x[:10])], False)
    np.testing.assert_allclose(seen[0].x.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose([seen[0].y.mean(), seen[0].y.std()], [0, 1], atol=1e-6)
    mean, std = y.mean() + 0.5 * y.std(), 2 * y.std()
    found = score(answer, y_test)
    assert found["nll"] == pytest.approx(-norm.logpdf(y_test, mean, std).mean())
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((y_test - mean) ** 2)))
    assert found["width"] == pytest.approx(2 * 1.959964 * std)
    assert found["coverage"] == np.mean(np.abs(y_test - mean) <= 1.959964 * std)


def test_what_is_not_finite_scores_infinity():
    """Identity: never NaN, and no error that would end a run of hours."""
    found = score(Answer(Gaussian(np.array([0.0, np.nan]), np.ones(2)), 1.0), np.zeros(2))
    assert found["rmse"] == found["nll"] == np.inf and found["coverage"] == 0


def test_evidence_of_the_process_and_its_gradient():
    """twin: scikit-learn's log marginal likelihood."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((25, 3)), rng.standard_normal(25)
    twin = GaussianProcessRegressor(gaussian_process.kernel(3), alpha=gaussian_process.JITTER, optimizer=None).fit(x, y)
    theta = np.log([1.7, 0.6, 2.0, 30.0, 0.05])
    value, gradient = gaussian_process.negative_evidence(theta, x, y)
    twin_value, twin_gradient = twin.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(-twin_value)
    np.testing.assert_allclose(gradient, -twin_gradient, rtol=1e-6, atol=1e-8)


def test_density_of_the_process(line):
    """Identity: p(y_test | y) is p(y_test, y) / p(y) under the kernel that was found."""
    task, y_test = line
    (answer,) = gaussian_process.predict([task])
    x = np.concatenate([task.x, task.x_test[:1]]).astype(np.float64)
    process = gaussian_process.kernel(2)
    climb = gaussian_process.climber(task.x.astype(np.float64), task.y.astype(np.float64), gaussian_process.CLIMB)
    theta, _ = climb(None, process.theta, process.bounds)
    joint = process.clone_with_theta(theta)(x)
    both = multivariate_normal(cov=joint).logpdf(np.append(task.y, y_test[0]))
    mean, std = (a[:1] for a in answer.predictive)
    known = multivariate_normal(cov=joint[:-1, :-1]).logpdf(task.y)
    assert Gaussian(mean, std).log_score(y_test[:1]) == pytest.approx(both - known, abs=1e-3)
    assert answer.chosen["noise_var"] == pytest.approx(np.exp(theta[-1]))


def test_moments_of_a_mixture():
    """quadrature: mean and variance of the mixture's density on a grid; one member is itself."""
    mean, var = np.array([[-1.0], [0.5], [3.0]]), np.array([[0.2], [1.0], [0.4]])
    grid = np.linspace(-12, 14, 20_001)
    density = norm.pdf(grid, mean, np.sqrt(var)).mean(0)
    first = np.trapezoid(grid * density, grid)
    second = np.trapezoid((grid - first) ** 2 * density, grid)
    found = deep_ensemble.mixture(mean, var)
    np.testing.assert_allclose([found.mean[0], found.std[0] ** 2], [first, second], rtol=1e-8)
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


def test_pytagi_learns_a_line_and_its_noise(line):
    """calibration: nearly the log score of the line; the density is the Gaussian with the tuned noise in it."""
    pytagi_regression = pytest.importorskip(
        "tdamp_bench.methods.baselines.pytagi_regression", exc_type=_optional.MissingExtra
    )
    task, y_test = line
    (answer,) = pytagi_regression.predict([task])
    slope, *_ = np.linalg.lstsq(task.x, task.y, rcond=None)
    noise_std = np.std(task.y - task.x @ slope)
    truth = norm.logpdf(y_test, task.x_test @ slope, noise_std).mean()
    assert answer.predictive.log_score(y_test) > truth - 0.3
    assert 0.5 < answer.chosen["noise_std"] / noise_std < 2
    assert (answer.predictive.std > answer.chosen["noise_std"]).all()


def test_pytagi_predicts_a_row_alike_in_any_minibatch(line):
    """Identity: the rows of zeros that fill the last minibatch change nothing, nor do neighbours."""
    pytagi_regression = pytest.importorskip(
        "tdamp_bench.methods.baselines.pytagi_regression", exc_type=_optional.MissingExtra
    )
    task, _ = line
    learner = pytagi_regression.Learner(task.x, task.y, 5, 0.3, batch=32, seed=0)
    learner.train(2)
    whole, part = learner.predict(task.x_test), learner.predict(task.x_test[35:])
    assert len(whole.mean) == 40
    np.testing.assert_allclose(part, np.array(whole)[:, 35:], rtol=1e-5)


def test_laplace_of_a_line_is_bayesian_regression(line):
    """Identity: a network without hidden layer, for centred inputs, has the exact Gaussian posterior."""
    laplace_net = pytest.importorskip("tdamp_bench.methods.baselines.laplace_net", exc_type=_optional.MissingExtra)
    task, _ = line
    laplace_net.torch.manual_seed(0)
    net = laplace_net.torch.nn.Sequential(laplace_net.torch.nn.Linear(2, 1))
    posterior = laplace_net.fit(net, task.x, task.y, laplace_net.Effort(300, 6, 20, 32))
    found = laplace_net.predictive(posterior, task.x_test)
    noise_var = float(posterior.sigma_noise) ** 2
    weight_prec, bias_prec = posterior.prior_precision.tolist()
    cov = np.linalg.inv(task.x.T @ task.x / noise_var + weight_prec * np.eye(2))
    var = np.einsum("ni,ij,nj->n", task.x_test, cov, task.x_test) + 1 / (len(task.x) / noise_var + bias_prec)
    np.testing.assert_allclose(found.std**2, var + noise_var, rtol=1e-3)
    slope = cov @ task.x.T @ task.y / noise_var
    np.testing.assert_allclose(found.mean, task.x_test @ slope, atol=0.01)
    residual_std = np.std(task.y - task.x @ slope)
    assert float(posterior.sigma_noise) == pytest.approx(residual_std, rel=0.1)


def test_quick_run_writes_and_resumes(made_up, tmp_path, monkeypatch):
    """Identity: legal JSON with every method, page and plot; a second run asks no method anything."""
    out, console = tmp_path / "uci.json", Console(file=io.StringIO(), width=200)
    available = [method for method in METHODS if importable(method)]
    run.run(methods=available, quick=True, out=out, console=console)
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert {name: list(methods) for name, methods in report["runs"].items()} == dict.fromkeys(
        protocol.QUICK_SETS, available
    )
    for methods in report["summary"].values():
        assert all(np.isfinite(list(one["mean"].values())).all() and one["splits"] == 1 for one in methods.values())
    assert "tdamp" in report["runs"]["yacht"]["tdamp"]["surroundings"]["versions"]
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    page = out.with_suffix(".md").read_text()
    assert "ethical problem" in page and "| Yacht, 1 of 20 splits |" in page and "quick run" in page
    assert "of the three published" in console.file.getvalue()

    def refuse(tasks, quick):
        pytest.fail("a finished split was run again")

    monkeypatch.setattr(type(METHODS["tdamp"]), "peer", lambda self: refuse)
    run.run(methods=available, quick=True, out=out, console=console)
    assert json.loads(out.read_text()) == report
    with pytest.raises(ValueError, match="choose another --out"):
        run.run(methods=["tdamp"], out=out, console=console)


def constant(loc):
    """A peer that answers N(loc, 1), and stops at a split of number 2 if `loc` is negative."""

    def peer(tasks, quick):
        for task in tasks:
            if loc < 0 and task.split == 2:
                raise KeyboardInterrupt
            yield Answer(Gaussian(np.full(len(task.x_test), loc), np.ones(len(task.x_test))), 1.0, {"loc": loc})

    return peer


def test_an_interrupted_run_goes_on_where_it_stopped(made_up, tmp_path, monkeypatch):
    """Enumeration: splits before the stop are kept, those after it run; --again replaces; --splits limits."""
    out, console, ends = tmp_path / "uci.json", Console(file=io.StringIO()), iter((-1.0, 5.0, 6.0))
    monkeypatch.setattr(type(METHODS["tdamp"]), "peer", lambda self: constant(next(ends)))
    asked = {"sets": ["yacht"], "methods": ["gp"], "out": out, "console": console}

    def chosen():
        splits = json.loads(out.read_text())["runs"]["yacht"]["gp"]["splits"]
        return {int(split): scores["chosen"]["loc"] for split, scores in splits.items()}

    with pytest.raises(KeyboardInterrupt):
        run.run(splits=4, **asked)
    assert chosen() == {0: -1.0, 1: -1.0}
    run.run(splits=4, **asked)
    assert chosen() == {0: -1.0, 1: -1.0, 2: 5.0, 3: 5.0}
    run.run(splits=1, again=True, **asked)
    assert chosen() == {0: 6.0, 1: -1.0, 2: 5.0, 3: 5.0}


def test_two_processes_may_fill_one_file(tmp_path):
    """Identity: what one has written is kept by the other; infinity is written as a word and read as a number."""
    one, other = store.Store(tmp_path / "x.json", False), store.Store(tmp_path / "x.json", False)
    scores = {"rmse": 1.0, "nll": np.inf, "coverage": 0.9, "width": 2.0, "seconds": 0.1, "chosen": {}}
    one.add("yacht", "tdamp", 10, scores, {})
    other.add("yacht", "tdamp", 2, scores, {})
    one.reload()
    assert list(one.splits("yacht", "tdamp")) == ["2", "10"]
    assert summary(one.splits("yacht", "tdamp"))["mean"]["nll"] == np.inf


def test_means_and_standard_errors():
    """Identity: by hand, two splits; a single one has no error."""
    splits = {"0": {"rmse": 1.0, "nll": 2.0, "coverage": 0.9, "width": 4.0, "seconds": 1.0}}
    assert summary(splits)["error"]["rmse"] == 0
    found = summary(splits | {"1": {"rmse": 3.0, "nll": 2.0, "coverage": 1.0, "width": 4.0, "seconds": 2.0}})
    assert found["mean"]["rmse"] == 2 and found["error"]["rmse"] == pytest.approx(np.sqrt(2) / np.sqrt(2))
    assert found["mean"]["coverage"] == pytest.approx(0.95) and found["splits"] == 2


def runs_of(figures):
    """Three splits a set, mean RMSE, NLL and coverage of tdamp, beside an ensemble of RMSE 3 and NLL 2.5."""
    ensemble = {"rmse": 3.0, "nll": 2.5, "coverage": 0.95, "width": 1.0, "seconds": 1.0}
    wiggle = {"0": 0.0, "1": 0.03, "2": -0.03}
    return {
        name: {
            "tdamp": {
                "splits": {
                    split: ensemble | {"rmse": rmse + more, "nll": nll + more, "coverage": coverage}
                    for split, more in wiggle.items()
                }
            },
            "ensemble": {"splits": {split: ensemble for split in wiggle} | {"3": ensemble | {"rmse": 1e-3}}},
        }
        for name, (rmse, nll, coverage) in figures.items()
    }


def test_verdicts_by_hand():
    """Identity: unrounded means against the printed figures; coverage by the size; common splits, pair by pair."""
    rows = {"boston": 506, "concrete": 1030}
    good = verdicts.verdicts(runs_of({"boston": (2.9, 2.4, 0.91), "concrete": (2.99, 2.49, 0.94)}), rows)
    assert [verdict.met for verdict in good] == [True, True, False, False, True, True, True, True, False, False]
    assert [verdict.tied for verdict in good] == [False] * 8 + [True, True]
    assert good[8].value == pytest.approx(-0.01 / (0.03 / np.sqrt(3))) and "concrete" in good[8].claim
    assert [good[2].value, good[3].value] == [2, 2]
    bad = verdicts.verdicts(runs_of({"boston": (3.014, 2.41, 0.985), "concrete": (3.1, 2.43, 0.92)}), rows)
    assert [verdict.met for verdict in bad] == [False, True, False, False, True, False, False, True, False, True]
    assert not any(verdict.tied for verdict in bad)
    assert bad[0].value == pytest.approx(3.014 / 3.01) and "boston" in bad[0].claim
    assert [bad[2].value, bad[3].value] == [1, 1]
    assert verdicts.verdicts({}, {}) == []


def test_an_ensemble_may_choose_adamw(line, monkeypatch):
    """contract: eight recipes to choose from, the plain ones among them; what was chosen is said."""
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


def test_the_best_figure_is_bold_before_rounding():
    """Identity: 2.969 rounds to MC dropout's 2.97 and is better; a method that did not run is a dash."""
    mean = {"rmse": 2.969, "nll": 2.411, "coverage": 0.95, "width": 9.5, "seconds": 2.0}
    one = {"splits": 20, "mean": mean, "error": dict.fromkeys(mean, 0.1)}
    found = {"boston": {"tdamp": one}, "protein": {"pytagi": one | {"splits": 5, "mean": mean | {"rmse": 4.5}}}}
    by_rmse, by_nll, covered, seconds = table.tables(found)
    assert by_rmse.rows[0] == ["Boston", "3.01", "2.97", "3.28", "**2.97 ± 0.10**", "-"]
    assert by_rmse.rows[1] == ["Protein", "4.73", "**4.36**", "4.71", "-", "4.50 ± 0.10"]
    assert by_nll.rows[0][3:] == ["**2.41**", "2.411 ± 0.100", "-"]
    assert covered.rows[0] == ["Boston", "95.0 (9.5)", "-"] and seconds.rows[1] == ["Protein", "-", "2.0"]


def test_every_table_has_its_published_figures():
    """Enumeration: the same tables everywhere; the parser repeats names so that --help needs no JAX."""
    assert tuple(protocol.SETS) == tuple(published.PUBLISHED) == commands_bench.UCI_SETS
    assert tuple(METHODS) == commands_bench.UCI_METHODS
    assert published.best("yacht", "nll") == 1.18 and published.best("wine_red", "rmse") == 0.62


def test_the_process_is_not_asked_for_large_tables():
    """Identity: 1439 rows of wine are the most it bears."""
    assert run._bearable("gp", 1599) and not run._bearable("gp", 9568) and run._bearable("tdamp", 45730)


@pytest.mark.parametrize(
    "library, method, module", [("pytagi", "pytagi", "pytagi_regression"), ("laplace", "laplace", "laplace_net")]
)
def test_the_command_stops_at_once_without_the_extra(library, method, module, monkeypatch, capsys, tmp_path):
    """Identity: exit code 2 and one line, before any training."""
    monkeypatch.delitem(sys.modules, f"tdamp_bench.methods.baselines.{module}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    out = tmp_path / "x.json"
    assert main.main(["bench", "uci", "--quick", "--methods", method, "--out", str(out)]) == 2
    assert "tdamp[bench]" in capsys.readouterr().err and not out.exists()
    sys.modules.pop(f"tdamp_bench.methods.baselines.{module}", None)
