"""The NumPy file against tdamp's own predictions, and alone in an interpreter of its own.

covers: export.predictor
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.random_fitted import exact_probs, exact_regression, random_fitted, random_plain, scale_of
from tdamp.engine.network import Network
from tdamp.export import predictor as template
from tdamp.export import to_numpy
from tdamp.factors.activations.catalog import ACTIVATIONS

LABELS = list("abcdefghiç")
ALONE = """
import json, runpy, sys
class Only:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != "numpy" and top not in sys.stdlib_module_names:
            raise ImportError(f"{name} is not NumPy")
sys.meta_path.insert(0, Only())
import numpy as np
made = runpy.run_path(sys.argv[1])
x = np.array(json.loads(sys.stdin.read()))
print(json.dumps([np.asarray(made["predict"](x)).tolist(), np.asarray(made["predict_distribution"](x)).tolist()]))
"""


def predictor(plain: Any, folder: Path) -> dict[str, Any]:
    """The names that the written file defines."""
    to_numpy(plain, folder / "predictor.py")
    return runpy.run_path(str(folder / "predictor.py"))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", [(3, 2), (5, 8, 1), (4, 7, 6, 2)], ids=str)
def test_regression(activation: str, widths: tuple[int, ...], tmp_path: Path) -> None:
    """twin: tdamp's predictive moments in float64, to the weights' rounding (1e-5); one output comes as a vector."""
    fitted = random_fitted(Network(widths, activation=activation), 7, seed=3, decades=3.0)
    plain, x = random_plain(fitted, 7, seed=3)
    made = predictor(plain, tmp_path)
    exact_mean, var, _ = exact_regression(fitted, plain, x)
    mean, std = made["predict_distribution"](x)
    assert mean.shape == std.shape == ((100,) if widths[-1] == 1 else (100, widths[-1]))
    assert np.all(np.abs(mean.reshape(exact_mean.shape) - exact_mean) < 1e-5 * scale_of(exact_mean, var))
    np.testing.assert_allclose(std.reshape(var.shape), np.sqrt(var), rtol=1e-5)
    np.testing.assert_array_equal(made["predict"](x), mean)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_classification(activation: str, tmp_path: Path) -> None:
    """twin: tdamp's class probabilities to 1e-5, and the label of the largest."""
    fitted = random_fitted(Network((5, 8, 10), "classification", activation), 7, seed=1)
    plain, x = random_plain(fitted, 7, seed=1, classes=LABELS)
    made = predictor(plain, tmp_path)
    exact = exact_probs(fitted, plain, x)
    np.testing.assert_allclose(made["predict_distribution"](x), exact, atol=1e-5)
    np.testing.assert_array_equal(made["predict"](x), np.array(LABELS)[exact.argmax(1)])


def test_rows_are_cut_into_chunks(tmp_path: Path) -> None:
    """identity: 2500 rows, no row and one row give what each row gives alone."""
    fitted = random_fitted(Network((3, 4, 2)), 3, seed=0)
    plain, x = random_plain(fitted, 3, seed=0)
    made = predictor(plain, tmp_path)
    many = made["predict"](np.tile(x, (25, 1)))
    np.testing.assert_allclose(many, np.tile(made["predict"](x), (25, 1)), rtol=1e-12)
    assert made["predict"](x[:0]).shape == (0, 2)
    np.testing.assert_allclose(made["predict"](x[:1]), many[:1], rtol=1e-12)


def test_it_needs_nothing_but_numpy(tmp_path: Path) -> None:
    """identity: an isolated interpreter that may import NumPy and the standard library only gives the same numbers."""
    fitted = random_fitted(Network((3, 4, 2), "classification", "hard_tanh"), 5, seed=0)
    names = ['quote"""', "back\\slash", "new\nline", "ü", "'"]
    plain, x = random_plain(fitted, 5, seed=0, classes=[True, False], feature_names=names)
    made = predictor(plain, tmp_path)
    assert made["MODEL"]["feature_names"] == names
    command = [sys.executable, "-I", "-W", "error", "-c", ALONE, str(tmp_path / "predictor.py")]
    done = subprocess.run(command, input=json.dumps(x.tolist()), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    labels, probs = json.loads(done.stdout)
    assert labels == made["predict"](x).tolist()
    np.testing.assert_allclose(probs, made["predict_distribution"](x), rtol=1e-12)


def test_the_file_is_the_module_with_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the module of the package with the file's arrays put into it, to the bit; without it has no network."""
    assert template.MODEL is None and template.ARRAYS == {}
    fitted = random_fitted(Network((3, 4, 2)), 5, seed=0)
    plain, x = random_plain(fitted, 5, seed=0)
    made = predictor(plain, tmp_path)
    for name in ("MODEL", "ARRAYS"):
        monkeypatch.setattr(template, name, made[name])
    np.testing.assert_array_equal(template.predict_distribution(x), made["predict_distribution"](x))


def test_bad_tables_are_refused(tmp_path: Path) -> None:
    """contract: wrong columns and missing values that are read; a pruned column may hold anything."""
    fitted = random_fitted(Network((3, 2)), 5, seed=0)
    plain, x = random_plain(fitted, 5, seed=0)
    made = predictor(plain, tmp_path)
    with pytest.raises(ValueError, match=r"expected \(rows, 5\) numbers, got shape \(100, 4\)"):
        made["predict"](x[:, :4])
    x = x.copy()
    x[0, np.setdiff1d(np.arange(5), plain.inputs)] = np.nan
    assert np.isfinite(made["predict"](x)).all()
    x[0, plain.inputs[0]] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        made["predict"](x)
