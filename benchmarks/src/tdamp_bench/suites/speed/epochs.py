"""Seconds per epoch, interleaved: after each epoch of tdamp every peer runs one of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tdamp.engine.settings import Settings

from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.record import Verdict
from ...methods import tdamp
from ...methods.baselines import gemm
from ...methods.baselines.adam import Adam
from ...methods.baselines.start import Orders

RATE = 1e-3
"""Adam's learning rate: it does not change the time."""
Peer = Callable[[], float]


def interleaved(
    problem: Problem,
    widths: tuple[int, ...],
    settings: Settings,
    peers: dict[str, Peer],
    epochs: int,
    warmup: int = 1,
    tick: Tick = silent,
) -> dict[str, list[float]]:
    """Seconds of `epochs` epochs of tdamp and of every peer after `warmup` ones, in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in ("tdamp", *peers)}

    def on_epoch(epoch: int, model: tdamp.Ours, taken: float) -> None:
        timed = {"tdamp": taken} | {name: peer() for name, peer in peers.items()}
        if epoch > warmup:
            for name, value in timed.items():
                seconds[name].append(value)
        tick(f"{'-'.join(map(str, widths))}, round {epoch}")

    tdamp.train(problem, widths, replace(settings, max_epochs=warmup + epochs), 0, on_epoch)
    return seconds


def adam_peers(libraries: Sequence[str], problem: Problem, widths: tuple[int, ...], batch: int) -> dict[str, Peer]:
    """An epoch of Adam in each library."""
    return {f"adam_{name}": Adam(name, problem, widths, RATE, batch, seed=0).epoch for name in libraries}


def pytagi_peer(problem: Problem, hidden: int, batch: int, rows: int) -> Peer:
    """An epoch of pytagi on the first `rows` rows, scaled to all of them."""
    from ...methods.baselines.pytagi_net import Learner

    some = problem.first(rows)
    learner, orders = Learner(some, hidden, batch, seed=0), Orders(len(some.x), seed=0)

    def epoch() -> float:
        order = next(orders)
        started = time.perf_counter()
        learner.epoch(order)
        return (time.perf_counter() - started) * len(problem.x) / len(some.x)

    return epoch


def summary(seconds: dict[str, list[float]], widths: tuple[int, ...], rows: int, rate: float) -> dict[str, Any]:
    """Medians, the roofline and the ratios between them."""
    median = {name: float(np.median(values)) for name, values in seconds.items()}
    roofline = gemm.epoch_flops(widths, rows) / rate
    ratios = {"roofline_share": roofline / median["tdamp"]}
    if "adam_torch" in median:
        ratios["tdamp_over_torch"] = median["tdamp"] / median["adam_torch"]
    if "adam_optax" in median:
        ratios["tdamp_over_optax"] = median["tdamp"] / median["adam_optax"]
    if "pytagi" in median:
        ratios["pytagi_over_tdamp"] = median["pytagi"] / median["tdamp"]
    return {
        "widths": widths,
        "rows": rows,
        "seconds": seconds,
        "median": median,
        "roofline_seconds": roofline,
        "ratios": ratios,
    }


LIMITS = {
    "tdamp_over_torch": ("Epoch time, tdamp / PyTorch eager Adam", "<=", 0.7),
    "pytagi_over_tdamp": ("Epoch time, pytagi / tdamp", ">=", 10.0),
    "roofline_share": ("Share of the GEMM roofline", ">=", 0.4),
}


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Thresholds for the MNIST epoch."""
    return [
        Verdict(claim, result["ratios"][key], sense, limit)
        for key, (claim, sense, limit) in LIMITS.items()
        if key in result["ratios"]
    ]
