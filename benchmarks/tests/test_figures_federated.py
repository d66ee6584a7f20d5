"""The federated figures: plans, findings, quick runs with toys."""

import io
import json
import math
import runpy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from figure_toys import LISTED, Toy
from rich.console import Console

from tdamp.cli import main
from tdamp.federated.server import Diverged
from tdamp_bench.core import problems
from tdamp_bench.core.jobs import Job
from tdamp_bench.core.progress import silent
from tdamp_bench.figures import (
    federated,
    federated_curves,
    federated_findings,
    federated_skew,
    federated_sparsity,
    methods,
)
from tdamp_bench.figures.groups import QUICK_KEEPS
from tdamp_bench.figures.options import Options
from tdamp_bench.figures.paired import gap
from tdamp_bench.figures.tasks import mnist as mnist_task
from tdamp_bench.methods import tdamp_federated
from tdamp_bench.methods.tdamp_federated import PrintedTdamp

MODULES = {
    "federated-curves": federated_curves,
    "federated-sparsity": federated_sparsity,
    "federated-skew": federated_skew,
}
CELLS = {"federated-curves": 14, "federated-sparsity": 24, "federated-skew": 6}


@pytest.fixture
def toys(monkeypatch, blobs, lines):
    """The toys in place of all methods, made-up data, an empty log."""
    monkeypatch.setattr(methods, "METHODS", LISTED)
    monkeypatch.setattr("tdamp_bench.figures.groups.METHODS", LISTED)
    monkeypatch.setattr(problems, "boston", lambda splits: (lines * 5)[:splits])
    monkeypatch.setattr(problems, "mnist", lambda rows=None, test_rows=None: blobs)
    monkeypatch.setattr(Toy, "calls", [])
    monkeypatch.setattr(Toy, "stop_at", None)


@pytest.mark.parametrize("figure", MODULES)
def test_a_quick_figure_leaves_its_files(toys, tmp_path, figure):
    """enumeration: all files and lines; a second call runs nothing and changes no byte."""
    arguments = ["reproduce", figure, "--quick", "--out", str(tmp_path)]
    assert main.main(arguments) == 0
    n_calls = len(Toy.calls)
    files = {path.name: path.read_bytes() for path in (tmp_path / figure).iterdir()}
    assert set(files) == {"runs.jsonl", *(f"{figure}.{kind}" for kind in ("csv", "json", "png", "svg"))}
    report = json.loads(files[f"{figure}.json"], parse_constant=pytest.fail)
    assert report["federation"]["mnist"] == {"clients": 10, "local_epochs": 10}
    shares = {(cell["data"], cell["method"], cell["keep"]) for cell in report["cells"]}
    quick = {curve.title for curve in MODULES[figure].PLAN.curves if {*curve.keeps} & {*QUICK_KEEPS}}
    assert {method for _, method, _ in shares} == quick
    assert len(shares) == len(report["cells"]) == CELLS[figure]
    assert main.main(arguments) == 0 and len(Toy.calls) == n_calls
    assert {path.name: path.read_bytes() for path in (tmp_path / figure).iterdir()} == files


def test_a_full_figure_has_its_rounds(toys, tmp_path):
    """enumeration: epochs of the plan are rounds; the second figure takes over what the first has run."""
    options, console = Options(seeds=1, out=tmp_path, data=("boston",)), Console(file=io.StringIO())
    federated_curves.run(options, console)
    report = json.loads((tmp_path / "federated-curves" / "federated-curves.json").read_text())
    assert report["tasks"]["boston"]["epochs"] == 40 and federated_curves.PLAN.epochs["mnist"] == 20
    ran = {job for call in Toy.calls for job in call}
    Toy.calls.clear()
    federated_sparsity.run(options, console)
    assert not ran & {job for call in Toy.calls for job in call} and len(ran) == 9 * (3 * 10 + 1)


def points(data, rows):
    """A summary table: method, keep and the means by round."""
    found = [(data, m, keep, r, loss, 912 * keep) for m, keep, losses in rows for r, loss in enumerate(losses, start=1)]
    return pd.DataFrame(found, columns=["data", "method", "keep", "epoch", "mean", "units"])


def seeds(data, rows):
    """The runs behind such a table: three seeds, which differ by far less than the methods do."""
    found = [
        (data, m, keep, r, seed, loss + 0.01 * seed + 0.001 * seed**2 * len(m), 912 * keep)
        for m, keep, losses in rows
        for r, loss in enumerate(losses, start=1)
        for seed in range(3)
    ]
    return pd.DataFrame(found, columns=["data", "method", "keep", "epoch", "seed", "loss", "units"])


def test_bytes_are_counted_up_to_the_target():
    """enumeration: by hand."""
    assert federated_findings.bytes_to_reach([3, 2, 1], [10, 20, 30], 2) == 30
    assert federated_findings.bytes_to_reach([3, 2, 1], [10, 20, 30], 0.5) == math.inf


