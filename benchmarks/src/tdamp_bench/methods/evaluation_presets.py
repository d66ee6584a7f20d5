"""tdamp's settings in the paper's evaluation: up to six configurations for every data set and share of units.

As recommended (`grid`, `settings`), and Algorithm 1 as printed (`paper_grid`, `paper_settings`). Which one is used
is chosen on a validation split, like every method's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tdamp.engine.settings import Settings

from ..core.jobs import Config
from ..core.presets import BOSTON, HOLD, MNIST, grow, tiny

PRESETS = {"mnist": MNIST, "boston": BOSTON}
BOSTON_LEARNED = (1, 10, 0), (2, 10, 1), (10, 10, 1)
"""memory, data_weight, whether base variances are learned; the noise is."""
BOSTON_HELD = (5, 30, 0.1), (10, 20, 0.1), (10, 30, 0.1)
"""memory, data_weight, noise variance; base variances are learned."""
MNIST_RAMPS = 8, 16, 30
"""All units: where the data weight, one more each epoch, stops."""
MNIST_ALL_PACES = (1, 2, 12), (2, 4, 12), (3, 6, 18)
MNIST_PACES = (1, 2, 6), (1, 2, 12), (2, 4, 12), (3, 6, 18), (0.5, 1, 6), (1, 1, 12)
MNIST_SHORT_PACES = (0.5, 1, 3), (0.3, 1, 3), (0.2, 1, 3), (0.5, 1, 6), (1, 2, 6), (0.3, 1, 6)
"""memory, data_weight while units go and a while after; and both at the end."""
MNIST_TINY = (0.2, 0.3), (0.2, 1.0), (0.2, 0.1), (0.3, 0.3), (0.15, 0.3)
"""memory while units go, noise variance: a tenth of the units or fewer."""
MNIST_TINY_LEARNED = ((0.3, 1, 3),)
"""The same with the noise learned."""
PRUNE_END = 0.6
"""Share of the epochs when the last unit goes."""


def grid(data: str, keep: float) -> tuple[Config, ...]:
    """Six configurations: how long the posterior remembers and how often the data count, early and late."""
    if data == "boston":
        learned: list[Config] = [
            {"preset": data, "memory": m, "data_weight": d, **({"learn_base_var": 1} if learn else {})}
            for m, d, learn in BOSTON_LEARNED
        ]
        held: list[Config] = [
            {"preset": data, "memory": m, "data_weight": d, "learn_base_var": 1, "noise": n} for m, d, n in BOSTON_HELD
        ]
        return (*learned, *held)
    if keep == 1:
        ramps: list[Config] = [{"preset": data, "ramp": top} for top in MNIST_RAMPS]
        return (*ramps, *_paced(data, MNIST_ALL_PACES))
    if keep <= 0.1:
        held_noise: list[Config] = [{"preset": data, "memory": m, "noise": n} for m, n in MNIST_TINY]
        return (*held_noise, *_paced(data, MNIST_TINY_LEARNED))
    return _paced(data, MNIST_PACES if keep >= 0.4 else MNIST_SHORT_PACES)


def _paced(data: str, paces: tuple[tuple[float, float, float], ...]) -> tuple[Config, ...]:
    return tuple({"preset": data, "memory": m, "data_weight": d, "later": l} for m, d, l in paces)


def settings(config: Config, keep: float, batch: int, epochs: int) -> Settings:
    """Settings of one of the grid's configurations."""
    base = replace(
        PRESETS[str(config["preset"])],
        batch_size=batch,
        max_epochs=epochs,
        keep=None if keep == 1 else keep,
        prune_end=PRUNE_END,
    )
    if "ramp" in config:
        return replace(base, data_weight=tuple(float(k) for k in range(1, int(config["ramp"]) + 1)))
    if "noise" in config:
        base = replace(base, noise_update="fixed", noise_init=float(config["noise"]))
    memory = float(config["memory"])
    if "data_weight" not in config:
        return tiny(base, memory)
    data_weight = float(config["data_weight"])
    if "later" not in config:
        return replace(base, memory=memory, data_weight=data_weight, learn_base_var=bool(config.get("learn_base_var")))
    later = float(config["later"])
    return replace(base, memory=grow(memory, later, HOLD, epochs), data_weight=grow(data_weight, later, HOLD, epochs))


def paper_grid(data: str, keep: float) -> tuple[Config, ...]:
    """Configurations of the method as printed: of the numbers that the paper leaves open."""
    if keep == 1:
        return tuple({"init_noise": n, "noise_init": v} for n in (0.1, 0.5, 2.0) for v in (0.1, 1.0))
    return tuple({"init_active_prob": p, "active_threshold": t} for p in (0.5, 0.9) for t in (0.99, 0.9, 0.999))


def paper_settings(config: Config, keep: float, batch: int, epochs: int) -> Settings:
    """Settings of the method as printed; with all units rho is 1, which makes the group prior Gaussian."""
    own: dict[str, Any] = {"init_active_prob": 1.0} if keep == 1 else {"keep": keep}
    return Settings.paper(batch_size=batch, max_epochs=epochs, **{**own, **config})
