"""Sparse priors by enumeration of all supports."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp


class GroupPosterior(NamedTuple):
    """Posterior log-odds of every group, and mean and variance of every weight."""

    logit: np.ndarray
    mean: np.ndarray
    var: np.ndarray


class ChainPosterior(NamedTuple):
    """Posterior log-odds of every unit, expected transitions (now, next), log-likelihood of the evidence."""

    logit: np.ndarray
    counts: np.ndarray
    log_likelihood: float


def _tilted(mean: np.ndarray, var: np.ndarray, shift: np.ndarray, prec: np.ndarray) -> tuple[np.ndarray, ...]:
    """Evidence, mean and variance of N(mean, var) times the message, by completing the square."""
    new_var = 1 / (1 / var + prec)
    new_mean = new_var * (mean / var + shift)
    evidence = 0.5 * np.log(new_var / var) + new_mean**2 / (2 * new_var) - mean**2 / (2 * var)
    return evidence, new_mean, new_var


def chain_log_prior(support: tuple[int, ...], p01: float, p10: float) -> float:
    """log of the Markov chain's probability, started from its stationary law."""
    on = p01 / (p01 + p10)
    total = np.log(on if support[0] else 1 - on)
    table = np.log([[1 - p01, p01], [p10, 1 - p10]])
    return total + sum(table[a, b] for a, b in pairwise(support))


def group_posterior(
    prior_logit: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    shift: np.ndarray,
    prec: np.ndarray,
    group_of: np.ndarray,
    transitions: tuple[float, float] | None = None,
) -> GroupPosterior:
    """Every support of the groups is visited; arrays are (units, outputs), `group_of` names each unit's group.

    With `transitions` = (p01, p10) the support is a chain on top of `prior_logit`.
    """
    evidence, new_mean, new_var = _tilted(mean, var, shift, prec)
    supports = list(product((0, 1), repeat=len(prior_logit)))
    log_weight = []
    for support in supports:
        s = np.array(support)
        prior = (s * prior_logit).sum() + (chain_log_prior(support, *transitions) if transitions else 0.0)
        log_weight.append(prior + (s[group_of][:, None] * evidence).sum())
    weight = np.exp(np.array(log_weight) - logsumexp(log_weight))
    on_weight = [weight[[s[g] == 1 for s in supports]].sum() for g in range(len(prior_logit))]
    off_weight = [weight[[s[g] == 0 for s in supports]].sum() for g in range(len(prior_logit))]
    first = sum(w * np.array(s)[group_of][:, None] * new_mean for w, s in zip(weight, supports, strict=True))
    var = sum(
        w * np.where(np.array(s)[group_of][:, None] == 1, new_var + (new_mean - first) ** 2, first**2)
        for w, s in zip(weight, supports, strict=True)
    )
    return GroupPosterior(np.log(on_weight) - np.log(off_weight), first, var)


def posterior_logit(unary: np.ndarray, log_prior: Callable[[tuple[int, ...]], float]) -> np.ndarray:
    """Posterior log-odds of every unit, given log-likelihood ratios `unary` and the log prior of each support."""
    every = list(product((0, 1), repeat=len(unary)))
    log_weight = np.array([log_prior(support) + np.dot(support, unary) for support in every])
    on = np.array(every).T == 1
    return np.array([logsumexp(log_weight[row]) - logsumexp(log_weight[~row]) for row in on])


def chain_posterior(unary: np.ndarray, p01: float, p10: float) -> ChainPosterior:
    """Every support of a chain of units with log-likelihood ratios `unary`."""
    supports = np.array(list(product((0, 1), repeat=len(unary))))
    log_weight = np.array([chain_log_prior(tuple(s), p01, p10) + (s * unary).sum() for s in supports])
    total = logsumexp(log_weight)
    on = (supports == 1).T
    logit = np.array([logsumexp(log_weight[row]) - logsumexp(log_weight[~row]) for row in on])
    counts = np.zeros((2, 2))
    for s, w in zip(supports, np.exp(log_weight - total), strict=True):
        for a, b in pairwise(s):
            counts[a, b] += w
    return ChainPosterior(logit, counts, float(total))
