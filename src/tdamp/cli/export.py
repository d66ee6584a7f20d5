"""`tdamp export`: a model as an ONNX, PyTorch or NumPy file, checked against the library."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from .exit_codes import FAILED, CommandError
from .files import check_writable, open_model
from .output import print_json, print_status

SUFFIXES = {"onnx": ".onnx", "torch": ".pt", "numpy": ".py"}


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    export = commands.add_parser(
        "export",
        help="write a model for ONNX, PyTorch or NumPy",
        description="Write a model as one file that needs no tdamp, check it on random rows against tdamp, and show "
        "what pruning has saved. onnx and numpy predict with error bars, torch is the network of the mean weights. "
        "They take the encoded inputs, in the order of `features` in `tdamp inspect --json`.",
    )
    export.add_argument("model", type=Path, metavar="MODEL", help="folder that `tdamp fit` has made")
    export.add_argument("--to", choices=tuple(SUFFIXES), required=True, help="format")
    export.add_argument("--out", type=Path, metavar="FILE", help="by default the model's name with .onnx, .pt or .py")
    export.add_argument("--json", action="store_true", help="print one JSON object")
    export.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Write the file, check it against the library, and print what pruning has saved."""
    from ..export import size_table
    from .export_check import TOLERANCE, difference, write

    model = open_model(args.model)
    out = args.out or Path(f"{model.name}{SUFFIXES[args.to]}")
    if out.is_dir():
        raise CommandError(
            f"{out} is a folder: expected the name of a file, such as {out / 'model'}{SUFFIXES[args.to]}."
        )
    check_writable(out)
    plain = model.estimator.to_plain()
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(args.to, plain, out)
    except ValueError as error:
        raise CommandError(f"{model.folder}: {error}", FAILED) from error
    gap = difference(args.to, out, model.estimator)
    if not gap <= TOLERANCE:
        raise CommandError(
            f"{out} differs from tdamp by {gap:.2g} on random rows, more than {TOLERANCE:g}: do not use it. Inputs "
            "whose mean is far larger than their spread lose digits in float32; shift them and fit again.",
            FAILED,
        )
    sizes = size_table(model.estimator.network_, plain, {args.to: out})
    if args.json:
        print_json({"model": str(model.folder), "out": str(out), "to": args.to, "difference": gap, "size": sizes})
        return
    print(f"{out}: written, and checked against tdamp on random rows (largest difference {gap:.1g}).")
    print(_table(sizes))
    if model.encoder is not None and len(model.encoder.columns) != plain.n_features:
        print_status("it takes encoded inputs: their order is `features` in `tdamp inspect --json`.")


def _table(rows: list[dict]) -> str:
    from rich.console import Console

    from ..export import render

    file = io.StringIO()
    Console(file=file, width=100).print(render(rows))
    return file.getvalue().rstrip()
