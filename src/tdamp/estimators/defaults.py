"""Settings chosen from the size of the data, for tables that nobody has tuned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..engine import mstep
from ..engine.settings import Settings
from ..factors.layers.conv import Conv
from ..factors.layers.dense import Dense

FEW_ROWS = 20
"""Below this many rows nothing is held out: two or three rows cannot tell one epoch from another."""


class Choice(NamedTuple):
    """What `choose` decides. The names are those of `Settings`, but for `hold_out`: whether to hold out rows, stop by
    their log score and keep the best epoch."""

    batch_size: int
    sweeps: int
    damping: float
    data_weight: float | tuple[float, ...]
    max_epochs: int
    trust: float
    init_noise: float
    noise_every: str
    warm_up: int
    patience: int
    hold_out: bool
    memory: tuple[float, float] | None = None  # from the first epoch to the last; None: as data_weight
    learn_base_var: bool = False
    noise_update: str = "em"


HUGE_ROWS = 250_000
"""Rows from which on an epoch is long, and memory is counted in rows."""
LEAST_EPOCHS = 3
MEMORY_ROWS = 15_000
"""Rows that a network remembers at first, when there are HUGE_ROWS or more."""

MANY_STEPS = 3000
"""Rows from which on there are minibatches enough in an epoch."""


def choose_shallow(choice: Choice, n_rows: int) -> Choice:
    """What a regression with one hidden layer, and all its units, does differently.

    Chosen on rows held out of the training parts of six UCI tables by RMSE and by the log score that calibration could
    reach, with 50 or 100 units. With two hidden layers of 64 the settings of `choose` are better (boston, yacht and
    diabetes by 0.1 to 1.5 nats a row), with one these (by 0.1 to 0.8 on boston, yacht and concrete).

    data_weight: 3. With 1 the means of small tables underfit (yacht: RMSE 4.4 against 0.7), with 10 those of large
        ones learn more slowly. That the posterior is then too sure of itself is what the calibration mends.
    memory: grows from 1 to 5 epochs, from 0.3 to 10 with many rows: large steps first, small ones in the end.
    sweeps: two for few rows (one leaves yacht at an RMSE of 2.5), one for many.
    learn_base_var: with many rows.
    max_epochs: 160 for tiny tables, 60 from 1,700 rows on; for many rows 100, falling to 30. More would help some
        (concrete: RMSE 5.2 after 120 epochs, 5.1 after 240), and take as much longer.
    """
    if n_rows < MANY_STEPS:
        return choice._replace(
            batch_size=_power_of_two(n_rows / 16, 8, 32),
            sweeps=2,
            data_weight=3.0,
            memory=(1.0, 5.0),
            max_epochs=min(max(round(100_000 / max(n_rows, 1)), 60), 160),
            trust=1.0,
        )
    return choice._replace(
        batch_size=32,
        data_weight=3.0,
        memory=(0.3, 10.0),
        max_epochs=min(max(round(1_600_000 / n_rows), 30), 100),
        trust=4.0,
        learn_base_var=True,
    )


CLASSES_WEIGHT = 10.0
FIRST_MEMORY = 0.25
"""Epochs: of a classification with many rows."""


def choose_classes(choice: Choice) -> Choice:
    """What a classification of MANY_STEPS rows or more, with all its units, does differently: memory, which is the pace
    of learning, grows from a quarter of an epoch to as many epochs as the data count.

    Chosen on 10,000 held-out rows of MNIST's training part, 784-128-10, two seeds: error 1.69 % and log loss 0.054
    after 25 epochs, against 1.90 % and 0.064 for a data weight that grows from 1 to 20 with a memory as long; with
    6,000 rows 3.8 % against 4.5 %. A data weight of 5 or 20, or a memory of 8 to 20 epochs in the end, was about as
    good.
    """
    return choice._replace(data_weight=CLASSES_WEIGHT, memory=(FIRST_MEMORY, CLASSES_WEIGHT))


IMAGES_WEIGHT = 15.0
IMAGES_MEMORY = 10.0
"""Epochs, in the end: of a classification with convolutions."""


def choose_images(choice: Choice) -> Choice:
    """What a classification with convolutions does differently, with any number of rows and of layers: as
    `choose_classes`, and the noise is held where it starts, at one.

    Tried on 20,000 rows of MNIST, two convolutions of 16 and 32 channels and 64 units, batches of 100: after 10 epochs
    1.25 % of the test rows are wrong, with a log loss of 0.036. The same without rows held out: it ends by itself.
    """
    memory = (FIRST_MEMORY, IMAGES_MEMORY)
    return choice._replace(data_weight=IMAGES_WEIGHT, memory=memory, noise_update="fixed")


WIDE_IMAGE, SMALL_IMAGE = 12, 6
"""Places along the shorter side from which on two convolutions, of five or of three taps, leave three places a side."""


def image_layers(shape: tuple[int, ...]) -> tuple[Conv | Dense, ...]:
    """The hidden layers of `layers="image"` for images or sequences of a shape, channels last.

    Strides take the place of pools, and cost less. The network is the one that
    `choose_images` was tried with. Smaller images have smaller filters, of which the first reads every place, or one
    convolution. Images of several channels have twice as many filters: an edge in colour is more than one in grey.
    """
    side, more = min(shape[:-1]), 2 if shape[-1] > 1 else 1
    if side >= WIDE_IMAGE:
        return Conv(16 * more, 5, stride=2), Conv(32 * more, 5, stride=2), Dense(64)
    if side >= SMALL_IMAGE:
        return Conv(16 * more, 3), Conv(32 * more, 3, stride=2), Dense(64)
    return Conv(16 * more, 3), Dense(64)


def counted_once(settings: Settings) -> Settings:
    """The same with each datum counted once, which noisy labels want: with a sixth of 16,000 simulated labels at random
    the log loss is 0.84, with `choose_classes` 0.96 at the best epoch. Rows held out choose between the two."""
    memory = np.geomspace(FIRST_MEMORY, 1.0, settings.max_epochs).tolist()
    return replace(settings, data_weight=1.0, memory=tuple(memory))


def choose(n_rows: int, hold_out: bool | None = None) -> Choice:
    """Settings for a table of `n_rows` rows, x and y standardised. `hold_out` says that rows will, or will not, be held
    out; None decides.

    They were chosen on some 20 tables of 20 to 2,000 rows (measured, simulated, pure noise) by the log score of rows
    not trained on, with two hidden layers of 64; for many rows they come close to the settings chosen for MNIST.

    batch_size: a power of two, about a twentieth of the rows, from 8 to 128. Small batches mean more steps for the same
        seconds, since an epoch of a small table costs its call and not its arithmetic; above 1,000 rows 32, 64 and 128
        scored alike. Powers of two let tables of similar size share compiled code.
    data_weight: grows, and held-out rows say when to stop. A noisy table is done within ten epochs, at a low
        weight; one with little noise needs the high ones (yacht: 2 nats a row between 3 and 20). Small tables begin
        at 3: begun at 1, their weights fall back to the prior and return late or never. From 1,000 rows on 1 is
        enough, and kinder to noise. Without held-out rows nothing would end the growth in time, so it stops at 10:
        60 epochs up to 20 cost a noisy line of 400 rows 3 nats a row, up to 10 a quarter. Below 20 rows an epoch is
        two short steps, and 20 did no harm even to pure noise.
    max_epochs: 60 for a small table, falling to 25 at 7,000 rows: the growth takes the first half (20 epochs at
        least), and the second is there for tables that still improve; without held-out rows it is left out.
    sweeps, damping: one sweep. Three learn faster, are unsteady, and end far too sure of themselves.
    trust: 1 below 1,000 rows, 4 above; the difference is small.
    init_noise, noise_every: 0.5 (0.15 was no better) and every minibatch.
    warm_up: with a prior other than "gaussian" units are in question from a third of the epochs on. Earlier (2 to 10
        epochs) cost 0.3 nats a row on some tables; later loses what such a prior gives to noisy ones.
    From HUGE_ROWS rows on there are 25 epochs for 250,000 rows, falling to 3 for two million and more; each datum
        counts once (data_weight), and memory grows from MEMORY_ROWS rows to an epoch. After four epochs of 300,000
        simulated rows, two hidden layers of 64, beside the weights and memory of fewer rows, which are made for more
        epochs: RMSE against a relu network of 50 inputs 0.03 beside 0.14 (noise 0.3), against a sine and a product
        0.05 beside 0.12, log score of five classes -0.38 beside -0.41. Nothing was tried on measured tables.
    patience: 15 epochs; 10 stop some tables of 200 rows at a pause of their curves (0.1 nats a row at worst).
    hold_out: from 20 rows on. On ten tables of 20 to 80 rows stopping by held-out rows beat, on average, every fixed
        schedule tried.

    The rules held for both tasks and for 2 to 64 inputs; what deep networks do differently is in `deep`. Not
    guaranteed: on clean linear targets ridge regression stays better (0.2 to 0.3 nats a row), and on heavy-tailed
    targets a Gaussian's log score may be worse than a constant's.
    """
    n = max(int(n_rows), 1)
    hold_out = n >= FEW_ROWS if hold_out is None else hold_out
    max_epochs = max(60 - 5 * (n // 1000), 25)
    growth = max(max_epochs // 2, 20)
    first = min(max(1000 / n, 1.0), 3.0)
    last = 20.0 if hold_out or n < FEW_ROWS else 10.0
    weights = tuple(first + (last - first) * step / (growth - 1) for step in range(growth))
    epochs = max_epochs if hold_out else growth
    if n >= HUGE_ROWS:
        weights, epochs = (1.0,), max(round(max_epochs * HUGE_ROWS / n), LEAST_EPOCHS)
    return Choice(
        batch_size=_power_of_two(n / 20, 8, 128),
        sweeps=1,
        damping=0.5,
        data_weight=weights,
        max_epochs=epochs,
        trust=1.0 if n < 1000 else 4.0,
        init_noise=0.5,
        noise_every="minibatch",
        warm_up=(epochs if n >= HUGE_ROWS else max_epochs) // 3,
        patience=15,
        hold_out=hold_out,
        memory=(MEMORY_ROWS / n, 1.0) if n >= HUGE_ROWS else None,
    )


NOISE_STEP = 0.02


def noise_rate(n_rows: float, batch_size: int) -> float:
    """`Settings.noise_rate` that moves the noise by NOISE_STEP with every minibatch of a size that was chosen here. A
    user's own batches are larger or smaller, and move it as far with the same rows."""
    unit = min(mstep.NOISE_ROWS, n_rows / mstep.LEAST_STEPS)
    return 1 - (1 - NOISE_STEP) ** (unit / min(batch_size, n_rows))


