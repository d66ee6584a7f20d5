"""The methods of the ablations."""

import pytest

from tdamp_bench.ablations import methods
from tdamp_bench.core.jobs import Job

WIDTHS = (12, 6, 3)


def test_a_fixed_noise_stays_fixed(blobs):
    """contract: all epochs have the first value, and a learned noise leaves it."""
    jobs = [Job(blobs, 0, 1.0, {"noise_init": 0.25, "noise_update": rule}) for rule in ("fixed", "em")]
    fixed, learned = methods.Variant().train(jobs, WIDTHS, 20, 2, lambda what: None)
    assert fixed.extra["noise_var"] == [0.25, 0.25] and learned.extra["noise_var"][0] != 0.25


def test_an_unknown_arm_is_refused(blobs):
    """contract: the error names the arms there are."""
    with pytest.raises(ValueError, match="ep_epoch"):
        methods.Turbo().train([Job(blobs, 0, 1.0, {"arm": "x"})], WIDTHS, 20, 1, lambda what: None)


def test_presets_with_fewer_units(blobs, lines):
    """contract: Boston's memory is its data weight while units go; MNIST's settings adapt; nothing else changes."""
    boston, mnist = (methods.preset(Job(p, 0, 0.5, {}), 20, 9) for p in (lines[0], blobs))
    assert boston.memory == boston.data_weight == 10.0 and not boston.adapts and mnist.adapts
    assert methods.preset(Job(lines[0], 0, 1.0, {}), 20, 9).memory is None
