"""`tdamp data list` and `tdamp data fetch`: data sets to try things on."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import Stop
from .files import check_writable
from .output import columns, show

if TYPE_CHECKING:
    import pandas as pd


def add(commands: argparse._SubParsersAction) -> None:
    """On the parser."""
    data = commands.add_parser("data", help="list and fetch data sets to try things on")
    data.set_defaults(command=lambda chosen: data.print_help())
    kinds = data.add_subparsers(title="commands", metavar="COMMAND")
    listed = kinds.add_parser("list", help="show the data sets and whether they are there")
    listed.add_argument("--json", action="store_true", help="print one JSON object")
    listed.set_defaults(command=run_list)
    fetched = kinds.add_parser("fetch", help="make sure that a data set is there")
    fetched.add_argument("name", metavar="NAME", help="as in `tdamp data list`")
    fetched.add_argument("--csv", type=Path, metavar="FILE", help="also write it as a table for `tdamp fit`")
    fetched.set_defaults(command=run_fetch)


def run_list(chosen: argparse.Namespace) -> None:
    """The catalog."""
    from ..datasets import catalog

    entries = catalog()
    if chosen.json:
        show({"data": [asdict(entry) for entry in entries]})
        return
    rows = [("name", "rows", "inputs", "task", "there", "target")]
    for entry in entries:
        there = "built in" if entry.embedded else "yes" if entry.there else "no"
        rows.append((entry.name, f"{entry.rows:,}", str(entry.inputs), entry.task, there, entry.target))
    print(columns(rows, indent="", left=(0, 3, 4, 5)))
    print("\nAs a table: tdamp data fetch NAME --csv FILE.csv")


def run_fetch(chosen: argparse.Namespace) -> None:
    """Fetch one; tell where it is and how to use it."""
    from ..datasets import catalog, fetch
    from ..tables.errors import close

    if chosen.csv is not None:
        if chosen.csv.suffix.lower() != ".csv":
            raise Stop(f"--csv {chosen.csv}: expected a name that ends in .csv.")
        check_writable(chosen.csv)
    try:
        place = fetch(chosen.name)
    except ValueError as error:
        if type(error) is not ValueError:  # damaged data have a class of their own
            raise
        raise Stop(f"{error}{close(chosen.name, [entry.name for entry in catalog()])}") from error
    from ..datasets.uci import canonical

    entry = next(entry for entry in catalog() if entry.name == canonical(chosen.name))
    print(f"{entry.name}: {'built into scikit-learn' if place is None else place}. In Python: {entry.loader}")
    if chosen.csv is not None:
        from ..io.atomic import write_whole

        table, target = as_table(entry.name)
        write_whole(chosen.csv, table.to_csv(index=False).encode())
        print(f"{chosen.csv}: {len(table):,} rows. Next: tdamp fit {chosen.csv} --target '{target}' --out model")


def as_table(name: str) -> tuple[pd.DataFrame, str]:
    """A data set as a frame, and the name of its target."""
    import pandas as pd

    from .. import datasets
    from ..datasets.catalog import FETCHED

    if name == "mnist":
        raise Stop("MNIST is too large for a CSV: read it in Python with tdamp.datasets.load_mnist().")
    if name in FETCHED:
        found = datasets.load_boston() if name == "boston" else datasets.load_uci(name)
        frame = pd.DataFrame(found.x, columns=list(found.names))
        target = FETCHED[name].target
        return frame.assign(**{target: found.y}), target
    from sklearn import datasets as embedded

    bunch = getattr(embedded, f"load_{name}")(as_frame=True)
    frame = bunch.frame
    if "target_names" in bunch and name != "digits":  # names say more than numbers
        frame = frame.assign(target=[str(bunch.target_names[code]) for code in frame["target"]])
    return frame, "target"
