"""What goes over the wire: a round's broadcast and a client's upload, and both as plain named arrays.

Moments travel as float32, which loses nothing of the engine's numbers; natural parameters are made of them in float64
where they are summed. Removed units are not sent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from ..engine.plan import Anchor
from ..engine.state import State, path_name
from ..engine.turbo import Layer
from ..factors.likelihoods.base import NoiseStats
from ..factors.priors.catalog import PRIORS
from ..numerics.beliefs import Moments

Arrays = dict[str, np.ndarray]


class Factored(NamedTuple):
    """Slabs of precision 1 / base_var + row_i column_j (`packing`)."""

    mean: np.ndarray
    row: np.ndarray
    column: np.ndarray


class Belief(NamedTuple):
    """What a client learned about one layer: slabs, and the centre that its biases belong to."""

    weight: Any  # Moments, or Factored on the wire
    bias: Moments
    centre: np.ndarray


class Upload(NamedTuple):
    """phi^k and sigma^k: a client's posterior, its noise, and what the noise was estimated from.

    `noise_stats` are sums over the rows of the last local epoch; `log_evidence` is the mean of the first local epoch's
    rows, each before it was learned from (in this round). `judged` are the log scores of rows held out, under the
    posterior that was sent (`calibration.held_out_scores`). `losses` are what the client's rows are expected to lose
    without each unit's group (`engine.ranking`), layer by layer; none where units are not to be removed by that.
    `errors` are sums of errors of the rows held out, under that posterior, too (`quality.held_out_errors`); none where
    no pruning is to be judged. The fields' names are those of the wire format.
    """

    posterior: tuple[Belief, ...]
    noise_var: np.ndarray
    noise_stats: NoiseStats
    log_evidence: np.ndarray
    n_rows: np.ndarray
    judged: np.ndarray
    losses: tuple[np.ndarray, ...] = ()
    errors: np.ndarray | None = None


class FinalReport(NamedTuple):
    """A client's report on the final posterior.

    `lost` is the log likelihood that its rows lose without each input; `judged` and `errors` as in an upload, of this
    posterior; `known` is how many of its rows determine the noise, a number for each target of a regression.
    """

    lost: np.ndarray
    n_rows: np.ndarray
    judged: np.ndarray
    known: np.ndarray
    errors: np.ndarray | None = None


class Broadcast(NamedTuple):
    """psi and v: what a client starts a round from.

    `anchors` is what it falls back to, None for the base prior; `n_rows` is how many rows its own stand for.
    """

    state: State
    inputs: np.ndarray  # the data columns that the state expects
    anchors: tuple[Anchor, ...] | None
    n_rows: np.ndarray
    epochs_done: np.ndarray


def n_bytes(sent: Any) -> int:
    """Bytes of everything that a message holds."""
    return sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(sent))


def named(sent: Any) -> Arrays:
    """The arrays of a message by the names of their fields."""
    leaves = jax.tree_util.tree_leaves_with_path(sent)
    return {path_name(path): np.asarray(leaf) for path, leaf in leaves}


def upload_from(arrays: Arrays, n_layers: int) -> Upload:
    """The message that has these arrays; KeyError names one that is missing."""
    moments = Moments(0, 0)  # type: ignore[arg-type]  # only the structure matters
    belief: Any = Belief(_weight(arrays), moments, 0)  # type: ignore[arg-type]
    losses: Any = (0,) * n_layers if "losses.0" in arrays else ()
    errors: Any = 0 if "errors" in arrays else None
    return _fill(Upload((belief,) * n_layers, 0, NoiseStats(0, 0), 0, 0, 0, losses, errors), arrays)  # type: ignore[arg-type]


def broadcast_from(arrays: Arrays, n_layers: int, prior: str) -> Broadcast:
    """The message that has these arrays, of layers with this prior; KeyError names one that is missing."""
    moments: Any = Moments(0, 0)  # type: ignore[arg-type]
    layer: Any = Layer(
        weight=_weight(arrays),
        bias=moments,
        centre=0,  # type: ignore[arg-type]
        offset=0,  # type: ignore[arg-type]
        bias_offset=0,  # type: ignore[arg-type]
        base_var=0,  # type: ignore[arg-type]
        bias_base_var=0,  # type: ignore[arg-type]
        active_prob=0,  # type: ignore[arg-type]
        sure=0,  # type: ignore[arg-type]
        prior_state=PRIORS[prior].start(0.5, float),
    )
    state = State((layer,) * n_layers, 0, 0, (0,) * n_layers)  # type: ignore[arg-type]
    anchored = any(name.startswith("anchors.") for name in arrays)
    anchors = (Anchor(_weight(arrays), moments, 0),) * n_layers if anchored else None  # type: ignore[arg-type]
    return _fill(Broadcast(state, 0, anchors, 0, 0), arrays)  # type: ignore[arg-type]


def _weight(arrays: Arrays) -> Any:
    packed: Any = Factored(0, 0, 0)  # type: ignore[arg-type]
    return packed if any(name.endswith("weight.row") for name in arrays) else Moments(0, 0)  # type: ignore[arg-type]


def _fill(like: Any, arrays: Arrays) -> Any:
    return jax.tree_util.tree_map_with_path(lambda path, _: _array(arrays, path_name(path)), like)


def _array(arrays: Arrays, name: str) -> np.ndarray:
    older = name.replace(".prior_state.", ".chain.")  # its name up to version 0.1
    return arrays[older if name not in arrays and older in arrays else name]
