"""Ways to spoil a file: bytes that are flipped, cut, doubled, swapped or overwritten, and JSON with other values."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

HUGE = [10**30, -(10**400), 1e308, -1e308, 5e-324, 2**63, -1, 0, 2**31, 1.5]
TYPES: list[Any] = [
    None,
    True,
    False,
    "",
    "x",
    "os.system('true')",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    "1",
    -0.0,
]
PLAUSIBLE: list[Any] = [
    "TDAMPClassifier",
    "TDAMPRegressor",
    "abs",
    "classification",
    "regression",
    "group",
    "auto",
    2,
    3,
]
VALUES = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 1e38, -1e38, 1e-45, 1e300, 1e19, 1e-300, 2.0, 7.0]
DEEP = 2000  # levels, beyond Python's limit
HEADER_BYTES = 8  # of safetensors: the length of its header


def spoiled(content: bytes, rng: random.Random) -> bytes:
    """One mutation, or a few of them."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        content = rng.choice(BYTES)(content, rng)
    return content


def _place(content: bytes, rng: random.Random) -> int:
    """Anywhere, more often near the beginning, where headers are."""
    size = max(len(content), 1)
    return rng.randrange(size) if rng.random() < 0.6 else rng.randrange(min(size, 64))


def flip(content: bytes, rng: random.Random) -> bytes:
    """One bit."""
    if not content:
        return b"\1"
    at = _place(content, rng)
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def overwrite(content: bytes, rng: random.Random) -> bytes:
    """A few bytes by others: random ones, zeros, or ones."""
    at, size = _place(content, rng), rng.choice([1, 2, 4, 8, 16])
    piece = rng.choice([rng.randbytes(size), bytes(size), b"\xff" * size])
    return content[:at] + piece + content[at + size :]


def truncate(content: bytes, rng: random.Random) -> bytes:
    """The end, or the beginning, is gone."""
    at = rng.randrange(len(content) + 1)
    return content[:at] if rng.random() < 0.7 else content[at:]


def duplicate(content: bytes, rng: random.Random) -> bytes:
    """A region comes twice."""
    a, b = sorted((_place(content, rng), _place(content, rng)))
    return content[:b] + content[a:b] + content[b:]


def swap(content: bytes, rng: random.Random) -> bytes:
    """Two neighbouring regions change places."""
    a, b, c = sorted(_place(content, rng) for _ in range(3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def lie(content: bytes, rng: random.Random) -> bytes:
    """The length of safetensors' header, or whatever stands first."""
    length = rng.choice([0, 1, len(content), len(content) + 1, 2**31, 2**63 - 1, 2**64 - 1, rng.randrange(2**16)])
    return length.to_bytes(HEADER_BYTES, "little") + content[HEADER_BYTES:]


BYTES = [flip, flip, overwrite, truncate, duplicate, swap, lie]


def other_json(value: Any, rng: random.Random) -> Any:
    """The same document with one or two entries changed, gone, or put elsewhere."""
    document = json.loads(json.dumps(value))
    for _ in range(rng.choice([1, 1, 2])):
        places = list(_places(document))
        holder, key = rng.choice(places)
        choice = rng.random()
        if choice < 0.1:
            del holder[key]
        elif choice < 0.2:
            holder[key] = _nested(rng.choice([50, DEEP]), rng)
        elif choice < 0.3:
            other, place = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[place])) if _there(other, place) else None
        elif choice < 0.4 and isinstance(holder, dict):
            holder[rng.choice(["x", "", "__class__", "widths", "format"])] = rng.choice(TYPES)
        else:
            holder[key] = _near(holder[key], rng)
    return document


def other_arrays(arrays: dict[str, np.ndarray], rng: random.Random) -> dict[str, np.ndarray]:
    """One array with other values, of another shape or type, under another name, or gone."""
    name = rng.choice(sorted(arrays))
    array, rest = arrays[name], {k: v for k, v in arrays.items() if k != name}
    flat = array.ravel().copy()
    if flat.size and rng.random() < 0.6:
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = np.array(rng.choice(VALUES)).astype(flat.dtype)
        return {**rest, name: flat.reshape(array.shape)}
    with np.errstate(all="ignore"):
        changed = [
            array[None],
            array[..., :0] if array.ndim else array,
            array.astype(np.float16),
            array > 0,
            array * -1.0,
        ]
    other = rng.choice(sorted(arrays))
    return rng.choice(
        [rest, {**rest, name: rng.choice(changed)}, {**arrays, name: arrays[other]}, {**rest, "x": array}]
    )


def _near(value: Any, rng: random.Random) -> Any:
    if isinstance(value, int | float) and rng.random() < 0.5:
        return rng.choice([value + 1, -value, value * 2, value * 1e30, 0, rng.choice(HUGE)])
    if isinstance(value, list) and rng.random() < 0.5:
        return rng.choice([value[1:], value + value, value[::-1], value[:1]])
    return rng.choice(rng.choice([HUGE, TYPES, PLAUSIBLE]))


def _nested(depth: int, rng: random.Random) -> Any:
    value: Any = 1
    for _ in range(min(depth, 400)):  # what json.dumps can write; deeper ones are made of bytes
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def _there(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _places(value: Any) -> Any:
    """Every (holder, key) below a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)
