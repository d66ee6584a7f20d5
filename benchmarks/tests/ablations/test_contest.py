"""A claim over several data sets."""

from tdamp_bench.ablations import contest
from tdamp_bench.core.record import Verdict


def test_a_claim_is_concluded_over_the_data_sets():
    """contract: all hold, some hold, none holds and none fails clearly, and the rest."""
    held, tie, lost = Verdict("", -3.0, "<", -2.0), Verdict("", 1.0, "<", -2.0, tied=True), Verdict("", 3.0, "<", -2.0)
    for result, word in (
        ([held, held], "confirmed"), ([held, tie], "partly confirmed"), ([tie, tie], "tied"),
        ([tie, lost], "not confirmed"), ([], "not confirmed"),
    ):  # fmt: skip
        assert contest.verdict_word(result) == word