DEEP_HIDDEN = 6
"""Hidden layers from which on a network is deep."""
STEADY = 0.4
"""Share of the epochs after which a deep network's memory outgrows its data weight."""


def deep(n_layers: int, data_weight: float | tuple[float, ...], epochs: int) -> dict[str, Any]:
    """Further settings for a deep network; none for others.

    Chosen on 10,000 held-out rows of MNIST's training part, in some fifteen trials: the start with 16 hidden layers of
    256 (four short trials), the memory with 8. Where a network begins to be deep was not tried: 4 hidden layers do well
    without, 8 do not.

    init_scale: 1.2 keeps the variance of the units' differences from layer to layer, 1 / (2 (1/2 - 1/(2 pi))) = 1.21^2
        for relu; with 0.7 the signal fades by half a layer, and 16 layers stayed at chance.
    init_noise: 0.15; with 0.5 the weights' variance drowns what is left of the signal in 16 layers.
    memory: as the data weight, which is large steps that keep the posterior moving, and from STEADY of the epochs on
        longer, to twice as long in the end. Without that single minibatches throw it back (2.1 to 4 % error and back).
    """
    if n_layers - 1 < DEEP_HIDDEN:
        return {}
    weights = data_weight if isinstance(data_weight, tuple) else (data_weight,)
    weights = (*weights, *[weights[-1]] * epochs)[:epochs]
    longer = [1 + max(0.0, ((epoch + 1) / epochs - STEADY) / (1 - STEADY)) for epoch in range(epochs)]
    return {
        "init_scale": 1.2,
        "init_noise": 0.15,
        "memory": tuple(weight * by for weight, by in zip(weights, longer, strict=True)),
    }


def _power_of_two(value: float, low: int, high: int) -> int:
    """The largest power of two up to `value`, within bounds that are powers of two themselves."""
    power = low
    while power < high and 2 * power <= value:
        power *= 2
    return power
