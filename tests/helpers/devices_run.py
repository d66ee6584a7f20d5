"""Trainings on several devices, in a process of their own: how many devices JAX sees is settled when it starts.

`devices_run.py FOLDER` trains on one and on two devices; `devices_run.py FOLDER PORT PROCESS` is one of two processes.
What they found is written to FOLDER for tests/test_devices.py to compare.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

from helpers.guard import HANGS
from tdamp import Fitted, Network, Settings, TDAMPClassifier, fit, save
from tdamp.engine import compact
from tdamp.engine.state import path_name
from tdamp.training.epoch import _e_step

ROWS, EPOCHS, BATCH = 150, 6, 33
NETWORK = Network((24, 24, 1))
SETTINGS = Settings(
    max_epochs=EPOCHS, batch_size=BATCH, sweeps=2, prior="group", keep=0.3, prune_start=0.0, prune_end=0.5, warm_up=1,
    chunk_rows=70,
)  # fmt: skip
COMPILATION = 1e5
"""Cheap enough for smaller arrays to be used after an epoch."""


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets that need three of 24 inputs, and rows that count differently."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 24))
    return x, np.tanh(x[:, :3].sum(1)) + 0.1 * rng.normal(size=ROWS), rng.uniform(0.2, 3, ROWS)


def regression(devices: Any, seen: list[Fitted]) -> Fitted:
    """In float64: chunks, ragged batches, two sweeps, weights, pruning and smaller arrays; `seen` epoch by epoch."""
    x, y, weight = table()
    with jax.enable_x64(True):
        return fit(
            NETWORK, x, y[:, None], SETTINGS, sample_weight=weight, devices=devices,
            callback=lambda epoch, now, record: seen.append(now),
        )  # fmt: skip


def classifier(devices: Any) -> TDAMPClassifier:
    """In float32, with rows held out and pruning."""
    x, y, weight = table()
    model = TDAMPClassifier(
        (24,), batch_size=16, max_epochs=EPOCHS, keep=0.4, early_stopping=True, random_state=0, devices=devices
    )
    return model.fit(x, np.digitize(y, (-0.5, 0.5)), weight)


def write(path: Path, fitted: Fitted, **more: Any) -> None:
    """The posterior, the units that remain, and the widths they lie in."""
    leaves = jax.tree_util.tree_leaves_with_path(fitted.state)
    arrays = {path_name(name): np.asarray(leaf) for name, leaf in leaves}
    arrays |= {f"kept.{l}": kept for l, kept in enumerate(fitted.kept)}
    np.savez(path, **arrays, **{name: np.asarray(value) for name, value in more.items()})


def in_one_process(folder: Path) -> None:
    """Both trainings on one device and on two, and the program that two devices run."""
    for devices in (None, 2):
        seen: list[Fitted] = []
        result = regression(devices, seen)
        write(folder / f"regression-{devices}.npz", result, widths=[now.network.widths for now in seen])
        model = classifier(devices)
        write(folder / f"classifier-{devices}.npz", model.fitted_, probs=model.predict_proba(table()[0]))
    save(model, folder / "model")
    key = next(k for k in _e_step.compiled if k[0].network == NETWORK and any(spread for *_, spread in k[2]))
    shapes = [jax.ShapeDtypeStruct(shape, dtype, sharding=spread) for shape, dtype, spread in key[2]]
    with jax.enable_x64(True):
        program: Any = _e_step.compiled[key]
        (folder / "program.txt").write_text(program.lower(*shapes).compile().as_text())


def in_two_processes(folder: Path, port: str, process: int) -> None:
    """The classifier with a device in each process; then data that differ, which must be told."""
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, process, initialization_timeout=int(HANGS))
    assert len(jax.devices()) == 2 and len(jax.local_devices()) == 1
    model = classifier("all")
    write(folder / f"process-{process}.npz", model.fitted_, probs=model.predict_proba(table()[0]))
    x, y, _ = table()
    try:
        fit(NETWORK, x + process, y[:, None], SETTINGS, devices="all")
    except ValueError as error:
        (folder / f"told-{process}.txt").write_text(str(error))


if __name__ == "__main__":
    compact.COMPILATION = COMPILATION
    if len(sys.argv) == 2:
        in_one_process(Path(sys.argv[1]))
    else:
        in_two_processes(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
