"""What a figure is made of: curves, and the cells (curve, data set, share of units) that are measured for them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..core.jobs import Config
from .options import DATA
from .store import Done
from .tasks import Task, task
from .tuning import Choice


@dataclass(frozen=True)
class Curve:
    """One line of a figure: a method at some shares of units. A `config` set here is not tuned."""

    method: str
    keeps: tuple[float, ...] = (1.0,)
    data: tuple[str, ...] = DATA
    config: Config | None = None
    name: str = ""
    """What the tables call it; the method's name where there is no other."""
    label: str = ""
    """What the legend calls it; the method's label where there is no other."""

    @property
    def title(self) -> str:
        """The name in tables."""
        return self.name or self.method


@dataclass(frozen=True)
class Plan:
    """A figure in a few lines: its curves, and what is kept of a run."""

    name: str
    curves: tuple[Curve, ...]
    whole: bool = False
    """Keep the loss of every epoch, not the last alone."""
    extra: tuple[str, ...] = ()
    """Further lists of `Run.extra` to keep."""
    siblings: tuple[str, ...] = ()
    """Figures whose finished runs may serve here too."""
    epochs: dict[str, int] = field(default_factory=dict)
    """Epochs by data set where they are not the task's own; quick runs keep theirs."""

    @property
    def methods(self) -> list[str]:
        """Names, each once."""
        return list(dict.fromkeys(curve.method for curve in self.curves))

    def task(self, data: str, quick: bool) -> Task:
        """A data set as this figure uses it."""
        chosen = task(data, quick)
        return chosen if quick else replace(chosen, epochs=self.epochs.get(data, chosen.epochs))


@dataclass(frozen=True)
class Cell:
    """A point of a figure; once it is measured, with the configuration chosen and the runs there are."""

    curve: Curve
    data: str
    keep: float
    choice: Choice | None = None
    runs: tuple[Done, ...] = ()
