"""`tdamp demo`: learn the embedded digits, prune to 30 % of the units, compare, write report and ONNX file."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import arguments

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console
    from rich.table import Table

HIDDEN = (48,)
KEEP = 0.3
EPOCHS = 60
"""At most, of a fit without a goal: the default for as many rows."""
REPORT, ONNX = "digits-report.html", "digits.onnx"


class Digits(NamedTuple):
    """1797 images of 8 x 8 pixels in [0, 1], a quarter of them held out."""

    train_x: np.ndarray
    test_x: np.ndarray
    train_y: np.ndarray
    test_y: np.ndarray


class Result(NamedTuple):
    """What the table shows of one network."""

    error: float  # share of wrong labels
    log_score: float  # mean log probability of the true class
    ece: float  # expected calibration error
    units: int
    params: int
    seconds: float


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    demo = commands.add_parser("demo", help="train on embedded digits, prune to 30 %% of the units, compare")
    demo.add_argument("--seed", type=arguments.seed, default=0, help="of the random start and the order of the data")
    demo.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="for the files; here by default")
    demo.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Run the demo with the options of the command line."""
    run_demo(seed=args.seed, out=args.out)


def run_demo(console: Console | None = None, seed: int = 0, out: Path = Path()) -> tuple[Result, Result]:
    """Train in full, train with pruning, print the comparison, write the files, and return the results."""
    from rich.console import Console

    from ..export import render, size_table, to_onnx

    console = console or Console()
    data = load_digits()
    console.print(f"{len(data.train_x)} digits to learn from, {len(data.test_x)} held out; one hidden layer of 48.")
    results = []
    for keep in (None, KEEP):
        model, result = train(console, keep, data, seed)
        results.append(result)
    full, pruned = results
    console.print(comparison(full, pruned))
    out.mkdir(parents=True, exist_ok=True)
    model.report(
        out / REPORT, data.test_x, data.test_y, title="Digits, pruned", image_shape=(8, 8), where="held-out digits"
    )
    plain = model.to_plain()
    to_onnx(plain, out / ONNX)
    console.print(render(size_table(model.network_, plain, {"onnx": out / ONNX})))
    console.print(f"The pruned network reads {len(model.fitted_.inputs)} of the 64 pixels.")
    console.print(f"Written: {out / REPORT} (open it in a browser), {out / ONNX}")
    return full, pruned


def load_digits() -> Digits:
    """The embedded digits, always split the same way."""
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    x, y = datasets.load_digits(return_X_y=True)
    return Digits(*train_test_split(x / 16, y, test_size=0.25, random_state=0, stratify=y))


def train(console: Console, keep: float | None, data: Digits, seed: int) -> tuple[Any, Result]:
    """Fit with a progress bar and score on the held-out digits."""
    from .. import metrics
    from ..estimators import TDAMPClassifier
    from ..estimators.stages import LONGER
    from ..training.progress import watching

    started = time.perf_counter()
    model = TDAMPClassifier(HIDDEN, keep=keep, standardize=False, random_state=seed)
    with watching(1, EPOCHS if keep is None else round(LONGER * EPOCHS), console=console) as show:
        model.set_params(callbacks=[show]).fit(data.train_x, data.train_y)
    seconds = time.perf_counter() - started
    model.set_params(callbacks=None)
    probs = model.predict_proba(data.test_x)
    return model, Result(
        error=metrics.error_rate(data.test_y, probs),
        log_score=metrics.class_log_score(data.test_y, probs),
        ece=metrics.ece(data.test_y, probs),
        units=model.n_units_,
        params=model.fitted_.network.n_params,
        seconds=seconds,
    )


def comparison(full: Result, pruned: Result) -> Table:
    """A table of the network before and after pruning, side by side."""
    from rich.table import Table

    table = Table(title="Held-out digits", title_justify="left")
    for i, column in enumerate(("", "full", f"pruned to {KEEP:.0%}")):
        table.add_column(column, justify="right" if i else "left")
    for name, text in (
        ("error", "{0.error:.1%}"),
        ("log score (mean log class probability)", "{0.log_score:.3f}"),
        ("expected calibration error", "{0.ece:.3f}"),
        ("units (inputs and hidden)", "{0.units}"),
        ("parameters", "{0.params}"),
        ("training time, compilation included", "{0.seconds:.0f} s"),
    ):
        table.add_row(name, text.format(full), text.format(pruned))
    return table
