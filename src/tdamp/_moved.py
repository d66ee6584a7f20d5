"""Modules of version 0.1 under their old names, for pickles and for users' imports.

`import tdamp.network` gives `tdamp.engine.network`, with a DeprecationWarning. The old names go with version 0.4, but
for those of `KEPT`, which the documentation uses.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "auto": "estimators.defaults",
    "beliefs": "numerics.beliefs",
    "blocks": "prediction.batched",
    "calibration": "training.calibration",
    "callbacks": "training.callbacks",
    "checkpoint": "training.checkpoint",
    "checks": "training.data",
    "commands": "cli",
    "commands.arguments": "cli.arguments",
    "commands.data": "cli.data",
    "commands.demo": "cli.demo",
    "commands.ends": "cli.exit_codes",
    "commands.export": "cli.export",
    "commands.export_check": "cli.export_check",
    "commands.federate": "cli.federate",
    "commands.fit": "cli.fit",
    "commands.fit_words": "cli.fit_output",
    "commands.inspect": "cli.inspect",
    "commands.places": "cli.files",
    "commands.predict": "cli.predict",
    "commands.predictions": "cli.predictions",
    "commands.report": "cli.report",
    "commands.speech": "cli.output",
    "compact": "engine.compact",
    "compilation": "training.compilation",
    "damp": "engine.damp",
    "datasets.cache": "io.cache",
    "datasets.listing": "datasets.catalog",
    "datasets.obtain": "datasets.fetch",
    "demo": "cli.demo",
    "devices": "training.devices",
    "epoch": "training.epoch",
    "events": "training.events",
    "export.graph": "export.onnx_graph",
    "export.onnx_largest": "export.onnx_argmax",
    "export.store": "persistence.folder",
    "export.table": "export.sizes",
    "extras": "_optional",
    "factors.burst": "factors.priors.burst",
    "factors.gaussian_output": "factors.likelihoods.gaussian",
    "factors.group_spike_slab": "factors.priors.group",
    "factors.linear": "factors.layers.dense",
    "factors.piecewise": "factors.activations.piecewise",
    "factors.probit_output": "factors.likelihoods.probit",
    "factors.spike_slab": "factors.priors.spike_slab",
    "factors.varying_output": "factors.likelihoods.heteroscedastic",
    "federated.aggregate": "federated.aggregation.geometric",
    "federated.app": "federated.flower.app",
    "federated.calibrate": "federated.calibration",
    "federated.combine": "federated.aggregation.step",
    "federated.endings": "federated.rounds",
    "federated.engine": "federated.flower.simulation",
    "federated.exchange": "federated.messages",
    "federated.flower.meeting": "federated.flower.membership",
    "federated.flower.serve": "federated.flower.server",
    "federated.holding_out": "federated.held_out",
    "federated.joint": "federated.preparation",
    "federated.printed": "training.sparsity",
    "federated.robust": "federated.aggregation.robust",
    "federated.secure": "federated.privacy.secure_sum",
    "federated.simulate": "federated.rounds",
    "federated.site_layers": "federated.aggregation.sites",
    "federated.sites": "federated.aggregation.site_factors",
    "feed": "training.batches",
    "files": "io.atomic",
    "findings": "estimators.fitted_attributes",
    "fitted": "training.fitted",
    "fitting": "selection.refit",
    "given": "estimators.validation",
    "gumbel": "numerics.gumbel",
    "held_out": "selection.held_out",
    "largest": "numerics.gaussian_argmax",
    "learner": "estimators.base",
    "logs": "training.logs",
    "looks": "selection.snapshots",
    "model_card": "persistence.model_card",
    "mstep": "engine.mstep",
    "needed": "prediction.relevance",
    "network": "engine.network",
    "outcome": "training.outcome",
    "parameters": "estimators.parameters",
    "pasp": "engine.pasp",
    "path": "estimators.sparsity_path",
    "posterior": "prediction.samples",
    "predict": "engine.predict",
    "problem": "training.fingerprint",
    "programs": "training.compiled",
    "progress": "training.progress",
    "prune": "engine.prune",
    "records": "io.records",
    "remedies": "estimators.error_hints",
    "report.class_pictures": "report.plots.classes",
    "report.estimator": "report.from_estimator",
    "report.regression_pictures": "report.plots.regression",
    "report.training_pictures": "report.plots.training",
    "report.unit_pictures": "report.plots.units",
    "report.words": "report.text",
    "rows": "numerics.scaling",
    "run": "training.trainer",
    "saving": "estimators",
    "settings": "engine.settings",
    "snapshot": "training.snapshot",
    "sources.arrays": "sources.memmap",
    "sources.block": "sources.reader",
    "sources.running": "sources.running_scales",
    "split": "training.equal_rows",
    "state": "engine.state",
    "stored": "training.stored",
    "streaming": "selection.streamed",
    "student": "numerics.student_t",
    "tables.encode": "tables.encoder",
    "tables.filling": "tables.columns",
    "tables.parquet": "tables.read",
    "turbo": "persistence.version_0_1",
    "twins": "selection.cross_validation",
}
"""Where each module of version 0.1 that has another name is now; `tdamp.bench` became the distribution tdamp-bench."""
KEPT = {"federated.private": "federated.privacy.central", "federated.secure_flower": "federated.flower.secure"}
"""Second names that the documentation teaches: they stay, and do not warn."""
_TRUNCATED = "INV_SQRT_2PI LOG_SQRT_2PI MAX_SDS Tail Truncated above below between clip_sds log_ndtr tail"
MOVED_NAMES = {
    "numerics": {name: "numerics.truncated_normal" for name in _TRUNCATED.split()},
    "predict": {"Predictive": "persistence.version_0_1"},
}
"""What a module of version 0.1 held, and which module holds it now: names that a user's code or pickle may have."""


class OldNames(MetaPathFinder, Loader):
    """Finds a module under the name that it had."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """A spec for an old name; None for all others."""
        package, _, old = name.partition(".")
        return ModuleSpec(name, self) if package == "tdamp" and (old in MOVED or old in KEPT) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, under its new name."""
        old = spec.name.partition(".")[2]
        if old in MOVED:
            _warn(spec.name, f"tdamp.{MOVED[old]}")
        module = import_module(f"tdamp.{MOVED.get(old) or KEPT[old]}")
        if old in MOVED_NAMES:
            module.__getattr__ = names_of(old)  # type: ignore[method-assign]
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has run already, its own spec back: the import system has put the old name's there."""
        module.__spec__ = getattr(module.__spec__, "loader_state", None)


def names_of(old: str) -> Callable[[str], Any]:
    """The `__getattr__` of the module that was called `old`: it finds what has moved out of it."""

    def find(name: str) -> Any:
        if name not in MOVED_NAMES[old]:
            raise AttributeError(f"module 'tdamp.{old}' has no attribute {name!r}")
        home = f"tdamp.{MOVED_NAMES[old][name]}"
        _warn(f"tdamp.{old}.{name}", f"{home}.{name}")
        return getattr(import_module(home), name)

    return find


def _warn(old: str, new: str) -> None:
    """Warn that a name is deprecated, in the place that asked for it."""
    warnings.warn(
        f"{old} is {new} now, and the old name goes with version 0.4. Use the new one.",
        DeprecationWarning,
        stacklevel=3,
    )


def install() -> None:
    """Let Python find the old names, before it looks for files: an old package may be a new one's second name."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        sys.meta_path.insert(0, OldNames())
