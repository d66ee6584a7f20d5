"""`tdamp fit`: from a table to a model folder."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.jsonable import jsonable
from . import arguments, fit_output
from .exit_codes import FAILED, INTERRUPTED, USAGE, CommandError, is_interrupt
from .files import check_checkpoint, check_model_out, clear_checkpoint, file_digest, naming_file, read_data
from .output import print_json, print_status

if TYPE_CHECKING:
    import numpy as np

    from ..estimators import Estimator
    from ..tables import Encoder


FEW_TEST_ROWS = 30
"""Fewer test rows than this give rough scores."""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    fit = commands.add_parser(
        "fit",
        help="train a model on a table",
        description="Train a network on a table (CSV, Parquet or NPZ) and save it as a folder. Text columns become "
        "categories, missing cells are filled and marked, and a part of the rows is held back for an honest score.",
        epilog="example: tdamp fit houses.csv --target price --keep auto --out model",
    )
    fit.add_argument("data", type=Path, metavar="DATA", help="table with a header: .csv, .tsv, .parquet, .npz")
    fit.add_argument(
        "--target", action="append", required=True, metavar="COL", help="column to predict; again for more"
    )
    fit.add_argument("--out", type=Path, required=True, metavar="MODEL", help="folder for the model")
    fit.add_argument("--task", choices=("auto", "regression", "classification"), default="auto", help="auto by default")
    fit.add_argument("--hidden", type=arguments.widths, default=(64, 64), metavar="64,64", help="widths of the layers")
    arguments.add_goal(fit)
    fit.add_argument("--prior", choices=("gaussian", "group", "burst"), help="of the weights; gaussian by default")
    arguments.add_engine(fit)
    fit.add_argument(
        "--likelihood",
        choices=("gaussian", "heteroscedastic", "probit", "poisson"),
        help="what the target is: poisson for counts; by default gaussian, or probit for classes",
    )
    fit.add_argument("--noise", choices=("constant", "varying"), help="of a regression; constant by default, or by row")
    fit.add_argument("--epochs", type=arguments.count, metavar="N", help="at most this many; chosen by the data's size")
    fit.add_argument("--batch-size", type=arguments.count, metavar="N", help="rows; chosen by the data's size")
    fit.add_argument("--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out")
    fit.add_argument(
        "--category", nargs="+", action="extend", default=[], metavar="COL", help="columns whose numbers are only names"
    )
    fit.add_argument("--seed", type=arguments.seed, default=0, help="of the start, the order and the test rows")
    fit.add_argument("--log", type=Path, metavar="FILE", help="append the training's log to FILE, as JSON lines")
    fit.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="keep the state of the training: after a crash the same command goes on from there; removed at the end",
    )
    arguments.add_outcome(fit)
    fit.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Train a model on a table: read, encode, split, train, score, save, print."""
    check_model_out(args.out, args.force)
    check_checkpoint(args.checkpoint, args.out)
    from ..training.logs import written_to

    try:
        with written_to(args.log):
            encoder, estimator, facts = _train_model(args)
    except (Exception, KeyboardInterrupt) as error:
        if not is_interrupt(error):
            raise
        there = f"the model in {args.out} is as it was" if args.out.exists() else "nothing was saved"
        if args.checkpoint:
            there += f"; the same command goes on from the checkpoint in {args.checkpoint}"
        raise CommandError(f"interrupted; {there}.", INTERRUPTED) from None
    save_model(args, estimator, encoder, facts)
    if args.checkpoint:  # the model is there now
        clear_checkpoint(args.checkpoint)
    result = {"model": str(args.out), **{k: v for k, v in facts.items() if k != "test_predictions"}}
    if args.json:
        print_json({**result, "notes": encoder.notes, "size": fit_output.network_sizes(estimator)})
    elif not args.quiet:
        print(fit_output.summary(args.out, estimator, encoder, facts))


def _train_model(args: argparse.Namespace) -> tuple[Encoder, Estimator, dict[str, Any]]:
    frame = read_data(args.data)
    encoder = fit_encoder(args, frame, task_of(args))
    with naming_file(args.data):
        x, y = encoder.pairs(frame)
    test = choose_test_rows(args, encoder, x, y)
    if not args.quiet:
        fit_output.print_data_summary(args, encoder, len(frame), len(y))
    estimator, seconds = _fit_estimator(args, encoder, x[~test], y[~test])
    return encoder, estimator, training_facts(args, encoder, estimator, x, y, test, seconds)


def fit_encoder(args: argparse.Namespace, frame: Any, task: str) -> Encoder:
    """The encoder learned from the table for a task ("auto" guesses it); columns it lacks are an error of usage."""
    from ..tables import Encoder
    from ..tables.table import Table, tidy

    with naming_file(args.data, USAGE):
        Table(frame).need(tidy(name) for name in [*args.target, *args.drop, *args.category])
    with naming_file(args.data):
        return Encoder.fit(frame, args.target, task, args.drop, args.category)


