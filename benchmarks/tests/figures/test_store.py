"""Finished runs on disk."""

import json
import math
from dataclasses import replace

import pytest

from tdamp_bench.core.jobs import Run
from tdamp_bench.figures.store import Done, Key, Store, canonical

KEY = Key("boston", "adam", canonical({"rate": 0.001}), 0.5, 0, 3, "test")


def done(seed: int = 0, whole: bool = True, **changes) -> Done:
    """A run of three epochs."""
    key = replace(KEY, seed=seed, **changes)
    run = Run([math.inf, 0.123456789, 0.5 + seed], 70, {"noise_var": [1.0, 2.0, 3.0], "other": [1.0]})
    return Done.of(key, run, 1.23456, whole, ("noise_var",))


@pytest.fixture
def store(tmp_path):
    """An empty one."""
    return Store(tmp_path / "deep" / "runs.jsonl")


def test_what_is_written_is_read(store):
    """identity: infinity, six digits, the last loss alone, only the named further lists."""
    store.append([done(0), done(1), done(0, whole=False, role="validation")])
    again = Store(store.path)
    assert again.done == store.done and len(again.done) == 3
    assert again.done[KEY].loss == [math.inf, 0.123457, 0.5] and again.done[KEY].whole
    assert again.done[KEY].extra == {"noise_var": [1.0, 2.0, 3.0]} and again.done[KEY].seconds == 1.23
    assert again.done[replace(KEY, role="validation")].loss == [0.5]


def test_lines_are_legal_json_and_hold_all_seeds(store):
    """contract: one line for the runs that differ by their seed; strict parsing finds no bare Infinity."""
    store.append([done(0), done(1), done(0, keep=0.2)])
    lines = store.path.read_text().splitlines()
    entries = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert [(entry["seed"], entry["keep"]) for entry in entries] == [([0, 1], 0.5), ([0], 0.2)]


def test_order_of_a_configuration_is_nothing():
    """identity: two orders, one key."""
    assert canonical({"b": 1, "a": 0.1}) == canonical({"a": 0.1, "b": 1})


def test_a_run_that_is_not_a_number_is_infinite():
    """identity: NaN is stored as infinity."""
    assert Done.of(KEY, Run([math.nan], 1), 0.0, True).loss == [math.inf]


@pytest.mark.parametrize("cut", [1, 40])
def test_a_half_written_line_is_ignored_and_cut_off(store, cut):
    """twin: a file whose writer was killed goes on as if the last line had never been begun."""
    store.append([done(0)])
    kept = store.path.read_bytes()
    store.append([done(0, keep=0.2)])
    store.path.write_bytes(store.path.read_bytes()[:-cut])
    again = Store(store.path)
    assert list(again.done) == [KEY]
    again.append([done(5)])
    assert store.path.read_bytes().startswith(kept) and len(store.path.read_text().splitlines()) == 2
    assert set(Store(store.path).done) == {KEY, replace(KEY, seed=5)}


def test_a_damaged_line_is_ignored(store):
    """contract: no JSON, JSON of another kind, a missing entry."""
    store.append([done(0)])
    with store.path.open("a") as file:
        file.write('{"data":\n[1,2]\n{"data":"mnist"}\n')
    assert list(Store(store.path).done) == [KEY]


def test_all_seeds_in_their_order(store):
    """contract: only the seed may differ."""
    store.append([done(3), done(1), done(2, keep=0.2), done(1, role="validation")])
    assert [run.key.seed for run in store.all_seeds(replace(KEY, seed=9))] == [1, 3]


@pytest.mark.parametrize(
    ("whole_here", "whole_there", "adopted"), [(True, True, 3), (True, False, 0), (False, True, 1)]
)
def test_a_sibling_lends_what_is_enough(store, tmp_path, whole_here, whole_there, adopted):
    """contract: a figure of curves takes test runs only with all epochs, another the last loss of any."""
    other = Store(tmp_path / "other.jsonl")
    other.append([done(0, whole_there), done(0, False, role="validation")])
    validation = replace(KEY, role="validation")
    store.adopt([KEY, validation, replace(KEY, seed=7)], other, whole_here)
    assert store.done[validation].loss == [0.5]
    assert (len(store.done[KEY].loss) if KEY in store else 0) == adopted
