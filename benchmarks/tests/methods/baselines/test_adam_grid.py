"""A grid of Adams trained together."""

import pytest

from tdamp_bench.methods.baselines import adam_grid
from tdamp_bench.methods.baselines.adam import Adam
from tdamp_bench.methods.baselines.recipe import strong


def test_grid_equals_single_runs(lines):
    """twin: the vmapped grid, plain rates and AdamW with dropout, against one run at a time."""
    from tdamp_bench.core.scoring import nmse

    recipes = (1e-3, 1e-2, strong(1e-2, 0.3, 0.2, 0.1))
    curves = adam_grid.nmse_curves(lines, (4, 6, 1), recipes, batch=20, epochs=3)
    assert curves.shape == (2, 3, 3)
    for i in (1, 2):
        model = Adam("optax", lines[1], (4, 6, 1), recipes[i], 20, seed=1, epochs=3)
        for epoch, _ in enumerate(model.epochs(3)):
            single = nmse(model.point(lines[1].x_test), lines[1].y_test, lines[1].y)
            assert curves[1, i, epoch] == pytest.approx(single, rel=1e-4)
