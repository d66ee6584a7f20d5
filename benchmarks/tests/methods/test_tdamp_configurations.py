"""tdamp as a method of the evaluation, as recommended and as printed."""

import math
from dataclasses import replace

from tdamp.training.outcome import Outcome
from tdamp_bench.core.jobs import Job
from tdamp_bench.core.progress import silent
from tdamp_bench.methods import tdamp_configurations
from tdamp_bench.methods.evaluation_presets import paper_grid
from tdamp_bench.methods.tdamp_configurations import Paper, Tdamp


def test_tdamp_leaves_exactly_the_units_asked_for(blobs):
    """contract: the count, a loss for every epoch, and the same seed the same run."""
    widths, method = (12, 8, 3), Tdamp()
    jobs = [Job(blobs, 0, keep, method.grid("mnist", keep)[0]) for keep in (1.0, 0.5, 0.5)]
    ticks: list[str] = []
    runs = method.train(jobs, widths, 20, 4, ticks.append)
    assert [run.units for run in runs] == [20, 10, 10] and len(ticks) == 3
    assert all(len(run.loss) == len(run.extra["noise_var"]) == 4 for run in runs)
    assert runs[1].loss == runs[2].loss and runs[0].loss[-1] < 0.2


def test_a_training_that_goes_wrong_has_infinite_losses(blobs, monkeypatch):
    """contract: two epochs came, three were asked for; the run says why."""

    def train(problem, widths, settings, seed, on_epoch):
        model = real(problem, widths, replace(settings, max_epochs=2), seed, on_epoch)
        object.__setattr__(model, "fitted", replace(model.fitted, outcome=Outcome.DIVERGED))
        return model

    real = tdamp_configurations.tdamp.train
    monkeypatch.setattr(tdamp_configurations.tdamp, "train", train)
    (run,) = Paper().train([Job(blobs, 0, 1.0, paper_grid("mnist", 1.0)[0])], (12, 8, 3), 20, 3, silent)
    assert [math.isinf(loss) for loss in run.loss] == [False, False, True] and run.note
