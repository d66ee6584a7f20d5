"""`tdamp report`: one HTML page about a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import arguments
from .exit_codes import FAILED, Stop
from .files import Model, about, check_writable, open_model, read
from .output import tell

if TYPE_CHECKING:
    from ..report import Held


def add(commands: argparse._SubParsersAction) -> None:
    """On the parser."""
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


def run(chosen: argparse.Namespace) -> None:
    """Gather the facts and write the page."""
    from ..report import facts_of, write_report

    model = open_model(chosen.model)
    if chosen.out.is_dir():
        raise Stop(f"{chosen.out} is a folder: expected the name of a file, such as {chosen.out / 'report.html'}.")
    check_writable(chosen.out)
    held = _stored(model) if chosen.data is None else _measured(model, chosen.data)
    if held is None:
        tell("no test rows are stored with the model, so nothing is scored: give a table that was not trained on.")
    told = model.facts
    source = f" from {told['data']['file']}" if told.get("data") else ""
    facts = facts_of(
        model.estimator,
        held,
        title=f"{', '.join(told['targets'])}{source}" if told.get("targets") else model.name,
        image_shape=_checked(chosen.image, model),
        n_rows=told.get("train_rows", 0),
        notes=() if model.encoder is None else model.encoder.notes,
    )
    write_report(facts, chosen.out)
    scored = f", scored on {held.where}" if held is not None else ""
    print(f"{chosen.out}: the report{scored}. Open it in a browser; it is one file and loads nothing.")


def _checked(image: tuple[int, int] | None, model: Model) -> tuple[int, int] | None:
    n_inputs = model.estimator.network_.widths[0]
    if image is not None and image[0] * image[1] != n_inputs:
        raise Stop(
            f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but the model has {n_inputs} inputs."
        )
    return image


def _stored(model: Model) -> Held | None:
    from .predictions import restored

    if not model.facts.get("test_predictions"):
        return None
    kept, rows = model.facts["test_predictions"], model.facts["test_rows"]
    shown = len(kept["y"])
    count = f"{rows:,}" if shown == rows else f"{shown:,} of {rows:,}"
    try:
        return restored(kept, f"{count} test rows of {model.facts['data']['file']}, which training did not see")
    except (TypeError, ValueError, KeyError) as error:
        raise Stop(
            f"{model.folder}: the stored test predictions are damaged ({error}): fit it again.", FAILED
        ) from error


def _measured(model: Model, path: Path) -> Held:
    from ..report import held_of
    from .predict import encoded
    from .predictions import named

    encoder = model.need_encoder()
    frame = read(path)
    with about(path):
        usable = encoder.usable_rows(frame)
        if not usable.any():
            raise Stop(f"{path}: the target {', '.join(encoder.target_names)} is missing in every row.", FAILED)
        frame = frame.iloc[usable.nonzero()[0]]
        y = encoder.target(frame)
    x = encoded(encoder, frame, path)
    where = f"{len(y):,} rows of {path.name}"
    if model.trained_on(path):
        where += ", the file that the model was trained on: these scores flatter"
        tell(f"{path} is the file that the model was trained on, so that its scores flatter: leave DATA out, and the "
             "test rows are scored.")  # fmt: skip
    else:
        tell(f"the scores mean something only if the rows of {path} were not used in training.")
    return held_of(model.estimator, named(model.estimator, x), y, where)
