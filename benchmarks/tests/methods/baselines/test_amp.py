"""The AMP baseline: its masks and its training."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from tdamp_bench.core.jobs import Job, n_keep
from tdamp_bench.core.progress import silent
from tdamp_bench.methods.baselines import amp
from tdamp_bench.methods.baselines.amp import Amp, Fleet, random_units

WIDTHS = (12, 16, 3)


CONFIG = {"iterations": 1, "init_var": 0.3}


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.1, 0.33, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("widths", [(784, 128, 10), (13, 64, 64, 1)])
def test_units_are_counted_exactly(widths, keep):
    """contract: exactly as many units as asked for, each once, at least one in each layer, other seeds others."""
    for seed in range(5):
        units = random_units(widths, keep, seed)
        assert sum(map(len, units)) == n_keep(widths, keep)
        for left, width in zip(units, widths[:-1], strict=True):
            assert 0 < len(left) == len(np.unique(left))
            assert left.min() >= 0 and left.max() < width
    if keep < 1:
        assert not np.array_equal(np.concatenate(random_units(widths, keep, 0)), np.concatenate(units))


def test_every_unit_can_be_drawn():
    """rate: over many seeds each unit is left about as often as any other; 5 standard deviations."""
    left = np.zeros(30)
    for seed in range(400):
        first, second = random_units((20, 10, 3), 0.5, seed)
        left[first] += 1
        left[20 + second] += 1
    assert np.abs(left / 400 - 0.5).max() < 5 * np.sqrt(0.25 / 400)


@pytest.mark.parametrize("iterations", [1, 2])
def test_weights_of_removed_units_stay_zero(blobs, iterations):
    """identity: in arrays of full size what is not left is exactly zero after training, and the rest has moved."""
    job = Job(blobs, 3, 0.4, CONFIG | {"iterations": iterations})
    fleet = Fleet([job], WIDTHS, 20, compact=False)
    before = jax.device_get(fleet.layers)
    fleet.train(2)
    first, second = fleet.units[0]
    for l, (here, above) in enumerate([(first, second), (second, np.arange(3))]):
        left = np.zeros(before[l].mean.shape[1:], bool)
        left[np.ix_([*range(len(here)), -1], range(len(above)))] = True
        mean, var = np.asarray(fleet.layers[l].mean[0]), np.asarray(fleet.layers[l].prior.var[0])
        assert (mean[~left] == 0).all() and (var[~left] == 0).all()
        assert (mean[left] != before[l].mean[0][left]).all()


def test_removed_inputs_do_not_matter(blobs):
    """identity: a change in a removed column changes nothing, in a column that is left it does."""
    job = Job(blobs, 3, 0.4, CONFIG)
    left = random_units(WIDTHS, 0.4, 3)[0]
    removed = np.setdiff1d(np.arange(12), left)
    assert len(removed)

    def losses(column):
        x = blobs.x.copy()
        x[:, column] = 5.0
        return Amp().train([replace(job, problem=replace(blobs, x=x))], WIDTHS, 20, 2)[0].loss

    plain = Amp().train([job], WIDTHS, 20, 2)[0].loss
    assert losses(removed[0]) == plain
    assert losses(left[0]) != plain


def test_together_equals_one_by_one(lines, monkeypatch):
    """twin: jobs together in arrays of full size, and each alone in arrays without the removed units."""
    jobs = [
        Job(lines[seed], seed, keep, {"iterations": iterations, "init_var": 0.1, "noise_var": noise_var})
        for seed, keep, iterations, noise_var in [(0, 0.5, 2, 0.1), (1, 1.0, 1, 0.3), (0, 0.7, 2, 0.3)]
    ]
    done = []
    together = Amp().train(jobs, (4, 6, 1), 20, 3, done.append)
    assert len(done) == 3
    monkeypatch.setattr(amp, "TOGETHER", 1)
    for job, run in zip(jobs, together, strict=True):
        (single,) = Amp().train([job], (4, 6, 1), 20, 3, silent)
        assert run.units == single.units == n_keep((4, 6, 1), job.keep)
        np.testing.assert_allclose(run.loss, single.loss, rtol=1e-3)


def test_seeds_decide(blobs):
    """identity: the same seed gives the same run, another one another."""
    jobs = [Job(blobs, seed, 0.6, CONFIG) for seed in (0, 0, 1)]
    first, again, other = Amp().train(jobs, WIDTHS, 20, 3)
    assert first == again
    assert first.loss != other.loss


def test_it_learns_classes_and_a_line(blobs, lines):
    """golden(the baseline must work on easy problems): error and NMSE far below chance and the mean."""
    classes = Amp().train([Job(blobs, 0, 1.0, CONFIG)], WIDTHS, 20, 5)[0]
    assert classes.loss[-1] < 0.05 and classes.note == ""
    config = {"iterations": 1, "init_var": 0.1, "noise_var": 0.1}
    line = Amp().train([Job(lines[0], 0, 1.0, config)], (4, 16, 1), 20, 40)[0]
    assert line.loss[-1] < 0.1 < line.loss[0]
    assert len(line.loss) == len(line.extra["clips"]) == 40


def test_divergence_is_infinite_and_noted(lines):
    """contract: from the first epoch that is not finite on the loss is infinite, never NaN, and the note says so."""
    broken = replace(lines[0], y=lines[0].y * np.float32(1e30))
    config = {"iterations": 1, "init_var": 0.1, "noise_var": 0.1}
    bad, good = Amp().train([Job(p, 0, 1.0, config) for p in (broken, lines[0])], (4, 6, 1), 20, 4)
    assert bad.note == "diverged in epoch 1"
    assert bad.loss == [np.inf] * 4
    assert np.isfinite(bad.extra["clips"]).all()
    assert good.note == "" and np.isfinite(good.loss).all()


def test_losses_stay_infinite():
    """contract: a finite loss after an infinite one does not count."""
    run = amp.Run([], 1, {"clips": []})
    for epoch, loss in enumerate([0.5, np.inf, 0.3], start=1):
        amp.add(run, epoch, loss, 1.0)
    assert run.loss == [0.5, np.inf, np.inf]
    assert run.note == "diverged in epoch 2"


@pytest.mark.parametrize("data", ["boston", "mnist"])
def test_the_grid_has_six_configurations(data):
    """contract: six different ones, a noise variance in the regression only."""
    grid = Amp().grid(data, 0.5)
    assert len(grid) == len({tuple(config.items()) for config in grid}) == 6
    assert all(("noise_var" in config) == (data == "boston") for config in grid)
