"""Data larger than memory: Parquet files, NumPy files, batches of an iterator. `fit` takes them in place of X and y."""

from .batches import Batches
from .memmap import MemMap
from .parquet import Parquet
from .source import Source

__all__ = ["Batches", "MemMap", "Parquet", "Source"]
