"""How many numbers each clip looked at in a training: what its count is a share of."""

from __future__ import annotations

from itertools import pairwise

from tdamp.engine.compact import BUCKET, padded
from tdamp.engine.network import Network
from tdamp.engine.settings import Settings

CLIPS = "negative_prec", "excess_prec", "self_coupling", "min_var", "restrained", "noise_clips"


def of(network: Network, settings: Settings, rows: int, epochs: int) -> dict[str, int]:
    """By the name of the clip. Padded rows and units count, since the clips act on them, too.

    Removed units stay in the arrays of networks as small as these. Rows held out are taken as trained on.
    """
    bucket = 1 if settings.prior == "burst" else BUCKET
    widths = (*padded(network.widths[:-1], bucket), network.widths[-1])
    steps = -(-rows // settings.batch_size)
    batch = settings.batch_size
    sweeps = settings.sweeps
    hidden, outputs = sum(widths[1:-1]), widths[-1]
    activations = batch * (hidden + (outputs if network.noise == "varying" else 0))
    coupled = [(a, b) for l, (a, b) in enumerate(pairwise(widths)) if l > 0] if sweeps > 1 else []
    per_sweep = {
        "negative_prec": activations,
        "excess_prec": activations,
        "self_coupling": sum(a * b + batch * a for a, b in coupled),
        "min_var": batch * (hidden + outputs),
        "restrained": 2 * network.n_layers,
    }
    noises = (network.n_targets if network.task == "regression" else 1) * (
        steps if settings.noise_every == "minibatch" else 1
    )
    return {name: epochs * steps * sweeps * count for name, count in per_sweep.items()} | {
        "noise_clips": epochs * noises
    }
