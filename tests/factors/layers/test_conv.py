"""Convolutions against the same map as a dense matrix with tied weights.

covers: factors.layers.patches
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import tied
from tdamp.factors.layers.conv import Conv
from tdamp.factors.layers.dense import DENSE
from tdamp.factors.layers.maps import Pad, through
from tdamp.factors.layers.patches import patches, unpatch
from tdamp.numerics.beliefs import Message, Moments, Score

ROWS, CHANNELS, OUTPUTS = 3, 2, 4
CASES = (
    ((6, 5), (3, 2), (1, 1)),
    ((7, 7), (3, 3), (2, 2)),
    ((6, 7), (5, 3), (2, 3)),
    ((9,), (4,), (2,)),
    ((5,), (5,), (1,)),
)
SHAPES = pytest.mark.parametrize(("places", "kernel", "stride"), CASES)


def setting(places: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], doubt: float = 1.0):
    """A placed convolution, its beliefs, and the dense layer that it stands for."""
    rng = np.random.default_rng(0)
    conv, maps, after = Conv(OUTPUTS, kernel, stride, "valid").placed(places)
    assert not maps

    def belief(*shape: int) -> Moments:
        return Moments(jnp.asarray(rng.normal(size=shape)), jnp.asarray(doubt * rng.exponential(size=shape)))

    u, w, b = (
        belief(*shape) for shape in ((ROWS, *places, CHANNELS), (int(np.prod(kernel)) * CHANNELS, OUTPUTS), (OUTPUTS,))
    )
    s = belief(ROWS, *after, OUTPUTS)
    matrices = [tied.spread(np.asarray(part), places, CHANNELS, kernel, stride) for part in w]
    *_, row, column, expected = matrices[0]
    assert after == expected
    flat_u = Moments(*(part.reshape(ROWS, -1) for part in u))
    flat_w = Moments(*(jnp.asarray(matrix[0]) for matrix in matrices))
    flat_b = Moments(*(jnp.tile(part, int(np.prod(after))) for part in b))
    return conv, (u, w, b, Score(*s)), (flat_u, flat_w, flat_b, Score(*(p.reshape(ROWS, -1) for p in s))), (row, column)


@SHAPES
@pytest.mark.parametrize("doubt", [0.0, 1.0])
def test_forward(places, kernel, stride, doubt: float) -> None:
    """twin: z_fwd is that of the dense layer, for data, for beliefs, and with the Onsager term of a later sweep."""
    conv, (u, w, b, s), (flat_u, flat_w, flat_b, flat_s), _ = setting(places, kernel, stride, doubt)
    for ours, theirs, last, flat_last in (
        (u, flat_u, None, None),
        (u, flat_u, s.score, flat_s.score),
        (Moments(u.mean, None), Moments(flat_u.mean, None), None, None),
    ):
        z, expected = conv.forward(ours, w, b, last), DENSE.forward(theirs, flat_w, flat_b, flat_last)
        np.testing.assert_allclose(z.mean.reshape(ROWS, -1), expected.mean, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(z.var.reshape(ROWS, -1), expected.var, rtol=1e-10, atol=1e-12)


@SHAPES
@pytest.mark.parametrize("fresh", [True, False])
def test_backward(places, kernel, stride, fresh: bool) -> None:
    """twin: what a weight hears is the sum of what its copies hear; inputs and biases hear what the dense ones do."""
    conv, (u, w, _, s), (flat_u, flat_w, _, flat_s), at = setting(places, kernel, stride, doubt=1e-3)
    ours, clipped = conv.to_weight(u, w, s, fresh)
    theirs, _ = DENSE.to_weight(flat_u, flat_w, flat_s, fresh)
    if fresh:
        assert not clipped
        for part, expected in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(
                part, tied.gathered(np.asarray(expected), *at, w.mean.shape), rtol=1e-9, atol=1e-11
            )
    else:  # the clip sits on the sum: here it does not act, so the self-coupling is the plain one
        plain = tied.gathered(np.asarray(flat_u.mean.T @ flat_s.score), *at, w.mean.shape)
        coupled = tied.gathered(np.asarray(flat_u.var.T @ flat_s.prec), *at, w.mean.shape)
        assert not clipped
        np.testing.assert_allclose(ours.score, plain - np.asarray(w.mean) * coupled, rtol=1e-9, atol=1e-11)
    back, _ = conv.to_input(u, w, s, True)
    expected, _ = DENSE.to_input(flat_u, flat_w, flat_s, True)
    for part, other in zip(back, expected, strict=True):
        np.testing.assert_allclose(part.reshape(ROWS, -1), other, rtol=1e-9, atol=1e-11)
    for part, other in zip(conv.to_bias(s), DENSE.to_bias(flat_s), strict=True):
        np.testing.assert_allclose(part, np.asarray(other).reshape(-1, OUTPUTS).sum(0), rtol=1e-10, atol=1e-12)


@SHAPES
def test_unpatch(places, kernel, stride) -> None:
    """twin: unpatch is the transpose of patches that JAX finds."""
    u = jnp.zeros((ROWS, *places, CHANNELS))
    seen = jax.eval_shape(lambda u: patches(u, kernel, stride), u)
    parts = jnp.asarray(np.random.default_rng(1).normal(size=seen.shape))
    [expected] = jax.linear_transpose(lambda u: patches(u, kernel, stride), u)(parts)
    np.testing.assert_allclose(unpatch(parts, u.shape, kernel, stride), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n", "kernel", "stride"), [(28, 5, 2), (7, 3, 1), (8, 3, 3), (5, 1, 1), (6, 2, 2), (9, 4, 2)])
def test_same_padding(n: int, kernel: int, stride: int) -> None:
    """contract: "same" gives ceil(n / stride) places, the filter being XLA's with SAME padding."""
    conv, maps, after = Conv(2, kernel, stride).placed((n, n))
    assert after == (-(-n // stride),) * 2
    rng = np.random.default_rng(0)
    u, w = rng.normal(size=(2, n, n, 3)), rng.normal(size=(kernel * kernel * 3, 2))
    ours = conv.mix(through(maps, u), w)
    assert isinstance(ours, np.ndarray)
    dimensions = ("NHWC", "HWIO", "NHWC")
    expected = jax.lax.conv_general_dilated(
        u, w.reshape(kernel, kernel, 3, 2), (stride, stride), "SAME", dimension_numbers=dimensions
    )
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-10)


def test_centre_with_padding() -> None:
    """identity: moving a channel's centre into the bias changes no output, at the padded border neither."""
    rng = np.random.default_rng(0)
    conv, maps, _ = Conv(3, 3).placed((5, 4))
    u, w, b = rng.normal(size=(2, 5, 4, 2)), rng.normal(size=(18, 3)), rng.normal(size=3)
    centre = np.tile([0.7, -1.3], 9)
    padded = through(maps, u)
    plain = conv.mix(padded, w) + b
    moved = conv.mix(conv.centred(padded, centre), w) + (b + centre @ w)
    np.testing.assert_allclose(moved, plain, rtol=1e-10)
    message = conv.uncentred(Message(jnp.ones((2, 7, 6, 2)), jnp.full((2, 7, 6, 2), 2.0)), jnp.asarray(centre))
    np.testing.assert_allclose(message.shift[0, 0, 0], [1 + 2 * 0.7, 1 - 2 * 1.3])


def test_floored_sums() -> None:
    """identity: precisions of both signs are added up before the floor, in messages to weights, biases and inputs."""
    conv, (u, w, _, s), _, _ = setting((6, 5), (3, 2), (1, 1))
    signed = Score(s.score, s.prec - 1.5)
    raw_w, raw_u = (
        conv.weight_adjoint(u.mean**2, signed.prec, w.mean),
        conv.input_adjoint(signed.prec, w.mean**2, u.mean),
    )
    assert (raw_w < 0).any() and (raw_w > 0).any() and (raw_u < 0).any() and (raw_u > 0).any()
    to_weight, count = conv.to_weight(u, w, signed, True, True)
    np.testing.assert_allclose(to_weight.prec, np.maximum(raw_w, 0))
    assert count == (raw_w < 0).sum() and conv.to_input(u, w, signed, True, True)[1] == (raw_u < 0).sum()
    message = conv.to_input(u, w, signed, True, True)[0]
    np.testing.assert_allclose(message.prec, np.maximum(raw_u, 0))
    np.testing.assert_allclose(
        message.shift,
        conv.input_adjoint(s.score, w.mean, u.mean) + u.mean * np.maximum(raw_u, 0),
        rtol=1e-9,
        atol=1e-12,
    )
    np.testing.assert_allclose(conv.to_bias(signed, True).prec, np.maximum(signed.prec.sum((0, 1, 2)), 0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Conv(0), "channels=0"),
        (lambda: Conv(2, 0), "kernel=0"),
        (lambda: Conv(2, 3, (1, 0)), "stride"),
        (lambda: Conv(2, padding="full"), "padding='full'"),
        (lambda: Conv(2, 5, padding="valid").placed((4, 4)), "does not fit"),
        (lambda: Conv(2).placed(()), "does not fit|axes"),
        (lambda: Conv(2, (3, 3)).placed((9,)), "1 axes"),
    ],
)
def test_refused(make, message: str) -> None:
    """contract: what is no filter, or does not fit, is refused with a sentence."""
    with pytest.raises(ValueError, match=message):
        make()


def test_pad_is_known() -> None:
    """identity: padding has mean zero and no variance, and what it is told is lost."""
    pad = Pad(((1, 2), (0, 1)))
    u = Moments(jnp.ones((2, 3, 4, 1)), jnp.ones((2, 3, 4, 1)))
    padded = pad.forward(u)
    assert padded.mean.shape == (2, 6, 5, 1) == padded.var.shape and pad.places((3, 4)) == (6, 5)
    assert padded.mean.sum() == padded.var.sum() == u.mean.size
    back = pad.backward(Message(padded.mean + 1, padded.var + 2), u)
    np.testing.assert_array_equal(back.shift, np.full((2, 3, 4, 1), 2.0))
    np.testing.assert_array_equal(back.prec, np.full((2, 3, 4, 1), 3.0))
