"""How wide predictions must be, found from rows not trained on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tdamp import calibration
from tdamp.calibration import Calibration, Level, Predicted

RNG = np.random.default_rng(0)


def errors(n: int, epistemic: float, noise: float, dof: float) -> tuple[np.ndarray, Predicted]:
    """Targets whose true variance is epistemic times a varying part plus noise times a constant one."""
    part = RNG.exponential(size=(n, 1)) ** 2
    std = np.sqrt(epistemic * part + noise * 0.5)
    y = std * RNG.standard_t(dof, (n, 1)) * np.sqrt((dof - 2) / dof)
    return y, Predicted(np.zeros((n, 1)), part, np.full((n, 1), 0.5), np.full(1, np.inf))


@pytest.mark.parametrize(("epistemic", "noise", "dof"), [(4.0, 1.5, 6.0), (0.3, 2.0, 30.0)])
def test_known_factors_are_found(epistemic: float, noise: float, dof: float) -> None:
    """calibration: 20,000 simulated errors of known variance; factors within 15 %, heavy tails told from light ones."""
    y, found = errors(20_000, epistemic, noise, dof)
    made = calibration.calibrate(y, found, np.ones(len(y)))
    np.testing.assert_allclose(made[:2], [[epistemic], [noise]], rtol=0.15)
    assert (made.dof < 10) == (dof < 10)


def test_few_rows_fall_back_to_the_prior() -> None:
    """identity: with weights near zero the prior's own mode is returned."""
    y, found = errors(10, 4.0, 1.0, 5.0)
    made = calibration.calibrate(y, found, np.full(10, 1e-9))
    expected = np.exp(calibration.PRIOR_MEAN) + np.array([0, 0, calibration.LEAST_DOF])
    np.testing.assert_allclose(np.ravel(made), expected, rtol=1e-3)


def test_targets_are_found_apart() -> None:
    """identity: two targets at once are each alone."""
    parts = [errors(500, 2.0, 1.0, 8.0), errors(500, 0.5, 3.0, 8.0)]
    y = np.concatenate([part[0] for part in parts], 1)
    arrays = [np.concatenate([part[1][i] for part in parts], 1) for i in range(3)]
    both = calibration.calibrate(y, Predicted(*arrays, np.full(2, np.inf)), np.ones(500))
    for i, (own_y, own) in enumerate(parts):
        alone = calibration.calibrate(own_y, own, np.ones(500))
        np.testing.assert_array_equal([a[i] for a in both], np.ravel(alone))


def test_stretched_density() -> None:
    """twin: scipy's t with the stretched variance."""
    y, found = errors(50, 1.0, 1.0, 5.0)
    by = Calibration(np.array([3.0]), np.array([2.0]), np.array([7.0]))
    scale = np.sqrt((3 * found.epistemic_var + 2 * found.noise_var) * 5 / 7)
    np.testing.assert_allclose(found.stretched(by).log_density(y), stats.t.logpdf(y, 7, 0, scale), rtol=1e-10)
    assert found.stretched(None) is found


def test_carried_to_another_level() -> None:
    """identity: a network whose variances are all smaller by factors predicts as wide as the one it was found for."""
    _, found = errors(50, 1.0, 1.0, 5.0)
    by = Calibration(np.array([3.0]), np.array([2.0]), np.array([7.0]))
    closer = found._replace(epistemic_var=found.epistemic_var / 5, noise_var=found.noise_var / 9)
    carried = by.carried(found.level(np.ones(50)), closer.level(np.ones(50)))
    for a, b in zip(closer.stretched(carried), found.stretched(by), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert found.level(np.eye(50)[3]) == Level(found.epistemic_var[3], found.noise_var[3])


def test_scores_of_epochs_are_compared_at_their_best_width() -> None:
    """identity: stretching a prediction by a factor of the grid changes none of its scores; a worse mean does."""
    y, found = errors(400, 2.0, 1.0, 8.0)
    wide = found._replace(epistemic_var=2 * found.epistemic_var, noise_var=2 * found.noise_var)
    flat = np.zeros(3), np.full(3, 1e9)
    with pytest.MonkeyPatch.context() as patch:  # no prior, so that nothing but the rows decides
        patch.setattr(calibration, "PRIOR_MEAN", flat[0])
        patch.setattr(calibration, "PRIOR_STD", flat[1])
        ours, same, worse = (
            calibration.best_log_scores(y, each, np.ones(400)).mean()
            for each in (found, wide, found._replace(mean=found.mean + 1.0))
        )
    assert same == pytest.approx(ours, abs=1e-9) and worse < ours - 0.05
