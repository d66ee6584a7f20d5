"""Methods of the sparsity figure."""

import pytest

from tdamp_bench.figures import methods, sparsity
from tdamp_bench.figures.options import DATA


@pytest.mark.parametrize(
    "name", ["tdamp", "tdamp_paper", "amp", "adam", "early_stop", "group_lasso", "group_snip", "magnitude"]
)
def test_the_real_methods_have_the_names_and_the_budget(name):
    """contract: every registered method loads, and its grid fits the budget at every share."""
    method = methods.load(name)
    assert method.name == name and method.label
    for data in DATA:
        for keep in sparsity.KEEPS:
            assert 1 <= len(method.grid(data, keep)) <= 6
