"""A core installation at work: run by the Python of an environment that has the wheel and no extras (`make wheel`).

It ends with an error at the first thing that is not as it should be, and uses nothing but the package.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np

import tdamp
from tdamp._optional import MissingExtra
from tdamp.cli.main import main as main_of_commands

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] - np.abs(X[:, 1])


def imported() -> dict[str, str]:
    """Every module imports, or names the extra that it needs: the message by module."""
    asked = {}
    for module in pkgutil.walk_packages(tdamp.__path__, "tdamp.", onerror=lambda name: None):
        if not module.name.endswith(".__main__"):  # a program
            try:
                importlib.import_module(module.name)
            except MissingExtra as error:
                asked[module.name] = str(error)
    return asked


def names_benchmarks(command: str) -> None:
    """A command of tdamp-bench ends with exit code 2 and names what to install."""
    with contextlib.redirect_stderr(io.StringIO()) as error:
        code = main_of_commands([command])
    assert code == 2 and "pip install tdamp-bench" in error.getvalue(), (code, error.getvalue())


def names_extra(extra: str, wants_it: Callable[[], object]) -> None:
    """What needs a library that is not there names its extra."""
    try:
        wants_it()
    except MissingExtra as error:
        assert f"pip install 'tdamp[{extra}]'" in str(error), error
    else:
        raise AssertionError(f"this should need the extra {extra}")


def same_after_saving(model: tdamp.TDAMPRegressor | tdamp.TDAMPClassifier, folder: Path) -> None:
    """Saved and loaded, it predicts the same bits."""
    model.save(folder)
    assert np.array_equal(tdamp.load(folder).predict(X), model.predict(X))


def main() -> None:
    """All of it."""
    asked = imported()
    assert asked and all("flower" in name for name in asked), asked
    assert all("pip install 'tdamp[federated]'" in message for message in asked.values()), asked
    for data in ("py.typed", "report/style.css"):
        assert files("tdamp").joinpath(data).is_file(), data
    shown = subprocess.run([sys.executable, "-m", "tdamp.cli", "--help"], capture_output=True, text=True, check=True)
    assert "tdamp fit" in shown.stdout, shown
    for command in ("bench", "reproduce"):
        names_benchmarks(command)

    regressor = tdamp.TDAMPRegressor((8,), max_epochs=8, early_stopping=False, random_state=0).fit(X, Y)
    classifier = tdamp.TDAMPClassifier((8,), max_epochs=8, early_stopping=False, random_state=0).fit(X, Y > 0)
    assert regressor.score(X, Y) > 0 and regressor.predict_distribution(X).mean.shape == (60,)
    assert classifier.score(X, Y > 0) > 0.5 and np.allclose(classifier.predict_proba(X).sum(1), 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        same_after_saving(regressor, folder / "regressor")
        same_after_saving(classifier, folder / "classifier")
        plain = regressor.to_plain()
        names_extra("export", lambda: tdamp.export.to_onnx(plain, folder / "model.onnx"))
        names_extra("torch", lambda: tdamp.export.to_torch(plain))
        names_extra("report", lambda: regressor.report(folder / "report.html", X, Y))
        (folder / "table.parquet").write_bytes(b"PAR1")
        names_extra("tables", lambda: tdamp.tables.read_table(folder / "table.parquet"))
        assert not [*folder.glob("report*"), *folder.glob("*.onnx")]  # no half of a file is left
    print(f"tdamp {tdamp.__version__} from {Path(tdamp.__file__).parent}: fine without extras")


if __name__ == "__main__":
    main()
