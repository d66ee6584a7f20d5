"""`tdamp fit`: from a table to a model folder."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.jsonable import jsonable
from . import arguments, fit_output
from .exit_codes import FAILED, INTERRUPTED, USAGE, Stop, is_interrupt
from .files import about, check_checkpoint, check_model_out, clear_checkpoint, fingerprint, read
from .output import show, tell

if TYPE_CHECKING:
    import numpy as np

    from ..persistence.save import Estimator
    from ..tables import Encoder


FEW = 30
"""Below this many test rows their scores are little more than a hint."""


def add(commands: argparse._SubParsersAction) -> None:
    """On the parser."""
    fit = commands.add_parser(
        "fit",
        help="train a model on a table",
        description="Train a network on a table (CSV, Parquet or NPZ) and save it as a folder. Text columns become "
        "categories, missing cells are filled and marked, and a part of the rows is held back for an honest score.",
        epilog="example: tdamp fit houses.csv --target price --keep 0.3 --out model",
    )
    fit.add_argument("data", type=Path, metavar="DATA", help="table with a header: .csv, .tsv, .parquet, .npz")
    fit.add_argument(
        "--target", action="append", required=True, metavar="COL", help="column to predict; again for more"
    )
    fit.add_argument("--out", type=Path, required=True, metavar="MODEL", help="folder for the model")
    fit.add_argument("--task", choices=("auto", "regression", "classification"), default="auto", help="auto by default")
    fit.add_argument("--hidden", type=arguments.widths, default=(64, 64), metavar="64,64", help="widths of the layers")
    fit.add_argument(
        "--keep",
        type=arguments.keep,
        metavar="0.3|40",
        help="what remains of the inputs and hidden units: a share of all, their number, or a share for the inputs and "
        "each hidden layer, such as 1,0.3,0.3, which spares the inputs",
    )
    fit.add_argument("--prior", choices=("gaussian", "group", "burst"), help="of the weights; gaussian by default")
    arguments.add_engine(fit)
    fit.add_argument("--noise", choices=("constant", "varying"), help="of a regression; constant by default, or by row")
    fit.add_argument("--epochs", type=arguments.count, metavar="N", help="at most this many; chosen by the data's size")
    fit.add_argument("--batch-size", type=arguments.count, metavar="N", help="rows; chosen by the data's size")
    fit.add_argument("--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out")
    fit.add_argument(
        "--category", nargs="+", action="extend", default=[], metavar="COL", help="columns whose numbers are only names"
    )
    fit.add_argument("--seed", type=arguments.seed, default=0, help="of the start, the order and the test rows")
    fit.add_argument("--log", type=Path, metavar="FILE", help="tell the training to the end of a file of JSON lines")
    fit.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="keep what training has come to: after a crash the same command goes on from there; removed in the end",
    )
    arguments.add_outcome(fit)
    fit.set_defaults(command=run)


def run(chosen: argparse.Namespace) -> None:
    """Read, encode, split, train, score, save, tell."""
    check_model_out(chosen.out, chosen.force)
    check_checkpoint(chosen.checkpoint, chosen.out)
    from ..training.logs import written_to

    try:
        with written_to(chosen.log):
            encoder, estimator, facts = _learned(chosen)
    except (Exception, KeyboardInterrupt) as error:
        if not is_interrupt(error):
            raise
        there = f"the model in {chosen.out} is as it was" if chosen.out.exists() else "nothing was saved"
        if chosen.checkpoint:
            there += f"; the same command goes on from the checkpoint in {chosen.checkpoint}"
        raise Stop(f"interrupted; {there}.", INTERRUPTED) from None
    save_model(chosen, estimator, encoder, facts)
    if chosen.checkpoint:  # the model is there now
        clear_checkpoint(chosen.checkpoint)
    result = {"model": str(chosen.out), **{k: v for k, v in facts.items() if k != "test_predictions"}}
    if chosen.json:
        show({**result, "notes": encoder.notes, "size": fit_output.sizes(estimator)})
    elif not chosen.quiet:
        print(fit_output.summary(chosen.out, estimator, encoder, facts))


def _learned(chosen: argparse.Namespace) -> tuple[Encoder, Estimator, dict[str, Any]]:
    frame = read(chosen.data)
    encoder = encoder_of(chosen, frame)
    with about(chosen.data):
        x, y = encoder.pairs(frame)
    test = test_rows_of(chosen, encoder, x, y)
    if not chosen.quiet:
        fit_output.told(chosen, encoder, len(frame), len(y))
    estimator, seconds = _trained(chosen, encoder, x[~test], y[~test])
    return encoder, estimator, facts_of(chosen, encoder, estimator, x, y, test, seconds)


def encoder_of(chosen: argparse.Namespace, frame: Any) -> Encoder:
    """Learned from the table; columns that it lacks are the caller's mistake."""
    from ..tables import Encoder
    from ..tables.table import Table, tidy

    with about(chosen.data, USAGE):
        Table(frame).need(tidy(name) for name in [*chosen.target, *chosen.drop, *chosen.category])
    with about(chosen.data):
        return Encoder.fit(frame, chosen.target, chosen.task, chosen.drop, chosen.category)


