"""The figures by name; each module is imported when it is used."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .options import Options


@dataclass(frozen=True)
class Figure:
    """A module with `TITLE` and `run(options, console)`, and the paper's figure that it repeats."""

    module: str
    paper: str
    folder: str = "figures"

    def load(self) -> Any:
        """The module."""
        return importlib.import_module(f"..{self.folder}.{self.module}", __package__)


FIGURES = {
    "curves": Figure("curves", "6"),
    "sparsity": Figure("sparsity", "7"),
    "margins": Figure("margins", "8"),
    "noise": Figure("noise", "9"),
    "ablations": Figure("ablations", "-"),
    "federated-curves": Figure("federated_curves", "10"),
    "federated-sparsity": Figure("federated_sparsity", "11"),
    "federated-skew": Figure("federated_skew", "-"),
    "probit-sweep": Figure("probit_sweep", "-", "studies"),
    "sweeps": Figure("sweeps", "-", "studies"),
    "hmc": Figure("hmc", "-", "studies"),
    "state-evolution": Figure("state_evolution", "-", "studies"),
    "shift": Figure("shift", "-", "studies"),
}


def run(name: str, options: Options, console: Console) -> None:
    """Make a figure."""
    FIGURES[name].load().run(options, console)


def show(out: Path, console: Console) -> None:
    """All figures: what they show, their number in the paper, and whether the folder has their results."""
    title = "Figures of the paper's evaluation, and studies"
    table = Table("name", "shows", "paper", f"in {out}", title=title, title_justify="left")
    for name, figure in FIGURES.items():
        there = "yes" if (out / name / f"{name}.json").exists() else "begun" if (out / name).exists() else "no"
        table.add_row(name, figure.load().TITLE, figure.paper, there)
    console.print(table)
