"""What is published: legal JSON, and the words of docs/results.md."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tdamp_bench.figures import publish


@pytest.mark.parametrize(
    ("checks", "word"),
    [
        ("++", "**confirmed** (2 of 2 checks)"),
        ("+=", "**partly** (1 of 2 checks, 1 tied)"),
        ("==", "**tied** (0 of 2 checks, 2 tied)"),
        ("=-", "**not** (0 of 2 checks, 1 tied)"),
        ("+-", "**partly** (1 of 2 checks)"),
        ("", "not measured"),
    ],
)
def test_words_of_the_page_of_results(checks, word):
    """contract: all hold, some hold, none is clear, and nothing has run."""
    spec = importlib.util.spec_from_file_location("results_page", Path(__file__).parents[3] / "docs" / "results.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.word([{"met": check == "+", "tied": check == "="} for check in checks]) == word


def test_json_is_legal(tmp_path):
    """contract: infinity as a word, NaN as null, six digits, NumPy's numbers as numbers."""
    publish.write_json(tmp_path / "a.json", {1: (math.inf, math.nan, 0.12345678), "n": np.int64(3), "t": True})
    assert json.loads((tmp_path / "a.json").read_text()) == {"1": ["inf", None, 0.123457], "n": 3, "t": True}
