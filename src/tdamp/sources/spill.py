"""From a source to files in the engine's units: one pass reads, checks, learns scales and scatters the rows over the
disk; a second over those files scales them and puts them in a random order."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..engine.state import no_less_than_rounding
from ..prediction.relevance import MOST_ROWS
from ..training.data import Data
from ..training.equal_rows import Sample, salt_of
from ..training.stored import Rows, Stored, Streamed
from .reader import Reader, Shape
from .running_scales import RunningScales
from .shuffle import scatter, shuffled
from .source import Source

Tick = Callable[[int], None]
Scale = Callable[[np.ndarray], np.ndarray]

MOST_HELD = 10_000
"""Most rows that are held out to judge epochs: they are in memory, and more would add little."""


class Known(NamedTuple):
    """What one pass over a source has shown; rows of weight zero are left out."""

    shape: Shape
    n_rows: int
    x: RunningScales
    y: RunningScales
    labels: np.ndarray  # of a classification, as they appeared
    files: list[Path]  # rows x, y (labels by their place in `labels`), weight
    sample: Sample  # of their kinds: some may be held out
    largest_weight: float


@contextmanager
def spilling(folder: str | Path | None) -> Iterator[Path]:
    """A folder of its own for the rows, removed at the end, whatever happened; errors of a full disk say what to do."""
    try:
        with tempfile.TemporaryDirectory(prefix="tdamp-", dir=folder) as inside:
            yield Path(inside)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = folder or tempfile.gettempdir()
        raise OSError(
            error.errno,
            f"the disk of {where} is full: a fit from a source puts its rows there, 8 bytes a number; "
            "give the source a spill_dir with more room",
        ) from error


def read(source: Source, of_labels: bool, folder: Path, rng: np.random.Generator, tick: Tick | None = None) -> Known:
    """Read the source once; `tick` is called with the number of rows read so far."""
    reader = Reader(source, of_labels)
    labels: dict[object, int] = {}
    x, y = RunningScales(), RunningScales()
    sample, largest = Sample(MOST_HELD + 1, salt_of(rng)), [0.0]

    def records() -> Iterator[np.ndarray]:
        for chunk in reader.chunks():
            there = chunk.weight > 0
            if there.any():
                values, target, weight = (a[there] for a in chunk)
                target = _places(target, labels)[:, None] if target.ndim == 1 else target  # labels become numbers
                x.add(values, weight)
                y.add(target, weight)
                sample.add(values, target, weight)
                largest.append(float(weight.max()))
                yield np.column_stack([values, target, weight])
            if tick is not None:
                tick(reader.n_rows)

    files = scatter(records(), folder, rng)
    if reader.shape is None:
        raise ValueError(
            "the source has no rows; if it is an iterator it may have been gone through before: "
            "give a function that makes one"
        )
    if x.weight == 0:
        raise ValueError("the source has no row whose weight is above zero")
    numbers = sum(path.stat().st_size for path in files) // 8
    return Known(reader.shape, numbers // _width(reader.shape), x, y, _of_one_kind(labels), files, sample, max(largest))


def store(
    known: Known,
    to_x: Scale,
    to_y: Scale,
    folder: Path,
    held: int,
    rng: np.random.Generator,
    tick: Tick | None = None,
) -> Streamed:
    """The rows scaled by `to_x` and `to_y` and in random order; about `held` of them are not to be trained on."""
    n_inputs, n_read = known.shape.n_inputs, 0
    kinds_held, held_rows = known.sample.drawn(held / known.n_rows), list[list[np.ndarray]]()
    paths = [folder / name for name in ("x", "y", "weight")]
    kinds: list[tuple[np.dtype, tuple[int, ...]]] = []
    x_scales, y_scales = RunningScales(), RunningScales()
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, "wb")) for path in paths]
        for rows in shuffled(known.files, _width(known.shape), rng):
            parts = to_x(rows[:, :n_inputs]), to_y(rows[:, n_inputs:-1]), rows[:, -1].astype(np.float32)
            kinds = [(part.dtype, part.shape[1:]) for part in parts]
            away = kinds_held.has(rows[:, :n_inputs], rows[:, n_inputs:-1])
            held_rows.append([part[away] for part in parts])
            x, y, weight = here = [part[~away] for part in parts]
            for file, part in zip(files, here, strict=True):
                file.write(np.ascontiguousarray(part).data)
            if len(x):
                x_scales.add(x, weight.astype(np.float64))
                y_scales.add(y.reshape(len(y), -1), weight.astype(np.float64))
            n_read += len(rows)
            if tick is not None:
                tick(n_read)
    held_out = Data(*(np.concatenate(parts) for parts in zip(*held_rows, strict=True)))
    n_rows = n_read - held_out.n_rows
    whole = [Rows(path, kind, (n_rows, *shape)) for path, (kind, shape) in zip(paths, kinds, strict=True)]
    y_var = np.square(y_scales.std) if whole[1].dtype.kind == "f" else np.ones(())
    scales = no_less_than_rounding(x_scales.mean, float(np.square(x_scales.std).sum()), y_scales.mean, y_var)
    x_rows, y_rows, weights = whole
    stored = Stored(x_rows, y_rows, weights, scales)
    some = Data(*(rows[:MOST_ROWS] for rows in stored))
    return Streamed(stored, some, held_out if held_out.n_rows else None)


def _width(shape: Shape) -> int:
    return shape.n_inputs + shape.n_outputs + 1


def _places(y: np.ndarray, labels: dict[object, int]) -> np.ndarray:
    """Each label's place in the order in which they appeared."""
    different, which = np.unique(y, return_inverse=True)
    return np.array([labels.setdefault(label, len(labels)) for label in different.tolist()], np.float64)[which]


def _of_one_kind(labels: dict[object, int]) -> np.ndarray:
    text = [label for label in labels if isinstance(label, str)]
    if text and len(text) < len(labels):
        other = next(label for label in labels if not isinstance(label, str))
        raise ValueError(f"y has labels of different kinds, such as {text[0]!r} and {other!r}: give them one kind")
    return np.array(list(labels))
