"""From a user's file to a numeric matrix and back: `read_table`, `Encoder`."""

from .encoder import Encoder
from .errors import MissingLibrary, TableError, TableWarning
from .read import read_table

__all__ = ["Encoder", "MissingLibrary", "TableError", "TableWarning", "read_table"]
