"""Hamiltonian Monte Carlo in a few lines, and whether its chains agree.

Unit masses, a fixed number of leapfrog steps, and a step size that dual averaging (Hoffman and Gelman, 2014) adapts to
an acceptance of 0.8 while the chain warms up; afterwards it is drawn anew from +-20 % of that, so that no orbit closes.
Oracles: moments of a Gaussian, R-hat of chains that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

ACCEPT, GAMMA, T0, KAPPA = 0.8, 0.05, 10.0, 0.75
JITTER = 0.2


class Chain(NamedTuple):
    """Where a chain is, and what dual averaging has come to."""

    place: Array
    log_step: Array
    mean_log_step: Array
    shortfall: Array


class Length(NamedTuple):
    """Draws of each chain while it warms up and after, of which every `thin`-th is kept; leapfrog steps of a draw."""

    warm_up: int
    draws: int
    steps: int
    thin: int


def sample(
    log_prob: Callable[[Array], Array], starts: np.ndarray, seed: int, length: Length
) -> tuple[np.ndarray, np.ndarray]:
    """Draws (chains, kept, dimensions) from the density, and the mean acceptance of every chain after its warm-up."""
    keys = jax.random.split(jax.random.key(seed), len(starts))
    chain = jax.jit(jax.vmap(partial(_chain, log_prob, length)))
    return jax.tree.map(np.asarray, chain(jnp.asarray(starts), keys))


def _chain(log_prob: Callable[[Array], Array], length: Length, start: Array, key: Array) -> tuple[Array, Array]:
    slope = jax.grad(log_prob)
    first = jnp.log(0.1 / start.shape[0] ** 0.25)

    def draw(chain: Chain, step: tuple[Array, Array]) -> tuple[Chain, Array]:
        i, key = step
        on_way = i < length.warm_up
        keys = jax.random.split(key, 3)
        momentum = jax.random.normal(keys[0], start.shape, start.dtype)
        size = jnp.exp(jnp.where(on_way, chain.log_step, chain.mean_log_step))
        size = size * jax.random.uniform(keys[1], (), start.dtype, 1 - JITTER, 1 + JITTER)

        def leap(_: int, at: tuple[Array, Array]) -> tuple[Array, Array]:
            place = at[0] + size * at[1]
            return place, at[1] + size * slope(place)

        push = momentum + 0.5 * size * slope(chain.place)
        place, push = jax.lax.fori_loop(0, length.steps, leap, (chain.place, push))
        push = push - 0.5 * size * slope(place)
        change = log_prob(place) - log_prob(chain.place) - 0.5 * (push @ push - momentum @ momentum)
        accept = jnp.exp(jnp.minimum(jnp.where(jnp.isnan(change), -jnp.inf, change), 0))
        place = jnp.where(jax.random.uniform(keys[2]) < accept, place, chain.place)
        t = i + 1.0
        rate = 1 / (t + T0)
        shortfall = (1 - rate) * chain.shortfall + rate * (ACCEPT - accept)
        log_step = jnp.log(10.0) + first - jnp.sqrt(t) / GAMMA * shortfall
        mean = t**-KAPPA * log_step + (1 - t**-KAPPA) * chain.mean_log_step
        adapted = Chain(place, log_step, mean, shortfall)
        kept = Chain(place, chain.log_step, chain.mean_log_step, chain.shortfall)
        return jax.tree.map(lambda a, b: jnp.where(on_way, a, b), adapted, kept), accept

    def block(chain: Chain, steps: tuple[Array, Array]) -> tuple[Chain, tuple[Array, Array]]:
        chain, accept = jax.lax.scan(draw, chain, steps)
        return chain, (chain.place, accept.mean())

    total = length.warm_up + length.draws
    index = jnp.arange(total, dtype=start.dtype).reshape(-1, length.thin)
    keys = jax.random.split(key, total).reshape(-1, length.thin)
    zero = jnp.zeros((), start.dtype)
    _, (places, accept) = jax.lax.scan(block, Chain(start, first, first, zero), (index, keys))
    warm = length.warm_up // length.thin
    return places[warm:], accept[warm:].mean()


def r_hat(draws: np.ndarray) -> np.ndarray:
    """Split R-hat over (chains, draws, ...): near one where halves of chains have one mean and spread."""
    halves = np.concatenate(np.split(draws[:, : draws.shape[1] // 2 * 2], 2, axis=1)).astype(np.float64)
    n = halves.shape[1]
    within = halves.var(1, ddof=1).mean(0)
    between = n * halves.mean(1).var(0, ddof=1)
    return np.sqrt(((n - 1) / n * within + between / n) / within)


def ess(draws: np.ndarray) -> np.ndarray:
    """Effective number of draws over (chains, draws, ...), by Geyer's initial positive sequence."""
    chains, n = draws.shape[:2]
    centred = draws - draws.mean((0, 1))
    power = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    cov = np.fft.irfft(power, axis=1)[:, :n].mean(0) / n
    rho = cov / cov[0]
    pairs = rho[: n // 2 * 2].reshape(n // 2, 2, *rho.shape[1:]).sum(1)
    positive = np.cumprod(pairs > 0, axis=0)
    return chains * n / np.maximum((2 * pairs * positive).sum(0) - 1, 1 / (chains * n))
