"""What the user asked of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = ("boston", "mnist")
SEEDS, QUICK_SEEDS = 10, 2


class WrongOption(ValueError):
    """Something was asked for that the figure does not have."""


@dataclass(frozen=True)
class Options:
    """Seeds 0 to `seeds` - 1; data sets and methods to run now, all of the figure's where `methods` is None.

    They narrow what is run, not what is drawn: figure and tables show every run that the folder holds.
    """

    seeds: int = SEEDS
    quick: bool = False
    out: Path = Path("results")
    data: tuple[str, ...] = DATA
    methods: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        seeds: int | None = None,
        quick: bool = False,
        out: Path | None = None,
        data: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
    ) -> Options:
        """With defaults for what was not chosen; quick runs stay apart from full ones."""
        return cls(
            seeds=seeds or (QUICK_SEEDS if quick else SEEDS),
            quick=quick,
            out=out or Path("results", "quick" if quick else ""),
            data=tuple(data or DATA),
            methods=tuple(methods) if methods else None,
        )

    def folder(self, figure: str) -> Path:
        """Where a figure's files are."""
        return self.out / figure

    def check_methods(self, known: Sequence[str]) -> None:
        """Refuse names that the figure does not have."""
        unknown = [name for name in self.methods or () if name not in known]
        if unknown:
            raise WrongOption(f"This figure has no {', '.join(unknown)}. Choose from: {', '.join(known)}.")
