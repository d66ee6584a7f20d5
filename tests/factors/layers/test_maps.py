"""Maps between layers: pooling against its matrix and against shared weights, flattening, skips."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from oracles import tied
from tdamp.factors.layers import maps
from tdamp.factors.layers.conv import Conv
from tdamp.factors.layers.maps import AvgPool, Flatten
from tdamp.numerics.beliefs import Message, Moments

ROWS, CHANNELS = 3, 2


def belief(shape: tuple[int, ...], seed: int = 0) -> Moments:
    """Means and variances of about one."""
    rng = np.random.default_rng(seed)
    return Moments(jnp.asarray(rng.normal(size=shape)), jnp.asarray(rng.exponential(size=shape)))


@pytest.mark.parametrize(("places", "size"), [((4, 6), 2), ((5, 7), 2), ((6,), 3), ((7, 4), 3)])
def test_pool(places: tuple[int, ...], size: int) -> None:
    """twin: means by the matrix A, variances by A too, scores by A', precisions by A'."""
    pool, u = AvgPool(size), belief((ROWS, *places, CHANNELS))
    matrix = tied.pooled(places, CHANNELS, size)
    after = pool.places(places)
    pooled = pool.forward(u)
    assert pooled.mean.shape == (ROWS, *after, CHANNELS)
    flat = [np.asarray(part).reshape(ROWS, -1) for part in u]
    np.testing.assert_allclose(np.reshape(pooled.mean, (ROWS, -1)), flat[0] @ matrix, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.reshape(pooled.var, (ROWS, -1)), flat[1] @ matrix, rtol=1e-10)
    told = Message(*belief(pooled.mean.shape, 1))
    score, prec = (
        np.asarray(told.shift - pooled.mean * told.prec).reshape(ROWS, -1),
        np.reshape(told.prec, (ROWS, -1)),
    )
    back = pool.backward(told, u)
    np.testing.assert_allclose(np.reshape(back.prec, (ROWS, -1)), prec @ matrix.T, rtol=1e-10)
    ours = np.asarray(back.shift - u.mean * back.prec).reshape(ROWS, -1)
    np.testing.assert_allclose(ours, score @ matrix.T, rtol=1e-9, atol=1e-11)


def test_pool_of_shared_weights() -> None:
    """rate: over draws of the weights that a convolution's places share, the variance of a pooled smooth image is that
    of its pixels, within a tenth; for independent pixels it would be a quarter."""
    rng = np.random.default_rng(0)
    image = np.add.outer(np.linspace(0, 1, 12), np.linspace(0, 1, 12))[None, :, :, None] + 1.0
    conv, _, after = Conv(1, 3, 1, "valid").placed((12, 12))
    doubt = 0.1
    draws = np.stack([conv.mix(image, rng.normal(0.2, np.sqrt(doubt), (9, 1))) for _ in range(4000)])
    pooled = np.stack([AvgPool(2).plain(draw) for draw in draws])
    z = conv.forward(
        Moments(jnp.asarray(image), None),
        Moments(jnp.full((9, 1), 0.2), jnp.full((9, 1), doubt)),
        Moments(jnp.zeros(1), jnp.zeros(1)),
        None,
    )
    ours = AvgPool(2).forward(z).var
    np.testing.assert_allclose(pooled.var(0), ours, rtol=0.1)
    assert after == (10, 10)


def test_flatten() -> None:
    """identity: place by place, channel by channel, and messages go back to their places."""
    u = belief((ROWS, 2, 3, CHANNELS))
    flat = Flatten().forward(u)
    np.testing.assert_array_equal(flat.mean, np.reshape(u.mean, (ROWS, -1)))
    back = Flatten().backward(Message(*flat), u)
    np.testing.assert_array_equal(back.shift, u.mean)
    assert Flatten().places((2, 3)) == ()


def test_in_a_row() -> None:
    """identity: maps after one another, data without variance included."""
    chain = (AvgPool(2), Flatten())
    u = Moments(belief((ROWS, 4, 4, CHANNELS)).mean, None)
    beliefs = maps.forward(chain, u)
    assert beliefs[-1].var is None
    np.testing.assert_allclose(beliefs[-1].mean, maps.through(chain, u.mean))
    back = maps.backward(chain, Message(beliefs[-1].mean, jnp.ones_like(beliefs[-1].mean)), beliefs)
    assert back.shift.shape == u.mean.shape and np.allclose(back.prec, 0.25)


@pytest.mark.parametrize("size", [0, 1.5, True])
def test_no_window(size: object) -> None:
    """contract: a window that is none is refused, and one that is larger than the image."""
    with pytest.raises(ValueError, match="size="):
        AvgPool(size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not fit"):
        AvgPool(4).places((3, 8))