def test_rows_of(chosen: argparse.Namespace, encoder: Encoder, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which rows are held back: training never sees them, nor rows that equal them."""
    from ..training.equal_rows import drawn_rows

    test = drawn_rows(x, y, chosen.test_fraction, chosen.seed, classes=encoder.task == "classification")
    if chosen.test_fraction and not test.any():
        raise Stop(
            f"{chosen.data}: {len(y)} rows leave none to test on (equal rows stay together): give more rows that "
            "differ, or --test-fraction 0.",
            FAILED,
        )
    if 0 < test.sum() < FEW:
        tell(f"only {test.sum()} test rows: their scores are rough.")
    return test


def _trained(chosen: argparse.Namespace, encoder: Encoder, x: np.ndarray, y: np.ndarray) -> tuple[Estimator, float]:
    import pandas as pd

    from ..estimators import TDAMPClassifier, TDAMPRegressor
    from ..training.checkpoint import CheckpointError

    kind: Any = TDAMPClassifier if encoder.task == "classification" else TDAMPRegressor
    given = {"max_epochs": chosen.epochs, "batch_size": chosen.batch_size, "prior": chosen.prior, "noise": chosen.noise}
    given |= {name: getattr(chosen, name) for name in arguments.ENGINE}
    if chosen.noise and kind is TDAMPClassifier:
        raise Stop(
            f"--noise {chosen.noise} belongs to a regression, and this is a classification: leave it out.", USAGE
        )
    estimator = kind(
        chosen.hidden,
        keep=chosen.keep,
        groups=encoder.groups.tolist(),
        random_state=chosen.seed,
        verbose=0 if chosen.quiet else 1,
        checkpoint_dir=chosen.checkpoint,
        **{name: value for name, value in given.items() if value is not None},
    )
    started = time.perf_counter()
    try:
        estimator.fit(pd.DataFrame(x, columns=list(encoder.feature_names)), y)
    except CheckpointError as error:
        raise Stop(str(error)) from error
    except ValueError as error:  # what the settings or the numbers make impossible
        raise Stop(f"{chosen.data}: {error}", FAILED) from error
    return estimator, time.perf_counter() - started


def facts_of(
    chosen: argparse.Namespace,
    encoder: Encoder,
    estimator: Estimator,
    x: np.ndarray,
    y: np.ndarray,
    test: np.ndarray,
    seconds: float,
) -> dict[str, Any]:
    """What is stored beside the model, and printed."""
    from .. import __version__
    from .inspect import noise_levels
    from .predictions import Predictions

    facts: dict[str, Any] = {
        "task": encoder.task,
        "targets": list(encoder.target_names),
        "data": {"file": chosen.data.name, "sha256": fingerprint(chosen.data)},
        "train_rows": int((~test).sum()),
        "test_rows": int(test.sum()),
        "inputs": x.shape[1],
        "columns": len(encoder.columns),
        "seconds": round(seconds, 3),
        "epochs": estimator.n_iter_,
        "outcome": estimator.fitted_.outcome.name,
        "noise_std": noise_levels(estimator),
        "test": None,
        "tdamp": __version__,
    }
    if test.any():
        found = Predictions.of(estimator, x[test], encoder.target_names)
        facts["test"] = found.scores(y[test])
        facts["test_predictions"] = found.stored(y[test])
    return jsonable(facts)


def save_model(chosen: argparse.Namespace, estimator: Estimator, encoder: Encoder, facts: dict[str, Any]) -> None:
    """Whole, or not at all."""
    from ..persistence.folder import ModelFileError
    from ..persistence.save import save

    try:
        save(estimator, chosen.out, encoder=encoder.to_json(), facts=facts)
    except ModelFileError as error:
        raise Stop(str(error)) from error
    except KeyboardInterrupt:
        raise Stop(f"interrupted; {chosen.out} holds the old model or the whole new one.", INTERRUPTED) from None
