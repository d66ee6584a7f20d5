"""The skeletons of CONTRIBUTING for layers, likelihoods and priors: each, in a module of its own, passes the exam."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from exams import test_layers, test_likelihoods, test_priors
from helpers import likelihood_cases, prior_cases
from tdamp import Network, Settings, fit, predictive
from tdamp.factors.layers.catalog import LAYERS
from tdamp.factors.likelihoods.catalog import LIKELIHOODS
from tdamp.factors.priors.catalog import PRIORS


def skeleton(section: str, folder: Path) -> ModuleType:
    """The code of a section of CONTRIBUTING, imported from a file of its own."""
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text().partition(f"## {section}")[2]
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    path = folder / "new_member.py"
    path.write_text(code[1])
    spec = importlib.util.spec_from_file_location("new_member", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_new_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: the exam of the catalog's own members; a network does not change with inputs out of its reach."""
    kind = skeleton("A new layer", tmp_path).Banded
    monkeypatch.setitem(LAYERS, kind.name, kind)
    test_layers.test_names()
    for exam in (
        test_layers.test_the_map,
        test_layers.test_transposes,
        test_layers.test_messages,
        test_layers.test_federations,
    ):
        exam("banded")
    test_layers.test_numeric_range("banded", "float32")
    test_layers.test_compaction("banded", 4)
    test_layers.test_it_trains_and_prunes("banded", 1)
    test_layers.test_files_and_exports("banded", tmp_path, monkeypatch)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 6)).astype(np.float32)
    y = x[:, :1] - x[:, 1:2] + 0.1 * rng.normal(size=(200, 1))
    network = Network((6, 4, 1), layers=(kind(reach=1), "dense"))
    fitted = fit(network, x, y, Settings(max_epochs=15, batch_size=20), seed=0)
    result, moved = (
        predictive(fitted.network, fitted.state.layers, fitted.state.noise_var, rows)
        for rows in (x, x + np.eye(6, dtype=np.float32)[5])
    )
    np.testing.assert_array_equal(result.mean, moved.mean)  # the last hidden unit sees inputs 2, 3 and 4
    assert np.mean((np.asarray(result.mean) - y) ** 2) < 0.1 * y.var()


def _bernoulli(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.norm.logcdf((2 * y - 1) * z[:, 0])


def _draw_bernoulli(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return (x[:, :1] + 0.3 * rng.normal(size=(len(x), 1)) > 0).astype(float)


def test_a_new_likelihood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: the exam of the catalog's own members; a network learns with it which rows are ones."""
    likelihood = skeleton("A new likelihood", tmp_path).Bernoulli()
    monkeypatch.setitem(LIKELIHOODS, "bernoulli", likelihood)
    case = likelihood_cases.Case(_bernoulli, (0, 1), 1, (0,), _draw_bernoulli, likelihood_cases.constant_label)
    monkeypatch.setitem(likelihood_cases.CASES, "bernoulli", case)
    examine(test_likelihoods, "bernoulli", tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3)).astype(np.float32)
    labels = (x[:, :1] > 0).astype(float)
    network = Network((3, 6, 1), likelihood="bernoulli")
    fitted = fit(network, x, labels, Settings(max_epochs=15, batch_size=20), seed=0)
    result = predictive(fitted.network, fitted.state.layers, fitted.state.noise_var, x[:, fitted.inputs])
    assert np.mean((np.asarray(result.mean) > 0.5) == labels) > 0.95
    with pytest.raises(ValueError, match="other numbers"):
        fit(network, x, labels + 1, Settings(max_epochs=1))


def examine(exam: ModuleType, member: str, folder: Path) -> None:
    """Every test of an exam's module, with the member's name, both precisions, and a folder of its own."""
    for name, test in list(vars(exam).items()):  # pytest may add to it while the tests run
        if not name.startswith("test_"):
            continue
        takes = inspect.signature(test).parameters
        assert set(takes) <= {"name", "dtype", "tmp_path"}, name
        (folder / name).mkdir()
        given = {"name": member, "tmp_path": folder / name}
        for dtype in ("float32", "float64") if "dtype" in takes else ("",):
            test(**{key: value for key, value in (given | {"dtype": dtype}).items() if key in takes})


def test_a_new_prior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: the exam of the catalog's own members; its odds fall where most inputs say nothing, and exactly the
    units asked for remain."""
    prior = skeleton("A new prior", tmp_path).SharedOddsPrior()
    monkeypatch.setitem(PRIORS, prior.name, prior)
    case = prior_cases.Case(lambda support, state: float(state) * sum(support), prior_cases.any_order)
    monkeypatch.setitem(prior_cases.CASES, prior.name, case)
    examine(test_priors, prior.name, tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 12)).astype(np.float32)
    y = x[:, :1] + 0.1 * rng.normal(size=(200, 1))
    settings = Settings(max_epochs=12, batch_size=20, prior=prior.name, keep=0.5)
    fitted = fit(Network((12, 8, 1)), x, y, settings, seed=0)
    odds = [float(layer.prior_state) for layer in fitted.state.layers]
    assert fitted.n_units == 10 and np.isfinite(odds).all() and any(value != 0 for value in odds)
