"""What a linear layer is: the factor z = mix(u, W) + b, in the BiG-AMP form.

Density: prod_(i,m) delta(z_im - mix(u_i, W)_m - b_m), where `mix` is a member's bilinear map. Paper: Fig. 2, factor f_l
(its messages are in the unavailable supplement; derived in the docs). The messages need that map and its two transposes
and nothing else. Sums over inputs and rows are Gaussian by the central limit theorem, so variances are *not* exact on
small or structured problems; the fixed-point mean of a Gaussian model is.
Oracle: the loop transcription in tests/oracles, with the map as a matrix, ridge regression, and the N^(-1/2) rate.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics.beliefs import Message, Moments, Score
from .maps import Flatten, Map, Places, n_places


class Linear:
    """A kind of layer: a frozen dataclass whose fields, all with defaults, JSON can hold; `name` is the first of them.

    W is a table: a row is the outgoing weights of an input, the group that a prior switches; a column belongs to an
    output. An output is a sum of products u_n W_nm, each counted once or not at all: squares of coefficients
    are the coefficients, so that `mix` carries variances too.
    """

    name: str

    # its place in a network

    @property
    def units(self) -> int | None:
        """Outputs (of a place), where the layer says so itself; None: as many as the network's widths say."""
        return None

    @property
    def shares_weights(self) -> bool:
        """Whether an input meets the same weights at several places."""
        return False

    def placed(self, before: Places) -> tuple[Linear, tuple[Map, ...], Places]:
        """The layer as it is in a network, what its input goes through first, and the places of its output."""
        return self, (Flatten(),) if before else (), ()

    def copies_at(self, before: Places) -> int:
        """Rows of the table for each unit of an input with these places."""
        return n_places(before)

    # the map

    def mix(self, u: Any, w: Any) -> Any:
        """The outputs without bias, (..., outputs), of inputs (..., inputs); linear in each argument. NumPy or JAX."""
        raise NotImplementedError

    def weight_adjoint(self, u: Array, s: Array, like: Array) -> Array:
        """The transpose of w -> mix(u, w) at s, (rows, outputs): summed over rows, of the shape of weights `like`."""
        return jax.linear_transpose(lambda w: self.mix(u, w), like)(s)[0]

    def input_adjoint(self, s: Array, w: Array, like: Array) -> Array:
        """The transpose of u -> mix(u, w) at s, (rows, outputs): of the shape of the inputs `like`."""
        return jax.linear_transpose(lambda u: self.mix(u, w), like)(s)[0]

    def used(self, n_in: int, n_out: int) -> np.ndarray:
        """Which weights of the table `mix` reads, bool. The others stay as the base prior has them."""
        return np.ones((n_in, n_out), bool)

    def take(self, rows: np.ndarray, columns: np.ndarray) -> Linear:
        """The layer between these inputs and these outputs alone (indices, some perhaps twice): what compaction leaves.

        A map that treats its units alike stays what it is; one that knows their places takes them along.
        """
        return self

    def centred(self, u: Any, centre: Any) -> Any:
        """Inputs from their centres; `centre` has one for each row of the table."""
        return u - centre

    def from_centre(self, u: Moments, centre: Array) -> Moments:
        """The belief in centred inputs."""
        return Moments(self.centred(u.mean, centre), u.var)

    def uncentred(self, message: Message, centre: Array) -> Message:
        """The message about inputs from their centres, now about the inputs."""
        return Message(message.shift + message.prec * centre, message.prec)

    def over_rows(self, row_weight: Array, u: Array) -> Array:
        """The weighted sum of inputs over the rows of a batch, for each row of the table."""
        return row_weight @ u

    # what it costs

    def n_params(self, n_in: int, n_out: int) -> int:
        """Weights and biases."""
        return (n_in + 1) * n_out

    def n_multiply_adds(self, n_in: int, n_out: int) -> int:
        """Multiply-adds of `mix` for one row."""
        return n_in * n_out

    # messages

    def forward(self, u: Moments, w: Moments, b: Moments, previous_score: Array | None) -> Moments:
        """z_fwd, with the Onsager term of the last sweep's score (None on a minibatch's first sweep).

        `u.var` may be None for data: two of the four products vanish.
        """
        mean = self.mix(u.mean, w.mean) + b.mean
        if u.var is None:
            var = plain = self.mix(u.mean * u.mean, w.var) + b.var
        elif previous_score is None:
            return Moments(mean, self.mix(u.mean * u.mean + u.var, w.var) + self.mix(u.var, w.mean * w.mean) + b.var)
        else:
            plain = self.mix(u.mean * u.mean, w.var) + self.mix(u.var, w.mean * w.mean) + b.var
            var = plain + self.mix(u.var, w.var)
        if previous_score is not None:
            mean = mean - previous_score * plain
        return Moments(mean, var)

    def to_weight(
        self, u: Moments, w: Moments, score: Score, fresh: bool, floored: bool = False
    ) -> tuple[Score, Array]:
        """w_ext of a batch as its score at w.mean and its precision, and how often the self-coupling clip acted.

        Rows of `score` must already carry their sample weights. On a `fresh` minibatch's first sweep u has not heard of
        this layer's scores yet, so there is no self-coupling to take away: the term -w u_var' s_prec only belongs to
        later sweeps. (In single sweeps it would shrink every weight; in deep networks the signal then dies out.)
        The clip: prec - u_var' s_prec is a difference of estimates and is floored at 0 (BiG-AMP's gain clip).
        `floored`: the scores' precisions may be negative, and their sum is floored at 0.
        """
        raw = self.weight_adjoint(u.mean * u.mean, score.prec, w.mean)
        prec = _sum(raw, floored)
        pull = self.weight_adjoint(u.mean, score.score, w.mean)
        if u.var is None or fresh:
            return Score(pull, prec), _floors(raw, floored)
        coupling, clipped = _coupling(prec - self.weight_adjoint(u.var, score.prec, w.mean))
        return Score(pull + w.mean * (coupling - prec), prec), clipped

    def to_bias(self, score: Score, floored: bool = False) -> Score:
        """b_ext of a batch, as `to_weight`; rows of `score` carry their sample weights."""
        rows = tuple(range(score.score.ndim - 1))
        return Score(score.score.sum(rows), _sum(score.prec.sum(rows), floored))

    def to_input(
        self, u: Moments, w: Moments, score: Score, fresh: bool, floored: bool = False
    ) -> tuple[Message, Array]:
        """u_bwd, and how often the self-coupling clip acted; `fresh` and `floored` as in `to_weight`."""
        raw = self.input_adjoint(score.prec, w.mean * w.mean, u.mean)
        prec = _sum(raw, floored)
        shift = self.input_adjoint(score.score, w.mean, u.mean)
        if fresh:
            return Message(shift + u.mean * prec, prec), _floors(raw, floored)
        coupling, clipped = _coupling(prec - self.input_adjoint(score.prec, w.var, u.mean))
        return Message(shift + u.mean * coupling, prec), clipped


def _sum(prec: Array, floored: bool) -> Array:
    return jnp.maximum(prec, 0) if floored else prec


def _floors(raw: Array, floored: bool) -> Array:
    """How many sums were floored."""
    return jnp.sum(raw < 0, dtype=jnp.int32) if floored else jnp.zeros((), jnp.int32)


def _coupling(raw: Array) -> tuple[Array, Array]:
    return jnp.maximum(raw, 0), jnp.sum(raw < 0, dtype=jnp.int32)
