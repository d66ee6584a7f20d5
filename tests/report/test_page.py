"""The page as text: its parts, what is escaped, what it never contains, and the edges of what it may be given.

covers: report.axes, report.canvas, report.facts, report.plots.classes, report.plots.regression
covers: report.plots.training, report.plots.units, report.summary, report.tables, report.text, report.uncertain
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from helpers.report_examples import NASTY, classification, history, regression
from tdamp._optional import MissingExtra
from tdamp.numerics.distribution import CountDistribution
from tdamp.report import Facts, Held, render, write_report
from tdamp.report import page as page_module
from tdamp.report.plots import training
from tdamp.report.plots.classes import wilson
from tdamp.report.text import NO_BREAK, duration, number, percent, plain, short
from tdamp.training.pruning_loss import PruningLoss

VOID = {"meta", "img", "br", "link"}
TRAINING = ["evidence", "noise", "units"]
CLASS = ["reliability", "selective", "confusion", "inputs", "hidden", "frontier", *TRAINING]
NUMBERS = ["scatter", "coverage", "pit", "inputs", "hidden", *TRAINING]


class Page(HTMLParser):
    """Tags, ids, references, text; raises AssertionError where an end tag does not fit its start tag."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.pictures: list[str] = []
        self.drawn: Counter[str] = Counter()
        self.text = ""
        self.captions: dict[str, str] = {}
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, attrs)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> without its start"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data + " "
            if "figcaption" in self.open and self.pictures:
                self.captions.setdefault(self.pictures[-1], data)

    def _see(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        result = dict(attrs)
        self.tags[tag] += 1
        self.attributes += attrs
        if "id" in result:
            self.ids.append(result["id"] or "")
        if tag == "figure" and "picture" in (result.get("class") or ""):
            self.pictures.append(result["id"] or "")
        if tag in ("path", "use", "image") and "svg" in self.open:
            self.drawn[self.pictures[-1]] += 1
        for value in result.values():
            self.references += re.findall(r"(?:^#|url\(#)([^)\s]+)", value or "")


UNSCORED = {"held": None, "history": []}
HOLES = [
    {"keep": 9, "units": 3, "error": 0.1},
    {"units": 5, "error": np.nan},
    {"units": 4, "error": 0.0, "log_score": None},
]
GOALS = [
    {"keep": keep, "units": 3 + i, "error": 0.1, "warned": i == 0}
    for i, keep in enumerate(("auto", (1.0, 0.3, np.float64(0.5)), 12, 1, 0.25, 1.0))
]
LEVEL = [{**record, "noise_var": [0.3], "log_evidence": 0.0} for record in history(9, (7, 9, 5), 1, held_out=False)]
FLAT = {"widths": (7, 1), "widths_left": (7, 1), "active_prob": (np.ones(7),), "history": history(3, (7, 1), 1)}

EDGES = {
    "classes": (classification(), CLASS),
    "table": (regression(), NUMBERS),
    "two classes, empty path": (classification(2, frontier=[]), [name for name in CLASS if name != "frontier"]),
    "many classes, no epoch": (classification(40, history=[]), ["reliability", "selective", *CLASS[3:6]]),
    "784 pixels, not scored, no path": (classification(widths=(784, 20, 10), frontier=None, **UNSCORED), CLASS[3:5]),
    "784 columns, three outputs": (
        regression(784, outputs=3, history=[]),
        [*NUMBERS[:3], *(f"{name}-{i}" for i in (1, 2) for name in NUMBERS[:3]), "inputs", "hidden"],
    ),
    "seven outputs, not scored": (regression(outputs=7, held=None), NUMBERS[3:]),
    "one column, one epoch": (regression(1, epochs=1), NUMBERS),
    "200 epochs, not scored": (classification(epochs=200, held=None), CLASS[3:]),
    "one of a path": (
        classification(frontier=[{"keep": 1.0, "units": 3, "params": 9, "error": 0.1}], **UNSCORED),
        CLASS[3:6],
    ),
    "path with holes": (classification(frontier=HOLES, **UNSCORED), CLASS[3:6]),
    "path with goals of every kind": (classification(frontier=GOALS, **UNSCORED), CLASS[3:6]),
    "constant noise and evidence": (regression(history=LEVEL, held=None), NUMBERS[3:]),
    "no hidden layer": (regression(held=None, **FLAT), ["inputs", *TRAINING]),
    "one row": (regression(held=Held(np.ones(1), np.ones(1), np.ones(1), np.ones(1)), history=[]), NUMBERS[:5]),
    "never wrong": (classification(held=Held(np.arange(3), probs=np.eye(3)), history=[]), CLASS[:6]),
    "one input left": (regression(active_prob=(np.eye(7)[0], np.zeros(9), np.zeros(5)), **UNSCORED), NUMBERS[3:5]),
}


PATH = [
    {"units": 9, "params": 90, "error": 0.1, "error_se": 0.02, "log_score": -0.5, "lost": 0.0, "lost_se": 0.0},
    {"units": 6, "params": 50, "error": 0.11, "lost": 0.02, "lost_se": 0.03, "removed": ("<a>", "b")},
    {"units": 3, "params": 20, "error": 0.2, "lost": 0.4, "lost_se": 0.05, "removed": tuple("cdefghijk")},
]


def test_a_path_with_errors_and_names() -> None:
    """contract: errors stand beside their values, removed columns by name, and the smallest good network is marked."""
    page = render(classification(frontier=PATH))
    assert "10 % ± 2 %".replace(" %", NO_BREAK + "%") in page and "columns removed" in page
    assert "&lt;a&gt;, b" in page and "c, d, e, f, g, h and 3 more" in page
    assert "Bars are standard errors." in page and "The dotted line is at the smallest network" in page
    assert "The dotted line" not in render(classification())


def test_groups_are_counted() -> None:
    """contract: how many are left of those that keep counts, where units were to go."""
    assert "42 of 61" in render(classification(groups=(42, 61)))
    assert "what keep counts" not in render(classification())


def test_goals_and_warnings_of_a_path() -> None:
    """contract: a share, a number, shares of the layers and "auto" stand there as they were asked for; a fit that
    warned is marked, and without that column nothing is said."""
    page = render(classification(frontier=GOALS)).replace(NO_BREAK, " ")
    assert all(f"<td>{text}</td>" in page for text in ("auto", "100 %, 30 %, 50 %", "12", "1", "25 %", "100 %"))
    assert page.count("<td>yes</td>") == 1 and page.count("<td>no</td>") == len(GOALS) - 1
    assert "warned" not in render(classification(frontier=PATH))


def test_what_pruning_costs_is_shown() -> None:
    """contract: the loss with its standard error, and whether it is more than chance."""
    for after, verdict in ((0.89, "or little"), (0.7, "use a larger keep")):
        page = render(classification(pruning=PruningLoss(-0.3, -0.31, 0.02, 0.9, after, 0.02, 0.5)))
        assert "Lost by pruning" in page and verdict in page
    assert "Lost by pruning" not in render(classification())


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Every example as a page, made once."""
    return {name: render(facts) for name, (facts, _) in EDGES.items()}


@pytest.mark.parametrize("name", EDGES)
def test_pictures_are_there_and_the_page_is_sound(pages: dict[str, str], name: str) -> None:
    """contract: tags close; each picture stands once, drawn and with its sentence; ids fit references."""
    page, expected = Page(pages[name]), EDGES[name][1]
    assert page.pictures == expected
    assert page.tags["svg"] == len(page.pictures) == len(set(page.pictures))
    for one in page.pictures:
        assert page.drawn[one] >= 3
        assert page.captions[one].endswith(".") and len(page.captions[one]) > 40
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)
    labels = [value for key, value in page.attributes if key == "aria-label"]
    assert len(labels) >= page.tags["svg"] and all(labels)


@pytest.mark.parametrize("name", EDGES)
def test_nothing_is_loaded_and_nothing_is_nan(pages: dict[str, str], name: str) -> None:
    """contract: no address, script, event handler or import; no number that is not finite."""
    text, page = pages[name], Page(pages[name])
    assert not re.search(r"https?://|@import|@font-face|javascript:", text)
    assert not {"script", "link", "iframe", "object", "embed"} & set(page.tags)
    assert not [key for key, _ in page.attributes if key.startswith("on")]
    assert all(
        (v or "").startswith(("data:image/png;base64,", "#")) for k, v in page.attributes if k in ("src", "href")
    )
    drawn = [v or "" for k, v in page.attributes if k in ("d", "x", "y", "transform", "viewbox", "aria-label", "alt")]
    assert len(drawn) > 20
    assert not [v for v in (page.text, *drawn) if re.search(r"\b(nan|inf|none)\b", v, re.IGNORECASE)]


def test_hostile_names_are_harmless(pages: dict[str, str]) -> None:
    """contract: names come back as text, in the picture and in the table, and make no tag or attribute."""
    text, page = pages["table"], Page(pages["table"])
    assert "<script" not in text and page.tags["script"] == 0
    for name in NASTY:
        assert page.text.count(short(name, 20)) >= 2, name
    evil = Facts(
        **{**vars(classification()), "title": "</title><script>x</script>", "notes": ("<b>&", "\x00"), "version": "<i>"}
    )
    evil = replace(evil, classes=("<u>", "'\"", "&lt;"), outcome="<svg onload=x>", held=replace(evil.held, where="<q>"))
    page = Page(render(evil))
    assert not {"script", "b", "i", "u", "q"} & set(page.tags)
    assert "</title><script>x</script>" in page.text and "&lt;" in page.text and "<svg onload=x>" in page.text


def test_the_same_facts_make_the_same_page(pages: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: bit for bit, whatever the caller's matplotlib settings, which are left alone; pyplot is not touched."""
    import matplotlib

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.hashsalt": None}):
        assert render(classification()) == pages["classes"]
        assert matplotlib.rcParams["font.size"] == 30


def test_summary_numbers() -> None:
    """contract: counts and scores of the facts, worked out here by hand."""
    probs = np.array([[0.8, 0.2], [0.4, 0.6], [0.9, 0.1], [0.3, 0.7]])
    facts = classification(2, frontier=None, held=Held(np.array([0, 1, 1, 1]), probs=probs))
    text = Page(render(facts)).text.replace("\u00a0", " ")
    assert re.search(r"Error\s+25 %", text)
    log_score = np.log([0.8, 0.6, 0.1, 0.7]).mean()
    assert f"\u2212{-log_score:.3g}" in text
    assert "28 → 14" in text  # 16 + 12 units
    assert f"{17 * 12 + 13 * 2} → {9 * 6 + 7 * 2}" in text  # weights and biases
    assert "1,234" in text and "5 s" in text and "20 epochs" in text
    assert re.search(r"Noise level\s+0.5\b", text)  # sqrt(0.2 + 1 / 20)
    table = regression(held=Held(np.zeros(20), np.zeros(20), np.full(20, 3.0), np.full(20, 4.0)))
    text = Page(render(table)).text.replace("\u00a0", " ")
    assert re.search(r"95 % coverage\s+100 %", text) and re.search(r"RMSE\s+0 ", text)
    assert f"\u2212{np.log(5 * np.sqrt(2 * np.pi)):.3g}" in text  # the two parts add up to a variance of 25


def test_counts_have_the_intervals_of_counts() -> None:
    """twin: scipy's Poisson; with a rate of 2 the central 95 % are 0 to 5, of which 5 of 6 rows here are; each count
    fills the histogram's bins by its own probability."""
    rate, y = np.full(6, 2.0), np.array([0.0, 1, 2, 3, 5, 6])
    held = Held.of(CountDistribution(rate, np.zeros(6), np.sqrt(rate)), y)
    text = Page(render(regression(held=held))).text.replace("\u00a0", " ")
    assert re.search(r"95 % coverage\s+83\.3 %", text) and "2 (0 to 5)" in text
    below, up_to = stats.poisson.cdf(y - 1, 2), stats.poisson.cdf(y, 2)
    share = np.clip((0.3 - below) / (up_to - below), 0, 1)
    np.testing.assert_allclose(held.distribution.pit_share(y, 0.3), share, atol=1e-9)


def test_the_least_sure_rows_come_first(pages: dict[str, str]) -> None:
    """contract: the order of the table is that of the epistemic standard deviation."""
    facts = regression()
    assert facts.held is not None and facts.held.epistemic_std is not None
    body = pages["table"].split('id="uncertain"')[1].split("</section>")[0]
    results = [int(row) for row in re.findall(r"<tr><td>(\d+)</td>", body)]
    assert results == np.argsort(-facts.held.epistemic_std)[:10].tolist()
    images = pages["classes"].split('id="uncertain"')[1].split("</section>")[0]
    assert images.count("<img") == 12 and images.count('alt="row ') == 12


def test_cells_of_any_type_are_shown() -> None:
    """contract: missing, text, whole and long values in the table of rows."""
    x = np.full((80, 7), "plain", object)
    x[:, 0], x[:, 1], x[:, 2], x[:, 3] = None, np.nan, "<b>" + 40 * "long", 7
    facts = regression(active_prob=(np.ones(7), np.ones(9), np.ones(5)))
    assert facts.held is not None
    text = Page(render(replace(facts, held=replace(facts.held, x=x)))).text
    assert text.count("missing") >= 20 and "plain" in text and "<b>long" in text and 40 * "long" not in text


def test_writing_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the file holds the page; a write that fails leaves the old file and no draft."""
    path = tmp_path / "new" / "report.html"
    facts = regression(history=[])
    write_report(facts, path)
    assert path.read_text(encoding="utf-8") == render(facts)
    path.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            write_report(facts, path)
    assert [p.name for p in path.parent.iterdir()] == ["report.html"] and path.read_text() == "old"


def test_a_learning_curve_shows_the_late_epochs() -> None:
    """contract: a first epoch far below the rest is cut off, and the sentence says so; else nothing is cut."""
    records = history(30, (7, 9, 5), 1)
    records[0]["log_evidence"] = -500.0
    cut, whole = training.evidence(regression(history=records)), training.evidence(regression())
    assert "first epochs lie below" in cut.read and "first epochs" not in whole.read
    assert "500" not in "".join(re.findall(r"<text[^>]*>([^<]*)", cut.svg))
    assert len(re.findall("<text", cut.svg)) >= 8


def test_matplotlib_is_imported_only_to_draw() -> None:
    """contract: no import statement of the report's modules names it."""
    sources = [path.read_text(encoding="utf-8") for path in Path(page_module.__file__).parent.rglob("*.py")]
    assert len(sources) > 10 and not [s for s in sources if re.search(r"^\s*(import|from) matplotlib", s, re.MULTILINE)]


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the error names the extra."""
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    with pytest.raises(MissingExtra, match=r"tdamp\[report\]"):
        render(regression())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "ranking"}, "task"),
        ({"widths_left": (7, 1)}, "widths_left"),
        ({"active_prob": (np.ones(7),)}, "active_prob"),
        ({"active_prob": (np.full(7, np.nan), np.ones(9), np.ones(5))}, "between 0 and 1"),
        ({"feature_names": ("a",)}, "feature_names"),
        ({"image_shape": (3, 3)}, "image_shape"),
        ({"classes": ("a", "b")}, "classes"),
        ({"task": "classification"}, "probs"),
        ({"held": Held(np.ones(3), np.ones(3))}, "epistemic_std"),
        ({"held": Held(np.ones((3, 2)), *3 * [np.ones((3, 2))])}, "1 outputs"),
        ({"held": Held(np.ones(3), *3 * [np.ones(3)], x=np.ones((3, 2)))}, "held.x"),
    ],
)
def test_contradictions_raise(changes: dict, message: str) -> None:
    """contract: each fact that does not fit the others."""
    with pytest.raises(ValueError, match=message):
        regression(**changes)


def test_held_rows_that_do_not_fit_raise() -> None:
    """contract: no rows, shapes; numbers that are not finite raise when the page is made."""
    for held in ({"y": np.ones(0)}, {"y": np.ones(3), "mean": np.ones(2)}, {"y": np.ones(3), "probs": np.ones((2, 3))}):
        with pytest.raises(ValueError):
            Held(**held)
    with pytest.raises(ValueError, match="not finite"):
        render(regression(held=Held(np.ones(3), np.array([1, 2, np.nan]), np.ones(3), np.ones(3))))


def test_words() -> None:
    """contract: numbers, shares, times and names as they are to be read."""
    assert [percent(v).replace("\u00a0", " ") for v in (0, 0.0235, 0.235, 1, 0.0301)] == [
        "0 %",
        "2.35 %",
        "23.5 %",
        "100 %",
        "3.01 %",
    ]
    assert [number(v) for v in (3, 12345, 123456.7, 0.12345, np.nan)] == ["3", "12,345", "123,457", "0.1235", "\u2013"]
    assert number(-2.5) == "\u22122.5"
    assert [duration(v) for v in (0.42, 12.34, 200.4, 7499)] == ["0.42 s", "12.3 s", "3 min 20 s", "2 h 04 min"]
    assert short("measurement_number_12", 11) == "measu…er_12"
    assert plain("a\tb\u202ec") == "a b�c"


def test_wilson() -> None:
    """twin: scipy's interval for a share."""
    from scipy.stats import binomtest

    for k, n in ((0, 5), (3, 7), (20, 20)):
        twin = binomtest(k, n).proportion_ci(0.95, "wilson")
        np.testing.assert_allclose(wilson(np.array(k / n), np.array(n)), (twin.low, twin.high), atol=2e-5)
