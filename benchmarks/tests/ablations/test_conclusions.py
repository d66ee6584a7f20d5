"""Verdicts of the ablations, from numbers made by hand."""

import pandas as pd
import pytest

from tdamp_bench.ablations import conclusions
from tdamp_bench.figures import tasks, tidy


def table(rows: list[tuple]) -> pd.DataFrame:
    """`tidy.table` from (data, method, keep, seed, loss, units)."""
    full = [(data, method, keep, 20, seed, loss, units) for data, method, keep, seed, loss, units in rows]
    return pd.DataFrame(full, columns=tidy.COLUMNS)


def test_conclusions_by_hand():
    """contract: turbo wins on one data set; a rule within and one outside of its target; the best fixed noise."""
    rows = []
    for seed in range(3):
        wiggle = 0.001 * seed**2
        for data, ep in (("mnist", 0.2), ("boston", 0.1)):
            rows += [
                (data, "turbo", 1.0, seed, 0.1 + wiggle, 1),
                (data, "ep", 1.0, seed, ep + 2 * wiggle, 1),
            ]  # Boston: 1.4 s.e.
        rows += [("mnist", "rho_em", 0.5, seed, 0.1, 600), ("mnist", "exact", 0.5, seed, 0.1, 456)]
        rows += [("mnist", "learned", 1.0, seed, 0.1, 1), ("mnist", "noise_0.1", 1.0, seed, 0.05 + wiggle, 1)]
        rows += [("mnist", "noise_1", 1.0, seed, 0.3 + wiggle, 1)]
    actual = conclusions.conclusions(table(rows), {"boston": tasks.boston(), "mnist": tasks.mnist()})
    words = {one.verdict.claim: one for one in actual}
    assert len(actual) == 5
    conclusion = next(one for claim, one in words.items() if claim.startswith("MNIST: turbo"))
    tied = next(one for claim, one in words.items() if claim.startswith("Boston housing: turbo"))
    assert tied.verdict.tied and not tied.verdict.met and "tied with it" in tied.sentence
    assert (
        conclusion.verdict.met
        and "confirmed" in conclusion.sentence
        and "10.17 % against 20.33 %" in conclusion.sentence
    )
    em, exact = (words[f"{name}: units left, worst distance from the target"].verdict for name in (
        "plain EM on rho", "exact rule, anchored PasP"))  # fmt: skip
    assert not em.met and em.value == pytest.approx(144 / 456) and exact.met and exact.value == 0
    noise = next(one for claim, one in words.items() if "best of 2 fixed" in claim)
    assert (
        not noise.verdict.met
        and not noise.verdict.tied
        and "0.1 (5.17 %" in noise.sentence
        and "better than 1." in noise.sentence
    )
