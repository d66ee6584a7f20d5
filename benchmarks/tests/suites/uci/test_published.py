"""Published figures."""

from tdamp_bench.cli import bench as commands_bench
from tdamp_bench.suites.uci import protocol, published
from tdamp_bench.suites.uci.methods import METHODS


def test_every_table_has_its_published_figures():
    """contract: the same tables everywhere; the parser repeats names so that --help needs no JAX."""
    assert tuple(protocol.SETS) == tuple(published.PUBLISHED) == commands_bench.UCI_SETS
    assert tuple(METHODS) == commands_bench.UCI_METHODS
    assert published.best("yacht", "nll") == 1.18 and published.best("wine_red", "rmse") == 0.62
