"""What tests of data sets share: places of their own, and none that a machine happens to have."""

import pytest

from tdamp.datasets import folder
from tdamp.io import cache


@pytest.fixture(autouse=True)
def own_places(tmp_path, monkeypatch):
    """Each test has an empty cache of its own, no folder asked for, and no data beside the checkout."""
    monkeypatch.delenv(folder.VARIABLE, raising=False)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "BESIDE_CHECKOUT", tmp_path / "beside")
