"""The federated figures: their plans, their quick runs with toys, and one quick run of the real methods on Boston."""

import io
import json

import pytest
from figure_toys import LISTED, Toy
from rich.console import Console

from tdamp import cli
from tdamp.bench import problems
from tdamp.bench.figures import federated, federated_curves, federated_sparsity, methods
from tdamp.bench.figures.options import Options

MODULES = {"federated-curves": federated_curves, "federated-sparsity": federated_sparsity}


@pytest.fixture
def toys(monkeypatch, blobs, lines):
    """The toys in place of all methods, made-up data, an empty log."""
    monkeypatch.setattr(methods, "METHODS", LISTED)
    monkeypatch.setattr("tdamp.bench.figures.groups.METHODS", LISTED)
    monkeypatch.setattr(problems, "boston", lambda splits: (lines * 5)[:splits])
    monkeypatch.setattr(problems, "mnist", lambda rows=None, test_rows=None: blobs)
    monkeypatch.setattr(Toy, "calls", [])
    monkeypatch.setattr(Toy, "stop_at", None)


@pytest.mark.parametrize("figure", MODULES)
def test_a_quick_figure_leaves_its_files(toys, tmp_path, capsys, figure):
    """enumeration: all files; it says that tdamp is missing; a second call runs nothing and changes no byte."""
    arguments = ["reproduce", figure, "--quick", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    said, n_calls = capsys.readouterr().out, len(Toy.calls)
    files = {path.name: path.read_bytes() for path in (tmp_path / figure).iterdir()}
    assert set(files) == {"runs.jsonl", *(f"{figure}.{kind}" for kind in ("csv", "json", "png", "svg"))}
    report = json.loads(files[f"{figure}.json"], parse_constant=pytest.fail)
    assert report["missing"] == [federated.NOT_YET] and federated.NOT_YET in said.replace("\n", " ")
    assert report["federation"]["mnist"] == {"clients": 10, "local_epochs": 10} and report["verdicts"] == []
    shares = {(cell["data"], cell["method"], cell["keep"]) for cell in report["cells"]}
    assert {method for _, method, _ in shares} == set(federated.LOOK)
    assert len(shares) == len(report["cells"]) == (8 if figure == "federated-curves" else 16)
    assert cli.main(arguments) == 0 and len(Toy.calls) == n_calls
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
    assert not ran & {job for call in Toy.calls for job in call} and len(ran) == 4 * (3 * 10 + 1)


def test_when_tdamp_is_there_nothing_is_missing(toys, tmp_path, monkeypatch):
    """identity: a curve of the name that is kept for it."""
    monkeypatch.setattr(federated, "OURS", "fedprox")
    federated_curves.run(Options(1, True, tmp_path, ("boston",)), console := Console(file=io.StringIO()))
    assert json.loads((tmp_path / "federated-curves" / "federated-curves.json").read_text())["missing"] == []
    assert "not in this figure" not in console.file.getvalue()


@pytest.mark.parametrize("name", federated.LOOK)
def test_the_real_methods_have_the_names_and_the_budget(name):
    """enumeration: they load, their grids fit the budget, and the figures say what the methods do."""
    pytest.importorskip("optax")
    from tdamp.bench.baselines import fedavg

    method = methods.load(name)
    assert method.name == name and method.label
    assert all(1 <= len(method.grid(data, 0.3)) <= 6 for data in ("boston", "mnist"))
    assert list(federated.CLIENTS.values()) == [fedavg.CLIENTS[task] for task in ("regression", "classification")]
    assert federated.LOCAL_EPOCHS == fedavg.LOCAL_EPOCHS


def test_a_quick_run_of_the_real_methods(tmp_path):
    """identity: Boston in three rounds; losses fall, and bytes are both ways of four clients' parameters."""
    pytest.importorskip("optax")
    federated_curves.run(Options(1, True, tmp_path, ("boston",)), Console(file=io.StringIO()))
    folder = tmp_path / "federated-curves"
    report = json.loads((folder / "federated-curves.json").read_text())
    weights = 14 * 64 + 65 * 64 + 65
    cost = {row["method"]: row["bytes"] for row in report["bytes_per_round"]}
    assert cost["fedavg_adam"] == cost["fedprox"] == 2 * 4 * 4 * weights > cost["fedavg_group_snip"] > 0
    curves = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    assert len(curves) == 4 and all(curve["loss"][0][2] < curve["loss"][0][0] for curve in curves)
