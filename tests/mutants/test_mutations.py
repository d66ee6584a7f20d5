"""mutations: the faults themselves, on a few lines."""

from __future__ import annotations

import ast

from mutations import mutants_of

SOURCE = '''
LIMIT: float = 3.0

def clip(x, low=0):
    """Words with 1 + 2."""
    if x is None:
        raise ValueError(f"x={x}: expected {1 + 1}")
    state.seen = True
    return max(x - low, LIMIT) if low < 12 else scale(x, low, by=2)
'''


def test_every_kind_of_fault() -> None:
    """contract: by hand, in the order of the source; words and messages stay."""
    last = "return max(x - low, LIMIT) if low < 12 else scale(x, low, by=2)"
    assert [mutant.after for mutant in mutants_of(SOURCE)] == [
        "LIMIT: float = 6.0",
        "def clip(x, low=1):",
        "if x is not None:",
        "",
        "",
        "state.seen = False",
        last.replace("<", "<="),
        last.replace("<", ">="),
        last.replace("12", "24"),
        last.replace("max", "min"),
        last.replace("-", "+"),
        last.replace("x, low, by", "low, x, by"),
        last.replace(", by=2", ""),
        last.replace("by=2", "by=3"),
    ]


def test_one_fault_at_a_time() -> None:
    """contract: the source has its faults one by one, and stays as it was."""
    whole = ast.unparse(ast.parse(SOURCE))
    found = [ast.unparse(mutant.tree) for mutant in mutants_of(SOURCE)]
    assert len(set(found)) == len(found) and whole not in found
    lines = whole.splitlines()
    for text in found:
        assert sum(old != new for old, new in zip(lines, text.splitlines(), strict=True)) == 1
