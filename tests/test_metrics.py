"""Scores against loops, scikit-learn and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, root_mean_squared_error

from tdamp import metrics

RNG = np.random.default_rng(5)
Y = RNG.normal(size=60)
MEAN = Y + RNG.normal(size=60)
STD = RNG.uniform(0.3, 2.0, 60)
PROBS = RNG.dirichlet(np.full(4, 0.6), 200)
LABELS = np.array([RNG.choice(4, p=p) for p in PROBS])
GAUSSIAN = (metrics.log_score, metrics.pit, metrics.crps, lambda *a: metrics.coverage(*a, 0.9))
CLASSES = (metrics.class_log_score, metrics.brier, metrics.ece, metrics.error_rate, metrics.reliability)


def test_log_score() -> None:
    """twin: a loop over rows with math alone."""
    total = 0.0
    for y, m, s in zip(Y, MEAN, STD, strict=True):
        total += math.log(math.exp(-((y - m) ** 2) / (2 * s**2)) / (s * math.sqrt(2 * math.pi)))
    assert metrics.log_score(Y, MEAN, STD) == pytest.approx(total / len(Y), rel=1e-12)


def test_pit() -> None:
    """quadrature: the density integrated up to y."""
    for y, m, s, result in zip(Y[:8], MEAN, STD, metrics.pit(Y, MEAN, STD), strict=False):
        area, _ = integrate.quad(stats.norm(m, s).pdf, m - 12 * s, y, epsabs=1e-12)
        assert result == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_coverage(level: float) -> None:
    """twin: a loop that asks whether y lies between two quantiles."""
    inside = 0
    for y, m, s in zip(Y, MEAN, STD, strict=True):
        low, high = stats.norm(m, s).ppf([(1 - level) / 2, (1 + level) / 2])
        inside += low <= y <= high
    assert metrics.coverage(Y, MEAN, STD, level) == inside / len(Y)


def test_crps() -> None:
    """quadrature: the definition's integral, cut at y where the integrand jumps."""
    total = 0.0
    for y, m, s in zip(Y, MEAN, STD, strict=True):
        cdf = stats.norm(m, s).cdf
        below, _ = integrate.quad(lambda t, cdf=cdf: cdf(t) ** 2, min(y, m) - 12 * s, y)
        above, _ = integrate.quad(lambda t, cdf=cdf: (cdf(t) - 1) ** 2, y, max(y, m) + 12 * s)
        total += below + above
    assert metrics.crps(Y, MEAN, STD) == pytest.approx(total / len(Y), rel=1e-6)
    assert metrics.crps(Y, MEAN, np.full(60, 1e-12)) == pytest.approx(np.abs(Y - MEAN).mean(), rel=1e-9)


def test_several_outputs_are_averaged() -> None:
    """identity: a matrix scores what its entries in one row after the other do."""
    shape = (20, 3)
    for score in GAUSSIAN:
        flat, matrix = score(Y, MEAN, STD), score(Y.reshape(shape), MEAN.reshape(shape), STD.reshape(shape))
        np.testing.assert_allclose(np.ravel(matrix), np.ravel(flat), rtol=1e-12)


def test_against_scikit_learn() -> None:
    """twin: scikit-learn's log loss, Brier score, RMSE."""
    names = np.arange(4)
    assert metrics.class_log_score(LABELS, PROBS) == pytest.approx(-log_loss(LABELS, PROBS, labels=names), rel=1e-9)
    twin = brier_score_loss(LABELS, PROBS, labels=names, scale_by_half=False)
    assert metrics.brier(LABELS, PROBS) == pytest.approx(twin, rel=1e-12)
    assert metrics.rmse(Y, MEAN) == pytest.approx(root_mean_squared_error(Y, MEAN), rel=1e-12)


