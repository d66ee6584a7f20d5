"""The page in a real browser: nothing fails, everything is drawn, nothing sticks out, dark mode can be read."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.guard import HANGS
from helpers.report_examples import classification, regression
from tdamp.report import write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {
    "classes": lambda: classification(10, classes=tuple(f"a long class name {i}" for i in range(10))),
    "table": regression,
    "columns": lambda: regression(784, outputs=3, feature_names=tuple(f"{'very_' * 9}long_{i}" for i in range(784))),
    "bare": lambda: regression(held=None, epochs=1),
}

DRAWN = """() => [...document.querySelectorAll('figure.picture svg')].map(svg =>
  [...svg.querySelectorAll('path, use, image')].map(e => e.getBoundingClientRect())
    .filter(b => b.width > 2 || b.height > 2).length)"""

OUTSIDE = """() => [...document.querySelectorAll('body *')]
  .filter(e => !e.closest('.scroll, clipPath, defs') && e.getBoundingClientRect().right > innerWidth + 0.5)
  .map(e => e.outerHTML.slice(0, 80))"""

CUT = """() => [...document.querySelectorAll('figure.picture svg')].flatMap(svg => {
  const a = svg.getBoundingClientRect();
  const sticks = b => b.left < a.left - 1 || b.right > a.right + 1 || b.top < a.top - 1 || b.bottom > a.bottom + 1;
  return [...svg.querySelectorAll('text')].filter(t => sticks(t.getBoundingClientRect())).map(t => t.textContent);
})"""

CLASHES = """() => [...document.querySelectorAll('figure.picture')].flatMap(figure => {
  const found = [...figure.querySelectorAll('svg text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  const wide = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2;
  const high = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return found.flatMap(([s, a], i) => found.slice(i + 1).filter(([t, b]) => wide(a, b) && high(a, b))
    .map(([t, b]) => [figure.id, s, t]));
})"""

TEXT_SIZES = """() => [...document.querySelectorAll('svg text')].map(t => {
  const svg = t.ownerSVGElement;
  return parseFloat(getComputedStyle(t).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
})"""

# WCAG's contrast of a text's colour with the nearest background behind it, for every element that holds text itself
CONTRASTS = """() => {
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.map(v => linear(v / 255)); return .2126 * r + .7152 * g + .0722 * b; };
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const holds = e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('body *')].filter(holds).map(e => {
    const style = getComputedStyle(e);
    const text = light(parts(e.namespaceURI.endsWith('svg') ? style.fill : style.color).slice(0, 3));
    const page = light(behind(e));
    return [(Math.max(text, page) + .05) / (Math.min(text, page) + .05), e.textContent.slice(0, 30)];
  });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, or a reason to skip."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on the PATH")
    with playwright.sync_playwright() as p:
        result = p.chromium.launch(executable_path=BROWSER, args=ARGS, timeout=1000 * HANGS)
        yield result
        result.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every example as a file."""
    folder = tmp_path_factory.mktemp("reports")
    for name, make in SIZES.items():
        write_report(make(), folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in SIZES}


@pytest.fixture
def visit(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Open a page; at the end no error was told and no file but the page was asked for."""
    opened, troubles, asked = [], [], []

    def go(name: str, width: int, scheme: str = "light") -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.set_default_timeout(1000 * HANGS)
        opened.append(page)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("requestfailed", lambda request: troubles.append(request.url))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(files[name].as_uri())
        page.wait_for_load_state("load")
        return page

    yield go
    for page in opened:
        page.close()
    assert troubles == []
    assert [url[:60] for url in asked if not url.startswith(("data:image/png", "file:"))] == []
    assert len({url for url in asked if url.startswith("file:")}) == len({page.url for page in opened} or opened)


@pytest.mark.parametrize("name", SIZES)
def test_every_picture_is_drawn(visit: Any, name: str) -> None:
    """contract: every drawing has shapes of some extent, and its screenshot many colours, the data's among them."""
    from PIL import Image

    page = visit(name, 1280)
    pictures = page.locator("figure.picture svg")
    assert pictures.count() >= 5
    boxes = page.evaluate(DRAWN)
    assert min(boxes) >= 4
    for i in range(pictures.count()):
        pixels = np.asarray(Image.open(io.BytesIO(pictures.nth(i).screenshot())).convert("RGB")).reshape(-1, 3)
        colours, count = np.unique(pixels, axis=0, return_counts=True)
        assert len(colours) > 20 and count.max() < 0.995 * len(pixels)
        strong = np.ptp(pixels.astype(int), axis=1) > 35  # data has colour; axes, grid and text are nearly grey
        assert strong.sum() > 15


@pytest.mark.parametrize("width", [360, 800, 1280])
@pytest.mark.parametrize("name", SIZES)
def test_nothing_sticks_out(visit: Any, name: str, width: int) -> None:
    """contract: the page does not scroll sideways, only tables in their boxes; pictures keep their text inside."""
    page = visit(name, width)
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(OUTSIDE)
    assert outside == []
    cut = page.evaluate(CUT)
    assert cut == []


@pytest.mark.parametrize("name", SIZES)
def test_labels_do_not_overlap(visit: Any, name: str) -> None:
    """contract: no two texts of a picture share more than a sliver of their boxes."""
    clashes = visit(name, 360).evaluate(CLASHES)
    assert clashes == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["classes", "table"])
def test_text_can_be_read(visit: Any, name: str, scheme: str) -> None:
    """contract: every text has WCAG's contrast of 4.5 with what is behind it; none is below 9 pixels."""
    page = visit(name, 360, scheme)
    result = page.evaluate(CONTRASTS)
    assert len(result) > 100
    assert [text for contrast, text in result if contrast < 4.5] == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 29)"
    assert dark == (scheme == "dark")
    heights = page.evaluate(TEXT_SIZES)
    assert min(heights) >= 9


def test_print(visit: Any) -> None:
    """contract: on paper the page is light whatever the screen was, and becomes a PDF of a few pages."""
    page = visit("classes", 800, "dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('svg text')).fill") == "rgb(90, 104, 118)"
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF") and 1 <= pdf.count(b"/Type /Page\n") <= 8
