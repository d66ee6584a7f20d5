"""A planted layer y = X w + noise: what state evolution predicts of AMP, and what the engine's Module A does.

The weights are w = u / sqrt(N), u of mean square one: Gaussian, or spike-slab with a share `rho` that is not zero.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tdamp.engine import damp
from tdamp.engine.network import Network
from tdamp.engine.plan import Minibatch, knobs_of, plan_of
from tdamp.engine.settings import Settings
from tdamp.engine.turbo import Layer, marginals
from tdamp.factors.layers.base import Linear
from tdamp.factors.priors.base import prior_logit
from tdamp.numerics.beliefs import Moments

from .engine import replaced, without_onsager

NO_TRUST = 1e30
"""A trust region that never acts."""


class Model(NamedTuple):
    """A planted layer: rows per weight, noise variance, and the share of weights that are not zero."""

    alpha: float
    noise_var: float
    rho: float


MODELS = {"gaussian": Model(1.5, 0.1, 1.0), "spike-slab": Model(0.6, 0.01, 0.1)}


def state_evolution(model: Model, sweeps: int) -> list[float]:
    """Mean squared error of u after each sweep; before the first it is one."""
    error, errors = 1.0, []
    for _ in range(sweeps):
        error = mmse((model.noise_var + error) / model.alpha, model.rho)
        errors.append(error)
    return errors


def mmse(noise_var: float, rho: float) -> float:
    """Of u ~ rho N(0, 1 / rho) + (1 - rho) delta(0) seen through Gaussian noise, by quadrature over what is seen.

    Given r the slab's mean is r gain with variance noise_var gain, and the posterior odds follow from the densities.
    """
    slab = 1 / rho
    gain = slab / (slab + noise_var)
    reach = np.sqrt(slab + noise_var)
    r = np.concatenate([np.linspace(-10, 10, 4001) * s for s in (reach, np.sqrt(noise_var))])
    r = np.unique(r)

    def density(var: float) -> np.ndarray:
        return np.exp(-0.5 * r**2 / var) / np.sqrt(2 * np.pi * var)

    on, off = rho * density(slab + noise_var), (1 - rho) * density(noise_var)
    total = np.maximum(on + off, 1e-300)
    active = on / total
    var = active * (noise_var * gain + (1 - active) * (gain * r) ** 2)
    return float(np.trapezoid(total * var, r))


def amp_errors(model: Model, n: int, onsager: bool, sweeps: int, seed: int) -> list[float]:
    """Mean squared error of u by the engine's Module A, after one sweep, two, and so on, on the whole batch."""
    rng = np.random.default_rng((seed, n))
    rows = round(model.alpha * n)
    x = rng.standard_normal((rows, n)).astype(np.float32)
    on = rng.random(n) < model.rho
    w = (on * rng.standard_normal(n) / np.sqrt(model.rho * n)).astype(np.float32)[:, None]
    y = (x @ w + np.sqrt(model.noise_var) * rng.standard_normal((rows, 1))).astype(np.float32)
    infer = _infer if onsager else _infer_without
    sparse = model.rho < 1
    return [
        float(n * np.mean((np.asarray(infer(n, sparse, layer_of(model, n), x, y, model.noise_var, t)) - w) ** 2))
        for t in range(1, sweeps + 1)
    ]


def layer_of(model: Model, n: int) -> Layer:
    """The prior of the weights; the bias is known to be zero."""
    put: Any = partial(jnp.asarray, dtype=jnp.float32)
    slab = 1 / (model.rho * n)
    offset = prior_logit(model.rho) if model.rho < 1 else np.inf
    return Layer(
        weight=Moments(put(np.zeros((n, 1))), put(np.full((n, 1), slab))),
        bias=Moments(put(np.zeros(1)), put(np.full(1, 1e-12))),
        centre=put(np.zeros(n)),
        offset=put(np.full(n, offset)),
        bias_offset=put(np.full(1, np.inf)),
        base_var=put(slab),
        bias_base_var=put(1e-12),
        active_prob=put(np.full(n, model.rho)),
        sure=jnp.asarray(model.rho == 1),
    )


def _means(n: int, sparse: bool, layer: Layer, x: Any, y: Any, noise_var: Any, sweeps: Any) -> Any:
    settings = Settings(prior="group" if sparse else "gaussian", sweeps=2, damping=0.0, trust=NO_TRUST)
    plan = plan_of(Network((n, 1), "regression"), settings)
    knobs = knobs_of(settings, 0, float(x.shape[0]))._replace(sweeps=sweeps)
    batch = Minibatch(x, y, jnp.ones(x.shape[0], x.dtype))
    inferred = damp.infer(plan, knobs, None, (layer,), batch, noise_var)
    return marginals(layer, plan.prior, None, inferred.exchange.w_ext[0], inferred.exchange.b_ext[0])[0].mean


def _means_without(*args: Any) -> Any:
    """Traced while the Onsager term is away."""
    with replaced(Linear, "forward", without_onsager):
        return _means(*args)


_infer = partial(jax.jit, static_argnums=(0, 1))(_means)
_infer_without = partial(jax.jit, static_argnums=(0, 1))(_means_without)
