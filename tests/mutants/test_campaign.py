"""campaign: what modules.toml and the page of results name is there."""

from __future__ import annotations

import re
import tomllib

from campaign import ALIVE, DEAD, HERE, PAGE, module_path, page, path_of_tests

CONFIG = tomllib.loads((HERE / "modules.toml").read_text())


def test_modules_and_their_tests_exist() -> None:
    """contract: every path of modules.toml is a file, and accepted survivors belong to a module that is tried."""
    missing = [name for name in CONFIG["modules"] if not module_path(name).is_file()]
    missing += [test for tests in CONFIG["modules"].values() for test in tests if not path_of_tests(test).is_file()]
    assert not missing
    assert set(CONFIG["accepted"]) <= set(CONFIG["modules"])


def test_the_page_has_these_modules() -> None:
    """contract: results/mutants.md has a row of figures for each module, and no other."""
    rows = re.findall(r"^\| (\S+) \| \d+ \| \d+ \| \d+ \|", PAGE.read_text(), re.MULTILINE)
    assert set(rows) <= set(CONFIG["modules"])
    assert page(CONFIG, {}, PAGE.read_text()) == PAGE.read_text()


def test_a_module_tried_anew_changes_its_own_rows() -> None:
    """contract: a survivor with a reason and one without, beside figures of the page before."""
    config = {"sample": 2, "page": "{sample}\n{rows}\n{survivors}", "modules": {"a/x": [], "b/x": [], "c": []}}
    config["accepted"] = {"a/x": {"1 + 2  →  1 - 2": "a reason"}}
    lives = {"line": 3, "found": ALIVE, "seconds": 0.1}
    results = {"1 + 2  →  1 - 2": lives, "f(x)  →  ": {**lives, "line": 2}, "2  →  3": {**lives, "found": DEAD}}
    before = (
        "| a/x | 9 | 9 | 9 | 100% |\n| b/x | 40 | 20 | 19 | 95% |\n| a/x 1 | gone | | |\n| b/x 7 | `p` | `q` | why |"
    )
    assert page(config, {"a/x": {"total": 5, "results": results}}, before).splitlines() == [
        "2",
        "| a/x | 5 | 3 | 1 | 33% |",
        "| b/x | 40 | 20 | 19 | 95% |",
        "| all | | 23 | 20 | 87% |",
        "| a/x 2 | `f(x)` | `left out` | **open** |",
        "| a/x 3 | `1 + 2` | `1 - 2` | a reason |",
        "| b/x 7 | `p` | `q` | why |",
    ]
