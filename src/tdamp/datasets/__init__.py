"""Data sets: a few from scikit-learn; images, Boston and five UCI tables from packages, checked by SHA-256."""

from .boston import load_boston
from .catalog import Entry, catalog, fetch
from .cifar10 import CIFAR10_CLASSES, load_cifar10
from .errors import DataDamaged, DataNotFound
from .fashion_mnist import FASHION_MNIST_CLASSES, load_fashion_mnist
from .images import Images
from .mnist import Digits, load_mnist
from .tables import Table
from .uci import load_uci

__all__ = [
    "CIFAR10_CLASSES",
    "FASHION_MNIST_CLASSES",
    "DataDamaged",
    "DataNotFound",
    "Digits",
    "Entry",
    "Images",
    "Table",
    "catalog",
    "fetch",
    "load_boston",
    "load_cifar10",
    "load_fashion_mnist",
    "load_mnist",
    "load_uci",
]
