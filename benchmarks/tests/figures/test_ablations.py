"""The figure of the ablations."""

import io
import json

import pandas as pd
import pytest
from rich.console import Console

from tdamp_bench.ablations import arms, loop, methods
from tdamp_bench.figures import ablations, tidy
from tdamp_bench.figures.options import Options, WrongOption


def test_a_quick_run_leaves_its_files(tmp_path, monkeypatch):
    """contract: pictures of all parts, columns of the table, verdicts in words; all arms that it lists."""
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