def task_of(args: argparse.Namespace) -> str:
    """The task that is asked for, or that the likelihood belongs to."""
    wanted = str(args.task)
    if args.likelihood is None:
        return wanted
    from ..factors.likelihoods.catalog import LIKELIHOODS

    task = LIKELIHOODS[args.likelihood].task
    if wanted not in ("auto", task):
        raise CommandError(f"--likelihood {args.likelihood} belongs to a {task}: leave out --task {wanted}.", USAGE)
    if args.noise:
        raise CommandError(
            f"--likelihood {args.likelihood} says what the noise is, too: leave out --noise {args.noise}.", USAGE
        )
    return task


def choose_test_rows(args: argparse.Namespace, encoder: Encoder, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mask of the test rows: training never sees them, nor rows that equal them."""
    from ..training.equal_rows import drawn_rows

    test = drawn_rows(x, y, args.test_fraction, args.seed, classes=bool(encoder.classes))
    if args.test_fraction and not test.any():
        raise CommandError(
            f"{args.data}: {len(y)} rows leave none to test on (equal rows stay together): give more rows that "
            "differ, or --test-fraction 0.",
            FAILED,
        )
    if 0 < test.sum() < FEW_TEST_ROWS:
        print_status(f"only {test.sum()} test rows: their scores are rough.")
    return test


def _fit_estimator(args: argparse.Namespace, encoder: Encoder, x: np.ndarray, y: np.ndarray) -> tuple[Estimator, float]:
    import pandas as pd

    from ..estimators import TDAMPClassifier, TDAMPRegressor
    from ..training.checkpoint import CheckpointError

    kind: Any = TDAMPClassifier if encoder.classes else TDAMPRegressor
    options = {"max_epochs": args.epochs, "batch_size": args.batch_size, "prior": args.prior, "noise": args.noise}
    options["likelihood"] = args.likelihood
    options |= {name: getattr(args, name) for name in arguments.ENGINE}
    if args.noise and kind is TDAMPClassifier:
        raise CommandError(
            f"--noise {args.noise} belongs to a regression, and this is a classification: leave it out.", USAGE
        )
    estimator = kind(
        args.hidden,
        keep=args.keep,
        max_params=args.max_params,
        max_multiply_adds=args.max_multiply_adds,
        prune_inputs=arguments.prunes_inputs(args),
        groups=encoder.groups.tolist(),
        random_state=args.seed,
        verbose=0 if args.quiet else 1,
        checkpoint_dir=args.checkpoint,
        **{name: value for name, value in options.items() if value is not None},
    )
    started = time.perf_counter()
    try:
        estimator.fit(pd.DataFrame(x, columns=list(encoder.feature_names)), y)
    except CheckpointError as error:
        raise CommandError(str(error)) from error
    except ValueError as error:  # what the settings or the numbers make impossible
        raise CommandError(f"{args.data}: {error}", FAILED) from error
    return estimator, time.perf_counter() - started


def training_facts(
    args: argparse.Namespace,
    encoder: Encoder,
    estimator: Estimator,
    x: np.ndarray,
    y: np.ndarray,
    test: np.ndarray,
    seconds: float,
) -> dict[str, Any]:
    """Facts of the training that are stored beside the model, and printed."""
    from .. import __version__
    from . import predictions
    from .inspect import noise_levels

    facts: dict[str, Any] = {
        "task": encoder.task,
        "targets": list(encoder.target_names),
        "data": {"file": args.data.name, "sha256": file_digest(args.data)},
        "train_rows": int((~test).sum()),
        "test_rows": int(test.sum()),
        "inputs": x.shape[1],
        "columns": len(encoder.columns),
        "seconds": round(seconds, 3),
        "epochs": estimator.n_iter_,
        "outcome": estimator.fitted_.outcome.name,
        "groups": list(estimator.n_groups_),
        "pruning": None if estimator.pruning_loss_ is None else estimator.pruning_loss_._asdict(),
        "noise_std": noise_levels(estimator),
        "test": None,
        "tdamp": __version__,
    }
    if test.any():
        names = predictions.names_of(estimator, encoder.target_names)
        held = predictions.held(predictions.predict(estimator, x[test]), y[test], names)
        facts["test"] = predictions.scores(held, names)
        facts["test_predictions"] = predictions.to_json(held)
    return jsonable(facts)


def save_model(args: argparse.Namespace, estimator: Estimator, encoder: Encoder, facts: dict[str, Any]) -> None:
    """Save the model with its encoder and facts: whole, or not at all."""
    from ..estimators import save
    from ..io.errors import ModelFileError

    try:
        save(estimator, args.out, encoder=encoder.to_json(), facts=facts)
    except ModelFileError as error:
        raise CommandError(str(error)) from error
    except KeyboardInterrupt:
        raise CommandError(f"interrupted; {args.out} holds the old model or the whole new one.", INTERRUPTED) from None
