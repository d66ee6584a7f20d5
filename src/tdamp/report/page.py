"""The page: header, summary, pictures by question, examples, notes."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from ..io.atomic import write_whole
from ..training.outcome import Outcome
from . import summary, tables, uncertain
from .canvas import Picture
from .facts import Facts
from .plots import classes, regression, units
from .plots import training as training_pictures
from .text import DASH, safe

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""A browser that keeps to it loads nothing and runs no script, whatever the strings in the page say."""


def write_report(facts: Facts, path: Path) -> None:
    """Write the page to `path`; a reader sees the old file or the whole new one, never a part."""
    text, path = render(facts), Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def render(facts: Facts) -> str:
    """The page as a string. The same facts make the same string."""
    style = resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    parts = [header(facts), overview(facts)]
    if facts.held is not None:
        parts.append(trust(facts))
    parts += [used(facts), training(facts), notes(facts)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{safe(facts.title)}</title>\n<style>\n{style}</style></head>\n<body>\n"
        + "\n".join(filter(None, parts))
        + "\n</body></html>\n"
    )


def header(facts: Facts) -> str:
    """Title, what it is, and how the training ended."""
    sentence = Outcome[facts.outcome].value if facts.outcome in Outcome.__members__ else facts.outcome
    kind = "ok" if sentence == Outcome.OK.value else "warn"
    shape = DASH.join(map(str, facts.widths_left))
    return (
        f'<header><h1>{safe(facts.title)}</h1><p class="sub">{facts.task.capitalize()} by message passing · '
        f"{safe(facts.activation)} network {shape} · tdamp {safe(facts.version)}</p>"
        f'<p class="outcome {kind}" role="note">{safe(sentence)}</p></header>\n<main>'
    )


def overview(facts: Facts) -> str:
    """Headline numbers and the table."""
    lines = [] if facts.held is None else summary.scores(facts.held)
    where = (
        "No predictions were given, so nothing is scored." if facts.held is None else f"Scores on {facts.held.where}."
    )
    body = summary.tiles([*lines, summary.size(facts)]) + summary.table(summary.details(facts))
    return f'<section id="summary"><h2>Summary</h2><p>{safe(where)}</p>{body}</section>'


def trust(facts: Facts) -> str:
    """Calibration, and the rows the model is least sure about."""
    held = facts.held
    assert held is not None
    pictures = classes.pictures(facts, held) if held.probs is not None else regression.pictures(held)
    title = "Can its probabilities be trusted?" if held.probs is not None else "Can its intervals be trusted?"
    return gallery("trust", title, f"Measured on {held.where}.", pictures) + "\n" + uncertain.section(facts, held)


def used(facts: Facts) -> str:
    """Inputs, hidden units and the path."""
    return gallery("used", "What the network uses", "", units.pictures(facts), tables.frontier(facts))


def training(facts: Facts) -> str:
    """Curves and the table by epoch."""
    lead = "" if facts.history else "No epoch was finished, so there are no curves."
    return gallery("training", "How it was trained", lead, training_pictures.pictures(facts), tables.epochs(facts))


def notes(facts: Facts) -> str:
    """What was done to the data, and the end of the page."""
    items = "".join(f"<li>{safe(note)}</li>" for note in facts.notes)
    section = f'<section id="notes"><h2>Notes</h2><div class="card"><ul>{items}</ul></div></section>' if items else ""
    made = f"Made by tdamp {safe(facts.version)}. This page is one file and loads nothing."
    return f"{section}</main>\n<footer>{made}</footer>"


def gallery(name: str, title: str, lead: str, pictures: list[Picture], more: str = "") -> str:
    """A section of pictures."""
    figures = "\n".join(
        f'<figure class="card picture" id="{p.name}"><h3>{safe(p.title)}</h3>{p.svg}'
        f"<figcaption>{safe(p.read)}</figcaption></figure>"
        for p in pictures
    )
    text = f"<p>{safe(lead)}</p>" if lead else ""
    return f'<section id="{name}"><h2>{title}</h2>{text}<div class="pictures">{figures}</div>{more}</section>'
