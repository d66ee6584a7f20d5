"""Recipes: rate, weight decay, schedule and dropout."""

import numpy as np
import pytest

from tdamp_bench.methods.baselines import adam_optax
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.methods.baselines.strong_grids import FIGURES, STRONG


def test_the_rate_falls_to_zero_over_all_epochs():
    """identity: half of it at half of the way, next to nothing at the last step, an error beyond; plain stays."""
    pace = adam_optax.Pace([strong(0.1, 0.0, 0.0), Recipe(0.2)], 100)
    rates = np.concatenate([pace.next(40), pace.next(60)], 1)
    np.testing.assert_allclose(rates[0], 0.05 * (1 + np.cos(np.pi * np.arange(100) / 100)), rtol=1e-4, atol=1e-8)
    assert rates[0, -1] < 1e-3 * rates[0, 0] and (rates[1] == np.float32(0.2)).all()
    with pytest.raises(adam_optax.PastTheEnd, match="100 steps"):
        pace.next(1)
    with pytest.raises(ValueError, match="epochs"):
        adam_optax.Pace([strong(0.1, 0.0, 0.0)], None)


_WITH = strong(1e-2, 0.1, 0.2, 0.1)


def test_recipes_and_their_configurations():
    """contract: there and back; a mere rate is plain Adam; grids have six, no two alike."""
    for recipe in (Recipe(0.1), strong(0.1, 0.2, 0.3), _WITH, *STRONG["mnist"], *STRONG["boston"]):
        assert Recipe.of(recipe.config) == recipe == Recipe.of(recipe)
    assert any(recipe.input_dropout for recipe in STRONG["mnist"])
    assert Recipe.of(0.1) == Recipe.of({"rate": 0.1, "penalty": 3.0}) and Recipe.of(0.1).plain
    assert Recipe(0.1).config == {"rate": 0.1} and adam_optax.regular_of([Recipe(0.1)], [0]) is None
    assert all(
        len({*grid}) == 6 and all(recipe.cosine for recipe in grid) for grid in (*STRONG.values(), *FIGURES.values())
    )
