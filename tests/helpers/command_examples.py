"""Small tables and models that the tests of the commands share."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tdamp.cli.main import main

SMALL = ["--hidden", "16", "--epochs", "3", "--batch-size", "32"]


class Result(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object and nothing else."""
        return json.loads(self.out)


class Example(NamedTuple):
    """A table, the model made of it, and what `fit --json` printed."""

    data: Path
    model: Path
    result: Result


def call(*arguments: object) -> Result:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Result(code, out.getvalue(), err.getvalue())


def houses(rows: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, categories, dates and missing cells; price depends on area and district, garden on nothing."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(40, 200, rows).round(1)
    district = rng.choice(["north", "south", "harbour"], rows)
    sold = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="D")
    price = 3 * area + 60 * (district == "harbour") + rng.normal(0, 15, rows)
    frame = pd.DataFrame({"area": area, "district": district, "sold": sold.strftime("%Y-%m-%d")})
    frame["garden"] = np.where(rng.random(rows) < 0.1, np.nan, rng.uniform(0, 500, rows).round())
    frame["price"] = price.round(2)
    frame["band"] = np.where(price < 300, "low", np.where(price < 450, "middle", "high"))
    return frame


def csv(folder: Path, name: str, frame: pd.DataFrame) -> Path:
    """The frame as a file."""
    path = folder / name
    frame.to_csv(path, index=False)
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
