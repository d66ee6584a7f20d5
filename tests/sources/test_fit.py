"""fit from a source: the same network as from memory, and nothing left behind.

covers: selection.streamed, sources.batches, sources.memmap, sources.parquet, sources.reader, sources.source
covers: sources.spill, training.stored, estimators.from_source
"""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tdamp
from helpers.guard import HANGS
from helpers.stopped import in_pieces, same
from tdamp import Batches, MemMap, Parquet, TDAMPClassifier, TDAMPRegressor
from tdamp.engine.state import scales_of
from tdamp.estimators import fitting, from_source
from tdamp.prediction import batched
from tdamp.selection import refit, streamed
from tdamp.sources import Source, shuffle
from tdamp.sources.spill import read, store
from tdamp.training import checkpoint
from tdamp.training.data import Data
from tdamp.training.fit import TrainingJob, make_job, train

ROWS, INPUTS = 600, 4
SETTINGS = tdamp.Settings(max_epochs=2, batch_size=32, chunk_rows=150)
NETWORK = tdamp.Network((INPUTS, 8, 1))


def problem(rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """A noisy function of columns that need scales, sorted by the target."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, INPUTS)) * [1, 10, 0.1, 1] + [0, 1e6, 5, 0]
    y = 3 + np.abs(x[:, 0]) + 10 * x[:, 2] + 0.1 * rng.normal(size=rows)
    order = np.argsort(y)
    return x[order], y[order]


def in_batches(*arrays: np.ndarray, size: int = 70) -> Iterator[tuple[np.ndarray, ...]]:
    """One-shot: a generator."""
    for start in range(0, len(arrays[0]), size):
        yield tuple(a[start : start + size] for a in arrays)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Makes 600 rows many: they are trained on in chunks of files. The folder that must be empty in the end."""
    monkeypatch.setattr(from_source, "REFIT_ROWS", 100)
    monkeypatch.setattr(streamed, "CHUNK_NUMBERS", 1000)
    monkeypatch.setattr(shuffle, "MOST_NUMBERS", 500)
    folder = tmp_path / "spill"
    folder.mkdir()
    return folder


def model(**settings: object) -> TDAMPRegressor:
    """One that is trained in a moment."""
    return TDAMPRegressor((8,), **({"random_state": 0, "max_epochs": 2} | settings))


def same_bits(a: object, b: object) -> None:
    """Of two posteriors."""
    for p, q in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(p, q)


def test_files_train_as_memory_does(tmp_path: Path) -> None:
    """twin: `tdamp.fit` on the same rows in the same order and chunks, bit for bit at equal scales, and with scales of
    its own to rounding; the scales are NumPy's."""
    x, y = problem()
    known = read(Batches(in_batches(x, y)), False, tmp_path, np.random.default_rng(0))
    np.testing.assert_allclose(known.x.mean, x.mean(0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(known.x.std, x.std(0), rtol=1e-9)
    (x_mean, x_scale), (y_mean, y_scale) = known.x.scales(), known.y.scales()
    data = store(
        known,
        lambda part: ((part - x_mean) / x_scale).astype(np.float32),
        lambda part: ((part - y_mean) / y_scale).astype(np.float32),
        tmp_path,
        50,
        np.random.default_rng(1),
    )
    memory = Data(*(rows[:] for rows in data.stored))
    assert data.held is not None and len(data.held.x) == 50 and len(memory.x) == ROWS - 50
    all_x = np.concatenate([data.held.x, memory.x]) * x_scale + x_mean
    np.testing.assert_allclose(np.sort(all_x, 0), np.sort(x, 0), rtol=1e-6, atol=1e-5)
    at = scales_of(NETWORK, *memory)
    for ours, theirs in zip(data.stored.scales, at, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    ticks: list[float] = []
    files = train(TrainingJob(NETWORK, data.stored, SETTINGS, tick=ticks.append))
    np.testing.assert_allclose(ticks, np.arange(1, 9) / 4)  # four chunks, two epochs
    twin = tdamp.fit(NETWORK, memory.x, memory.y, SETTINGS, sample_weight=memory.weight)
    for p, q in zip(jax.tree.leaves(files.state), jax.tree.leaves(twin.state), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-3, atol=1e-5)
    exact = train(make_job(NETWORK, data.stored.__class__(*data.stored, at), SETTINGS))
    same_bits(exact.state, twin.state)


@pytest.mark.parametrize("known", [True, False], ids=["number of rows known", "not known"])
def test_a_search_for_a_size_needs_a_table(small: Path, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: rows that stay in files cannot choose a size, and keep="auto" says so before they are trained on; where
    their number is known, before they are read."""
    monkeypatch.setattr(refit, "REFIT_ROWS", 100)
    read_so_far: list[int] = []

    def batches() -> Iterator[tuple[np.ndarray, ...]]:
        for batch in in_batches(*problem()):
            read_so_far.append(len(batch[0]))
            yield batch

    source = Batches(batches, n_rows=ROWS if known else None, spill_dir=small)
    with pytest.raises(ValueError, match=r'keep="auto" needs rows that are held out .* 100000 rows at most'):
        model(keep="auto", max_epochs=10).fit(source)
    assert bool(read_so_far) is not known and not list(small.iterdir())
    with pytest.raises(ValueError, match='keep="auto" needs rows'):
        model(keep="auto", max_epochs=10, early_stopping=False).fit(source)


def test_every_source_gives_the_same_network(small: Path) -> None:
    """identity: batches, NumPy files, open maps and Parquet of the same rows, bit for bit; no file is left.

    The order of the file (sorted by the target) does not show: the fit is as good as one from memory.
    """
    x, y = problem()
    frame = pd.DataFrame(x, columns=list("abcd"))
    np.save(small.parent / "x.npy", x)
    np.save(small.parent / "y.npy", y)
    frame.assign(y=y).to_parquet(small.parent / "all.parquet", row_group_size=90)
    paths = small.parent / "x.npy", small.parent / "y.npy"
    sources: dict[str, Source] = {
        "paths": MemMap(*paths, spill_dir=small),
        "maps": MemMap(*(np.load(path, mmap_mode="r") for path in paths), spill_dir=small),
        "frames": Batches(lambda: [(frame, y)], spill_dir=small),
        "parquet": Parquet(small.parent / "all.parquet", target="y", spill_dir=small),
    }
    results = {name: model().fit(source) for name, source in sources.items()}
    for name, one in results.items():
        same_bits(one.fitted_.state, results["paths"].fitted_.state)
        assert hasattr(one, "feature_names_in_") == (name in ("frames", "parquet"))
    assert list(small.iterdir()) == []
    again = model(max_epochs=20).fit(sources["frames"])
    plain = model(max_epochs=20).fit(frame, y)
    assert again.n_rows_ == ROWS and again.fitted_.calibration is not None
    assert again.score(frame, y) > 0.9 and again.score(frame, y) > plain.score(frame, y) - 0.05


def test_weights(small: Path) -> None:
    """identity: rows of weight zero are absent, and weights alike are no weights, as far as scales go; a weight that
    says which of two halves counts decides what is predicted."""
    x, y = problem()
    weight = np.where(np.arange(ROWS) % 2, 1.0, 0.0)
    half = model().fit(Batches(in_batches(x[1::2], y[1::2], size=35)))
    same = model().fit(Batches(in_batches(x, y, weight)))
    assert same.n_rows_ == half.n_rows_ == ROWS // 2
    same_bits(same.fitted_.state, half.fitted_.state)
    tilted = model().fit(Batches(in_batches(x, y, 1.0 + np.arange(ROWS))))
    np.testing.assert_allclose(tilted.x_mean_, np.average(x, 0, 1.0 + np.arange(ROWS)), rtol=1e-12)
    np.testing.assert_allclose(tilted.y_mean_, np.average(y, 0, 1.0 + np.arange(ROWS)), rtol=1e-12)


def test_labels_seen_late(small: Path) -> None:
    """contract: text labels in order, each known though the last comes with the last batch; it is predicted."""
    x, _ = problem()
    order = np.argsort(x[:, 0])
    x, labels = x[order], np.repeat(["lo", "mid", "hi"], ROWS // 3)
    classifier = TDAMPClassifier((8,), random_state=0, max_epochs=15).fit(Batches(in_batches(x, labels)))
    assert classifier.classes_.tolist() == ["hi", "lo", "mid"]
    assert classifier.score(x, labels) > 0.9
    with pytest.raises(ValueError, match=r"only one class, \['lo'\]"):
        TDAMPClassifier((8,)).fit(Batches(in_batches(x[:100], labels[:100])))
    with pytest.raises(ValueError, match="give them weights of the rows"):
        TDAMPClassifier((8,), class_weight="balanced").fit(Batches(in_batches(x, labels)))


def test_few_rows_are_fitted_as_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: up to 20,000 rows all go to `select_and_fit`, in memory, a part to be held out as it sees fit."""
    x, y = problem(200)
    jobs: list[tuple[Data, float]] = []

    def instead(job: TrainingJob, fraction: float, **rest: object) -> None:
        assert isinstance(job.data, Data)
        jobs.append((job.data, fraction))
        raise InterruptedError

    monkeypatch.setattr(fitting, "select_and_fit", instead)
    with pytest.raises(InterruptedError):
        model().fit(Batches(in_batches(x, y)))
    ((data, fraction),) = jobs
    np.testing.assert_allclose(np.sort(data.y[:, 0]), (y - y.mean()) / y.std(), rtol=1e-5, atol=1e-6)
    assert len(data.x) == 200 and fraction == 0.1


def test_warm_start_and_no_held_out_rows(small: Path) -> None:
    """contract: a second fit goes on at the first one's scales; without held-out rows it is calibrated all the same."""
    x, y = problem()
    one = model(warm_start=True, early_stopping=False).fit(Batches(in_batches(x, y)))
    scale = one.x_scale_.copy()
    one.fit(Batches(in_batches(2 * x, y)))
    assert one.n_iter_ == 4 and one.fitted_.calibration is not None and "held_out" not in one.history_
    np.testing.assert_array_equal(one.x_scale_, scale)
    with pytest.raises(ValueError, match="3 features"):
        one.fit(Batches(in_batches(x[:, :3], y)))


def spoilt(batch: int, change: Callable[[np.ndarray, np.ndarray], tuple]) -> Batches:
    """The problem's batches, one of them changed."""
    batches = list(in_batches(*problem()))
    batches[batch] = change(*(a.copy() for a in batches[batch]))
    return Batches(iter(batches))


def with_nan(x: np.ndarray, y: np.ndarray) -> tuple:
    """One cell is missing."""
    x[3, 2] = np.nan
    return x, y


BAD = {
    "nan": (lambda: spoilt(7, with_nan), r"batch 7 .*x has 1 NaN .*row 493 of the source, column 2"),
    "width": (lambda: spoilt(2, lambda x, y: (x[:, :3], y)), "batch 2 .*3 columns: the rows before had 4"),
    "rows": (lambda: spoilt(2, lambda x, y: (x[:-1], y)), "batch 2 .*x has 69 rows, y has 70"),
    "no y": (lambda: spoilt(1, lambda x, y: (x, None)), "batch 1 .*y is missing"),
    "no pair": (lambda: spoilt(1, lambda x, y: x), "batch 1 .*is a ndarray: expected"),
    "nan y": (lambda: spoilt(1, lambda x, y: (x, y * np.nan)), "batch 1 .*y has 70 NaN"),
    "text": (lambda: spoilt(1, lambda x, y: (x.astype(str), y)), "batch 1 .*x has dtype <U32: expected numbers"),
    "flat": (lambda: spoilt(0, lambda x, y: (x[0], y)), r"batch 0 .*shape \(4,\): expected \(rows, inputs\)"),
    "weight": (lambda: spoilt(0, lambda x, y: (x, y, y - 99)), "batch 0 .*is negative"),
    "outputs": (lambda: spoilt(3, lambda x, y: (x, x[:, :2])), "batch 3 .*2 outputs: before there were 1"),
    "empty": (lambda: Batches([]), "no rows; if it is an iterator"),
    "no weight": (lambda: spoilt(0, lambda x, y: (x, y)) and Batches([(*problem(), np.zeros(ROWS))]), "above zero"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_batches(name: str, small: Path) -> None:
    """contract: what is wrong and where; the temporary files are gone."""
    source, message = BAD[name][0](), BAD[name][1]
    source.spill_dir = small
    with pytest.raises(ValueError, match=message):
        model().fit(source)
    assert list(small.iterdir()) == []


def test_bad_files(tmp_path: Path) -> None:
    """contract: Parquet with text, without the target, no Parquet; NumPy files in the wrong order or shape."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "city": ["x", "y"], "y": [1.0, 2.0]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'city' holds .*string.*leave it out"):
        Parquet(tmp_path / "t.parquet", target="y")
    with pytest.raises(ValueError, match="no column 'fare'; there are: a, city, y"):
        Parquet(tmp_path / "t.parquet", target="fare", columns=["a"])
    (tmp_path / "no.parquet").write_bytes(b"PAR1 or not")
    with pytest.raises(ValueError, match="not a Parquet file"):
        Parquet(tmp_path / "no.parquet", target="y")
    with pytest.raises(ValueError, match=r"not a \.npy file"):
        MemMap(tmp_path / "no.parquet", tmp_path / "no.parquet")
    np.save(tmp_path / "x.npy", np.asfortranarray(problem()[0]))
    np.save(tmp_path / "y.npy", problem()[1][1:])
    with pytest.raises(ValueError, match="column by column"):
        MemMap(tmp_path / "x.npy", tmp_path / "y.npy")
    with pytest.raises(ValueError, match=r"\[599, 600\] rows"):
        MemMap(problem()[0], tmp_path / "y.npy")
    frame.assign(a=[1, None]).astype({"a": "Int64"}).to_parquet(tmp_path / "gap.parquet")
    with pytest.raises(ValueError, match=r"gap.parquet, rows 0 to 1: x has 1 NaN .*row 1 of the source, column a"):
        model().fit(Parquet(tmp_path / "gap.parquet", target="y", columns=["a"]))


def test_parquet_lets_go_of_what_it_has_read(tmp_path: Path) -> None:
    """rate: of 30 row groups less than a third are held at a time, pages on their way in among them (3 to 6 were seen);
    asked for all at once, pyarrow 26 held more than half."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(600_000, 4)), columns=list("abcy"))
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=20_000)
    before = pa.total_allocated_bytes()
    ours = [pa.total_allocated_bytes() for _ in Parquet(tmp_path / "a.parquet", target="y").pieces()]
    assert max(ours) - before < 10 * 20_000 * 4 * 8


def test_wrong_parameters_are_refused_before_reading() -> None:
    """contract: no batch is taken from the iterator."""
    batches = in_batches(*problem())
    with pytest.raises(ValueError, match="activation='tanh'"):
        model(activation="tanh").fit(Batches(batches))
    with pytest.raises(ValueError, match="come from the source"):
        model().fit(Batches(batches), problem()[1])
    assert len(next(batches)[0]) == 70 and len(list(batches)) == 8


def test_a_full_disk(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the system's own error, told in words; the folder is empty afterwards."""

    def full(blocks: object, folder: Path, rng: object) -> list[Path]:
        (folder / "piece").write_bytes(b"1")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tdamp.sources.spill.scatter", full)
    with pytest.raises(OSError, match="give the source a spill_dir with more room") as caught:
        model().fit(Batches(in_batches(*problem()), spill_dir=small))
    assert caught.value.errno == errno.ENOSPC and list(small.iterdir()) == []


def test_progress(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """contract: rows are counted while they are read and shuffled, epochs while they are trained on."""
    model(verbose=1).fit(Batches(in_batches(*problem())))
    shown = capsys.readouterr().err
    assert shown.count("600 rows") == 2 and "2/2" in shown


def measure_prediction_from_a_memory_map(folder: Path) -> None:
    """In a process of its own: what other threads allocate would count, too."""
    x, y = problem(100)
    fitted = model(max_epochs=1, early_stopping=False).fit(x, y)
    mapped = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (100_000, INPUTS))
    mapped[:] = np.resize(x, mapped.shape)

    def moments(rows: slice) -> np.ndarray:
        return batched.moments(fitted.fitted_, fitted._new_rows(mapped[rows])).mean

    halves = [moments(slice(0, 50_000)), moments(slice(50_000, 100_000))]
    peaks = []
    for work in (lambda: fitted._scaled(mapped), lambda: moments(slice(None))):
        work()  # what is made once, such as compiled code, does not count
        gc.collect()
        tracemalloc.start()
        result = work()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > 3 * mapped.nbytes and peaks[1] < 2 * 8 * len(mapped) + 2**20
    np.testing.assert_array_equal(result, np.concatenate(halves))


def test_prediction_does_not_copy_a_memory_map(tmp_path: Path) -> None:
    """twin: the same moments as of the rows cut in two. Scaled at once the rows take three times the map's room; here
    the answers (8 bytes a row, once in blocks and once joined) and some blocks are all that is made."""
    here = [str(folder) for folder in (Path(__file__).parent, Path(__file__).parents[1])]
    call = f"test_fit.measure_prediction_from_a_memory_map(test_fit.Path({str(tmp_path)!r}))"
    code = f"import sys; sys.path[:0] = {here!r}; import test_fit; {call}"
    around = {**os.environ, "TDAMP_COMPILATION_CACHE": "off"}  # writing compiled code to disk takes memory, too
    done = subprocess.run([sys.executable, "-c", code], env=around, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr


def test_goes_on_from_a_checkpoint(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: a fit from a source that nobody stopped, bit for bit; without a seed of its own it is refused."""
    x, y = problem()
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)

    def work(**more: object) -> tdamp.Fitted:
        return model(max_epochs=3, **more).fit(Batches(in_batches(x, y), spill_dir=small)).fitted_

    pieces = in_pieces(lambda: work(checkpoint_dir=tmp_path / "checkpoint"), writes=1)
    assert pieces.starts == 5 and pieces.epochs == 3  # stopped after each epoch and after the end
    same(pieces.result, work())
    with pytest.raises(ValueError, match="random_state"):
        work(checkpoint_dir=tmp_path / "another", random_state=None)
