"""Validation of uploads: what a client sent is used only if it could come from an honest training.

Honest trainings stay far inside the bounds; that an upload is inside them does not make it true (see `robust`).
Oracle: enumeration of bad uploads; real federations, none of whose uploads is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import mstep
from ..engine.turbo import Layer
from ..factors.priors import base as priors
from . import calibration
from .messages import Arrays, Belief, FinalReport, Upload, named
from .packing import pack_upload
from .quality import Judged, are_errors, no_errors
from .server import Server

WIDEST = 4.0
"""A variance is at most this many times the base variance, or the one the round began with if that is larger: data only
take away from both. (The anchors of "sites" may have twice the base variance.)"""
MOST_INFORMATION = 1e6
"""Times the precision that all rows would give if each informed a weight as much as the noise lets it, relative to the
base variance. Outlying rows and large weights behind it inform more; a client speaks for the whole federation."""
FURTHEST = 1e4
"""Means are within this many standard deviations of the base prior, where hidden units' inputs are about one."""
MOST_NATS = 1e4
"""Most nats of a row's log score: a row 1e15 standard deviations away costs 2,400 under the grid's lightest tails."""
ROUNDING = 1e-3
"""Sums of the same numbers may differ by this much: float32, in another order."""


def problem_of_upload(server: Server, upload: Upload) -> str | None:
    """None for an upload that may be aggregated, or a sentence that says what is wrong with it."""
    problem = malformed(server, upload) or _numbers(server, upload)
    if problem:
        return problem
    upload, least = server.unpacked(upload), 1 / (1 + _information(server, upload))
    group_of = server.group_of
    for l, (belief, layer) in enumerate(zip(upload.posterior, server.state.layers, strict=True)):
        with np.errstate(over="ignore", invalid="ignore"):
            evidence = priors.evidence(belief.weight, layer.base_var, group_of if l == 0 else None)
        if not np.isfinite(np.asarray(evidence)).all():
            return (
                f"posterior.{l}.weight: the evidence of a group is not finite; send smaller means or larger variances."
            )
        problem = _belief(f"posterior.{l}", belief, layer, least) or _centre(f"posterior.{l}.centre", l, belief, layer)
        if problem:
            return problem
    return None


def malformed(server: Server, upload: Upload) -> str | None:
    """None for an upload with the right arrays, all of them finite and variances positive, whatever their size.

    It is the whole check of a private federation: noise may have moved the broadcast, which an honest training begins
    from, beyond the bounds of `problem_of_upload`, and what a client can do is bounded by the clip.
    """
    return _form(named(upload), named(_expected(server)))


def _expected(server: Server) -> Upload:
    """An upload with the shapes and types of a good one."""
    noise_var: Any = np.asarray(server.state.noise_var)
    posterior = tuple(Belief(layer.weight, layer.bias, layer.centre) for layer in server.state.layers)
    stats = mstep.no_stats(server.network, server.terms.local.noise_update, noise_var.dtype)
    zero, losses = np.zeros((), noise_var.dtype), tuple(np.zeros(len(layer.offset)) for layer in server.state.layers)
    ranked = losses if server.terms.sends_losses else ()
    upload = Upload(
        posterior, noise_var, stats, zero, np.zeros(()), _no_scores(server), ranked, no_errors(server.terms)
    )
    base_vars = [layer.base_var for layer in server.state.layers]
    return pack_upload(upload, base_vars) if server.terms.precision == "factored" else upload


def _form(arrays: Arrays, expected: Arrays) -> str | None:
    """Names, shapes and types; and every number finite."""
    for name in [*expected, *arrays]:
        if name not in arrays or name not in expected:
            return (
                f"{name} {'is missing' if name in expected else 'is not part of an upload'}: send what was asked for."
            )
    for name, array in arrays.items():
        like = expected[name]
        if array.shape != like.shape or array.dtype != like.dtype:
            return f"{name} is {array.dtype} of shape {array.shape}: expected {like.dtype} of shape {like.shape}."
        if not np.isfinite(array).all():
            return f"{name} has {int((~np.isfinite(array)).sum())} NaN or infinite values: expected finite numbers."
        if name.endswith(".var") and not (array > 0).all():
            return f"{name} has {int((array <= 0).sum())} values that are not positive: expected variances."
        if name.startswith("losses.") and not (array >= 0).all():
            return f"{name} has {int((array < 0).sum())} negative values: no group is expected to gain by its removal."
        if name.endswith((".row", ".column")) and not (array >= 0).all():
            return f"{name} has {int((array < 0).sum())} negative values: expected factors of precisions."
    return None


