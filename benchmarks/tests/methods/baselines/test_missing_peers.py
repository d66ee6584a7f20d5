"""Baselines whose library is not installed say what to install."""

import importlib
import sys

import pytest

from tdamp import _optional


@pytest.mark.parametrize(
    "library, module",
    [
        ("torch", "adam_torch"),
        ("pytagi", "pytagi_net"),
        ("pytagi", "pytagi_regression"),
        ("torch", "laplace_library"),
        ("laplace", "laplace_library"),
        ("lightgbm", "lightgbm_trees"),
    ],
)
def test_a_missing_library_names_the_extra(library, module, monkeypatch):
    """contract: Without the library the baseline says what to install."""
    name = f"tdamp_bench.methods.baselines.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(_optional.MissingExtra, match=rf"{library}.*pip install 'tdamp-bench\[peers\]'"):
        importlib.import_module(name)
    sys.modules.pop(name, None)


def test_a_torchvision_of_another_pytorch(monkeypatch, tmp_path):
    """contract: laplace-torch imports torchvision; where that fails with an error of its own, the remedy is named."""
    name = "tdamp_bench.methods.baselines.laplace_library"
    (tmp_path / "laplace.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    for module in (name, "laplace"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(_optional.MissingExtra, match=r"torchvision::nms.*pip uninstall torchvision"):
        importlib.import_module(name)
