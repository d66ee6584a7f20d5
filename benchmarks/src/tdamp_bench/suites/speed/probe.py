"""Measurements that need a fresh process: compile time and peak memory.

`python -m tdamp_bench.suites.speed.probe '{"what": "compile", ...}'` prints one JSON object.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

HIDDEN = 128


def ask(**question: Any) -> dict[str, Any]:
    """Run a probe in a fresh process, without a compilation cache on disk."""
    environment = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    command = [sys.executable, "-m", __spec__.name, json.dumps(question)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"probe {question} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compile_time(sweeps: int, layers: int, rows: int, epochs: int = 4) -> dict[str, Any]:
    """First epoch minus the median of the next ones, on random digits, for 784-128(-128...)-10."""
    from ...core import presets
    from ...core.problems import Problem
    from ...methods import tdamp

    rng = np.random.default_rng(0)
    x, y = rng.random((rows, 784), np.float32), rng.integers(0, 10, rows).astype(np.int32)
    seconds: list[float] = []
    tdamp.train(
        Problem("classification", x, y, x[:1], y[:1]),
        (784, *[HIDDEN] * (layers - 1), 10),
        replace(presets.MNIST, sweeps=sweeps, max_epochs=epochs),
        0,
        lambda epoch, model, taken: seconds.append(taken),
    )
    steady = float(np.median(seconds[1:]))
    return {"sweeps": sweeps, "layers": layers, "first": seconds[0], "steady": steady, "compile": seconds[0] - steady}


def memory(rows: int | None, epochs: int) -> dict[str, Any]:
    """Peak resident memory of a whole MNIST training, and the size of the posterior beside the weights."""
    from ...core import presets, problems
    from ...methods import tdamp

    settings = replace(presets.MNIST, max_epochs=epochs)
    model = tdamp.train(problems.mnist(rows), (784, HIDDEN, 10), settings, 0, lambda *_: None)
    return {
        "peak_bytes": peak_bytes(),
        "state_bytes": model.state_bytes,
        "weight_bytes": model.weight_bytes,
        "state_over_weights": model.state_bytes / model.weight_bytes,
        "rows": rows,
        "epochs": epochs,
    }


def peak_bytes() -> int:
    """The largest resident size this process has had.

    Linux' VmHWM, because getrusage there also counts the parent from before exec; elsewhere getrusage.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


PROBES: dict[str, Callable[..., dict[str, Any]]] = {"compile": compile_time, "memory": memory}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(PROBES[asked.pop("what")](**asked)))