@pytest.mark.parametrize("bins", [1, 7, 15])
def test_ece_and_reliability(bins: int) -> None:
    """twin: a loop over bins and rows."""
    total, counts = 0.0, []
    for k in range(bins):
        rows = [i for i, p in enumerate(PROBS) if k / bins < max(p) <= (k + 1) / bins]
        counts.append(len(rows))
        if rows:
            right = sum(int(np.argmax(PROBS[i])) == LABELS[i] for i in rows) / len(rows)
            sure = sum(max(PROBS[i]) for i in rows) / len(rows)
            total += len(rows) / len(PROBS) * abs(right - sure)
    assert metrics.reliability(LABELS, PROBS, bins).rows.tolist() == counts
    assert sum(counts) == len(PROBS)
    assert metrics.ece(LABELS, PROBS, bins) == pytest.approx(total, rel=1e-12)
    assert total > 0.01


def test_calibrated_predictions_score_as_they_should() -> None:
    """calibration: of truths drawn from the predictions, within four standard errors."""
    rng, n = np.random.default_rng(0), 20_000
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2, n)
    y = rng.normal(mean, std)
    assert abs(metrics.coverage(y, mean, std, 0.9) - 0.9) < 4 * math.sqrt(0.9 * 0.1 / n)
    assert stats.kstest(metrics.pit(y, mean, std), "uniform").statistic < 2.2 / math.sqrt(n)
    assert abs(metrics.crps(y, mean, std) - std.mean() / math.sqrt(math.pi)) < 4 * std.max() / math.sqrt(n)


def test_error_rate_and_a_sure_mistake() -> None:
    """twin: three rows by hand; a true class of probability 0 costs a finite price."""
    probs = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]])
    assert metrics.error_rate([0, 0, 1], probs) == pytest.approx(1 / 3)
    expected = (math.log(metrics.LEAST_PROB) + math.log(0.75)) / 3
    assert metrics.class_log_score([0, 0, 1], probs) == pytest.approx(expected)
    assert metrics.ece([0, 1], np.eye(2)) == 0


@pytest.mark.parametrize("score", GAUSSIAN)
def test_bad_gaussians_raise(score) -> None:
    """contract: NaN, infinity, shapes, empty arrays, a standard deviation of zero."""
    bad = np.where(np.arange(60) == 3, np.nan, Y)
    for args in ((bad, MEAN, STD), (Y, bad, STD), (Y, MEAN, np.where(bad == bad, 1, np.inf))):
        with pytest.raises(ValueError, match="not finite"):
            score(*args)
    for args in ((Y, MEAN[:-1], STD), (Y[:, None], MEAN, STD), ([], [], []), (Y, MEAN, 1.0)):
        with pytest.raises(ValueError, match="expected one shape"):
            score(*args)
    with pytest.raises(ValueError, match="above 0"):
        score(Y, MEAN, np.zeros(60))


@pytest.mark.parametrize("score", CLASSES)
def test_bad_classes_raise(score) -> None:
    """contract: NaN, negative, sums, labels out of range or not whole, shapes."""
    spoilt = PROBS.copy()
    spoilt[4, 1] = np.nan
    negative = PROBS + np.array([-2, 2, 0, 0])
    for probs in (spoilt, negative, 2 * PROBS):
        with pytest.raises(ValueError, match="sum to 1"):
            score(LABELS, probs)
    for labels in (LABELS + 1, LABELS - 1, LABELS.astype(float)):
        with pytest.raises(ValueError, match="class indices"):
            score(labels, PROBS)
    for args in ((LABELS[:-1], PROBS), (LABELS, PROBS[:, 0]), (LABELS[:0], PROBS[:0])):
        with pytest.raises(ValueError, match="expected \\(rows,\\)"):
            score(*args)


def test_bad_options_raise() -> None:
    """contract: levels and bins that mean nothing."""
    for level in (0, 1, 95, math.nan):
        with pytest.raises(ValueError, match="level"):
            metrics.coverage(Y, MEAN, STD, level)
    with pytest.raises(ValueError, match="bins"):
        metrics.ece(LABELS, PROBS, 0)


