"""`tdamp predict`: means with their error bars, or classes with their probabilities, for the rows of a table."""

from __future__ import annotations

import argparse
import io
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arguments
from .exit_codes import FAILED, USAGE, CommandError
from .files import check_writable, naming_file, open_model, read_data
from .fit_output import format_scores
from .output import print_json, print_status

if TYPE_CHECKING:
    import pandas as pd

    from ..numerics.distribution import Distribution
    from ..tables import Encoder

PIECE = 4096
"""Characters written at once: a pipe that closes in the midst of a large piece may go unnoticed."""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    predict = commands.add_parser(
        "predict",
        help="predict the rows of a table",
        description="Predict every row of a table: mean, std, low and high of a new observation (noise included), or "
        "class and probabilities. If the table has the target, the scores go to standard error.",
        epilog="example: tdamp predict model new.csv --out predictions.csv",
    )
    predict.add_argument("model", type=Path, metavar="MODEL", help="folder that `tdamp fit` has made")
    predict.add_argument("data", type=Path, metavar="DATA", help="table with the columns of training")
    predict.add_argument(
        "--out", type=arguments.table_out, metavar="FILE", help=".csv or .parquet; else CSV is printed"
    )
    predict.add_argument(
        "--interval", type=arguments.coverage, default=0.95, metavar="0.95", help="probability between low and high"
    )
    predict.add_argument(
        "--copy", nargs="+", action="extend", default=[], metavar="COL", help="columns of DATA to put before them"
    )
    predict.add_argument("--no-scores", action="store_true", help="ignore the target, if the table has it")
    predict.add_argument("--json", action="store_true", help="print one JSON object")
    predict.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Predict the rows of a table: read, encode, predict, write, score."""
    model = open_model(args.model)
    encoder = model.require_encoder()
    if args.out is not None:
        _check_out(args.out, args.data)
    frame = read_data(args.data)
    x = encode(encoder, frame, args.data)
    from . import predictions

    predicted = predictions.predict(model.estimator, x)
    names = predictions.names_of(model.estimator, encoder.target_names)
    scores = None if args.no_scores else score(encoder, frame, args.data, predicted, names)
    table = with_copied_columns(frame, args.copy, args.data, predictions.table(predicted, names, args.interval))
    if args.out is not None:
        write_table(table, args.out)
    if scores is not None:
        flattering = " (it is the file of the fit, so they flatter)" if model.trained_on(args.data) else ""
        print_status(f"scores on the {scores['rows']} rows of {args.data} that have the target{flattering}:")
        print(format_scores(scores), file=sys.stderr)
    if args.json:
        print_json(_result(args, encoder, table, scores))
    elif args.out is None:
        text = _csv(table)
        for start in range(0, len(text), PIECE):
            sys.stdout.write(text[start : start + PIECE])
    else:
        print(f"{len(table):,} predictions in {args.out}: {', '.join(_abbreviated(list(table.columns)))}")


def encode(encoder: Encoder, frame: Any, path: Path) -> Any:
    """The encoded inputs of a table; notes about unusual cells go to standard error."""
    with naming_file(path):
        x = encoder.transform(frame)
    for note in encoder.last_notes:
        print_status(note)
    return x


def score(
    encoder: Encoder, frame: Any, path: Path, predicted: Distribution | np.ndarray, names: Sequence[Any]
) -> dict[str, Any] | None:
    """Scores on the rows that have the target, or None when there are none."""
    from ..tables import TableError
    from ..tables.table import Table
    from . import predictions

    with naming_file(path):
        table = Table(frame)
        there = [name in table for name in encoder.target_names]
        if not all(there):
            return None
        usable = encoder.usable_rows(frame)
        if not usable.any():
            return None
        try:
            y = encoder.target(table.rows(usable).frame)
        except TableError as error:
            raise CommandError(
                f"{path}: {error}. Correct it, or predict without scores: add --no-scores.", FAILED
            ) from error
    some = predicted[usable] if isinstance(predicted, np.ndarray) else predicted.take(usable)
    return predictions.scores(predictions.held(some, y, names), names)


def with_copied_columns(frame: Any, names: list[str], path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """The predictions with columns of the input before them, by which rows are recognised."""
    import pandas as pd

    from ..tables.table import Table, tidy

    names = [tidy(name) for name in names]
    taken = sorted(set(names) & set(table.columns))
    if taken:
        raise CommandError(f"--copy {taken[0]}: the predictions have a column of this name.")
    source = Table(frame)
    with naming_file(path, USAGE):
        source.need(names)
    cells = {name: source.frame.iloc[:, source.names.index(name)].to_numpy() for name in names}
    return pd.concat([pd.DataFrame(cells, index=table.index), table], axis=1)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet: the whole file or none."""
    from ..io.atomic import write_whole

    if path.suffix.lower() == ".csv":
        data = _csv(table).encode()
    else:
        from ..tables.errors import need

        need("pyarrow")
        buffer = io.BytesIO()
        table.to_parquet(buffer, engine="pyarrow", index=False)
        data = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)


def _csv(table: pd.DataFrame) -> str:
    """Numbers to a ten-thousandth of the smallest standard deviation, probabilities to six digits."""
    stds = [name for name in table.columns if name == "std" or name.endswith("_std")]
    if "class" in table.columns:
        return table.to_csv(index=False, float_format="%.6g")
    smallest = float(table[stds].to_numpy().min())
    decimals = max(0, 4 - math.floor(math.log10(smallest)))
    return table.to_csv(index=False, float_format=f"%.{decimals}f")


def _check_out(out: Path, data: Path) -> None:
    if out.is_dir():
        raise CommandError(f"{out} is a folder: expected the name of a file that ends in .csv or .parquet.")
    if out.exists() and data.exists() and out.samefile(data):
        raise CommandError(f"{out} is the table that is read: choose another name for the predictions.")
    check_writable(out)


def _result(
    args: argparse.Namespace, encoder: Encoder, table: pd.DataFrame, scores: dict[str, Any] | None
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "model": str(args.model),
        "data": str(args.data),
        "task": encoder.task,
        "targets": encoder.target_names,
        "rows": len(table),
        "notes": encoder.last_notes,
        "scores": scores,
    }
    if not encoder.classes:
        result["interval"] = args.interval
    if args.out is not None:
        return {**result, "out": str(args.out)}
    return {**result, "predictions": table.to_dict(orient="records")}


def _abbreviated(names: list[str], shown: int = 6) -> list[str]:
    return names if len(names) <= shown else [*names[:shown], "..."]
