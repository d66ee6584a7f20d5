"""Pixels out of a PNG file, with zlib and NumPy alone: 8 bits a channel, not interlaced, no palette.

A row is stored as what a guess from known neighbours leaves over, in one of five ways, the filters. Rows of Sub do not
need the row above and are undone all at once, one of Up in one step, and those of Average and Paeth byte by byte.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""By colour type: grey, RGB, grey with alpha, RGB with alpha."""
NONE, SUB, UP, AVERAGE, PAETH = range(5)


def read_png(raw: bytes, name: str = "file") -> np.ndarray:
    """Pixels (height, width, channels) as bytes; colours and transparency as stored, without gamma or profile."""
    header, packed = b"", []
    for kind, content in _chunks(raw, name):
        if kind == b"IHDR":
            header = content
        elif kind == b"IDAT":
            packed.append(content)
        elif kind != b"IEND" and kind[:1].isupper() and kind != b"PLTE":  # PLTE is a mere hint to these colour types
            raise ValueError(f"{name} has a chunk {kind!r}, without which its pixels cannot be understood")
    if len(header) != 13:
        raise ValueError(f"{name} has no header")
    width, height = (int.from_bytes(header[at : at + 4], "big") for at in (0, 4))
    if not width or not height:
        raise ValueError(f"{name} has no pixels")
    depth, colour, compression, filters, interlaced = header[8:]
    if depth != 8 or colour not in _CHANNELS or compression or filters or interlaced:
        raise ValueError(
            f"{name} has {depth} bits, colour type {colour} and interlacing {interlaced}; 8 bits of grey, RGB or "
            f"either with alpha, without interlacing, can be read"
        )
    size = height * (1 + width * _CHANNELS[colour])
    return _unfiltered(_unpacked(packed, size, name).reshape(height, -1), _CHANNELS[colour], name)


def _chunks(raw: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk: length, kind, content, check sum."""
    if not raw.startswith(_SIGNATURE):
        raise ValueError(f"{name} is not a PNG file")
    at, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        size, kind = int.from_bytes(raw[at : at + 4], "big"), raw[at + 4 : at + 8]
        content, check = raw[at + 8 : at + 8 + size], raw[at + 8 + size : at + 12 + size]
        if len(check) != 4:
            raise ValueError(f"{name} ends at byte {len(raw)}, inside a chunk")
        if zlib.crc32(content, zlib.crc32(kind)) != int.from_bytes(check, "big"):
            raise ValueError(f"{name} is damaged: the check sum of the chunk at byte {at} is wrong")
        yield kind, content
        at += 12 + size


def _unpacked(packed: list[bytes], size: int, name: str) -> np.ndarray:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(b"".join(packed), size + 1)
    except zlib.error as error:
        raise ValueError(f"{name} is damaged: its pixels cannot be unpacked ({error})") from error
    if len(data) != size:
        raise ValueError(f"{name} does not hold the {size} bytes of pixels that its header promises")
    return np.frombuffer(data, np.uint8)


def _unfiltered(lines: np.ndarray, channels: int, name: str) -> np.ndarray:
    """Pixels of rows that begin with a byte for their filter."""
    kinds, rows = lines[:, 0], lines[:, 1:].reshape(len(lines), -1, channels).copy()
    if kinds.max() > PAETH:
        raise ValueError(f"{name} has a row with the filter {kinds.max()}, which does not exist")
    rows[kinds == SUB] = np.cumsum(rows[kinds == SUB], axis=1, dtype=np.uint8)  # modulo 256, as all of it
    nothing = np.zeros_like(rows[0])
    for at in np.flatnonzero(kinds >= UP):
        above = rows[at - 1] if at else nothing
        if kinds[at] == UP:
            rows[at] += above
        else:
            guess = _mean if kinds[at] == AVERAGE else _paeth
            rows[at] = np.array(_along(rows[at].ravel(), above.ravel(), channels, guess), np.uint8).reshape(above.shape)
    return rows


def _along(row: np.ndarray, above: np.ndarray, channels: int, guess: Callable[[int, int, int], int]) -> list[int]:
    """Bytes from left to right, each the sum of what is stored and a guess from those to the left and above."""
    outside = [0] * channels
    known, up = outside + row.tolist(), outside + above.tolist()
    for at in range(channels, len(known)):
        known[at] = (known[at] + guess(known[at - channels], up[at], up[at - channels])) & 255
    return known[channels:]


def _mean(left: int, up: int, corner: int) -> int:
    return (left + up) // 2


def _paeth(left: int, up: int, corner: int) -> int:
    """That of the three which is nearest to left + up - corner; the first of those that are equally near."""
    plane = left + up - corner
    return min((left, up, corner), key=lambda value: abs(plane - value))
