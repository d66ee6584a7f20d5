"""The figure of the margins."""

import io
import json

import pandas as pd
import pytest
from rich.console import Console

from tdamp_bench.ablations import margin_method
from tdamp_bench.figures import margins, tasks
from tdamp_bench.figures.options import Options, WrongOption


@pytest.fixture
def tiny(monkeypatch, blobs):
    """A tiny problem in the place of MNIST."""
    real = tasks.mnist

    def mnist(quick=False):
        small = {"widths": (12, 6, 3), "batch": 20, "make": lambda role, seed: blobs}
        return tasks.Task(**{**vars(real(quick)), **small, "_made": {}})

    monkeypatch.setattr(tasks, "mnist", mnist)


def test_a_quick_run_leaves_its_files(tmp_path, tiny):
    """contract: files, columns, epochs 1 and 3 of two seeds, of tdamp and of the method as printed; verdicts
    in words; nothing is run twice.
    """
    console = Console(file=io.StringIO(), width=300)
    margins.run(Options(2, True, tmp_path), console)
    folder = tmp_path / "margins"
    wanted = {"margins.csv", "margins-fit.csv", "margins.json", "margins.png", "margins.svg", "runs.jsonl"}
    assert {path.name for path in folder.iterdir()} == wanted
    densities = pd.read_csv(folder / "margins.csv")
    assert list(densities.columns) == ["method", "epoch", "seed", "margin", "mixture", "gumbel"]
    assert densities.groupby(["method", "epoch", "seed"]).size().to_dict() == {
        (method, epoch, seed): margin_method.SHOWN
        for method in ("tdamp", "tdamp_paper")
        for epoch in (1, 3)
        for seed in (0, 1)
    }
    fits = pd.read_csv(folder / "margins-fit.csv")
    assert list(fits.columns) == ["method", "epoch", "number", "mean", "sem", "count"] and set(fits["count"]) == {2}
    report = json.loads((folder / "margins.json").read_text(), parse_constant=pytest.fail)
    printed = console.file.getvalue()
    assert [one["variant"] for one in report["verdicts"]] == ["tdamp"] * 4 + ["tdamp_paper"] * 4
    assert all(one["sentence"] in printed for one in report["verdicts"])
    lines = (folder / "runs.jsonl").read_bytes()
    margins.run(Options(2, True, tmp_path), console)
    assert (folder / "runs.jsonl").read_bytes() == lines


def test_at_most_five_seeds_and_only_mnist(tmp_path, tiny):
    """contract: ten seeds are cut to five, and it is noted; Boston has no margins."""
    console = Console(file=io.StringIO(), width=300)
    margins.run(Options(10, True, tmp_path), console)
    assert set(pd.read_csv(tmp_path / "margins" / "margins.csv")["seed"]) == set(range(5))
    assert "5 seeds" in console.file.getvalue()
    with pytest.raises(WrongOption, match="MNIST"):
        margins.run(Options(1, True, tmp_path / "other", ("boston",)), console)
