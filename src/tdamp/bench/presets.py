"""The settings that the benchmarks run with. Chosen on a validation split of the training data only."""

from __future__ import annotations

from dataclasses import replace

from ..settings import Settings

MNIST = Settings(batch_size=100, max_epochs=25)
"""784-128-10: the defaults. One sweep; the data weight grows by one an epoch, up to 20."""

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

DEEP = MNIST
"""784-256-256-256-256-10: the defaults too; the initial variance follows the depth."""


def sparse(keep: float) -> Settings:
    """MNIST with a share `keep` of its 912 units (784 inputs, 128 hidden) left at the end.

    While units go, the posterior forgets within an epoch (`memory`), so that those that remain can take over; then
    memory and data weight grow again. Smaller networks learn from a shorter memory.
    """
    memory, data_weight, later = (
        (1.0, 2.0, 6.0) if keep >= 0.4 else (0.5, 1.0, 3.0) if keep >= 0.15 else (0.3, 1.0, 3.0)
    )
    return replace(
        MNIST,
        max_epochs=30,
        keep=keep,
        prune_end=0.6,
        memory=_then_grow(memory, later),
        data_weight=_then_grow(data_weight, later),
    )


def _then_grow(early: float, late: float) -> tuple[float, ...]:
    """Constant for 22 epochs, then in eight even steps to `late`."""
    return (early,) * 22 + tuple(early + (late - early) * step / 8 for step in range(1, 9))


Config = dict[str, float | int | str]


def grid(data: str, keep: float) -> tuple[Config, ...]:
    """Six configurations for the paper's evaluation: how hard the data count, early and late."""
    if data == "boston":
        return tuple({"preset": data, "memory": m, "data_weight": d} for m, d in BOSTON_PACES)
    if keep == 1:
        return tuple({"preset": data, "ramp": top} for top in (8, 12, 16, 20, 25, 30))
    paces = MNIST_PACES if keep >= 0.4 else MNIST_SHORT_PACES
    return tuple({"preset": data, "memory": m, "data_weight": d, "later": l} for m, d, l in paces)


BOSTON_PACES = (1, 10), (2, 5), (2, 10), (5, 10), (10, 10), (5, 20)
MNIST_PACES = (1, 2, 6), (1, 2, 12), (2, 4, 12), (3, 6, 18), (0.5, 1, 6), (1, 1, 12)
MNIST_SHORT_PACES = (0.5, 1, 3), (0.3, 1, 3), (0.2, 1, 3), (0.5, 1, 6), (1, 2, 6), (0.3, 1, 6)


def evaluation(config: Config, keep: float, batch: int, epochs: int) -> Settings:
    """Settings of one of the grid's configurations."""
    base = replace(
        {"mnist": MNIST, "boston": BOSTON}[str(config["preset"])],
        batch_size=batch,
        max_epochs=epochs,
        keep=None if keep == 1 else keep,
        prune_end=0.6,
    )
    if "ramp" in config:
        return replace(base, data_weight=tuple(float(k) for k in range(1, int(config["ramp"]) + 1)))
    memory, data_weight = float(config["memory"]), float(config["data_weight"])
    if "later" not in config:
        return replace(base, memory=memory, data_weight=data_weight)
    later = float(config["later"])
    return replace(base, memory=_grow(memory, later, epochs), data_weight=_grow(data_weight, later, epochs))


def _grow(early: float, late: float, epochs: int) -> tuple[float, ...]:
    """Constant until three quarters of the epochs are over, then in even steps to `late`."""
    hold = round(0.73 * epochs)
    rest = epochs - hold
    return (early,) * hold + tuple(early + (late - early) * step / rest for step in range(1, rest + 1))


def paper_grid(data: str, keep: float) -> tuple[Config, ...]:
    """Six configurations of the method as printed: the paper gives none of these numbers."""
    if keep == 1:
        return tuple({"preset": data, "init_noise": n, "noise_init": v} for n in (0.1, 0.5, 2.0) for v in (0.1, 1.0))
    return tuple(
        {"preset": data, "active_threshold": t, "init_active_prob": p} for t in (0.9, 0.99, 0.999) for p in (0.5, 0.9)
    )


def paper(config: Config, keep: float, batch: int, epochs: int) -> Settings:
    """Settings of the method as printed; at keep 1 the prior is Gaussian."""
    base = {"mnist": MNIST, "boston": BOSTON}[str(config["preset"])]
    own = {name: float(value) for name, value in config.items() if name != "preset"}
    goal = {} if keep == 1 else {"keep": keep, "prior": "group", "pruning": "paper"}
    return replace(base, batch_size=batch, max_epochs=epochs, pasp="paper", noise_every="epoch", **own, **goal)  # type: ignore[arg-type]
