"""The public API is what tests/public_api.txt says."""

from __future__ import annotations

import difflib

from public_api import FILE, listing, signature


def test_the_public_api_is_frozen() -> None:
    """golden(a promise to users): every public name with its signature, as it was last accepted on purpose."""
    before, now = FILE.read_text(encoding="utf-8"), listing()
    changes = difflib.unified_diff(before.splitlines(), now.splitlines(), "accepted", "now", lineterm="", n=1)
    assert before == now, (
        "The public API has changed:\n" + "\n".join(changes) + "\nIf this is meant: `make api` (or: python "
        "tests/supply/public_api.py) accepts it, and CHANGELOG.md tells users; what they call must go on working."
    )


def test_the_listing_sees_a_change() -> None:
    """contract: a parameter's name, kind, type and default each show."""

    def function(a: int, *, b: str = "c") -> float: ...

    assert signature("f", function) == "f(a: int, *, b: str = 'c') -> float"


def test_the_listing_has_what_users_call() -> None:
    """contract: methods of both estimators, functions of submodules and inherited properties are there."""
    lines = listing().splitlines()
    for start in (
        "tdamp.TDAMPRegressor.predict_interval(self, X: Any, coverage: float = 0.95)",
        "tdamp.TDAMPClassifier.history_:",
        "tdamp.metrics.crps(",
        "tdamp.federated.federated_fit(",
    ):
        assert any(line.startswith(start) for line in lines), start
    assert not any("set_fit_request" in line for line in lines)  # scikit-learn's own
