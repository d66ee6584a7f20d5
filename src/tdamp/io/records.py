"""Files of arrays and JSON with a checksum.

A line with the SHA-256 of all that follows it, then safetensors; the JSON is one of the arrays. There is no pickle:
nothing in such a file is ever executed. It is written whole or not at all (`atomic.write_whole`).
"""

from __future__ import annotations

import hashlib
import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import numpy as safetensors

from .atomic import write_whole

TITLE = b"tdamp record "
PIECE = 2**24
"""Bytes that are hashed at a time: a memory map need not fit into memory."""
WORDS = "words"
"""The name of the array that holds the JSON."""

Arrays = dict[str, np.ndarray]


class Damaged(ValueError):
    """A file is not what was written."""


def write(path: Path, arrays: Arrays, words: dict[str, Any]) -> None:
    """Replace the file; numbers keep every bit, in the words too (NaN among them)."""
    text = np.frombuffer(json.dumps(words).encode(), np.uint8)
    body = safetensors.save({**{name: np.array(a, order="C") for name, a in arrays.items()}, WORDS: text})
    write_whole(path, TITLE + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and words, or Damaged."""
    title, _, body = path.read_bytes().partition(b"\n")
    if title != TITLE + hashlib.sha256(body).hexdigest().encode():
        raise Damaged(f"{path.name}: its SHA-256 is not the one in its first line")
    arrays = {name: np.array(array) for name, array in safetensors.load(body).items()}  # to be written to, too
    return arrays, json.loads(arrays.pop(WORDS).tobytes())


def below(arrays: Arrays, place: str) -> Arrays:
    """The arrays whose names begin with `place` and a dot, by the rest of their names."""
    return {name[len(place) + 1 :]: array for name, array in arrays.items() if name.startswith(f"{place}.")}


def digest(array: Any) -> str:
    """SHA-256 of an array's type, shape and content, row by row; rows may lie in files."""
    hashed = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
    rows = array if array.shape else np.atleast_1d(array)
    step = max(1, PIECE // max(1, prod(rows.shape[1:]) * rows.dtype.itemsize))
    for first in range(0, len(rows), step):
        hashed.update(np.ascontiguousarray(rows[first : first + step]).data)
    return hashed.hexdigest()
