"""A griffe extension for the API page: docstrings as this project writes them, made readable for its numpy parser.

Parameters are written `name : what it is`, which the parser would take for a type; and the estimators' docstrings are
completed when the package is imported, which a reader of the source does not see. Fields are written `name: what it
is`, with further lines indented, which Markdown would run together.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ESTIMATORS = ("TDAMPRegressor", "TDAMPClassifier")
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.+)$")
FIELD = re.compile(r"^(\w+(?:, \w+)*): (.+)$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites the docstrings of classes before they are parsed."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Give each estimator the sections of the class that both are made of."""
        shared = pkg["estimators.base.BaseTDAMP"].docstring.value
        sections = flat(shared[shared.index("Parameters\n") :])
        for name in ESTIMATORS:
            docstring = pkg[f"estimators.{name}"].docstring
            docstring.value = f"{docstring.value}\n\n{sections}"
        settings = pkg["engine.settings.Settings"].docstring
        settings.value = FIELD.sub(r"- **\1**: \2", settings.value)


def flat(text: str) -> str:
    """`name : text` with lines that hang below it, as `name` with the text below it; `a, b :` as one entry each."""
    lines: list[str] = []
    names: list[str] = []
    body: list[str] = []

    def close() -> None:
        for name in names:
            lines.extend([name, "    " + " ".join(body)])
        names.clear()
        body.clear()

    for line in text.splitlines():
        found = ENTRY.match(line)
        if found:
            close()
            names.extend(found[1].split(", "))
            body.append(found[2])
        elif names and line.startswith(" "):
            body.append(line.strip())
        else:
            close()
            lines.append(line)
    close()
    return "\n".join(lines)
