"""What a federation runs with when nobody says otherwise: the benchmark's own schedule, and scales of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.federated import federated_fit
from tdamp.federated.preparation import negotiate
from tdamp.federated.summary import merged, scales_after, scaling_of, summary_of
from tdamp.federated.terms import Terms
from tdamp.numerics import scaling
from tdamp_bench.methods.tdamp_federated import AVERAGED, PRUNED, federated_settings

LENGTHS = {"rounds": 6, "local_epochs": 3}
RNG = np.random.default_rng(0)


def terms(n_rows: int, clients: int, **changes: Any) -> Terms:
    """What is agreed on for ten classes of 20 inputs."""
    x = RNG.normal(size=(n_rows, 20))
    estimator: Any = TDAMPClassifier((16,), random_state=0, **changes)
    estimator.n_features_in_ = 20
    summaries = {k: summary_of(part, None, np.ones(len(part))) for k, part in enumerate(np.array_split(x, clients))}
    return negotiate(estimator, summaries, list(range(10)), **LENGTHS)[0]


@pytest.mark.parametrize(("keep", "config"), [(None, AVERAGED), (0.5, PRUNED)])
def test_the_defaults_are_what_the_benchmark_measures(keep: float | None, config: dict[str, Any]) -> None:
    """twin: schedule, base variances, pruning, step and momentum of the benchmark's configuration."""
    result = terms(6000, 3, keep=keep)
    theirs = federated_settings(config, keep or 1, 100, **LENGTHS)
    names = ("data_weight", "memory", "learn_base_var", "max_epochs", "keep")
    for name in (*names, *(("prune_start", "prune_end") if keep else ())):
        assert getattr(result.settings, name) == getattr(theirs, name), name
    assert (result.step, result.momentum, result.aggregation) == tuple(
        config[name] for name in ("step", "momentum", "aggregation")
    )


def test_small_tables_begin_lower() -> None:
    """contract: below a thousand rows the data weight begins at 1000 / rows, at most 3, and grows by two a round."""
    result = terms(900, 3).settings
    np.testing.assert_allclose(result.data_weight[::3], 1000 / 900 + 2 * np.arange(6))
    np.testing.assert_allclose(result.memory, np.divide(result.data_weight, 2))
    assert not result.learn_base_var
    own = terms(6000, 3, data_weight=5.0).settings
    assert set(own.data_weight) == {5.0} and set(own.memory) == {2.5} and not own.learn_base_var


def pixels(n: int) -> np.ndarray:
    """Mostly zeros; some columns are hardly ever anything else, one always is."""
    x = np.where(RNG.random((n, 30)) < np.linspace(0.02, 0.5, 30), RNG.uniform(0, 255, (n, 30)), 0.0)
    return np.column_stack([x, np.zeros(n)])


def test_zeros_add_up() -> None:
    """identity: the summary of clients together is that of all their rows, weights included."""
    x, weight = pixels(90), RNG.uniform(0.5, 2, 90)
    parts = np.split(np.arange(90), [20, 50])
    whole = summary_of(x, x[:, :1], weight)
    result = merged([summary_of(x[part], x[part, :1], weight[part]) for part in parts])
    for ours, all_rows in zip(result, whole, strict=True):
        np.testing.assert_allclose(ours, all_rows, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(whole.x_nonzero, np.average(x != 0, axis=0, weights=weight))


def test_scales_are_those_of_a_centralised_fit() -> None:
    """identity: clients' summaries together give what `rows.input_scales` makes of all rows; or nothing is scaled."""
    x = np.column_stack([pixels(500), RNG.normal(50, 15, 500)])
    parts = np.split(np.arange(500), [100, 350])
    total = merged([summary_of(x[part], None, np.ones(len(part))) for part in parts])
    result = scaling_of(total, True)
    mean, scale = scaling.input_scales(x, np.ones(500))
    np.testing.assert_allclose(result.x_mean, mean)
    np.testing.assert_allclose(result.x_scale, scale)
    assert (scale[:4] > 1.5 * x.std(0)[:4]).all()  # the rarest
    assert (scaling_of(total, False).x_scale == 1).all()


def test_a_regression_keeps_its_own_target_scale() -> None:
    """identity: y is standardised whatever the inputs share."""
    x = pixels(200)
    result = scaling_of(summary_of(x, 7 + 3 * x[:, :1], np.ones(200)), True)
    np.testing.assert_allclose(result.y_scale, 3 * x[:, 0].std())


@pytest.mark.parametrize("power", [-300, -200, 0, 200, 300])
def test_units_of_any_size(power: int) -> None:
    """identity: columns and targets times a power of ten have their scales times it, and start as before; nothing
    overflows, nothing vanishes."""
    x, unit = RNG.normal([3.0, 0.0], [1.0, 2.0], (90, 2)), 10.0**power
    parts = np.split(np.arange(90), [20, 50])
    y = x @ [[1.0], [2.0]]
    result, plain = (
        merged([summary_of(scale * x[part], scale * y[part], np.ones(len(part))) for part in parts])
        for scale in (unit, 1.0)
    )
    with np.errstate(over="raise"):
        ours, theirs = scaling_of(result, True), scaling_of(plain, True)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a / unit, b, rtol=1e-10, atol=1e-12)
        for a, b in zip(scales_after(result, ours, 1), scales_after(plain, theirs, 1), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("power", [-200, 200])
def test_a_federation_in_units_of_any_size(power: int) -> None:
    """twin: with columns and targets times a power of ten it predicts the same numbers times it."""
    x = RNG.normal(size=(60, 4))
    y, unit = np.abs(x[:, 0]) + x[:, 1], 10.0**power
    results = [
        federated_fit(
            TDAMPRegressor((6,), random_state=0, batch_size=16, sweeps=1),
            [(scale * x[part], scale * y[part]) for part in np.split(np.arange(60), 2)],
            rounds=2, local_epochs=2,
        ).estimator.predict(scale * x) / scale
        for scale in (1.0, unit)
    ]  # fmt: skip
    np.testing.assert_allclose(results[1], results[0], rtol=1e-2, atol=1e-2)
    assert np.corrcoef(results[1], y)[0, 1] > 0.5


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_that_are_not_scaled_are_refused(unit: float) -> None:
    """contract: with standardize=False such columns do not fit float32, and an error says so."""
    x, y = unit * RNG.normal(size=(60, 4)), RNG.normal(size=60)
    for table, target in ((x, y), (x / unit, unit * y)):
        clients = [(table[part], target[part]) for part in np.split(np.arange(60), 2)]
        with pytest.raises(ValueError, match=r"too (large|small|far)|above 1e"):
            federated_fit(TDAMPRegressor((6,), standardize=False), clients, rounds=1, local_epochs=1)