@pytest.mark.parametrize("bins", [1, 7, 15])
def test_adaptive_ece(bins: int) -> None:
    """twin: rows by confidence, cut into parts of one length (the first ones longer by one)."""
    rows = sorted(range(len(PROBS)), key=lambda i: max(PROBS[i]))
    total, at = 0.0, 0
    for k in range(bins):
        part = rows[at : at + len(rows) // bins + (k < len(rows) % bins)]
        at += len(part)
        right = sum(int(np.argmax(PROBS[i])) == LABELS[i] for i in part)
        total += abs(right - sum(max(PROBS[i]) for i in part))
    assert at == len(rows)
    assert metrics.adaptive_ece(LABELS, PROBS, bins) == pytest.approx(total / len(rows), rel=1e-12)
    assert total > 0.1


def test_interval_width() -> None:
    """twin: the distance of two quantiles, row by row."""
    ends = [stats.norm(m, s).ppf([0.05, 0.95]) for m, s in zip(MEAN, STD, strict=True)]
    assert metrics.interval_width(STD, 0.9) == pytest.approx(np.mean([b - a for a, b in ends]), rel=1e-12)


def test_pit_histogram() -> None:
    """calibration: flat for truths drawn from the predictions, high at the ends for half the standard deviation."""
    rng, n = np.random.default_rng(1), 20_000
    y = rng.normal(size=n)
    flat = metrics.pit_histogram(metrics.pit(y, np.zeros(n), np.ones(n)), 10)
    assert flat.mean() == pytest.approx(1, abs=1e-12)
    assert np.abs(flat - 1).max() < 4 * math.sqrt(10 / n)
    sure = metrics.pit_histogram(metrics.pit(y, np.zeros(n), np.full(n, 0.5)), 10)
    assert sure[0] > 2 > 1 > sure[4]


def test_aurc() -> None:
    """calibration: a mean for every coverage; ties score what all their orders score on average."""
    loss, doubt = np.abs(Y), np.round(STD, 1)
    orders = [np.lexsort((RNG.random(60), doubt)) for _ in range(4000)]
    results = [np.mean([loss[o[:k]].mean() for k in range(1, 61)]) for o in orders[:1]]
    results += [np.mean(np.cumsum(loss[o]) / np.arange(1, 61)) for o in orders]
    assert metrics.aurc(loss, doubt) == pytest.approx(np.mean(results), abs=4 * np.std(results) / math.sqrt(4000))
    assert np.std(results) > 0
    assert metrics.aurc(loss, np.zeros(60)) == pytest.approx(loss.mean(), rel=1e-12)
    assert metrics.aurc(loss, loss) < metrics.aurc(loss, doubt)


def test_ood_auroc() -> None:
    """twin: scikit-learn's area under the ROC curve; ties count half."""
    inside, outside = np.round(STD, 1), np.round(STD[:25] + 0.3, 1)
    twin = roc_auc_score(np.repeat([0, 1], [60, 25]), np.concatenate([inside, outside]))
    assert metrics.ood_auroc(inside, outside) == pytest.approx(twin, rel=1e-12)
    assert metrics.ood_auroc([0, 1], [2, 3]) == 1
    assert metrics.ood_auroc([1, 1], [1]) == 0.5


def test_bad_uncertainties_raise() -> None:
    """contract: NaN, shapes, nothing, no bins, what is no probability."""
    for call in (
        lambda: metrics.aurc([1.0, np.nan], [1, 2]),
        lambda: metrics.aurc([1.0], [1, 2]),
        lambda: metrics.ood_auroc([], [1]),
        lambda: metrics.ood_auroc([np.inf], [1]),
        lambda: metrics.pit_histogram([0.5, 1.5]),
        lambda: metrics.pit_histogram([0.5], 0),
        lambda: metrics.adaptive_ece(LABELS, PROBS, 0),
        lambda: metrics.interval_width(STD, 1),
        lambda: metrics.interval_width(-STD, 0.9),
    ):
        with pytest.raises(ValueError, match="expected"):
            call()
