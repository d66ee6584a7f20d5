"""The classification output: the label's score beats every other under Gaussian noise.

Density: prod_(m != y) Phi((z_y - z_m) / sqrt(noise_var)). Paper: eq. (classification_likelihood);
errata E3 (the last message), E12 (not normalised over the classes). One EP sweep: first the sites on z_y
from every rival, then each rival's message from z_y's cavity. Exact for two classes, approximate for more, always
proper (0 < score_prec < 1/var). Oracle: quadrature for each site, autodiff for two classes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from ...numerics import truncated_normal
from ...numerics.beliefs import Moments


def _of_label(z: Moments, label: Array) -> tuple[Array, Moments]:
    """Which class is the label, one-hot, and the moments of its score, (rows, 1)."""
    is_label = jax.nn.one_hot(label, z.mean.shape[-1], dtype=z.mean.dtype)
    return is_label, Moments(*((moment * is_label).sum(-1, keepdims=True) for moment in z))


def _cut(gap: Array, total: Array) -> truncated_normal.Truncated:
    """The margin's noise where the label wins, compiled once for `score` and `log_partition`.

    XLA turns gap / sqrt(total) into a product with rsqrt only where the root has no other use, which would make two.
    """
    return truncated_normal.above(gap * jax.lax.rsqrt(total))


def score(z_fwd: Moments, label: Array, noise_var: Array) -> tuple[Array, Array]:
    """score and score_prec of every class score z."""
    mean, var = z_fwd
    is_label, (y_mean, y_var) = _of_label(z_fwd, label)
    rival = 1 - is_label
    total = noise_var + var + y_var
    std = jnp.sqrt(total)
    cut = _cut(mean - y_mean, total)
    spread = noise_var + var + y_var * cut.var  # = total (1 - y_var * curvature), without the cancellation
    site_prec = rival * cut.shrink / spread
    site_shift = rival * (cut.mean * std + y_mean * cut.shrink) / spread

    prec = site_prec.sum(-1, keepdims=True)
    shift = site_shift.sum(-1, keepdims=True)
    y_score = (shift - y_mean * prec) / (1 + y_var * prec)
    y_prec = prec / (1 + y_var * prec)

    shrink = 1 + y_var * (prec - site_prec)
    cavity_var = y_var / shrink
    cavity_mean = (y_mean + y_var * (shift - site_shift)) / shrink
    total = noise_var + var + cavity_var
    std = jnp.sqrt(total)
    cut = truncated_normal.above((mean - cavity_mean) / std)
    rival_score = -cut.mean / std
    rival_prec = cut.shrink / total
    return (
        is_label * y_score + rival * rival_score,
        is_label * y_prec + rival * rival_prec,
    )


def log_partition(z_fwd: Moments, label: Array, noise_var: Array) -> Array:
    """Sum over the rivals of log Phi of the margin: a proxy of the log-evidence, exact for two classes."""
    mean, var = z_fwd
    is_label, (y_mean, y_var) = _of_label(z_fwd, label)
    cut = _cut(mean - y_mean, noise_var + var + y_var)
    return ((1 - is_label) * cut.log_mass).sum(-1)


def margins(z_post: Moments, label: Array) -> tuple[Moments, Array]:
    """Moments of margin = z_m - z_y for every class m, and a mask of the rivals m != y."""
    is_label, (y_mean, y_var) = _of_label(z_post, label)
    return Moments(z_post.mean - y_mean, z_post.var + y_var), 1 - is_label