def test_rounds_and_ends_are_judged():
    """enumeration: a curve that is ahead, one that is behind in a round, one that never gets there."""
    task = mnist_task()
    theirs = [5.0, 4.0, 3.0]
    assert federated_findings._every_round(task, [4, 3, 2], theirs, 1).verdict.met
    behind = federated_findings._every_round(task, [6, 3, 2], theirs, 1)
    assert not behind.verdict.met and "round 1" in behind.sentence
    assert federated_findings._every_round(task, [6, 3, 2], theirs, 2).verdict.met
    assert federated_findings._rounds(task, [4, 3, 2], theirs, 3).verdict.value == 2
    assert "never" in federated_findings._rounds(task, [4, 4, 4], theirs, 3).sentence
    (won, tied) = (federated_findings._end(task, gap(ours, [2.0, 2.1, 2.2])) for ours in ([1, 1.2, 1.1], [2, 2.3, 2]))
    assert won.verdict.met and tied.verdict.tied and "tied with it" in tied.sentence


def test_bytes_at_the_same_size():
    """enumeration: rounds before the last unit has gone do not count, whatever their loss."""
    found = federated_findings._bytes_alike(mnist_task(), 0.3, 1 / 3, [1, 3, 2, 1], [9, 6, 3, 3], 2.5, 60.0)
    assert found.verdict.value == 18 / 60 and found.verdict.met
    never = federated_findings._bytes_alike(mnist_task(), 0.3, 1 / 3, [1, 1, 3, 3], [9, 6, 3, 3], 2.5, 60.0)
    assert not never.verdict.met and "never" in never.sentence


@pytest.mark.parametrize(("small", "met"), [(5.1, True), (4.9, False)])
def test_the_lead_at_a_smaller_size(small, met):
    """enumeration: a lead of 2 with all units; one of 4.1 is twice as large, one of 3.9 is not."""
    rows = [("fedavg_group_lasso", 1.0, [3]), (federated.OURS, 1.0, [1])]
    rows += [("fedavg_group_lasso", 0.3, [small]), (federated.OURS, 0.3, [1])]
    found = SimpleNamespace(tasks={"mnist": mnist_task()})
    (finding,) = federated_findings.gap_findings(found, points("mnist", rows), federated.OURS)
    assert finding.verdict.met is met


ADAM, LASSO = "fedavg_adam", "fedavg_group_lasso"


def judged(rows, ours, runs=None, table=None):
    """The findings about final losses, with the methods' names as their labels."""
    found = SimpleNamespace(tasks={"mnist": mnist_task()}, labels={method: method for method, _, _ in rows})
    table, runs = points("mnist", rows) if table is None else table, seeds("mnist", rows) if runs is None else runs
    return federated_findings.best_findings(found, table, runs, ours)


def test_the_best_of_the_baselines():
    """enumeration: at every size the lowest is met, by name; a size that only others have is left out; a mean that is
    lower by less than two standard errors of the paired differences is a tie, whatever the means' own errors."""
    rows = [(federated.OURS, 1.0, [2]), (ADAM, 1.0, [4]), (LASSO, 1.0, [3])]
    rows += [(federated.OURS, 0.5, [2]), (ADAM, 0.5, [1]), (LASSO, 0.1, [1])]
    runs = seeds("mnist", rows)
    whole, half = judged(rows, federated.OURS, runs)
    assert whole.verdict.met and "keep 1: tdamp_federated ends at 2.0" in whole.sentence
    assert (
        f"the best of the paper's baselines, {LASSO}, at 3.0" in whole.sentence and "better than it" in whole.sentence
    )
    assert not half.verdict.met and not half.verdict.tied and f"{ADAM}, at 1.0" in half.sentence
    both = runs.assign(loss=runs["loss"] + 3.0 * runs["seed"])  # all methods' runs of a seed are hard or easy
    assert judged(rows, federated.OURS, both)[0].verdict.met
    alone = runs.assign(loss=runs["loss"] + 3.0 * (runs["seed"] - 1) * (runs["method"] == federated.OURS))
    whole = judged(rows, federated.OURS, alone)[0]  # -1 on average, and +- 1.7
    assert whole.verdict.tied and not whole.verdict.met and "tied with it" in whole.sentence


