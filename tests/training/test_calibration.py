"""How wide predictions must be, found from rows not trained on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tdamp.numerics.distribution import Distribution, Level
from tdamp.training import calibration
from tdamp.training.calibration import Calibration

RNG = np.random.default_rng(0)


def errors(n: int, epistemic: float, noise: float, dof: float) -> tuple[np.ndarray, Distribution]:
    """Targets whose true variance is epistemic times a varying part plus noise times a constant one."""
    part = RNG.exponential(size=(n, 1)) ** 2
    std = np.sqrt(epistemic * part + noise * 0.5)
    y = std * RNG.standard_t(dof, (n, 1)) * np.sqrt((dof - 2) / dof)
    return y, Distribution.from_vars(np.zeros((n, 1)), part, np.full((n, 1), 0.5))


@pytest.mark.parametrize(("epistemic", "noise", "dof"), [(4.0, 1.5, 6.0), (0.3, 2.0, 30.0)])
def test_known_factors_are_found(epistemic: float, noise: float, dof: float) -> None:
    """calibration: 20,000 simulated errors of known variance; factors within 15 %, heavy tails told from light ones."""
    y, result = errors(20_000, epistemic, noise, dof)
    made = calibration.calibrate(y, result, np.ones(len(y)))
    np.testing.assert_allclose(made[:2], [[epistemic], [noise]], rtol=0.15)
    assert (made.dof < 10) == (dof < 10)


def test_few_rows_fall_back_to_the_prior() -> None:
    """identity: with weights near zero the prior's own mode is returned."""
    y, actual = errors(10, 4.0, 1.0, 5.0)
    made = calibration.calibrate(y, actual, np.full(10, 1e-9))
    expected = np.exp(calibration.PRIOR_MEAN) + np.array([0, 0, calibration.LEAST_DOF])
    np.testing.assert_allclose(np.ravel(made), expected, rtol=1e-3)


def test_targets_are_found_apart() -> None:
    """identity: two targets at once are each alone."""
    parts = [errors(500, 2.0, 1.0, 8.0), errors(500, 0.5, 3.0, 8.0)]
    y = np.concatenate([part[0] for part in parts], 1)
    arrays = [np.concatenate([part[1][i] for part in parts], 1) for i in range(3)]
    both = calibration.calibrate(y, Distribution(*arrays), np.ones(500))
    for i, (own_y, own) in enumerate(parts):
        alone = calibration.calibrate(own_y, own, np.ones(500))
        np.testing.assert_array_equal([a[i] for a in both], np.ravel(alone))


def test_stretched_density() -> None:
    """twin: scipy's t with the stretched variance."""
    y, result = errors(50, 1.0, 1.0, 5.0)
    by = Calibration(np.array([3.0]), np.array([2.0]), np.array([7.0]))
    scale = np.sqrt((3 * result.epistemic_var + 2 * result.aleatoric_var) * 5 / 7)
    np.testing.assert_allclose(result.stretched(by).log_density(y), stats.t.logpdf(y, 7, 0, scale), rtol=1e-10)
    assert result.stretched(None) is result


def test_carried_to_another_level() -> None:
    """identity: a network whose variances are all smaller by factors predicts as wide as the one it was found for."""
    _, result = errors(50, 1.0, 1.0, 5.0)
    by = Calibration(np.array([3.0]), np.array([2.0]), np.array([7.0]))
    closer = result._replace(epistemic_std=result.epistemic_std / 5**0.5, aleatoric_std=result.aleatoric_std / 3)
    carried = by.carried(result.level(np.ones(50)), closer.level(np.ones(50)))
    for a, b in zip(closer.stretched(carried), result.stretched(by), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert result.level(np.eye(50)[3]) == Level(result.epistemic_var[3], result.aleatoric_var[3])


def test_scores_of_epochs_are_compared_at_their_best_width() -> None:
    """identity: stretching a prediction by a factor of the grid changes none of its scores; a worse mean does."""
    y, result = errors(400, 4.0, 2.0, 8.0)
    wide = result._replace(epistemic_std=2**0.5 * result.epistemic_std, aleatoric_std=2**0.5 * result.aleatoric_std)
    flat = np.zeros(3), np.full(3, 1e9)
    with pytest.MonkeyPatch.context() as patch:  # no prior, so that nothing but the rows decides
        patch.setattr(calibration, "PRIOR_MEAN", flat[0])
        patch.setattr(calibration, "PRIOR_STD", flat[1])
        ours, same, worse = (
            calibration.best_log_scores(y, each, np.ones(400)).mean()
            for each in (result, wide, result._replace(mean=result.mean + 1.0))
        )
    assert same == pytest.approx(ours, abs=1e-9) and worse < ours - 0.05


GRID = [(e, n, 3 + t) for e in 2.0 ** np.arange(-2, 5) for n in 2.0 ** np.arange(-1, 2.5, 0.5) for t in (1, 4, 16)]
"""Octaves from a quarter to 16, half octaves from a half to 4, and tails from heavy to light."""


def best_by_hand(y: np.ndarray, result: Distribution, weight: np.ndarray, rows: slice) -> np.ndarray:
    """The log scores of all rows at the point of GRID that is most probable by some of them, with scipy's t."""

    def scores(epistemic: float, noise: float, dof: float) -> np.ndarray:
        var = epistemic * result.epistemic_var + noise * result.aleatoric_var
        return stats.t.logpdf(y, dof, result.mean, np.sqrt(var * (dof - 2) / dof))[:, 0]

    def log_posterior(point: tuple[float, float, float]) -> float:
        away = (np.log([*point[:2], point[2] - 3]) - calibration.PRIOR_MEAN) / calibration.PRIOR_STD
        return float(weight[rows] @ scores(*point)[rows] - 0.5 * away @ away)

    return scores(*max(GRID, key=log_posterior))


@pytest.mark.parametrize(
    ("epistemic", "noise", "dof"), [(0.2, 0.4, 3.6), (20.0, 5.0, 60.0), (20.0, 0.4, 60.0), (0.2, 5.0, 3.6), (1, 1.5, 7)]
)
def test_best_scores_on_the_grid(epistemic: float, noise: float, dof: float) -> None:
    """enumeration: every point of the grid by hand, for rows that want its corners, and with weights."""
    y, result = errors(250, epistemic, noise, dof)
    weight = RNG.uniform(0.5, 2, 250)
    ours = calibration.best_log_scores(y, result, weight)
    np.testing.assert_allclose(ours, best_by_hand(y, result, weight, slice(None)), rtol=1e-9, atol=1e-9)


def test_of_many_rows_some_choose() -> None:
    """enumeration: of 701 rows every third is looked at (300 at most), and all are scored; the others want it wider."""
    y, result = errors(701, 1.0, 1.0, 30.0)
    y[np.arange(701) % 3 > 0] *= 5
    ours = calibration.best_log_scores(y, result, np.ones(701))
    np.testing.assert_allclose(ours, best_by_hand(y, result, np.ones(701), slice(None, None, 3)), rtol=1e-9, atol=1e-9)


def test_a_weight_is_a_number_of_rows() -> None:
    """identity: a row of weight 3 is three rows; to the tolerance of the search, 1e-4 in every log."""
    y, result = errors(60, 2.0, 1.0, 8.0)
    copies = RNG.integers(1, 4, 60)
    rows = np.repeat(np.arange(60), copies)
    weighted = calibration.calibrate(y, result, copies.astype(float))
    repeated = calibration.calibrate(y[rows], result.take(rows), np.ones(len(rows)))
    np.testing.assert_allclose(np.ravel(weighted), np.ravel(repeated), rtol=1e-3)
