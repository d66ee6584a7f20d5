"""The exam of aggregation rules: every member of the catalog, and the skeleton of CONTRIBUTING, passes each check.

covers: federated.aggregation.algebraic, federated.aggregation.base, federated.aggregation.catalog
covers: federated.aggregation.geometric, federated.aggregation.sites
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from oracles import aggregation as oracle
from tdamp import Network, Settings, TDAMPRegressor
from tdamp.engine.state import init
from tdamp.factors.priors.base import group_logit
from tdamp.federated import federated_fit
from tdamp.federated.aggregation.base import Aggregate, AggregationRule, Round, on_host, shares_of
from tdamp.federated.aggregation.catalog import RULES, rule_named
from tdamp.federated.messages import Belief

UNITS = 4
BASE_VAR = 2.0
CHECKPOINT_NAMES = {"broadcast", "kept", "rows", "best", "best_kept", "velocity", "scales"}
"""A rule's arrays stand under its own name in the server's checkpoint, beside these."""


def server_layers(seed: int = 0) -> list[Any]:
    """Two layers of doubtful units, with one weight in each group."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(20, UNITS)), rng.normal(size=(20, 1))
    state = init(Network((UNITS, 1)), Settings(prior="group", keep=0.5), rng, x, y)
    (layer,) = jax.device_get(state.layers)
    layer = layer._replace(base_var=np.float64(BASE_VAR), bias_base_var=np.float64(BASE_VAR))
    return [
        layer._replace(
            weight=on_host(rng.normal(size=(UNITS, 1)), rng.uniform(0.1, 1, (UNITS, 1))),
            bias=on_host(rng.normal(size=1), rng.uniform(0.1, 1, 1)),
            offset=rng.normal(size=UNITS),
            bias_offset=rng.normal(size=1),
        )
        for _ in range(2)
    ]


def posterior(layers: Sequence[Any], seed: int, scale: float = 1.0, spread: float = 1.0) -> list[Belief]:
    """A client's, as sharp as data make it: sharper than the base prior unless `spread` is large."""
    rng = np.random.default_rng(seed)

    def moments(*shape: int) -> Any:
        return on_host(scale * rng.normal(size=shape), spread * rng.uniform(0.05, 0.6, shape))

    return [Belief(moments(UNITS, 1), moments(1), layer.centre) for layer in layers]


def first_round(posteriors: Sequence[Any], rows: Sequence[float], layers: Any = None, **changes: Any) -> Round:
    """A federation's first round."""
    shares = dict(enumerate(shares_of(rows)))
    layers = server_layers() if layers is None else layers
    return Round(layers, dict(enumerate(posteriors)), shares, dict(enumerate(rows)), first=True)._replace(**changes)


def aggregate(rule: AggregationRule, round: Round) -> Aggregate:
    """From the rule's first memory."""
    return rule.aggregate(round, rule.initial(round.layers))


def logits(layer: Any, weight: Any) -> np.ndarray:
    """Log-odds of every unit under these slabs."""
    return np.asarray(group_logit(layer.offset, weight, layer.base_var, None))


def parts(layers: Sequence[Any]) -> list[np.ndarray]:
    """All that an aggregate is: moments and log-odds."""
    arrays: list[np.ndarray] = []
    for layer in layers:
        arrays += [*layer.weight, *layer.bias, logits(layer, layer.weight), layer.bias_offset]
    return arrays


def check_density(rule: AggregationRule) -> None:
    """Mean, variance and log-odds of the density that the rule is defined by, weight by weight."""
    layers, rows = server_layers(), [20.0, 50.0, 30.0]
    posteriors = [posterior(layers, seed) for seed in (1, 2, 3)]
    results = aggregate(rule, first_round(posteriors, rows, layers)).layers
    for l, (old, new) in enumerate(zip(layers, results, strict=True)):
        for i in range(UNITS):
            weights = [each[l].weight for each in posteriors]
            clients = [
                oracle.Client(float(logits(old, w)[i]), float(w.mean[i, 0]), float(np.sqrt(w.var[i, 0])))
                for w in weights
            ]
            on, off = oracle.DEFINITIONS[rule.name](clients, shares_of(rows))
            points = [client.mean for client in clients]
            mass, first, second = (
                quad(lambda w, n=n, on=on: w**n * on(w), -9, 9, epsabs=0, epsrel=1e-11, limit=300, points=points)[0]
                for n in range(3)
            )
            np.testing.assert_allclose(new.weight.mean[i, 0], first / mass, rtol=1e-7)
            np.testing.assert_allclose(new.weight.var[i, 0], second / mass - (first / mass) ** 2, rtol=1e-7)
            np.testing.assert_allclose(logits(new, new.weight)[i], np.log(mass / off), rtol=1e-7)


