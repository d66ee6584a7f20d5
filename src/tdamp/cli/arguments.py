"""Types of the command-line arguments: text becomes a number, or is refused with an example."""

from __future__ import annotations

import argparse
from pathlib import Path


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and an exit code of `main`, not a page of usage."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """End the command with this message."""
        from .exit_codes import CommandError

        raise CommandError(f"{message}. Type `{self.prog} --help` for how to use it.")


def widths(text: str) -> tuple[int, ...]:
    """Widths of the hidden layers, such as 64,64."""
    try:
        layers = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        layers = ()
    if not layers or min(layers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} are no widths of layers: expected whole numbers, such as 64,64")
    return layers


def keep(text: str) -> float | int | str | tuple[float, ...]:
    """A share of the units (0.3, 30%), their number (40), a share for each layer (1,0.3,0.3), or "auto"."""
    if text == "auto":
        return text
    parts = text.split(",")
    try:
        shares = [_share_or_number(part.strip()) for part in parts]
    except ValueError:
        shares = [0]
    if len(shares) > 1:
        shares = [float(part) for part in shares]
    if not all(part >= 1 if isinstance(part, int) else 0 < part <= 1 for part in shares):
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a share of the units, such as 0.3, nor a number of units, such as 40, "
            "nor a share for each layer, such as 1,0.3,0.3"
        )
    return shares[0] if len(shares) == 1 else tuple(shares)


def _share_or_number(text: str) -> float | int:
    if text.endswith("%"):
        return float(text[:-1]) / 100
    return int(text) if text.isdecimal() else float(text)


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    """A whole number that a random generator accepts."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 0 to {2**32 - 1}")
    return int(text)


def share_of_rows(text: str) -> float:
    """A share of the rows, or 0 for no test rows."""
    value = _number(text)
    if value is None or not 0 <= value <= 0.5:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a share of the rows from 0 to 0.5, such as 0.2")
    return value


def coverage(text: str) -> float:
    """The probability of an interval."""
    value = _number(text)
    if value is None or not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a probability between 0 and 1, such as 0.95")
    return value


def positive(text: str) -> float:
    """A number above 0."""
    value = _number(text)
    if value is None or not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a positive number, such as 4")
    return value


def probability(text: str) -> float:
    """A number above 0 and at most 1."""
    value = _number(text)
    if value is None or not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0 and at most 1, such as 0.9")
    return value


def rate(text: str) -> float:
    """A number of at least 0 and below 1."""
    value = _number(text)
    if value is None or not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of at least 0 and below 1, such as 0.02")
    return value


def trust(text: str) -> float:
    """A number above 0, or `none` for infinity."""
    value = float("inf") if text.lower() == "none" else _number(text)
    if value is None or not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a positive number, such as 4, or none for no limit")
    return value


ENGINE = (
    "preset", "noise_every", "noise_rate", "trust", "centre_rate", "input_dropout", "active_threshold",
    "init_active_prob", "prediction",
)  # fmt: skip
"""Options of `add_engine`: parameters of the estimators, None where the command line leaves them out."""


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options of Algorithm 1; each is the parameter of the estimators that has its name."""
    parser.add_argument(
        "--preset",
        choices=("paper",),
        help="paper: the published method as printed, without early stopping or calibration; further options win",
    )
    parser.add_argument("--noise-every", choices=("minibatch", "epoch"), help="how often the noise is learned")
    parser.add_argument("--noise-rate", type=probability, metavar="0.02", help="how fast the noise is learned")
    parser.add_argument("--trust", type=trust, metavar="4|none", help="how far a minibatch may move a layer")
    parser.add_argument("--centre-rate", type=rate, metavar="0.02", help="how fast hidden layers are centred; 0: never")
    parser.add_argument("--input-dropout", type=rate, metavar="0", help="share of the inputs left out, row by row")
    parser.add_argument(
        "--active-threshold", type=probability, metavar="0.9", help="the paper's rho_th: above it a unit is sure"
    )
    parser.add_argument(
        "--init-active-prob", type=probability, metavar="0.5", help="the paper's rho_0: where units start"
    )
    parser.add_argument("--prediction", choices=("posterior", "mean"), help="by the posterior, or its mean alone")


def add_goal(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what pruning is to leave, and whether columns may go; only one goal can be given."""
    goal = parser.add_mutually_exclusive_group()
    goal.add_argument(
        "--keep",
        type=keep,
        metavar="auto|0.3|40",
        help="what remains of the hidden units: a share, their number, a share for the inputs and each hidden layer, "
        "such as 1,0.3,0.3, or auto, the smallest network that rows held out cannot tell from the best",
    )
    goal.add_argument("--max-params", type=count, metavar="N", help="in place of --keep: most parameters")
    goal.add_argument(
        "--max-multiply-adds", type=count, metavar="N", help="in place of --keep: most multiply-adds a row"
    )
    add_prune_inputs(parser)


def add_prune_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets columns go."""
    help = "columns may go, too, and count towards --keep"
    parser.add_argument("--prune-inputs", action="store_true", help=help)


def prunes_inputs(args: argparse.Namespace) -> bool:
    """Whether columns may go: where that is asked for, in words or by a share of the inputs below one, and where the
    paper's rule prunes, which counts them."""
    by_share = isinstance(args.keep, tuple) and args.keep[0] != 1
    return bool(args.prune_inputs or by_share or getattr(args, "preset", None) == "paper")


def image(text: str) -> tuple[int, int]:
    """Height and width of an image, such as 8x8."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}: expected height x width in pixels, such as 28x28")
    return int(parts[0]), int(parts[1])


def table_out(text: str) -> Path:
    """Path of a file for predictions, which ends in .csv or .parquet."""
    path = Path(text)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a name that ends in .csv or .parquet")
    return path


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def add_outcome(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that train: test rows, what is printed, and whether a model is replaced."""
    parser.add_argument(
        "--test-fraction", type=share_of_rows, default=0.2, metavar="0.2", help="rows held back; 0 for none"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print nothing but warnings and errors")
    parser.add_argument("--force", action="store_true", help="replace the model that is in the folder")
