"""The core suite and the rest: what tests/helpers/suites.py names is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.suites import CORE, SLOWER, is_core

HERE = Path(__file__).parent


@pytest.mark.parametrize("place", sorted(CORE | SLOWER))
def test_every_entry_is_there(place: str) -> None:
    """contract: a folder, a module, or a test that it defines."""
    path, _, name = place.partition("::")
    assert (HERE / path).exists()
    assert not name or f"def {name}(" in (HERE / path).read_text()


def test_what_is_core() -> None:
    """contract: by folder, by module, by test, and less what is slow."""
    assert is_core("engine/test_damp.py", "test_x") and is_core("test_imports.py", "test_x")
    assert is_core("factors/layers/test_dense.py", "test_x")
    assert is_core("estimators/test_estimators.py", "test_scikit_learn_contract")
    assert not is_core("estimators/test_estimators.py", "test_x") and not is_core("training/test_fit.py", "test_x")
    assert not is_core("numerics/test_gaussian_argmax.py", "test_variances_that_differ")


def test_the_marker_is_put_on_what_is_not_core(request: pytest.FixtureRequest) -> None:
    """contract: every test of this run has the marker `extended`, or is of the core suite."""
    for item in request.session.items:
        if item.path.is_relative_to(HERE):
            name = getattr(item, "originalname", item.name)
            assert is_core(item.path.relative_to(HERE).as_posix(), name) != bool(item.get_closest_marker("extended"))