def check_one_client(rule: AggregationRule) -> None:
    """The aggregate of one client is its posterior, and so is that of copies, whatever their shares."""
    layers = server_layers()
    alone = posterior(layers, 1)
    for rows in ([30.0], [10.0, 1.0, 500.0]):
        for new, old, belief in zip(
            aggregate(rule, first_round([alone] * len(rows), rows)).layers, layers, alone, strict=True
        ):
            for ours, theirs in zip((*new.weight, *new.bias), (*belief.weight, *belief.bias), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9)
            np.testing.assert_allclose(logits(new, new.weight), logits(old, belief.weight), rtol=1e-7)


def check_client_order(rule: AggregationRule) -> None:
    """Clients that trade their numbers, and come in another order, change nothing but rounding."""
    layers, rows, turn = server_layers(), [20.0, 50.0, 30.0], [2, 0, 1]
    posteriors = [posterior(layers, seed) for seed in (1, 2, 3)]
    straight = aggregate(rule, first_round(posteriors, rows)).layers
    turned = aggregate(rule, first_round([posteriors[k] for k in turn], [rows[k] for k in turn])).layers
    for a, b in zip(parts(straight), parts(turned), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def check_wide_range(rule: AggregationRule) -> None:
    """Moments over many orders of magnitude give finite means, positive variances and no NaN."""
    for scale in (0.0, 1e-6, 1.0, 1e6):
        for spread in (1e-12, 1.0, 1e12):
            posteriors = [posterior(server_layers(), seed, scale, spread) for seed in (1, 2)]
            posteriors.append(posterior(server_layers(), 3))
            for rows in ([1.0, 1.0, 1.0], [1.0, 1e9, 1e-3]):
                for layer in aggregate(rule, first_round(posteriors, rows)).layers:
                    assert np.isfinite(layer.weight).all() and np.isfinite(np.concatenate(layer.bias)).all()
                    assert (layer.weight.var > 0).all() and (layer.bias.var > 0).all()
                    assert not np.isnan(logits(layer, layer.weight)).any()


def check_units_permuted(rule: AggregationRule) -> None:
    """Permuted units give the permuted aggregate, now and (through `take`) in the next round."""
    order = np.array([2, 0, 3, 1])

    def turned(layer: Any) -> Any:
        changes = {"weight": on_host(*(part[order] for part in layer.weight)), "centre": layer.centre[order]}
        return layer._replace(**changes | ({"offset": layer.offset[order]} if hasattr(layer, "offset") else {}))

    layers, rows = server_layers(), [20.0, 50.0]
    posteriors = [posterior(layers, seed) for seed in (1, 2)]
    plain, memory, _ = aggregate(rule, first_round(posteriors, rows, layers))
    swapped = [[turned(belief) for belief in each] for each in posteriors]
    permuted = aggregate(rule, first_round(swapped, rows, [turned(layer) for layer in layers])).layers
    second = [posterior(layers, seed) for seed in (5, 6)]
    later = rule.aggregate(first_round(second, rows, plain, first=False), memory).layers
    columns = [np.arange(1)] * 2
    taken = rule.take(memory, [order] * 2, columns)
    swapped = [[turned(belief) for belief in each] for each in second]
    again = rule.aggregate(first_round(swapped, rows, [turned(layer) for layer in plain], first=False), taken).layers
    for straight, other in ((plain, permuted), (later, again)):
        for a, b in zip(parts([turned(layer) for layer in straight]), parts(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def check_memory(rule: AggregationRule) -> None:
    """A memory that went through arrays gives the next round the same bits; anchors fit their layers."""
    layers, rows = server_layers(), [20.0, 50.0]
    result = aggregate(rule, first_round([posterior(layers, seed) for seed in (1, 2)], rows, layers))
    arrays = rule.to_arrays(result.memory)
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    stored = rule.from_arrays(arrays, len(layers))
    round = first_round([posterior(layers, seed) for seed in (3, 4)], rows, result.layers, first=False)
    for a, b in zip(*(parts(rule.aggregate(round, memory).layers) for memory in (result.memory, stored)), strict=True):
        np.testing.assert_array_equal(a, b)
    anchors = rule.anchors(result.layers, result.memory, 1, 1.4)
    assert rule.same_broadcast == (anchors is None)
    for anchor, layer in zip(anchors or (), result.layers if anchors else (), strict=True):
        assert anchor.weight.mean.shape == layer.weight.mean.shape and (anchor.weight.var > 0).all()


def check_name(rule: AggregationRule) -> None:
    """The catalog finds the rule by its name, which no other part of a checkpoint has."""
    assert rule_named(rule.name) is rule and rule.name not in CHECKPOINT_NAMES and "." not in rule.name


IDENTITIES = (check_one_client, check_client_order, check_units_permuted, check_memory)
CONTRACTS = (check_wide_range, check_name)
CHECKS = (check_density, *IDENTITIES, *CONTRACTS)


def its_name(check: Any) -> str:
    """What a check is of."""
    return check.__name__.removeprefix("check_")


@pytest.mark.parametrize("name", RULES)
def test_the_density(name: str) -> None:
    """quadrature: mean, variance and log-odds of the density that defines the rule, weight by weight."""
    check_density(RULES[name])


@pytest.mark.parametrize("check", IDENTITIES, ids=its_name)
@pytest.mark.parametrize("name", RULES)
def test_identities(name: str, check: Any) -> None:
    """identity: of one client, of clients and units in another order, and of a stored memory, as each check says."""
    check(RULES[name])


@pytest.mark.parametrize("check", CONTRACTS, ids=its_name)
@pytest.mark.parametrize("name", RULES)
def test_range_and_name(name: str, check: Any) -> None:
    """contract: finite over many orders of magnitude, and found by a name of its own."""
    check(RULES[name])


def test_an_unknown_rule_is_refused() -> None:
    """contract: the error names the rules that there are."""
    with pytest.raises(ValueError, match="aggregation='none': expected one of 'wga', 'waa', 'sites'"):
        rule_named("none")


def skeleton() -> str:
    """The code of CONTRIBUTING's section on aggregation rules."""
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    section = text[text.index("## A new aggregation rule") :]
    match = re.search(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1]


def plain(clients: Sequence[oracle.Client], shares: Sequence[float]) -> tuple[oracle.Density, float]:
    """The skeleton's definition: a Gaussian with the averaged moments, and averaged log-odds."""
    logit, mean, std = np.array(clients).T
    total = np.dot(shares, logit)
    middle, var = np.dot(shares, mean), np.dot(shares, np.square(std))

    def on(w: float) -> float:
        return float(expit(total) * np.exp(-0.5 * np.square(w - middle) / var) / np.sqrt(2 * np.pi * var))

    return on, float(expit(-total))


def test_the_skeleton_is_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the skeleton, in a module of its own and with a line in the catalog, passes the exam and federates."""
    module = tmp_path / "plain.py"
    module.write_text(skeleton())
    spec = importlib.util.spec_from_file_location("plain", module)
    assert spec is not None and spec.loader is not None
    loaded: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    rule = loaded.Plain()
    monkeypatch.setitem(RULES, rule.name, rule)
    monkeypatch.setitem(oracle.DEFINITIONS, rule.name, plain)
    for check in CHECKS:
        check(rule)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = x[:, 0] + 0.1 * rng.normal(size=60)
    clients = [(x[k::2], y[k::2]) for k in range(2)]
    fit = federated_fit(TDAMPRegressor((4,), random_state=0), clients, rounds=3, local_epochs=3, aggregation=rule.name)
    assert list(fit.history["round"]) == [1, 2, 3] and fit.estimator.score(x, y) > 0.8
