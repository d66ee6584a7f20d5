"""`tdamp federate run` and `tdamp federate app`: one model from many tables that stay where they are."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._optional import need
from ..io.jsonable import jsonable
from . import arguments, fit, fit_output
from .exit_codes import FAILED, INTERRUPTED, USAGE, CommandError
from .files import check_model_out, check_writable, naming_file, read_data
from .output import print_json

if TYPE_CHECKING:
    from ..tables import Encoder

SPLIT = "iid, dirichlet:ALPHA, quantity:ALPHA, feature or feature:COLUMN"


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    federate = commands.add_parser("federate", help="train on tables that stay on their machines")
    federate.set_defaults(command=lambda args: federate.print_help())
    kinds = federate.add_subparsers(title="commands", metavar="COMMAND")
    _add_run(kinds)
    _add_app(kinds)


def _add_run(kinds: argparse._SubParsersAction) -> None:
    run = kinds.add_parser(
        "run",
        help="cut a table into clients and federate them on this machine",
        description="Cut a table into clients, train on Flower's simulation engine, and save the model.",
        epilog="example: tdamp federate run houses.csv --target price --clients 4 --split dirichlet:0.3 --out model",
    )
    run.add_argument("data", type=Path, metavar="DATA", help="table with a header: .csv, .tsv, .parquet, .npz")
    run.add_argument("--out", type=Path, required=True, metavar="MODEL", help="folder for the model")
    run.add_argument("--clients", type=arguments.count, default=4, metavar="N", help="4 by default")
    run.add_argument("--split", default="iid", help=f"how rows go to clients: {SPLIT}")
    _add_common(run)
    arguments.add_outcome(run)
    run.set_defaults(command=run_run)


def _add_app(kinds: argparse._SubParsersAction) -> None:
    app = kinds.add_parser(
        "app",
        help="write a Flower app for tables on several machines",
        description="Write a folder that Flower can run: server, client, the encoder that all tables go through, a "
        "script for keys, and a README with the commands. The encoder is learned from a sample table, which must have "
        "all columns and classes; its rows are not stored.",
        epilog="example: tdamp federate app federation --like sample.csv --target price --clients 3",
    )
    app.add_argument("folder", type=Path, metavar="DIR", help="a new or empty folder")
    app.add_argument("--like", type=Path, required=True, metavar="TABLE", dest="data", help="sample of the tables")
    app.add_argument("--clients", type=arguments.count, default=2, metavar="N", help="nodes that the first round needs")
    app.add_argument(
        "--min-replies", type=arguments.count, metavar="N", help="uploads that a round needs; half of the clients"
    )
    app.add_argument("--round-timeout", type=arguments.count, default=3600, metavar="SECONDS", help="3600 by default")
    _add_common(app)
    app.set_defaults(command=run_app)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target", action="append", required=True, metavar="COL", help="column to predict; again for more"
    )
    parser.add_argument("--rounds", type=arguments.count, default=10, metavar="N", help="of exchange; 10 by default")
    parser.add_argument(
        "--local-epochs", type=arguments.count, default=10, metavar="N", help="of a client in a round; 10 by default"
    )
    parser.add_argument(
        "--aggregation", choices=("wga", "waa", "sites"), default="wga", help="how posteriors are put together"
    )
    parser.add_argument(
        "--precision", choices=("full", "factored"), default="full", help="factored sends half the bytes"
    )
    parser.add_argument("--robust", action="store_true", help="uploads far from all others lose their share")
    parser.add_argument("--clip", type=arguments.positive, metavar="C", help="privacy: the most that a client may move")
    parser.add_argument(
        "--noise-multiplier", type=arguments.positive, metavar="Z", help="privacy: noise on the sum, in units of --clip"
    )
    parser.add_argument("--delta", type=arguments.coverage, default=1e-5, help="privacy: delta, 1e-5 by default")
    parser.add_argument("--task", choices=("auto", "regression", "classification"), default="auto", help="auto")
    parser.add_argument("--hidden", type=arguments.widths, default=(64, 64), metavar="64,64", help="widths of layers")
    parser.add_argument("--keep", type=arguments.keep, metavar="0.3|40", help="what remains of the hidden units")
    arguments.add_prune_inputs(parser)
    parser.add_argument("--prior", choices=("gaussian", "group", "burst"), help="of the weights; gaussian by default")
    parser.add_argument("--batch-size", type=arguments.count, metavar="N", help="rows; chosen by the data's size")
    parser.add_argument("--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out")
    parser.add_argument(
        "--category", nargs="+", action="extend", default=[], metavar="COL", help="columns whose numbers are only names"
    )
    parser.add_argument("--seed", type=arguments.seed, default=0, help="of the start and the order")


def run_app(args: argparse.Namespace) -> None:
    """Write a Flower app: learn the encoder and write the folder."""
    from ..federated.flower.app import write_app
    from ..federated.flower.tables import schema_of

    if args.folder.exists() and (not args.folder.is_dir() or any(args.folder.iterdir())):
        raise CommandError(f"{args.folder} is there already: choose a new or empty folder.")
    least = args.min_replies or max(1, args.clients // 2)
    if least > args.clients:
        raise CommandError(f"--min-replies {least}: expected at most the number of clients, {args.clients}.")
    check_writable(args.folder)
    encoder = fit.fit_encoder(args, read_data(args.data), args.task)
    config = _config(args) | {"min-clients": args.clients, "min-replies": least}
    config["round-timeout"] = float(args.round_timeout)
    write_app(args.folder, schema_of(encoder, _params(args)), ", ".join(encoder.target_names), config)
    print(f"{args.folder}: a Flower app that predicts {', '.join(encoder.target_names)}. Next: read its README.md")


def run_run(args: argparse.Namespace) -> None:
    """Federate clients on this machine: read, encode, split, simulate, score, save, print."""
    check_model_out(args.out, args.force)
    frame = read_data(args.data)
    encoder = fit.fit_encoder(args, frame, args.task)
    with naming_file(args.data):
        x, y = encoder.pairs(frame)
    test = fit.choose_test_rows(args, encoder, x, y)
    if not args.quiet:
        fit_output.print_data_summary(args, encoder, len(frame), len(y))
    started = time.perf_counter()
    try:
        estimator = _simulate(args, encoder, x[~test], y[~test])
    except KeyboardInterrupt:
        raise CommandError("interrupted; nothing was saved.", INTERRUPTED) from None
    facts = fit.training_facts(args, encoder, estimator, x, y, test, time.perf_counter() - started)
    fit.save_model(args, estimator, encoder, facts)
    if args.json:
        history = jsonable(list(estimator.fitted_.history))
        shown = {name: value for name, value in facts.items() if name != "test_predictions"}
        print_json({"model": str(args.out), "clients": args.clients, **shown, "history": history})
    elif not args.quiet:
        print(fit_output.summary(args.out, estimator, encoder, facts).replace(" epochs,", " rounds,", 1))


def _simulate(args: argparse.Namespace, encoder: Encoder, x: Any, y: Any) -> Any:
    import pandas as pd

    from ..estimators import load
    from ..federated.flower.app import write_app
    from ..federated.flower.simulation import simulate
    from ..federated.flower.tables import schema_of, write_part
    from ..federated.splits import split

    try:
        named = pd.DataFrame(x, columns=list(encoder.feature_names))
        parts = split(args.split, named, y, args.clients, args.seed)
    except ValueError as error:
        raise CommandError(f"{args.data}: {error}", USAGE) from error
    with tempfile.TemporaryDirectory(prefix="tdamp-federation-") as place:
        folder = Path(place)
        (folder / "parts").mkdir()
        for number, rows in enumerate(parts):
            write_part(folder / "parts", number, x[rows], y[rows])
        config = _config(args) | {"min-clients": args.clients, "min-replies": max(1, args.clients // 2)}
        config |= {"out": str(folder / "model"), "parts": str(folder / "parts")}
        write_app(folder / "app", schema_of(encoder, _params(args)), ", ".join(encoder.target_names), config)
        log: list[str] = []

        def print_progress(text: str) -> None:
            log.append(text)
            if not args.quiet and not args.json and "counts:" in text:
                print(text.rpartition("      ")[2], flush=True)

        from ..federated.flower.simulation import EngineFailed

        try:
            simulate(folder / "app", args.clients, print_progress)
        except EngineFailed as error:
            tail = "\n".join(log[-30:])
            raise CommandError(f"{args.data}: {error}\n{tail}", FAILED) from error
        return load(folder / "model")


def _config(args: argparse.Namespace) -> dict[str, Any]:
    _check_privacy(args)
    return {
        "rounds": args.rounds,
        "local-epochs": args.local_epochs,
        "aggregation": args.aggregation,
        "precision": args.precision,
        "robust": args.robust,
        "clip": args.clip or 0.0,
        "noise-multiplier": args.noise_multiplier or 0.0,
        "delta": args.delta,
        "seed": args.seed,
    }


def _check_privacy(args: argparse.Namespace) -> None:
    if (args.clip is None) != (args.noise_multiplier is None):
        raise CommandError("--clip and --noise-multiplier go together: give both, or neither.", USAGE)
    if args.clip is None:
        return
    need("dp_accounting", "privacy")
    if args.aggregation != "wga" or args.precision != "full" or args.robust:
        raise CommandError(
            "A private federation keeps sums alone: leave --aggregation, --precision and --robust out.", USAGE
        )


def _params(args: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the estimator, as JSON can hold them."""
    options = {"keep": args.keep, "prior": args.prior, "batch_size": args.batch_size}
    if args.keep is not None:
        options["prune_inputs"] = arguments.prunes_inputs(args)
    return {
        "hidden_layer_sizes": list(args.hidden),
        **{name: jsonable(value) for name, value in options.items() if value is not None},
    }
