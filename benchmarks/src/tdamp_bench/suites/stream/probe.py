"""One fit in a fresh process, and the most memory that it had.

`python -m tdamp_bench.suites.stream.probe '{"how": "stream", "path": ...}'` prints one JSON object. The peak is the
largest resident size since the process began: Python, the libraries and compiled code included. Neither
the Parquet file nor the rows in their temporary files are mapped (they are read): no page of them is left out or
counted twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tdamp.training.compilation import VARIABLE

from ..speed.probe import peak_bytes
from .rows import test_rows


def ask(**question: Any) -> dict[str, Any]:
    """Run a probe in a fresh process, which compiles for itself: the compiler's memory counts, every time."""
    environment = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false", VARIABLE: "off"}
    command = [sys.executable, "-m", __spec__.name, json.dumps(question)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"probe {question} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(
    how: str, path: str, rows: int, inputs: int, hidden: tuple[int, ...], epochs: Any, test: int
) -> dict[str, Any]:
    """Fit the file "stream" or "memory", and score it on rows that are not in it."""
    from tdamp.estimators import TDAMPRegressor
    from tdamp.sources import Parquet

    x_test, y_test = test_rows(test, inputs)
    at: list[float] = []
    model = TDAMPRegressor(
        hidden, max_epochs=epochs, random_state=0, callbacks=[lambda *_: at.append(time.perf_counter())]
    )
    before, started, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    if how == "stream":
        model.fit(Parquet(path, target="y", spill_dir=Path(path).parent))
    else:
        import pandas as pd

        frame = pd.read_parquet(path)
        model.fit(frame.drop(columns="y"), frame["y"])
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    peak = max(before, peak_bytes())  # the system counts pages in batches, and may say a little less later
    mean, std = model.predict(_like(model, x_test), return_std=True)
    return {
        "how": how,
        "rows": rows,
        "data_bytes": rows * (inputs + 1) * 4,
        "file_bytes": Path(path).stat().st_size,
        "before_bytes": before,
        "peak_bytes": peak,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "epochs": model.n_iter_,
        "epoch_seconds": float(np.median(np.diff(at))) if len(at) > 1 else None,
        "rmse": float(np.sqrt(np.mean((mean - y_test) ** 2))),
        "coverage": float(np.mean(np.abs(mean - y_test) <= 1.959964 * std)),
        "learned_noise_std": float(np.sqrt(model.noise_var_[0])),
    }


def _like(model: Any, x: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(x, columns=list(model.feature_names_in_))


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
