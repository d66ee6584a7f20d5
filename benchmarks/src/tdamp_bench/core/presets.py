"""The settings that the benchmarks run with. Chosen on a validation split of the training data only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdamp.engine.settings import Settings
from tdamp.estimators import defaults

MNIST = Settings(batch_size=100, max_epochs=25)
"""784-128-10: the defaults. One sweep; the data weight grows by one an epoch, up to 20."""


def annealed(epochs: int) -> Settings:
    """784-128-10 for a number of epochs that is known: memory, the pace, grows from a quarter of an epoch to 10 epochs.

    Chosen on 10,000 validation rows after 25 epochs in some 85 trials: error 1.52 %, log loss 0.049, three seeds (noise
    learned, data weight 10: 1.54 % and 0.050; that with minibatches of 100 and input dropout 0.1: 1.61 % and 0.051;
    `MNIST`: 1.90 % and 0.064). AdamW's best of 31 recipes had 1.61 % and 0.055, or 1.65 % and 0.053, three seeds; the
    best of 21 with input dropout 1.43 % and 0.047, two seeds, and with minibatches of 50 or 25 1.49 % and 0.048, 1.60 %
    and 0.052.
    """
    memory = tuple(np.geomspace(0.25, 10.0, epochs).tolist())
    held = replace(MNIST, noise_update="fixed", noise_init=1.0, batch_size=50, input_dropout=0.2)
    return replace(held, max_epochs=epochs, data_weight=15.0, memory=memory)


BOSTON = Settings(
    batch_size=101,
    max_epochs=100,
    sweeps=4,
    damping=0.5,
    noise_every="epoch",
    data_weight=10.0,
    trust=1.0,
    init_noise=0.15,
)
"""13-64-64-1: a quarter of the data at a time pulls together, so several sweeps and a tight trust."""


def deep(hidden: int) -> Settings:
    """784-256-...-256-10 with so many hidden layers: the defaults below `auto.DEEP_HIDDEN`, one rule from there on.

    There the noise is held: twelve epochs into training with 8 layers the learned one had vanished (1e-4), and the
    training broke down. What the posterior leaves open in every layer explains all errors that are left.
    """
    if hidden < defaults.DEEP_HIDDEN:
        return MNIST
    further = defaults.deep(hidden + 1, MNIST.data_weight, MNIST.max_epochs)
    return replace(MNIST, noise_update="fixed", **further)


HOLD, SLOW_HOLD = 0.73, 0.8
"""Shares of the epochs after which memory and data weight begin to grow, where units are removed; the later one where a
fifth of them remain."""
TINY_PRUNE_END = 0.7
TINY_LATER = 3.0
"""The same for `tiny`, when the last unit has gone; and the memory at the end."""


def sparse(keep: float) -> Settings:
    """MNIST with a share `keep` of its 912 units (784 inputs, 128 hidden) left at the end.

    Large ones have the schedule of all units, with less input dropout. For the others the posterior forgets within an
    epoch while units go (`memory`), so that those that remain can take over; then it remembers longer and longer. On
    10,000 validation rows, seeds 0 and 1: keep 0.5 1.59 and 1.68 %; 0.3 1.98 and 2.02 %; 0.2 2.33 and 2.37 % (2.37 and
    2.45 % when the last unit went after 60 % of the epochs).
    """
    base = replace(MNIST, max_epochs=30, keep=keep)
    if keep >= 0.4:
        return replace(annealed(30), batch_size=100, input_dropout=0.1, keep=keep)
    if keep >= 0.25:
        going, rest = 18, np.geomspace(1.0, 10.0, 12).tolist()
        held = replace(base, noise_update="fixed", noise_init=1.0, data_weight=5.0, input_dropout=0.05)
        return replace(held, prune_end=going / 30, memory=(1.0,) * going + tuple(rest))
    if keep >= 0.15:
        slow = grow(0.5, 3.0, SLOW_HOLD, 30), grow(1.0, 3.0, SLOW_HOLD, 30)
        return replace(base, prune_end=TINY_PRUNE_END, memory=slow[0], data_weight=slow[1])
    return tiny(replace(base, noise_update="fixed", noise_init=0.3), memory=0.2)


def tiny(base: Settings, memory: float) -> Settings:
    """For networks that are much too small: a short memory while units go; the noise of `base` should be held.

    What such a memory leaves open explains every error, so a learned noise would vanish, and the posterior then runs
    after single rows. Learned base variances tell the scale of the outputs against the noise.
    """
    return replace(
        base,
        prune_end=TINY_PRUNE_END,
        memory=grow(memory, TINY_LATER, TINY_PRUNE_END, base.max_epochs),
        data_weight=1.0,
        learn_base_var=True,
    )


def grow(early: float, late: float, share: float, epochs: int) -> tuple[float, ...]:
    """Constant for a share of the epochs, then in even steps to `late`."""
    hold = round(share * epochs)
    rest = epochs - hold
    return (early,) * hold + tuple(early + (late - early) * step / rest for step in range(1, rest + 1))
