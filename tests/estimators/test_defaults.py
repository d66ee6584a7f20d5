"""Settings chosen from the size of the data."""

from __future__ import annotations

import numpy as np
import pytest

import tdamp
from tdamp import Network, Settings
from tdamp.engine.state import init
from tdamp.estimators.defaults import DEEP_HIDDEN, FEW_ROWS, Choice, choose, deep

SIZES = (1, 5, 19, 20, 60, 199, 200, 360, 999, 1000, 2000, 20_000, 60_000, 10_000_000)


def settings_of(choice: Choice) -> tdamp.Settings:
    """The fields that `Settings` knows."""
    fields = choice._asdict()
    fields.pop("hold_out")
    return tdamp.Settings(**fields)


@pytest.mark.parametrize("n_rows", SIZES)
def test_every_size_gives_settings_that_can_run(n_rows: int) -> None:
    """contract: sizes from one row to ten million, through the checks that Settings makes of itself."""
    choice = choose(n_rows)
    assert settings_of(choice).data_weight == choice.data_weight
    assert choice.batch_size in (8, 16, 32, 64, 128), "a small set, so that compiled code is shared"


def test_work_is_bounded() -> None:
    """contract: minibatch steps by size; 60,000 rows get 25 epochs, 400 rows some hundred steps and no thousands."""

    def steps(n_rows: int) -> int:
        choice = choose(n_rows)
        return choice.max_epochs * -(-n_rows // choice.batch_size)

    assert choose(60_000).max_epochs == 25
    assert [choose(n).max_epochs for n in (250_000, 500_000, 10**6, 5 * 10**6)] == [25, 12, 6, 3]
    assert 300 <= steps(400) <= 2000
    assert all(steps(n) <= 25 * n / 128 + 2500 for n in SIZES), "beyond small tables, 25 epochs of 128 rows at a time"


def test_data_weight_grows_within_the_epochs() -> None:
    """contract: the data weight never falls, and its last value is reached."""
    for n_rows in SIZES:
        for hold_out in (None, False, True):
            choice = choose(n_rows, hold_out)
            weights = np.asarray(choice.data_weight)
            assert (np.diff(weights) > 0).all() and weights[0] >= 1
            assert len(weights) <= choice.max_epochs
            assert choice.warm_up < choice.max_epochs


def test_rows_are_held_out_where_there_are_some_and_growth_is_short_where_none_are() -> None:
    """contract: either side of FEW_ROWS, and both wishes."""
    assert not choose(FEW_ROWS - 1).hold_out
    assert choose(FEW_ROWS).hold_out
    held, all_rows = (choose(400, hold_out) for hold_out in (True, False))
    assert (held.hold_out, all_rows.hold_out) == (True, False)
    assert np.max(all_rows.data_weight) < np.max(held.data_weight)
    assert all_rows.max_epochs < held.max_epochs


def loss(signal: float, **settings: object) -> float:
    """Nats a row lost on new rows, against the true density, by a fit to 400 rows of a noisy line."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2400, 5))
    noise_var = 1 - signal**2
    y = signal * x[:, 0] + np.sqrt(noise_var) * rng.standard_normal(len(x))
    model = tdamp.TDAMPRegressor(prior="gaussian", random_state=0, **settings).fit(x[:400], y[:400])
    truth = np.mean(-0.5 * np.log(2 * np.pi * noise_var) - 0.5 * (y - signal * x[:, 0])[400:] ** 2 / noise_var)
    return float(truth - model.log_score(x[400:], y[400:]))


def test_noise_is_not_learned_and_signal_is() -> None:
    """calibration: the log score of the true density; settings that are wrong for one of the two do fail there."""
    assert loss(signal=0.0) < 0.05 < loss(signal=0.0, data_weight=30.0, early_stopping=False)
    assert loss(signal=0.95) < 0.1 < loss(signal=0.95, data_weight=1.0)


def test_deep_networks_remember_longer_in_the_end() -> None:
    """contract: memory is the data weight for 0.4 of the epochs, then grows to twice that; others stay."""
    weights = tuple(float(k) for k in range(1, 21))
    memory = deep(DEEP_HIDDEN + 1, weights, 25)["memory"]
    assert memory[:10] == weights[:10] and memory[-1] == 2 * weights[-1]
    assert np.all(np.diff(np.divide(memory[10:20], weights[10:20])) > 0)
    assert deep(DEEP_HIDDEN, weights, 25) == {} and len(deep(9, 4.0, 3)["memory"]) == 3


def test_the_signal_neither_fades_nor_grows_with_depth() -> None:
    """rate: through 16 layers of relu, means random, the units spread over the rows to a factor of 3."""
    network = Network((64, *[256] * 16, 2))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 64)).astype(np.float32), rng.normal(size=(400, 2)).astype(np.float32)
    spread = {}
    for scale in (0.7, deep(17, 1.0, 1)["init_scale"]):
        u, result = x, []
        for layer in init(network, Settings(init_scale=scale), np.random.default_rng(1), x, y).layers[:-1]:
            z = (u - u.mean(0)) @ np.asarray(layer.weight.mean)
            result.append(z.std(0).mean())
            u = np.maximum(z, 0)
        spread[scale] = result[-1] / result[0]
    assert spread[0.7] < 1e-3 and 1 / 3 < spread[1.2] < 3
