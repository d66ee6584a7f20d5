"""Federated tdamp as a method of the evaluation."""

import math

from tdamp.federated.server import Diverged
from tdamp_bench.core.jobs import Job
from tdamp_bench.core.progress import silent
from tdamp_bench.methods import tdamp_federated
from tdamp_bench.methods.tdamp_federated import PrintedTdamp


def test_the_printed_method_trains(blobs):
    """contract: a loss and bytes for every round, the printed settings, a target that was missed is noted."""
    method = PrintedTdamp(clients=3, local_epochs=2)
    jobs = [Job(blobs, 0, keep, method.grid("mnist", keep)[0]) for keep in (1.0, 0.5)]
    terms = method.terms(jobs[1], (12, 8, 3), 20, 3)
    assert (terms.settings.pasp, terms.noise, terms.settings.keep) == ("paper", "server", 0.5)
    whole, half = method.train(jobs, (12, 8, 3), 20, 3, silent)
    assert len(whole.loss) == len(whole.extra["bytes"]) == 3 and whole.units == 20 and whole.loss[-1] < 0.4
    assert bool(half.note) == (half.units > 10)


def test_rounds_that_never_came_have_infinite_losses(blobs, monkeypatch):
    """contract: a federation that diverges in its second round has one loss, and says why."""

    def run_rounds(server, clients):
        yield next(real(server, clients))
        raise Diverged("gone")

    real = tdamp_federated.run_rounds
    monkeypatch.setattr(tdamp_federated, "run_rounds", run_rounds)
    (run,) = PrintedTdamp(clients=3, local_epochs=1).train([Job(blobs, 0, 1.0, {})], (12, 8, 3), 20, 3, silent)
    assert run.loss[1:] == [math.inf] * 2 and math.isfinite(run.loss[0]) and run.note == "gone"
