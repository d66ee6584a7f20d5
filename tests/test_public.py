"""The public names, and how fast the program answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tdamp

ROOT = Path(__file__).parents[1]


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


def would_do(target: str) -> str:
    """The commands that make would run for a target, from a bare checkout."""
    run = subprocess.run(["make", "-n", "-B", target], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr == ""
    return run.stdout


@pytest.mark.parametrize("target", ["demo", "test", "test-all", "lint", "docs", "bench"])
def test_make_knows_how(target: str) -> None:
    """contract: from a bare checkout each target begins with a virtual environment and ends with its command."""
    done = would_do(target)
    assert done.index("-m venv") < done.index("pip install") < done.rindex(".venv/bin/")


def test_only_make_browser_installs_a_browser() -> None:
    """contract: no target that tests or shows something asks apt-get for one."""
    assert "apt-get" in would_do("browser")
    assert not [t for t in ("demo", "test", "test-all", "faults", "soak", "lint", "docs") if "apt-get" in would_do(t)]
