"""step and average: layers from the clients' posteriors, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from tdamp.engine.turbo import Layer
from tdamp.factors.priors import base, spike_slab
from tdamp.federated.aggregation.base import Round
from tdamp.federated.aggregation.catalog import RULES
from tdamp.federated.aggregation.step import recentred, settled, stepped
from tdamp.federated.messages import Belief
from tdamp.numerics.beliefs import Moments

UNITS, OUTPUTS = 4, 3
SHARES = [0.2, 0.3, 0.5]
RNG = np.random.default_rng(0)


def slab(*shape: int) -> Moments:
    """Random moments."""
    return Moments(RNG.normal(size=shape), RNG.uniform(0.1, 0.6, shape))


def layer() -> Layer:
    """Of doubtful units."""
    one: Any = np.float64(1.0)
    centre, offset, bias_offset = RNG.normal(size=UNITS), RNG.normal(size=UNITS), RNG.normal(size=OUTPUTS)
    weight, bias, prob = slab(UNITS, OUTPUTS), slab(OUTPUTS), np.full(UNITS, 0.5)
    return Layer(
        weight=weight,
        bias=bias,
        centre=centre,
        offset=offset,
        bias_offset=bias_offset,
        base_var=0.7 * one,
        bias_base_var=0.4 * one,
        active_prob=prob,
        sure=np.array(False),
    )  # type: ignore[arg-type]


def belief(centre: np.ndarray | None = None) -> Belief:
    """A client's."""
    return Belief(slab(UNITS, OUTPUTS), slab(OUTPUTS), RNG.normal(size=UNITS) if centre is None else centre)


def average(layers: list[Layer], posteriors: list, name: str, ids: np.ndarray | None) -> list[Layer]:
    """The layers that a rule makes of posteriors with SHARES."""
    shares = dict(enumerate(SHARES))
    return RULES[name].aggregate(Round(layers, dict(enumerate(posteriors)), shares, shares, ids), None).layers


def outputs(part: Any, u: np.ndarray) -> np.ndarray:
    """Mean of z = (u - centre) W + b."""
    return (u - part.centre) @ part.weight.mean + part.bias.mean


def test_another_centre_is_the_same_function() -> None:
    """identity: means of outputs for any inputs; variances stay."""
    old, centre, u = belief(), RNG.normal(size=UNITS), RNG.normal(size=(5, UNITS))
    new = recentred(old, centre)
    np.testing.assert_array_equal(new.centre, centre)
    np.testing.assert_allclose(outputs(new, u), outputs(old, u), rtol=1e-12)
    np.testing.assert_array_equal(new.bias.var, old.bias.var)
    assert new.weight is old.weight


def test_settled_is_the_same_function() -> None:
    """identity: the same in a layer whose arrays are float32, to its rounding; all else stays."""
    weight, bias, centre = layer()[:3]
    old = layer()._replace(
        weight=Moments(*map(np.float32, weight)), bias=Moments(*map(np.float32, bias)), centre=np.float32(centre)
    )
    centre, u = RNG.normal(size=UNITS), RNG.normal(size=(5, UNITS))
    new = settled(old, centre)
    np.testing.assert_array_equal(new.centre, np.float32(centre))
    np.testing.assert_allclose(outputs(new, u), outputs(old, u), rtol=1e-5, atol=1e-5)
    parts = (new.weight.mean, new.weight.var, new.bias.mean, new.bias.var, new.centre)
    assert {np.asarray(array).dtype.name for array in parts} == {"float32"}
    np.testing.assert_array_equal(new.weight, old.weight)
    np.testing.assert_array_equal(new.bias.var, old.bias.var)
    assert new.offset is old.offset


def test_geometric_layers() -> None:
    """identity: precisions and shifts are weighted averages, of weights and biases; offsets stay as they are."""
    layers = [layer(), layer()]
    posteriors = [[belief(l.centre) for l in layers] for _ in SHARES]
    for l, new in enumerate(average(layers, posteriors, "wga", np.array([0, 0, 1, 2]))):
        for part in ("weight", "bias"):
            each = [getattr(posterior[l], part) for posterior in posteriors]
            prec = sum(share / m.var for share, m in zip(SHARES, each, strict=True))
            shift = sum(share * m.mean / m.var for share, m in zip(SHARES, each, strict=True))
            np.testing.assert_allclose(getattr(new, part).var, 1 / prec, rtol=1e-12)
            np.testing.assert_allclose(getattr(new, part).mean, shift / prec, rtol=1e-12)
        assert new.offset is layers[l].offset and new.bias_offset is layers[l].bias_offset


