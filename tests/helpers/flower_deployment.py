"""What the tests of deployed federations share: a small table, a small federation, and how far it has come."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.flower_processes import Processes
from tdamp.io.errors import ModelFileError
from tdamp.persistence import folder

SMALL = "--rounds 2 --local-epochs 2 --hidden 8 --batch-size 16"


def houses(rows: int, seed: int) -> pd.DataFrame:
    """Price by area and a category."""
    rng = np.random.default_rng(seed)
    area, kind = rng.uniform(40, 200, rows).round(1), rng.choice(["flat", "house"], rows)
    price = (3 * area + 60 * (kind == "house") + rng.normal(0, 15, rows)).round(2)
    return pd.DataFrame({"area": area, "kind": kind, "price": price})


def rounds_done(checkpoint: Path) -> int:
    """Of a checkpoint that may not be there yet."""
    try:
        return int(folder.load(checkpoint)[1]["rounds_done"])
    except ModelFileError:
        return 0


def status(flower: Processes, app: Path) -> str:
    """Of the run."""
    runs = json.loads(flower.run("flwr list federation --format json", app))["runs"]
    return str(runs[0]["status"]) if runs else "none"
