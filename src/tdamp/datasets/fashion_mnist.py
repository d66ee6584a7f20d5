"""Fashion-MNIST: 60,000 and 10,000 grey images of clothing, 28 x 28, in four files with the names of MNIST's.

What the package carries is bit for bit what its authors publish: with their file names and times put back into the
headers of gzip, the packed files have the MD5 sums in their README.
"""

from __future__ import annotations

from .fetch import obtain
from .folder import Folder
from .images import Images
from .mnist import FASHION_LABELS, IDX, read_images
from .pinned import DataSet, DebianPackage, File
from .progress import Progress

FASHION_MNIST_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
FOLDER = "usr/share/datasets/fashion-mnist"
"""Where the package has the files; on a machine where it is installed they can be read there."""
SHA256 = (
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    FASHION_LABELS.sha256,
)
FILES = tuple(File(file.name, sha256, f"{FOLDER}/{file.name}") for file, sha256 in zip(IDX, SHA256, strict=True))
FASHION_MNIST = DataSet(
    name="fashion_mnist",
    rows=70_000,
    inputs=784,
    target="kind of clothing",
    task="classification",
    carrier=DebianPackage("dataset-fashion-mnist", 30_900_652),
    members=FILES,
    forms=(FILES,),
    note="60,000 rows to train on, 10,000 to test on",
    foreign=(IDX[-1],),
)


def load_fashion_mnist(folder: Folder = None, *, verify: bool = True, progress: Progress = True) -> Images:
    """Read Fashion-MNIST from `folder`, $TDAMP_DATA, `shared/data` beside the checkout, or fetch it, in this order.

    Labels are places in `FASHION_MNIST_CLASSES`. What is fetched (30.9 MB, once, by apt-get on Debian, Ubuntu and the
    like, as a user) is kept in the user's cache. On other systems put the four idx files of its authors, which have the
    names of MNIST's, into a folder, or into its subfolder `fashion_mnist`. Where the Debian package
    dataset-fashion-mnist is installed, `folder="/usr/share/datasets/fashion-mnist"` reads it. `verify=False` reads
    other images in the same format from a folder of your own.
    """
    return read_images(obtain(FASHION_MNIST, folder, verify, progress))
