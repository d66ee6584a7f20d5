"""Federations of baselines: shares and averages."""

import numpy as np
import pytest

from tdamp_bench.methods.baselines.federation import average, shares


@pytest.mark.parametrize("clients", [1, 3, 4, 61])
def test_shares_are_equal_and_disjoint(lines, clients):
    """contract: every client as many rows, none twice; a single client has all rows in their order."""
    result = shares(lines[0], clients, seed=2)
    assert [len(share) for share in result] == [61 // clients] * clients
    assert len(np.unique(np.concatenate(result))) == 61 // clients * clients
    if clients == 1:
        np.testing.assert_array_equal(result[0], np.arange(61))
    elif clients < 61:
        assert not all(np.array_equal(a, b) for a, b in zip(result, shares(lines[0], clients, seed=3), strict=True))


@pytest.mark.parametrize("clients", [0, 62])
def test_impossible_shares_are_refused(lines, clients):
    """contract: the message has both numbers and what would do."""
    with pytest.raises(ValueError, match=f"{clients} clients cannot share 61 rows; choose 1 to 61"):
        shares(lines[0], clients, seed=0)


def test_skewed_shares_are_equal_and_lack_classes(blobs):
    """contract: as many rows for everyone, none twice; with little skew all classes, with much of it not."""
    for skew, all_classes in ((100.0, True), (0.01, False)):
        result = shares(blobs, 4, 0, skew)
        assert len({len(share) for share in result}) == 1 and len(np.unique(np.concatenate(result))) == 4 * len(
            result[0]
        )
        has_all = [len(np.unique(blobs.y[share])) == len(np.unique(blobs.y)) for share in result]
        assert all(has_all) if all_classes else not any(has_all[:2])


def test_the_average_is_weighted_by_rows():
    """identity: two jobs of three clients by hand; one client is not changed by a bit."""
    rng = np.random.default_rng(0)
    tree = [rng.standard_normal((2, 3, 4, 5)).astype(np.float32), rng.standard_normal((2, 3, 5)).astype(np.float32)]
    for result, leaf in zip(average(tree, [1, 2, 5]), tree, strict=True):
        np.testing.assert_allclose(result, (leaf[:, 0] + 2 * leaf[:, 1] + 5 * leaf[:, 2]) / 8, rtol=1e-5, atol=1e-6)
    one = [leaf[:, :1] for leaf in tree]
    for result, leaf in zip(average(one, [6001]), one, strict=True):
        np.testing.assert_array_equal(result, leaf[:, 0])
