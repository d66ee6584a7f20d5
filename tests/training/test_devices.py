"""Several devices, in one process and in two, give what one device gives.

Tolerance: a sum over rows in another order differs by at most (number of rows) x eps of its size, and the steps' errors
add up, so (rows seen in all epochs) x eps, relative to the largest number of an array. Rows that were lost, counted
twice or taken in another order would show in the first digits.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from sklearn.base import clone

from helpers import devices_run
from helpers.devices_run import BATCH, EPOCHS, NETWORK, ROWS
from helpers.guard import HANGS
from tdamp import Network, Settings, TDAMPRegressor, fit, load
from tdamp.federated import federated_fit
from tdamp.training import devices


def start(folder: Path, n_devices: int, *words: str) -> subprocess.Popen[str]:
    """tests/helpers/devices_run.py with so many devices, compiled in haste."""
    flags = f"--xla_force_host_platform_device_count={n_devices} --xla_backend_optimization_level=0"
    return subprocess.Popen(
        [sys.executable, "-m", "helpers.devices_run", str(folder), *words],
        cwd=Path(devices_run.__file__).parents[1],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(*children: subprocess.Popen[str]) -> None:
    """Wait for all; none outlives this."""
    try:
        for child in children:
            output, _ = child.communicate(timeout=HANGS)
            assert child.returncode == 0, output
    finally:
        for child in children:
            child.kill()
            child.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process found on one device and on two."""
    there = tmp_path_factory.mktemp("devices")
    finish(start(there, 2))
    return there


def assert_same(one: Any, other: Any, dtype: str) -> None:
    """All arrays agree to the tolerance above; masks, units and infinite numbers agree exactly."""
    assert set(one) == set(other)
    for name in one:
        a, b = one[name].astype(float), other[name].astype(float)
        assert a.shape == b.shape, name
        finite = np.isfinite(a)
        np.testing.assert_array_equal(a[~finite], b[~finite], name)
        exact = one[name].dtype.kind != "f"
        size = np.abs(a[finite]).max(initial=0)
        atol = 0 if exact else EPOCHS * ROWS * np.finfo(dtype).eps * size
        np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=atol, err_msg=name)


def test_regression(folder: Path) -> None:
    """twin: the run on one device, in float64: chunks, ragged batches, sweeps, weights, pruning, smaller arrays."""
    one, two = np.load(folder / "regression-None.npz"), np.load(folder / "regression-2.npz")
    assert_same(one, two, "float64")
    assert (one["widths"][0] == NETWORK.widths).all() and (one["widths"][-1] != NETWORK.widths).any()
    assert len(one["kept.0"]) + len(one["kept.1"]) == round(0.3 * 48)


def test_classifier(folder: Path) -> None:
    """twin: the estimator on one device, in float32: held-out rows choose the same epoch, the same units remain."""
    assert_same(np.load(folder / "classifier-None.npz"), np.load(folder / "classifier-2.npz"), "float32")


def test_the_batch_is_split(folder: Path) -> None:
    """contract: in each device's program a batch has half its places; sums are exchanged, rows are not."""
    program = (folder / "program.txt").read_text()
    half = -(-BATCH // 2)
    sizes = {int(n) for n in re.findall(rf"f64\[(\d+),{NETWORK.widths[1]}\]", program)}
    assert half in sizes and not sizes & {BATCH, 2 * half}
    assert " all-reduce" in program
    assert not re.search(r" (all-gather|all-to-all|collective-permute)", program)


def test_a_model_trained_on_two_devices_is_loaded_where_there_is_one(folder: Path) -> None:
    """identity: it predicts what it did; `devices` is kept, and only matters when it is fitted again."""
    model = load(folder / "model")
    x, y, _ = devices_run.table()
    np.testing.assert_allclose(model.predict_proba(x), np.load(folder / "classifier-2.npz")["probs"], rtol=1e-4)
    assert model.devices == clone(model).devices == 2
    with pytest.raises(ValueError, match="devices=2: JAX sees 1"):
        model.fit(x, y > 0)


def test_two_processes(folder: Path, tmp_path: Path) -> None:
    """twin: the run of one process on one device; both processes have the same bits, and data that differ are told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    finish(*(start(tmp_path, 1, port, str(process)) for process in range(2)))
    first, second = (np.load(tmp_path / f"process-{process}.npz") for process in range(2))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], name)
    assert_same(np.load(folder / "classifier-None.npz"), first, "float32")
    for process in range(2):
        assert "of process 1 differ from those of process 0" in (tmp_path / f"told-{process}.txt").read_text()


@pytest.mark.parametrize("wrong", ["two", 0, -1, 1.5, True, [0, 1]])
def test_what_is_no_number_of_devices(wrong: Any) -> None:
    """contract: told before anything is trained."""
    x, y, _ = devices_run.table()
    with pytest.raises(ValueError, match="expected None"):
        TDAMPRegressor((4,), devices=wrong).fit(x, y)


def test_more_devices_than_there_are() -> None:
    """contract: how many there are is said."""
    with pytest.raises(ValueError, match=rf"JAX sees {len(jax.devices())} \(cpu\)"):
        fit(Network((24, 1)), *devices_run.table()[:2], devices=len(jax.devices()) + 1)


def test_more_devices_than_places_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: three rows cannot be split among four devices."""
    monkeypatch.setattr(jax, "devices", lambda: 4 * jax.local_devices())
    with pytest.raises(ValueError, match="batch_size=3 is less than the 4 devices"):
        fit(Network((24, 1)), *devices_run.table()[:2], Settings(batch_size=3), devices="all")


def test_one_device_is_as_none() -> None:
    """contract: no mesh is made, and what goes through is left alone."""
    order = np.zeros((2, 3), int), np.ones((2, 3), bool)
    assert devices.mesh_of(None, 1) is None and devices.mesh_of(1, 1) is None
    assert devices.split(None, *order) == order
    assert devices.on_each(None, order) is order and devices.back(None, order) is order


def test_federations_have_no_use_for_it() -> None:
    """contract: refused, rather than left aside."""
    x, y, _ = devices_run.table()
    with pytest.raises(ValueError, match="leave devices out"):
        federated_fit(TDAMPRegressor((4,), devices="all"), [(x, y)], rounds=1)