@pytest.mark.parametrize("ids", [None, np.array([0, 0, 1, 2])], ids=["units", "groups"])
def test_algebraic_layers(ids: np.ndarray | None) -> None:
    """identity: P(on) is the weighted average, of the first layer's groups and of all others' units and biases; the
    slabs have the moments of the mixture of those that are on."""
    layers = [layer(), layer()]
    layers[0] = layers[0]._replace(offset=np.full(UNITS, 0.3))  # one for each group, as the engine has it
    posteriors = [[belief(l.centre) for l in layers] for _ in SHARES]
    for l, new in enumerate(average(layers, posteriors, "waa", ids)):
        old, groups = layers[l], ids if l == 0 else None
        weights, biases = ([getattr(p[l], part) for p in posteriors] for part in ("weight", "bias"))

        def on(offset: Any, slab: Moments, old: Layer = old, groups: Any = groups) -> np.ndarray:
            return expit(base.group_logit(offset, slab, old.base_var, groups))

        def bias_on(offset: Any, slab: Moments, old: Layer = old) -> np.ndarray:
            return expit(spike_slab.active_logit(offset, slab, old.bias_base_var))

        for result, slabs, prob, offset, was in (
            (new.weight, weights, on, new.offset, old.offset),
            (new.bias, biases, bias_on, new.bias_offset, old.bias_offset),
        ):
            each = [prob(was, m) for m in slabs]
            total = sum(share * p for share, p in zip(SHARES, each, strict=True))
            np.testing.assert_allclose(prob(offset, result), total, rtol=1e-5)  # offsets are float32
            column = (slice(None), None) if np.ndim(result.mean) == 2 else slice(None)
            part = [share * p[column] / total[column] for share, p in zip(SHARES, each, strict=True)]
            mean = sum(w * m.mean for w, m in zip(part, slabs, strict=True))
            var = sum(w * (m.var + (m.mean - mean) ** 2) for w, m in zip(part, slabs, strict=True))
            np.testing.assert_allclose(result.mean, mean, rtol=1e-9)
            np.testing.assert_allclose(result.var, var, rtol=1e-9)


def test_steps_by_hand() -> None:
    """identity: `step` times the way to the average and `momentum` times the last move; variances are the average's."""
    old, new, moves = [layer(), layer()], [layer(), layer()], [slab(UNITS, OUTPUTS).mean for _ in range(2)]
    last = [(move, move[0]) for move in moves]
    layers, velocity = stepped(old, new, last, 1.5, 0.25)
    first, first_velocity = stepped(old, new, None, 1.5, 0.25)
    for l in range(2):
        for i, part in enumerate(("weight", "bias")):
            was, now, result = (getattr(each[l], part) for each in (old, new, layers))
            move = 1.5 * (now.mean - was.mean)
            np.testing.assert_allclose(result.mean, was.mean + move + 0.25 * last[l][i], rtol=1e-12)
            np.testing.assert_allclose(velocity[l][i], move + 0.25 * last[l][i], rtol=1e-12)
            np.testing.assert_allclose(getattr(first[l], part).mean, was.mean + move, rtol=1e-12)
            np.testing.assert_allclose(first_velocity[l][i], move, rtol=1e-12)
            np.testing.assert_array_equal(result.var, now.var)
    same, velocity = stepped(old, new, last, 1.0, 0.0)
    assert same[0].weight is new[0].weight and same[1].bias is new[1].bias
    np.testing.assert_allclose(velocity[1][1], new[1].bias.mean - old[1].bias.mean, rtol=1e-12)
    for step, momentum in ((1.0, 0.5), (1.5, 0.0)):
        other, _ = stepped(old, new, last, step, momentum)
        assert not np.allclose(other[0].weight.mean, new[0].weight.mean)
