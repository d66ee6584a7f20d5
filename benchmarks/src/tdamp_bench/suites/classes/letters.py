"""Letters A-Z and a-z in DejaVu Sans, the font that matplotlib ships, drawn as MNIST's digits are.

A glyph is drawn large, tilted, shrunk (antialiased) until its longer side has `size` pixels, and its mass is centred in
28 x 28. Some look like digits (O, l, I, S, Z): they stay in, as they do in other sets of letters, so that no method can
tell all letters from digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from string import ascii_letters
from typing import Any

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .framed import BOX, framed

STYLES = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique", "DejaVuSans-BoldOblique")
SIZES = (16, 18, BOX)
"""Pixels of a letter's longer side: MNIST's digits have 20."""
DRAWN = 160
"""Pixels of the font as it is drawn, about eight times what is kept."""
PAGE = 3 * DRAWN
"""A page on which no glyph, tilted or not, meets the edge."""


def letters(tilts: Sequence[float]) -> np.ndarray:
    """Every letter in every style, tilt (degrees, anticlockwise) and size, (letters, 784) in [0, 1]."""
    return np.stack([picture.ravel() for picture in _pictures(tilts)])


def _pictures(tilts: Sequence[float]) -> Iterator[np.ndarray]:
    for style in STYLES:
        font = _font(style)
        for letter, tilt in product(ascii_letters, tilts):
            glyph = _glyph(letter, font).rotate(tilt, Image.Resampling.BICUBIC)
            glyph = glyph.crop(glyph.getbbox())
            for size in SIZES:
                share = size / max(glyph.size)
                shape = [max(1, round(share * side)) for side in glyph.size]
                small = glyph.resize(shape, Image.Resampling.BOX)
                yield framed(np.asarray(small, np.float32) / 255)


def _glyph(letter: str, font: Any) -> Any:
    """White on black in the middle of a large page."""
    page = Image.new("L", (PAGE, PAGE))
    ImageDraw.Draw(page).text((PAGE // 2, PAGE // 2), letter, 255, font, anchor="mm")
    return page


def _font(style: str) -> Any:
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    return ImageFont.truetype(folder / f"{style}.ttf", DRAWN)
