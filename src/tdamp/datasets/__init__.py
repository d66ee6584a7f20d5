"""Data sets the benchmarks use, read from a local folder."""

from .boston import load_boston
from .folder import DataNotFound
from .mnist import load_mnist

__all__ = ["DataNotFound", "load_boston", "load_mnist"]
