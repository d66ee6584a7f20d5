"""Entries of the catalog: what is no activation is refused, and a new one goes all the way."""

from __future__ import annotations

import importlib.util
import re
from math import inf
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tdamp import TDAMPRegressor
from tdamp.cli import export_check
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.catalog import ACTIVATIONS, Activation, TorchModule
from tdamp.factors.activations.piecewise import Region

CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"

REFUSED = {
    "no region": ((), "rise from -inf to inf"),
    "an end on the right": ((Region(-inf, 3.0, 1.0),), "rise from -inf to inf"),
    "an end on the left": ((Region(0.0, inf, 1.0),), "begin where the one before it ends"),
    "a gap": ((Region(-inf, 0.0, 0.0), Region(1.0, inf, 1.0, -1.0)), "begin where the one before it ends"),
    "out of order": ((Region(-inf, 1.0, 0.0), Region(1.0, 0.0, 1.0), Region(0.0, inf, 0.0)), "rise from -inf to inf"),
    "a jump": ((Region(-inf, 0.0, 0.0), Region(0.0, inf, 1.0, 1.0)), "at 0.0 the function jumps from 0.0 to 1.0"),
    "not finite": ((Region(-inf, 0.0, inf), Region(0.0, inf, 1.0)), "must be finite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_regions_that_are_no_activation(name: str) -> None:
    """contract: gaps, jumps and bounds out of order are refused when the entry is made."""
    regions, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        Activation(regions, TorchModule("Identity"))


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_torch_module_is_the_same_function(name: str) -> None:
    """identity: the PyTorch module against f(z), kinks included."""
    module = ACTIVATIONS[name].torch
    z = np.concatenate([np.linspace(-8, 8, 161), [1e10, -1e10]]).astype(np.float32)
    ours = getattr(torch.nn, module.name)(*module.arguments)(torch.from_numpy(z)).numpy()
    np.testing.assert_array_equal(ours, piecewise.apply(ACTIVATIONS[name].regions, jnp.asarray(z)))


def test_the_skeleton_in_contributing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: the entry that CONTRIBUTING gives as a pattern, in a module of its own, trains and is exported."""
    section = CONTRIBUTING.read_text().partition("## A new activation")[2].partition("\n## ")[0]
    (code,) = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    (tmp_path / "toy_activation.py").write_text(code)
    spec = importlib.util.spec_from_file_location("toy_activation", tmp_path / "toy_activation.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(ACTIVATIONS, "relu6_of_contributing", module.relu6)

    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    y = np.clip(3 * x[:, 0], 0, 6) + 0.1 * rng.normal(size=80)
    model = TDAMPRegressor((8,), activation="relu6_of_contributing", max_epochs=15, random_state=0).fit(x, y)
    assert np.mean(np.square(model.predict(x) - y)) < 0.5 * np.var(y)
    for form in ("onnx", "torch", "numpy"):
        export_check.write(form, model.to_plain(), tmp_path / form)
        assert export_check.difference(form, tmp_path / form, model) < 1e-4
