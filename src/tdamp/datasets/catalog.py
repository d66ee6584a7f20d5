"""All data sets by name: what they hold, where they are, and how to get them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..engine.network import Task
from .boston import BOSTON
from .cifar10 import CIFAR10
from .errors import DataDamaged
from .fashion_mnist import FASHION_MNIST
from .fetch import fetch_into
from .folder import Folder, asked_folder, kept_folder, locate, may_replace, read
from .mnist import MNIST
from .pinned import DataSet
from .progress import Progress
from .uci import PARSERS, canonical


@dataclass(frozen=True)
class Entry:
    """A line of the catalog. `place` is the folder of a set that is there, None for an embedded one."""

    name: str
    rows: int
    inputs: int
    target: str
    task: Task
    package: str
    embedded: bool
    there: bool
    place: Path | None
    loader: str
    note: str = ""


IMAGES = MNIST, FASHION_MNIST, CIFAR10
FETCHED: dict[str, DataSet] = {data.name: data for data in (*IMAGES, BOSTON, *(data for data, _ in PARSERS.values()))}
_EMBEDDED: tuple[tuple[str, int, int, str, Task], ...] = (
    ("digits", 1797, 64, "digit", "classification"),
    ("diabetes", 442, 10, "disease progression", "regression"),
    ("breast_cancer", 569, 30, "malignant or benign", "classification"),
    ("wine", 178, 13, "cultivar", "classification"),
    ("iris", 150, 4, "species", "classification"),
)


def catalog(folder: Folder = None) -> list[Entry]:
    """Every data set, embedded ones first. Whether one is there is a matter of file names, not of content."""
    embedded = [
        Entry(*facts, "scikit-learn", True, True, None, f"sklearn.datasets.load_{facts[0]}()") for facts in _EMBEDDED
    ]
    return embedded + [_entry(data, folder) for data in FETCHED.values()]


def fetch(name: str, folder: Folder = None, *, progress: Progress = True) -> Path | None:
    """Make sure that a data set is there; returns its folder, or None for an embedded one, which has none.

    A set that is there is checked and not fetched again. A new one goes to `folder`, else to $TDAMP_DATA, else
    to the user's cache, which is where the loaders look for it.
    """
    plain = canonical(name)
    if plain in (facts[0] for facts in _EMBEDDED):
        return None
    if plain not in FETCHED:
        raise ValueError(f"There is no data set {name!r}. Choose one of: {', '.join(e.name for e in catalog())}.")
    data, place = FETCHED[plain], locate(FETCHED[plain], folder)
    if place is not None:
        try:
            read(data, place)
            return place.path
        except DataDamaged:
            if not may_replace(place, folder):
                raise
    root = asked_folder(folder) or kept_folder()
    fetch_into(data, root, progress)
    return root / data.name


def _entry(data: DataSet, folder: Folder) -> Entry:
    place = locate(data, folder)
    call = f"load_uci({data.name!r})" if data.name in PARSERS else f"load_{data.name}()"
    return Entry(
        name=data.name,
        rows=data.rows,
        inputs=data.inputs,
        target=data.target,
        task=data.task,
        package=data.carrier.label,
        embedded=False,
        there=place is not None,
        place=place.path if place else None,
        loader=f"tdamp.datasets.{call}",
        note=data.note,
    )
