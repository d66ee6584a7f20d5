"""The margins' distribution and its Gumbel fit, after the first and the last epoch, MNIST."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from rich.console import Console

from ..ablations.margin_fit import NUMBERS
from ..ablations.margin_method import CURVES, SHOWN
from ..core.record import Verdict
from ..core.tables import grid
from . import draw, tidy
from .evaluation import Evaluation, evaluate
from .methods import NAMES
from .options import Options, WrongOption
from .plan import Curve, Plan
from .publish import Conclusion, publish

TITLE = "Margins and their Gumbel fit"

MOST_SEEDS = 5
"""The distributions hardly differ between seeds."""
VARIANTS = {"tdamp": "tdamp_margins", "tdamp_paper": "tdamp_printed_margins"}
"""Whose margins they are: the method that measures them."""
PLAN = Plan(
    name="margins",
    curves=tuple(Curve(method, data=("mnist",), config={}, name=name) for name, method in VARIANTS.items()),
    whole=True,
    extra=(*NUMBERS, *CURVES),
)
SIMILAR = 0.1
"""Total variation up to which two shapes are called similar: a tenth of the mass lies elsewhere."""
AGREE = 1.25
"""Factor up to which two noise variances agree."""
STYLES = {
    "mixture": draw.Style("#0072B2", "-", "o", 2.4),
    "gumbel": draw.Style("#D55E00", "--", "s", 1.8),
}
LABELS = {"mixture": "mixture of Gaussians", "gumbel": "minimum Gumbel of the same mean and variance"}


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is."""
    if options.seeds > MOST_SEEDS:
        console.print(f"margins: {MOST_SEEDS} seeds are enough; the others are left out.", highlight=False)
    evaluation = evaluate(PLAN, replace(options, seeds=min(options.seeds, MOST_SEEDS)), console)
    densities, fits = tables(evaluation)
    if not len(fits):
        raise WrongOption("This figure is about MNIST, of which there is no run yet. Leave out --data.")
    by = fits.groupby(["method", "epoch", "number"], sort=False)["value"]
    summary = by.agg(["mean", "sem", "count"]).reset_index()
    panels = [
        draw.Panel(title(*part), "margin z_m - z_y", "density, maximum 1", lines(here), log_y=False)
        for part, here in densities.groupby(["method", "epoch"], sort=False)
    ]
    folder = options.folder(PLAN.name)
    draw.figure(panels, folder / PLAN.name, STYLES)
    tidy.save(summary, folder / "margins-fit.csv")
    show(console, summary)
    publish(evaluation, densities, conclusions(summary), console, {"fit": summary.to_dict("records")})


def tables(evaluation: Evaluation) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both densities by method, epoch, seed and margin; and the numbers of the fits by method, epoch and seed."""
    curves, fits = [], []
    for method, done in ((cell.curve.title, run) for cell in evaluation.cells for run in cell.runs if run.extra):
        for i, epoch in enumerate((1, done.key.epochs)):
            part = slice(i * SHOWN, (i + 1) * SHOWN)
            named = {name: done.extra[name][part] for name in CURVES}
            curves.append(pd.DataFrame({"method": method, "epoch": epoch, "seed": done.key.seed} | named))
            fits += [(method, epoch, done.key.seed, name, done.extra[name][i]) for name in NUMBERS]
    empty = pd.DataFrame(columns=["method", "epoch", "seed", *CURVES])
    columns = ["method", "epoch", "seed", "number", "value"]
    return pd.concat(curves) if curves else empty, pd.DataFrame(fits, columns=columns)


def title(method: str, epoch: int) -> str:
    """What panels, columns and sentences call the margins of a method after an epoch."""
    return f"{NAMES[method]}, epoch {epoch}"


def lines(here: pd.DataFrame) -> list[draw.Line]:
    """Mean over the seeds on the first seed's grid, with one standard error; `here` is of one method and epoch."""
    seeds = [of_seed for _, of_seed in here.groupby("seed")]
    grid = seeds[0]["margin"].to_numpy()
    drawn = []
    for name, label in LABELS.items():
        each = np.array([np.interp(grid, seed["margin"], seed[name]) for seed in seeds])
        se = each.std(0, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.zeros(len(grid))
        drawn.append(draw.Line(name, label, grid.tolist(), each.mean(0).tolist(), se.tolist()))
    return drawn


def show(console: Console, summary: pd.DataFrame) -> None:
    """The fits' numbers, mean and standard error."""
    columns = list(dict.fromkeys(zip(summary["method"], summary["epoch"], strict=True)))
    cells = {
        (row.method, row.epoch, row.number): with_error(row.mean, row.sem, ".4g")
        for row in summary.itertuples(name="Row")
    }
    rows = [[name, *(cells[*column, name] for column in columns)] for name in NUMBERS]
    console.print(grid("Fit of the margins", ["", *(title(*column) for column in columns)], rows))


def with_error(mean: float, se: float, form: str) -> str:
    """A mean with its standard error, where it is known."""
    return f"{mean:{form}}" + (f" ± {se:.1g}" if np.isfinite(se) else "")


def conclusions(summary: pd.DataFrame) -> list[Conclusion]:
    """Similar skewed shapes? And the same noise variance?"""
    concluded = []
    for (method, epoch), part in summary.groupby(["method", "epoch"], sort=False):
        here, name = part.set_index("number"), title(method, epoch)
        subject = name[0].upper() + name[1:]
        mean, se = here["mean"], here["sem"]
        similar = Verdict(f"{name}: total variation between mixture and Gumbel", mean["tv"], "<=", SIMILAR)
        word = "similar" if similar.met else "not similar"
        skewed = "skewed to the left, as a minimum Gumbel is" if mean["skew"] < 0 else "not skewed to the left"
        concluded.append(
            Conclusion(
                similar,
                f"{subject}: the shapes are {word}: {with_error(mean['tv'], se['tv'], '.3f')} of the mass lies "
                f"elsewhere, Kolmogorov distance {with_error(mean['ks'], se['ks'], '.3f')}; the mixture is {skewed} "
                f"(skewness {mean['skew']:.2f}; the Gumbel's is -1.14).",
                "gumbel",
                method,
            )
        )
        factor = max(mean["ratio"], 1 / mean["ratio"])
        agree = Verdict(f"{name}: factor between the two noise variances", factor, "<=", AGREE)
        word = "agree" if agree.met else "do not agree"
        concluded.append(
            Conclusion(
                agree,
                f"{subject}: the noise variances {word}: {mean['gumbel_noise']:.3g} by the Gumbel rule, "
                f"{mean['direct_noise']:.3g} by the argmax over the mixture, "
                f"ratio {with_error(mean['ratio'], se['ratio'], '.3f')}.",
                "noise-rule",
                method,
            )
        )
    return concluded
