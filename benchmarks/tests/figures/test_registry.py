"""The list of figures."""

import pytest

from tdamp_bench.figures import registry


@pytest.mark.parametrize("name", ["margins", "noise", "ablations"])
def test_titles_fit_the_list(name):
    """contract: the registry's table has room for 33 characters."""
    assert 0 < len(registry.FIGURES[name].load().TITLE) <= 33
