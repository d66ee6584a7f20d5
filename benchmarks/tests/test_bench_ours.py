"""tdamp as a method of the evaluation, as recommended and as printed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tdamp.engine.settings import Settings
from tdamp.training.outcome import Outcome
from tdamp_bench.core.jobs import Job, loss_of, n_keep
from tdamp_bench.core.problems import Problem
from tdamp_bench.core.progress import silent
from tdamp_bench.methods import tdamp_configurations
from tdamp_bench.methods.evaluation_presets import grid, paper_grid, paper_settings, settings
from tdamp_bench.methods.tdamp_configurations import Paper, Tdamp

KEEPS = (1.0, 0.8, 0.5, 0.3, 0.05)


def test_tdamp_leaves_exactly_the_units_asked_for(blobs):
    """identity: the count, a loss for every epoch, and the same seed the same run."""
    widths, method = (12, 8, 3), Tdamp()
    jobs = [Job(blobs, 0, keep, method.grid("mnist", keep)[0]) for keep in (1.0, 0.5, 0.5)]
    told: list[str] = []
    runs = method.train(jobs, widths, 20, 4, told.append)
    assert [run.units for run in runs] == [20, 10, 10] and len(told) == 3
    assert all(len(run.loss) == len(run.extra["noise_var"]) == 4 for run in runs)
    assert runs[1].loss == runs[2].loss and runs[0].loss[-1] < 0.2


@pytest.mark.parametrize("data", ["boston", "mnist"])
def test_what_paper_faithful_means(data):
    """identity: `Settings.paper` with the task's batch, but for numbers left open; rho_0 is 1 with all."""
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
    """enumeration: all of them, distinct, within the budget, and the schedules as long as the training."""
    for keep in KEEPS:
        for make, configs in ((settings, grid(data, keep)), (paper_settings, paper_grid(data, keep))):
            made = [make(config, keep, 10, epochs) for config in configs]
            assert 1 <= len(set(made)) == len(configs) <= 6
            assert all(s.max_epochs == epochs and s.keep == (None if keep == 1 else keep) for s in made)
            assert all(not isinstance(s.memory, tuple) or len(s.memory) == epochs for s in made)


def test_a_training_that_goes_wrong_has_infinite_losses(blobs, monkeypatch):
    """identity: two epochs came, three were asked for; the run says why."""

    def train(problem, widths, settings, seed, on_epoch):
        model = real(problem, widths, replace(settings, max_epochs=2), seed, on_epoch)
        object.__setattr__(model, "fitted", replace(model.fitted, outcome=Outcome.DIVERGED))
        return model

    real = tdamp_configurations.ours.train
    monkeypatch.setattr(tdamp_configurations.ours, "train", train)
    (run,) = Paper().train([Job(blobs, 0, 1.0, paper_grid("mnist", 1.0)[0])], (12, 8, 3), 20, 3, silent)
    assert [math.isinf(loss) for loss in run.loss] == [False, False, True] and run.note


def test_loss_and_units_by_hand():
    """identity: two of three labels right; NaN outputs are an infinite loss; every layer keeps a unit."""
    y = np.array([0, 1, 1])
    problem = Problem("classification", np.zeros((3, 1)), y, np.zeros((3, 1)), y)
    assert loss_of(np.array([[1.0, 0], [0, 1.0], [1.0, 0]]), problem) == pytest.approx(1 / 3)
    assert loss_of(np.full((3, 2), np.nan), problem) == math.inf
    assert [n_keep((13, 64, 64, 1), k) for k in (1, 0.5, 0.05, 0.001)] == [141, 70, 7, 3]
