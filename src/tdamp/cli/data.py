"""`tdamp data list` and `tdamp data fetch`: data sets to try things on."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import CommandError
from .files import check_writable
from .output import align_columns, print_json

if TYPE_CHECKING:
    import pandas as pd


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    data = commands.add_parser("data", help="list and fetch data sets to try things on")
    data.set_defaults(command=lambda args: data.print_help())
    kinds = data.add_subparsers(title="commands", metavar="COMMAND")
    listed = kinds.add_parser("list", help="show the data sets and whether they are there")
    listed.add_argument("--json", action="store_true", help="print one JSON object")
    listed.set_defaults(command=run_list)
    fetched = kinds.add_parser("fetch", help="make sure that a data set is there")
    fetched.add_argument("name", metavar="NAME", help="as in `tdamp data list`")
    fetched.add_argument("--csv", type=Path, metavar="FILE", help="also write it as a table for `tdamp fit`")
    fetched.set_defaults(command=run_fetch)


def run_list(args: argparse.Namespace) -> None:
    """Print the catalog of data sets."""
    from ..datasets import catalog

    entries = catalog()
    if args.json:
        print_json({"data": [asdict(entry) for entry in entries]})
        return
    rows = [("name", "rows", "inputs", "task", "there", "target")]
    for entry in entries:
        there = "built in" if entry.embedded else "yes" if entry.there else "no"
        rows.append((entry.name, f"{entry.rows:,}", str(entry.inputs), entry.task, there, entry.target))
    print(align_columns(rows, indent="", left=(0, 3, 4, 5)))
    print("\nAs a table: tdamp data fetch NAME --csv FILE.csv")


def run_fetch(args: argparse.Namespace) -> None:
    """Fetch a data set and print where it is and how to use it."""
    from ..datasets import catalog, fetch
    from ..tables.errors import close

    if args.csv is not None:
        if args.csv.suffix.lower() != ".csv":
            raise CommandError(f"--csv {args.csv}: expected a name that ends in .csv.")
        check_writable(args.csv)
    try:
        place = fetch(args.name)
    except ValueError as error:
        if type(error) is not ValueError:  # damaged data have a class of their own
            raise
        raise CommandError(f"{error}{close(args.name, [entry.name for entry in catalog()])}") from error
    from ..datasets.uci import canonical

    entry = next(entry for entry in catalog() if entry.name == canonical(args.name))
    print(f"{entry.name}: {'built into scikit-learn' if place is None else place}. In Python: {entry.loader}")
    if args.csv is not None:
        from ..io.atomic import write_whole

        table, target = as_table(entry.name)
        write_whole(args.csv, table.to_csv(index=False).encode())
        print(f"{args.csv}: {len(table):,} rows. Next: tdamp fit {args.csv} --target '{target}' --out model")


def as_table(name: str) -> tuple[pd.DataFrame, str]:
    """A data set as a frame, and the name of its target."""
    import pandas as pd

    from .. import datasets
    from ..datasets.catalog import FETCHED, IMAGES

    if FETCHED.get(name) in IMAGES:
        raise CommandError(f"{name} is too large for a CSV: read it in Python with tdamp.datasets.load_{name}().")
    if name in FETCHED:
        data = datasets.load_boston() if name == "boston" else datasets.load_uci(name)
        frame = pd.DataFrame(data.x, columns=list(data.names))
        target = FETCHED[name].target
        return frame.assign(**{target: data.y}), target
    from sklearn import datasets as embedded

    bunch = getattr(embedded, f"load_{name}")(as_frame=True)
    frame = bunch.frame
    if "target_names" in bunch and name != "digits":  # names say more than numbers
        frame = frame.assign(target=[str(bunch.target_names[code]) for code in frame["target"]])
    return frame, "target"
