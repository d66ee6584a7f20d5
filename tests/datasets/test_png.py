"""PNG files: every filter against the specification's own words, colour types, and files that are refused."""

import io
import struct
import zlib

import numpy as np
import pytest

from tdamp.datasets.png import AVERAGE, NONE, PAETH, SUB, UP, read_png

TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
"""Colour types by their channels."""


def chunk(kind, content):
    """Length, kind, content, check sum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def header(width, height, depth=8, colour=2, interlaced=0):
    """The first chunk."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def png(*chunks):
    """A file of these chunks and the last one."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + chunk(b"IEND", b"")


def paeth(a, b, c):
    """The predictor in the words of the specification: a is to the left, b above, c above a."""
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    if pa <= pb and pa <= pc:
        return a
    return b if pb <= pc else c


def filtered(pixels, filters):
    """Rows with a byte for their filter and what its guess leaves over, by loops over bytes."""
    height, width, channels = pixels.shape
    lines = bytearray()
    for y in range(height):
        lines.append(filters[y])
        for x in range(width):
            for k in range(channels):
                a = int(pixels[y, x - 1, k]) if x else 0
                b = int(pixels[y - 1, x, k]) if y else 0
                c = int(pixels[y - 1, x - 1, k]) if x and y else 0
                guess = {NONE: 0, SUB: a, UP: b, AVERAGE: (a + b) // 2, PAETH: paeth(a, b, c)}[filters[y]]
                lines.append((int(pixels[y, x, k]) - guess) % 256)
    return bytes(lines)


def written(pixels, filters, *between):
    """A whole file; `between` are chunks before the pixels, which lie in two chunks."""
    height, width, channels = pixels.shape
    packed = zlib.compress(filtered(pixels, filters))
    parts = chunk(b"IDAT", packed[:7]), chunk(b"IDAT", packed[7:])
    return png(header(width, height, colour=TYPES[channels]), *between, *parts)


def noise(shape, seed=0):
    """Bytes of every size, with flat stretches where the predictor has ties."""
    pixels = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    pixels[:, shape[1] // 2 :] //= 64
    return pixels


@pytest.mark.parametrize("channels", TYPES)
@pytest.mark.parametrize("kind", [NONE, SUB, UP, AVERAGE, PAETH])
def test_each_filter(kind, channels):
    """identity: an encoder of loops over bytes, in the first row too, which has nothing above."""
    pixels = noise((4, 9, channels))
    read = read_png(written(pixels, [kind] * 4))
    np.testing.assert_array_equal(read, pixels)
    assert read.dtype == np.uint8


@pytest.mark.parametrize("seed", range(5))
def test_filters_mixed(seed):
    """identity: rows in any order of filters, so that each stands on a row of each other; and further chunks."""
    rng = np.random.default_rng(seed)
    pixels, filters = noise((40, 7, 3), seed), rng.integers(0, 5, 40)
    between = chunk(b"gAMA", struct.pack(">I", 45455)), chunk(b"PLTE", bytes(3))
    np.testing.assert_array_equal(read_png(written(pixels, filters, *between)), pixels)


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3), ("RGBA", 4)])
def test_files_of_another_library(mode, channels):
    """twin: Pillow writes smooth pixels, with filters of its own choice, and reads ours."""
    image = pytest.importorskip("PIL.Image")
    pixels = noise((30, 20, channels)).cumsum(0).cumsum(1).astype(np.uint8)
    file = io.BytesIO()
    image.fromarray(pixels.squeeze(), mode).save(file, "PNG")
    np.testing.assert_array_equal(read_png(file.getvalue()), pixels)
    ours = image.open(io.BytesIO(written(pixels, np.arange(30) % 5)))
    np.testing.assert_array_equal(np.asarray(ours).reshape(pixels.shape), pixels)


PIXELS = noise((2, 3, 3))
WHOLE = written(PIXELS, [SUB, PAETH])
DATA = chunk(b"IDAT", zlib.compress(filtered(PIXELS, [NONE, NONE])))
REFUSED = {
    "not a PNG": (b"GIF89a", "not a PNG"),
    "cut short": (WHOLE[:-13], "inside a chunk"),
    "cut in a chunk": (WHOLE[:60], "inside a chunk"),
    "no chunk": (WHOLE[:8], "inside a chunk"),
    "a bit changed": (WHOLE[:50] + bytes([WHOLE[50] ^ 1]) + WHOLE[51:], "check sum"),
    "no header": (png(DATA), "no header"),
    "a short header": (png(chunk(b"IHDR", b"\0\0\0\1"), DATA), "no header"),
    "no pixels": (png(header(0, 2), DATA), "no pixels"),
    "16 bits": (png(header(3, 2, depth=16), DATA), "16 bits"),
    "a palette": (png(header(3, 2, colour=3), DATA), "colour type 3"),
    "interlaced": (png(header(3, 2, interlaced=1), DATA), "interlacing 1"),
    "a foreign chunk that matters": (png(header(3, 2), chunk(b"NEWS", b""), DATA), "NEWS"),
    "no data": (png(header(3, 2)), "the 20 bytes"),
    "too few pixels": (png(header(3, 3), DATA), "the 30 bytes"),
    "too many pixels": (png(header(3, 1), DATA), "the 10 bytes"),
    "not packed": (png(header(3, 2), chunk(b"IDAT", b"no zlib")), "unpacked"),
    "a sixth filter": (png(header(3, 1), chunk(b"IDAT", zlib.compress(b"\5" + bytes(9)))), "filter 5"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused(name):
    """contract: an error that names the file and what is wrong with it."""
    raw, words = REFUSED[name]
    with pytest.raises(ValueError, match=rf"x\.png.*{words}"):
        read_png(raw, "x.png")
