"""The documentation runs, and what it points at exists."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import tdamp
from helpers.guard import HANGS
from tdamp.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

TEACH_PYTHON = {"README.md", "docs/index.md", "docs/quickstart.md", "docs/concepts.md", "docs/uncertainty.md"}
TEACH_PYTHON |= {"docs/reliability.md", "docs/federated-privacy.md", "CONTRIBUTING.md"}
TEACH_PYTHON |= {f"docs/howto/{page.name}" for page in (DOCS / "howto").glob("*.md")} - {"docs/howto/report.md"}
"""Pages that must have Python code: those that teach it, every how-to but that of the report's command among them."""

TEACH_COMMANDS = {"README.md", "docs/quickstart.md", "docs/cli.md", "docs/uncertainty.md", "docs/reliability.md"}
TEACH_COMMANDS |= {"docs/results.md", "docs/federated-howto.md", "docs/howto/report.md", "docs/howto/checkpoint.md"}
TEACH_COMMANDS |= {f"docs/studies/{page.name}" for page in (DOCS / "studies").glob("*.md")}
"""Pages that must show `tdamp` commands; a study shows the one that makes it."""

SHELL = "(?:sh|bash)"

OTHERS = {"cli", "numpy", "onnx", "torch", "encoder", "sizes"}
"""Modules that pages do not name: those of the commands, and some that share a library's or a variable's name."""

ENDINGS = {"py", "html", "json"}
"""What follows a dot in the name of a file."""


def blocks(page: Path, language: str = "python") -> str:
    """The blocks of a page in one language, one after another."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL))


def name_of(page: Path) -> str:
    """The page's path in the project."""
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[list[str]]:
    """The words of every command that a page shows, those that go on in a second line joined."""
    lines = blocks(page, SHELL).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def anchors(page: Path) -> set[str]:
    """What a heading's link looks like: lower case, words joined by hyphens."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_readme_has_an_example() -> None:
    """contract: it has at most 12 lines of code."""
    lines = [line for line in blocks(README).splitlines() if line.strip()]
    assert 0 < len(lines) <= 12


def test_pages_that_teach_have_something_to_run() -> None:
    """contract: the lists above, so that the tests below cannot pass by finding nothing."""
    assert {name_of(page) for page in PAGES} >= TEACH_PYTHON | TEACH_COMMANDS
    assert {name_of(page) for page in PAGES if blocks(page)} >= TEACH_PYTHON
    shown = {name_of(page) for page in PAGES if any(words[0] == "tdamp" for words in commands(page))}
    assert shown >= TEACH_COMMANDS, TEACH_COMMANDS - shown


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_in_known_languages(page: Path) -> None:
    """contract: no code hides from the tests below under another name; `py` is Python that needs several machines."""
    known = {"python", "py", "sh", "bash", "text", "toml", ""}
    fences = re.findall(r"^ *```(.*)$", page.read_text(), re.MULTILINE)
    assert set(fences[::2]) <= known and set(fences[1::2]) <= {""}
    hidden = re.findall(r"^ +```(?:python|sh|bash)$", page.read_text(), re.MULTILINE)
    assert not hidden, "an indented block is not run"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that all pages share, and all workers too: most of them fit networks of the same shapes."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled-for-docs"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_python_blocks_run(page: Path, tmp_path: Path, compiled: Path) -> None:
    """contract: each page's code runs in a fresh interpreter, without warnings, as a reader would run it."""
    command = [sys.executable, "-W", "error::UserWarning", "-c", blocks(page)]
    environment = {**os.environ, "TDAMP_CACHE": str(compiled)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    if page == README:
        assert done.stdout == blocks(page, "text")  # the same with AVX-512, AVX2 and SSE 4.2


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_commands_parse(page: Path) -> None:
    """contract: the command line takes every `tdamp` command that a page shows, and make knows every target."""
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for first, *words in commands(page):
        if first == "tdamp":
            main.parser().parse_args(words)
        elif first == "make":
            assert {word for word in words if "=" not in word} <= set(targets), words


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_paths(page: Path) -> None:
    """contract: every relative link, heading, test and source file a page names is there."""
    text = page.read_text()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        there = page.parent / path if path else page
        assert there.is_file(), f"{page.name} links to {target}"
        assert not heading or heading in anchors(there), f"{page.name} links to {target}"
    for path, name in re.findall(r"`((?:tests|src|benchmarks)/[\w/]+\.py)(?:::(\w+))?`", text):
        assert (ROOT / path).is_file(), f"{page.name} names {path}"
        assert not name or f"def {name}(" in (ROOT / path).read_text(), f"{page.name} names {path}::{name}"


@pytest.mark.parametrize("page", PAGES[2:], ids=name_of)
def test_names_of_the_package(page: Path) -> None:
    """contract: a `module.name` in the docs is defined in that module."""
    source = Path(tdamp.__file__).parent
    modules: dict[str, list[str]] = {}
    for path in source.rglob("*.py"):
        if not OTHERS & {*path.parts, path.stem}:
            dotted = ".".join(path.relative_to(source.parent).with_suffix("").parts)
            modules.setdefault(path.stem, []).append(dotted)
    for module, name in re.findall(r"`(\w+)\.(\w+)[(`]", page.read_text()):
        if module in modules and name not in ENDINGS:
            result = any(hasattr(importlib.import_module(dotted), name) for dotted in modules[module])
            assert result, f"{page.name} names {module}.{name}"


def test_tables_of_results_are_those_of_the_files() -> None:
    """twin: the page's tables made anew from results/."""
    done = subprocess.run([sys.executable, "docs/results.py", "--check"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_site_builds(tmp_path: Path) -> None:
    """contract: no page, link, heading or documented name is missing; every parameter is on the API page.

    And no page loads anything from elsewhere: the site works offline.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]* src=[\"']?(?:https?:)?//[^>]*", page.read_text())
        loaded += re.findall(
            r"<link[^>]* rel=[\"']?(?:stylesheet|preconnect|icon)[^>]*=[\"']?https?://[^>]*", page.read_text()
        )
        assert not loaded, f"{page.name} loads {loaded}"
    api = (tmp_path / "site/api/index.html").read_text()
    listed = set(re.findall(r"<code>(\w+)</code>", api))
    assert set(inspect.signature(tdamp.TDAMPRegressor).parameters) <= listed


def test_files_of_the_project() -> None:
    """contract: licence, citation and change log agree with the package's version and licence."""
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert f"version: {tdamp.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{tdamp.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines if not line.startswith("#"))
