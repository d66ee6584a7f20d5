"""`tdamp report`: one HTML page about a model."""

from __future__ import annotations

import argparse
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from . import arguments
from .exit_codes import FAILED, CommandError
from .files import Model, check_writable, naming_file, open_model, read_data
from .output import print_status

if TYPE_CHECKING:
    from ..report import Held


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    report = commands.add_parser(
        "report",
        help="write an HTML page about a model",
        description="Write one HTML page: size, inputs in use, training, calibration. Without DATA the calibration is "
        "that of the test rows of `tdamp fit`; with DATA that of its rows, which must not be rows of training.",
    )
    report.add_argument("model", type=Path, metavar="MODEL", help="folder that `tdamp fit` has made")
    report.add_argument("data", type=Path, nargs="?", metavar="DATA", help="table with the target, not trained on")
    report.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE", help="report.html by default")
    report.add_argument("--image", type=arguments.image, metavar="8x8", help="the inputs are the pixels of an image")
    report.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Gather the facts and write the page."""
    from ..report import facts_of, write_report

    model = open_model(args.model)
    if args.out.is_dir():
        raise CommandError(f"{args.out} is a folder: expected the name of a file, such as {args.out / 'report.html'}.")
    check_writable(args.out)
    held = _stored_predictions(model) if args.data is None else _predict_table(model, args.data)
    if held is None:
        print_status(
            "no test rows are stored with the model, so nothing is scored: give a table that was not trained on."
        )
    stored = model.facts
    source = f" from {stored['data']['file']}" if stored.get("data") else ""
    facts = facts_of(
        model.estimator,
        held,
        title=f"{', '.join(stored['targets'])}{source}" if stored.get("targets") else model.name,
        image_shape=_check_image(args.image, model),
        n_rows=stored.get("train_rows", 0),
        notes=() if model.encoder is None else model.encoder.notes,
    )
    write_report(facts, args.out)
    scored = f", scored on {held.where}" if held is not None else ""
    print(f"{args.out}: the report{scored}. Open it in a browser; it is one file and loads nothing.")


def _check_image(image: tuple[int, int] | None, model: Model) -> tuple[int, int] | None:
    network = model.estimator.network_
    n_inputs = network.widths[0] if network.is_flat else prod(network.input_shape[:-1])  # type: ignore[index]
    if image is not None and image[0] * image[1] != n_inputs:
        raise CommandError(
            f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but the model has {n_inputs} inputs."
        )
    return image


def _stored_predictions(model: Model) -> Held | None:
    from .predictions import held_from_json

    if not model.facts.get("test_predictions"):
        return None
    kept, rows = model.facts["test_predictions"], model.facts["test_rows"]
    shown = len(kept["y"])
    count = f"{rows:,}" if shown == rows else f"{shown:,} of {rows:,}"
    try:
        return held_from_json(kept, f"{count} test rows of {model.facts['data']['file']}, which training did not see")
    except (TypeError, ValueError, KeyError) as error:
        raise CommandError(
            f"{model.folder}: the stored test predictions are damaged ({error}): fit it again.", FAILED
        ) from error


def _predict_table(model: Model, path: Path) -> Held:
    from ..report import held_of
    from .predict import encode
    from .predictions import with_feature_names

    encoder = model.require_encoder()
    frame = read_data(path)
    with naming_file(path):
        usable = encoder.usable_rows(frame)
        if not usable.any():
            raise CommandError(f"{path}: the target {', '.join(encoder.target_names)} is missing in every row.", FAILED)
        frame = frame.iloc[usable.nonzero()[0]]
        y = encoder.target(frame)
    x = encode(encoder, frame, path)
    where = f"{len(y):,} rows of {path.name}"
    if model.trained_on(path):
        where += ", the file that the model was trained on: these scores flatter"
        print_status(
            f"{path} is the file that the model was trained on, so that its scores flatter: leave DATA out, and the "
            "test rows are scored."
        )
    else:
        print_status(f"the scores mean something only if the rows of {path} were not used in training.")
    return held_of(model.estimator, with_feature_names(model.estimator, x), y, where)
