"""The grids of the evaluation, as recommended and as printed."""

import pytest

from tdamp.engine.settings import Settings
from tdamp_bench.methods.evaluation_presets import grid, paper_grid, paper_settings, settings

KEEPS = (1.0, 0.8, 0.5, 0.3, 0.05)


@pytest.mark.parametrize("data", ["boston", "mnist"])
def test_what_paper_faithful_means(data):
    """contract: `Settings.paper` with the task's batch, but for numbers left open; rho_0 is 1 with all."""
    for keep in KEEPS:
        for config in paper_grid(data, keep):
            assert set(config) <= {"init_noise", "noise_init", "init_scale", "active_threshold", "init_active_prob"}
            s = paper_settings(config, keep, 100, 30)
            left_open = {name: getattr(s, name) for name in (*config, "init_active_prob")}
            goal = None if keep == 1 else keep
            assert s == Settings.paper(keep=goal, batch_size=100, max_epochs=30, **left_open)
            assert s.init_active_prob == config.get("init_active_prob", 1.0)


@pytest.mark.parametrize("data", ["boston", "mnist"])
@pytest.mark.parametrize("epochs", [2, 3, 30, 100])
def test_every_configuration_is_valid(data, epochs):
    """contract: all of them, distinct, within the budget, and the schedules as long as the training."""
    for keep in KEEPS:
        for make, configs in ((settings, grid(data, keep)), (paper_settings, paper_grid(data, keep))):
            made = [make(config, keep, 10, epochs) for config in configs]
            assert 1 <= len(set(made)) == len(configs) <= 6
            assert all(s.max_epochs == epochs and s.keep == (None if keep == 1 else keep) for s in made)
            assert all(not isinstance(s.memory, tuple) or len(s.memory) == epochs for s in made)
