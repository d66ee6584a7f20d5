"""The public names, and how fast the program answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tdamp


def test_every_public_name_is_there() -> None:
    """contract: each name of __all__ can be had, is listed by dir, and nothing else is promised."""
    for name in tdamp.__all__:
        assert getattr(tdamp, name) is not None
    assert set(tdamp.__all__) == set(tdamp._HOME) | set(tdamp._MODULES)
    assert set(tdamp.__all__) <= set(dir(tdamp))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tdamp.nothing


def test_the_package_is_loaded_when_it_is_used() -> None:
    """contract: importing tdamp and its command line brings in neither JAX nor pandas nor scikit-learn."""
    code = "import sys, tdamp.cli; print([m for m in ('jax', 'pandas', 'sklearn', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("target", ["demo", "test", "lint", "docs", "bench"])
def test_make_knows_how(target: str) -> None:
    """contract: from a bare checkout each target begins with a virtual environment and ends with its command."""
    root = Path(__file__).parents[1]
    run = subprocess.run(["make", "-n", "-B", target], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr == ""
    assert run.stdout.index("-m venv") < run.stdout.index("pip install") < run.stdout.rindex(".venv/bin/")
