"""The federated figures: plans, methods, and quick runs with toys."""

import io
import json
import runpy
from pathlib import Path

import pytest
from figure_toys import Toy
from rich.console import Console

from tdamp.cli import main
from tdamp_bench.figures import (
    federated,
    federated_curves,
    federated_skew,
    federated_sparsity,
    methods,
)
from tdamp_bench.figures.groups import QUICK_KEEPS
from tdamp_bench.figures.options import Options

MODULES = {
    "federated-curves": federated_curves,
    "federated-sparsity": federated_sparsity,
    "federated-skew": federated_skew,
}


CELLS = {"federated-curves": 14, "federated-sparsity": 24, "federated-skew": 6}


@pytest.mark.parametrize("figure", MODULES)
def test_a_quick_figure_leaves_its_files(toys, tmp_path, figure):
    """contract: all files and lines; a second call runs nothing and changes no byte."""
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
    """contract: epochs of the plan are rounds; the second figure takes over what the first has run."""
    options, console = Options(seeds=1, out=tmp_path, data=("boston",)), Console(file=io.StringIO())
    federated_curves.run(options, console)
    report = json.loads((tmp_path / "federated-curves" / "federated-curves.json").read_text())
    assert report["tasks"]["boston"]["epochs"] == 40 and federated_curves.PLAN.epochs["mnist"] == 20
    ran = {job for call in Toy.calls for job in call}
    Toy.calls.clear()
    federated_sparsity.run(options, console)
    assert not ran & {job for call in Toy.calls for job in call} and len(ran) == 9 * (3 * 10 + 1)


def test_every_baseline_is_someone_s_rival():
    """contract: no curve of the figures goes unjudged, and the page of results has a line for each claim."""
    drawn = {curve.method.removesuffix("_skewed") for module in MODULES.values() for curve in module.PLAN.curves}
    rivals = [name for _, names in federated.RIVALS.values() for name in names]
    assert drawn - {"tdamp", federated.OURS, federated.PRINTED} == {name for name in rivals if name.startswith("fed")}
    page = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "results.py"))
    assert {*federated.RIVALS} - {""} <= {*page["CLAIMS"], *page["STRONG_CLAIMS"]}


@pytest.mark.parametrize("name", [name for name in federated.STYLE_OF if name in methods.METHODS])
def test_the_real_methods_have_the_names_and_the_budget(name):
    """contract: they load, their grids fit the budget, and the figures say what the methods do."""
    from tdamp_bench.methods.baselines import fedavg, strong_grids

    method = methods.load(name)
    assert method.name == name and method.label
    assert all(1 <= len(method.grid(data, 0.3)) <= 6 for data in ("boston", "mnist"))
    if "adamw" in name:
        assert method.grid("mnist", 1.0) == tuple(recipe.config for recipe in strong_grids.FIGURES["mnist"])
    assert list(federated.CLIENTS.values()) == [fedavg.CLIENTS[task] for task in ("regression", "classification")]
    assert federated.LOCAL_EPOCHS == fedavg.LOCAL_EPOCHS
