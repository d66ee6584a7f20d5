"""The demo: train on scikit-learn's embedded digits, prune to 30 % of the units, compare. Needs no downloads."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from . import Fitted, Network, Settings, class_probs, fit, mean_network, output_moments

NETWORK = Network((64, 48, 10), "classification")
KEEP = 0.3

# Chosen by cross-validation inside the training part; the test part was not looked at.
FULL = Settings(batch_size=50, max_epochs=30)
PRUNED = replace(FULL, max_epochs=60, data_weight=3.0, keep=KEEP, prune_end=0.8)


class Digits(NamedTuple):
    """1797 images of 8 x 8 pixels in [0, 1], a quarter of them held out."""

    train_x: np.ndarray
    test_x: np.ndarray
    train_y: np.ndarray
    test_y: np.ndarray


class Result(NamedTuple):
    """What the table shows of one network."""

    error: float  # share of wrong labels, with the posterior
    mean_network_error: float  # the same with the posterior-mean network
    log_score: float  # mean log probability of the true class
    units: int
    params: int
    multiply_adds: int
    seconds: float


def digits() -> Digits:
    """The embedded digits, always split the same way."""
    x, y = load_digits(return_X_y=True)
    return Digits(*train_test_split((x / 16).astype(np.float32), y, test_size=0.25, random_state=0, stratify=y))


def train(console: Console, title: str, settings: Settings, data: Digits, seed: int) -> Fitted:
    """Fit with a progress bar."""
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=settings.max_epochs, now="compiling")

        def show(epoch: int, fitted: Fitted, record: dict[str, Any]) -> None:
            now = (
                f"log-evidence {record['log_evidence']:.3f}  noise {record['noise_var']:.2g}  "
                f"units {sum(record['active_units'])}"
            )
            progress.update(task, completed=epoch, now=now)

        return fit(NETWORK, data.train_x, data.train_y, settings, seed=seed, callback=show)


@partial(jax.jit, static_argnums=0)
def _predict(network: Network, layers: Any, noise_var: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Class probabilities under the posterior, and the labels the posterior-mean network gives."""
    return class_probs(output_moments(network, layers, x), noise_var), mean_network(network, layers, x).argmax(-1)


def assess(fitted: Fitted, data: Digits, seconds: float) -> Result:
    """Score a trained network on the held-out digits."""
    x = jnp.asarray(data.test_x[:, fitted.inputs])
    probs, plain = (np.asarray(a) for a in _predict(fitted.network, fitted.state.layers, fitted.state.noise_var, x))
    own = probs[np.arange(len(data.test_y)), data.test_y]
    return Result(
        error=float((probs.argmax(-1) != data.test_y).mean()),
        mean_network_error=float((plain != data.test_y).mean()),
        log_score=float(np.log(np.maximum(own, np.finfo(own.dtype).tiny)).mean()),
        units=fitted.n_units,
        params=fitted.network.n_params,
        multiply_adds=fitted.network.n_multiply_adds,
        seconds=seconds,
    )


def comparison(full: Result, pruned: Result) -> Table:
    """Before and after pruning, side by side."""
    table = Table(title="Held-out digits", title_justify="left")
    for i, column in enumerate(("", "full", f"pruned to {KEEP:.0%}")):
        table.add_column(column, justify="right" if i else "left")
    for name, text in (
        ("error", "{0.error:.1%}"),
        ("error of the posterior-mean network", "{0.mean_network_error:.1%}"),
        ("log score (mean log class probability)", "{0.log_score:.3f}"),
        ("units (inputs and hidden)", "{0.units}"),
        ("parameters", "{0.params}"),
        ("multiply-adds of a prediction", "{0.multiply_adds}"),
        ("training time, compilation included", "{0.seconds:.0f} s"),
    ):
        table.add_row(name, text.format(full), text.format(pruned))
    return table


def run(console: Console | None = None, seed: int = 0) -> tuple[Result, Result]:
    """Train in full, train with pruning, print the comparison and give it back."""
    console = console or Console()
    data = digits()
    widths = "-".join(map(str, NETWORK.widths))
    console.print(f"{len(data.train_x)} digits to learn from, {len(data.test_x)} held out; a {widths} ReLU network.")
    results = []
    for title, settings in (("full  ", FULL), ("pruned", PRUNED)):
        started = time.perf_counter()
        fitted = train(console, title, settings, data, seed)
        results.append(assess(fitted, data, time.perf_counter() - started))
        if fitted.outcome.name != "OK":
            console.print(str(fitted.outcome), style="yellow")
    full, pruned = results
    console.print(comparison(full, pruned))
    console.print(f"The pruned network reads {len(fitted.inputs)} of the {NETWORK.widths[0]} pixels.")
    return full, pruned
