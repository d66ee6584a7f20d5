"""Model folders that version 0.1 has written (tests/fixtures/version_0_1) are read, and predict what they did."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import tdamp
from tdamp.persistence import arrays, folder

FIXTURES = Path(__file__).parents[1] / "fixtures" / "version_0_1"
ROWS = {
    "regressor": load_diabetes().data[:8],
    "varying": load_diabetes().data[:8],
    "classifier": load_iris().data[::20],
}
"""The rows whose predictions are in expected.npz."""


def predictions(name: str, model: tdamp.TDAMPRegressor | tdamp.TDAMPClassifier) -> np.ndarray:
    """Means and standard deviations of a regression, probabilities of a classification."""
    if isinstance(model, tdamp.TDAMPClassifier):
        return model.predict_proba(ROWS[name])
    result = model.predict_distribution(ROWS[name])
    return np.stack([result.mean, result.std])


@pytest.mark.parametrize("name", ROWS)
def test_predictions_are_those_of_version_0_1(name: str) -> None:
    """golden(files of version 0.1 must stay readable): the predictions that 0.1 made, to the rounding of float32."""
    expected = np.load(FIXTURES / "expected.npz")[name]
    np.testing.assert_allclose(predictions(name, tdamp.load(FIXTURES / name)), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ROWS)
def test_saved_again_it_is_the_same_model(name: str, tmp_path: Path) -> None:
    """identity: array by array, name by name, and the same bits of the predictions.

    Version 0.1 stored the chain of the burst prior under every prior.
    """
    model = tdamp.load(FIXTURES / name)
    tdamp.save(model, tmp_path / "again")
    before, now = folder.load(FIXTURES / name)[0], folder.load(tmp_path / "again")[0]
    assert set(now) == {array for array in before if ".chain." not in array or model.settings_.prior == "burst"}
    for array in now:
        np.testing.assert_array_equal(now[array], before[array])
    np.testing.assert_array_equal(predictions(name, tdamp.load(tmp_path / "again")), predictions(name, model))


@pytest.mark.parametrize("name", ROWS)
def test_names_of_the_arrays(name: str) -> None:
    """identity: every leaf of the state has a name that version 0.1 gave it; the burst prior's chain is one."""
    model = tdamp.load(FIXTURES / name)
    stored = folder.load(FIXTURES / name)[0]
    state = {key for key in stored if key.startswith(("layers.", "noise_", "base_var_start."))}
    if model.settings_.prior != "burst":
        state = {key for key in state if ".chain." not in key}
    assert set(arrays.state_arrays(model.fitted_.state)) == state
    assert (name == "classifier") == any(".chain." in key for key in state)


def test_loading_is_all_that_a_process_does() -> None:
    """contract: tdamp.load finds the estimators without anyone having imported them."""
    code = "import sys, tdamp; print(type(tdamp.load(sys.argv[1])).__name__)"
    for name in ROWS:
        done = subprocess.run(
            [sys.executable, "-c", code, str(FIXTURES / name)], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == json.loads((FIXTURES / name / "config.json").read_text())["estimator"]