def _numbers(server: Server, upload: Upload) -> str | None:
    """Rows, noise and what the noise was estimated from."""
    n_rows, weight = float(upload.n_rows), float(upload.noise_stats.weight)
    if n_rows <= 0:
        return f"n_rows is {n_rows:g}: expected a positive number."
    most = sum(server.rows.values()) + n_rows / (1 - server.terms.hold_out)  # the weights of single rows are not known
    if problem := _problem_of_scores(server, Judged(upload.judged, upload.errors), most):
        return problem
    if abs(weight - n_rows) > ROUNDING * n_rows:
        return f"noise_stats.weight is {weight:g}: expected n_rows, {n_rows:g}, as every row counts once."
    low, high = (bound * np.asarray(server.state.noise_scale, np.float64) for bound in mstep.NOISE_RANGE)
    if not ((upload.noise_var >= low * (1 - ROUNDING)) & (upload.noise_var <= high * (1 + ROUNDING))).all():
        return f"noise_var is {_short(upload.noise_var)}: expected it from {_short(low)} to {_short(high)}."
    sums = np.asarray(upload.noise_stats.sums, np.float64)
    if not server.terms.network.output.are_noise_stats(server.terms.local.noise_update, n_rows, sums):
        return f"noise_stats.sums are {_short(sums)}, which no residuals or margins have."
    return None


def problem_of_report(server: Server, report: FinalReport) -> str | None:
    """None for a report that may be used, or a sentence that says what is wrong with it."""
    network = server.terms.network
    known = np.zeros(network.n_targets if network.output.is_calibrated else 0)
    like = FinalReport(np.zeros(network.widths[0]), np.zeros(()), _no_scores(server), known, no_errors(server.terms))
    problem = _form(named(report), named(like))
    if problem:
        return problem
    n_rows = float(report.n_rows)
    if not 0 < n_rows < np.inf:
        return f"n_rows is {n_rows:g}: expected a positive number."
    if not ((report.known >= 0) & (report.known <= n_rows * (1 + ROUNDING))).all():
        return f"known is {_short(report.known)}: expected at most n_rows, {n_rows:g}."
    judged, most = (
        Judged(report.judged, report.errors),
        n_rows / (1 - server.terms.hold_out) + sum(server.rows.values()),
    )
    return _problem_of_scores(server, judged, most)


def _no_scores(server: Server) -> np.ndarray:
    return np.zeros(calibration.n_scores(server.terms.network, server.terms.hold_out))


def _problem_of_scores(server: Server, sums: Judged, most: float) -> str | None:
    """Scores of rows held out: of as many as there can be, and each of a size that log densities have."""
    judged, errors = sums
    rows = judged[-1]
    if not 0 <= rows <= most or (server.terms.hold_out == 0 and judged.any()):
        return f"judged is {_short(judged)}: expected log scores and, at the end, the number of rows held out for them."
    if np.abs(judged[:-1]).max() > MOST_NATS * rows:
        return f"judged reaches {np.abs(judged[:-1]).max():.2g}: expected log scores of {rows:g} rows."
    if errors is not None and not are_errors(errors):
        return f"errors are {_short(errors)}, which no rows have: expected sums of squares."
    return None


def _information(server: Server, upload: Upload) -> float:
    """The most that all rows together may add to a weight's precision, in precisions of the base prior."""
    state, settings = server.state, server.terms.settings
    epochs = server.epochs_done + server.terms.local_epochs
    weights = (settings.data_weight_at(epoch) for epoch in range(epochs))
    counted = float(epochs) if settings.pasp == "paper" else max(weights)
    noise = np.minimum(state.noise_var, upload.noise_var) / np.asarray(state.noise_scale, np.float64)
    rows = sum(server.rows.values()) + float(upload.n_rows)
    return MOST_INFORMATION * counted * rows / float(noise.min())


def _belief(name: str, belief: Belief, layer: Layer, least: float) -> str | None:
    """Variances and means against the base prior, of weights and biases."""
    parts = (
        ("weight", belief.weight, layer.weight, layer.base_var),
        ("bias", belief.bias, layer.bias, layer.bias_base_var),
    )
    for part, (mean, var), before, base_var in parts:
        base = float(base_var)
        widest = WIDEST * np.maximum(base, np.asarray(before.var))
        if (var > widest).any() or (var < least * base).any():
            return (
                f"{name}.{part}.var runs from {np.min(var):.2g} to {np.max(var):.2g}: "
                f"expected {least * base:.2g} to {np.max(widest):.2g}, as the rows and the base prior allow."
            )
        if (np.abs(mean) > FURTHEST * np.sqrt(base)).any():
            return (
                f"{name}.{part}.mean reaches {np.abs(mean).max():.2g}: expected at most {FURTHEST * np.sqrt(base):.2g}."
            )
    return None


def _centre(name: str, l: int, belief: Belief, layer: Layer) -> str | None:
    """The inputs' centre is the server's; those of hidden units move."""
    if l == 0 and not np.array_equal(belief.centre, layer.centre):
        return f"{name} differs from the one that was sent out: expected the same."
    if l > 0 and (np.abs(belief.centre) > FURTHEST).any():
        return f"{name} reaches {np.abs(belief.centre).max():.2g}: expected at most {FURTHEST:g}."
    return None


def _short(values: Any) -> str:
    return np.array2string(np.asarray(values), precision=3, threshold=6)