@pytest.mark.parametrize("skewed", ["", "_skewed"])
def test_the_paper_s_claim_is_judged_against_the_paper_s_baselines(skewed):
    """enumeration: stronger rivals, and tdamp's own other averages, are judged apart, and change nothing of it."""
    ours = "tdamp_skewed" if skewed else federated.OURS
    rows = [
        (ours, 1.0, [2]),
        (ADAM + skewed, 1.0, [3]),
        ("fedavg_adamw" + skewed, 1.0, [1]),
        ("fedprox" + skewed, 1.0, [4]),
    ]
    rows += [("tdamp_sites", 1.0, [2.5]), ("tdamp_waa", 1.0, [5])] if skewed else [(federated.PRINTED, 1.0, [0.5])]
    found = {finding.claim: finding for finding in judged(rows, ours)}
    assert (
        found["federated"].verdict.met
        and f"the paper's baselines, {ADAM}{skewed}, at 3.0" in found["federated"].sentence
    )
    strong = found["strong-federated"]
    assert not strong.verdict.met and f"the stronger rivals, fedavg_adamw{skewed}, at 1.0" in strong.sentence
    assert set(found) == {"federated", "strong-federated", *([""] if skewed else [])}
    assert not skewed or (found[""].verdict.met and "other averages, tdamp_sites, at 2.5" in found[""].sentence)


def test_every_baseline_is_someone_s_rival():
    """enumeration: no curve of the figures goes unjudged, and the page of results has a line for each claim."""
    drawn = {curve.method.removesuffix("_skewed") for module in MODULES.values() for curve in module.PLAN.curves}
    rivals = [name for _, names in federated.RIVALS.values() for name in names]
    assert drawn - {"tdamp", federated.OURS, federated.PRINTED} == {name for name in rivals if name.startswith("fed")}
    page = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "results.py"))
    assert {*federated.RIVALS} - {""} <= {*page["CLAIMS"], *page["STRONG_CLAIMS"]}


@pytest.mark.parametrize(("units", "met"), [(456, True), (700, False)])
def test_the_printed_method_is_judged(units, met):
    """enumeration: as a variant of its own, tdamp not among the others; a network that stayed large wins nothing."""
    rows = [(federated.OURS, 0.5, [1]), (federated.PRINTED, 0.5, [2]), (ADAM, 0.5, [3])]
    table = points("mnist", rows)
    table.loc[table["method"] == federated.PRINTED, "units"] = units
    (ours,) = judged(rows, federated.OURS, table=table)
    (printed,) = judged(rows, federated.PRINTED, table=table)
    assert ours.verdict.met and ours.variant == "tdamp" and f"{ADAM}, at 3.0" in ours.sentence
    assert printed.verdict.met is met and printed.variant == "tdamp_paper" and f"{ADAM}, at 3.0" in printed.sentence
    assert "the method as printed" in str(printed.verdict) and ("too many" in printed.sentence) is not met


def test_the_printed_method_trains(blobs):
    """identity: a loss and bytes for every round, the printed settings, a target that was missed is noted."""
    method = PrintedTdamp(clients=3, local_epochs=2)
    jobs = [Job(blobs, 0, keep, method.grid("mnist", keep)[0]) for keep in (1.0, 0.5)]
    terms = method.terms(jobs[1], (12, 8, 3), 20, 3)
    assert (terms.settings.pasp, terms.noise, terms.settings.keep) == ("paper", "server", 0.5)
    whole, half = method.train(jobs, (12, 8, 3), 20, 3, silent)
    assert len(whole.loss) == len(whole.extra["bytes"]) == 3 and whole.units == 20 and whole.loss[-1] < 0.4
    assert bool(half.note) == (half.units > 10)


def test_rounds_that_never_came_have_infinite_losses(blobs, monkeypatch):
    """identity: a federation that diverges in its second round has one loss, and says why."""

    def play(server, clients):
        yield next(real(server, clients))
        raise Diverged("gone")

    real = tdamp_federated.play
    monkeypatch.setattr(tdamp_federated, "play", play)
    (run,) = PrintedTdamp(clients=3, local_epochs=1).train([Job(blobs, 0, 1.0, {})], (12, 8, 3), 20, 3, silent)
    assert run.loss[1:] == [math.inf] * 2 and math.isfinite(run.loss[0]) and run.note == "gone"


@pytest.mark.parametrize("name", [name for name in federated.LOOK if name in methods.METHODS])
def test_the_real_methods_have_the_names_and_the_budget(name):
    """enumeration: they load, their grids fit the budget, and the figures say what the methods do."""
    pytest.importorskip("optax")
    from tdamp_bench.methods.baselines import fedavg, strong_grids

    method = methods.load(name)
    assert method.name == name and method.label
    assert all(1 <= len(method.grid(data, 0.3)) <= 6 for data in ("boston", "mnist"))
    if "adamw" in name:
        assert method.grid("mnist", 1.0) == tuple(recipe.config for recipe in strong_grids.FIGURES["mnist"])
    assert list(federated.CLIENTS.values()) == [fedavg.CLIENTS[task] for task in ("regression", "classification")]
    assert federated.LOCAL_EPOCHS == fedavg.LOCAL_EPOCHS
