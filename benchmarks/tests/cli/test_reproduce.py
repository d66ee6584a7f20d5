"""The command `tdamp reproduce`, with toys in place of the methods."""

import json

import pytest
from figure_toys import Toy

from tdamp.cli import main
from tdamp_bench.cli import reproduce
from tdamp_bench.figures import curves, registry, sparsity
from tdamp_bench.figures.options import DATA

pytestmark = pytest.mark.usefixtures("toys")


def test_names_are_those_of_the_registry():
    """identity: the parser knows them without importing the benchmarks."""
    assert tuple(registry.FIGURES) == reproduce.FIGURES and reproduce.DATA == DATA


@pytest.mark.parametrize("figure", ["curves", "sparsity"])
def test_a_quick_figure_leaves_its_files(tmp_path, capsys, figure):
    """contract: all files; a second call runs nothing and changes no byte."""
    arguments = ["reproduce", figure, "--quick", "--out", str(tmp_path)]
    assert main.main(arguments) == 0
    printed, n_calls = capsys.readouterr().out, len(Toy.calls)
    files = {path.name: path.read_bytes() for path in (tmp_path / figure).iterdir()}
    assert set(files) == {"runs.jsonl", *(f"{figure}.{kind}" for kind in ("csv", "json", "png", "svg"))}
    report = json.loads(files[f"{figure}.json"], parse_constant=pytest.fail)
    assert report["quick"] is True and report["tasks"]["mnist"] == {"widths": [784, 128, 10], "batch": 100, "epochs": 3}
    assert all(verdict["sentence"] in printed.replace("\n", " ") for verdict in report["verdicts"])
    assert report["verdicts"] and report["seconds"]["boston"]["adam"]["test"] >= 0
    assert main.main(arguments) == 0 and len(Toy.calls) == n_calls
    assert {path.name: path.read_bytes() for path in (tmp_path / figure).iterdir()} == files


def test_a_full_sparsity_figure(tmp_path, capsys):
    """identity: all cells of all methods are tuned, tested and judged: the first toy wins everywhere."""
    assert main.main(["reproduce", "sparsity", "--seeds", "3", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "sparsity" / "sparsity.json").read_text())
    assert len(report["cells"]) == 2 * 9 * 9 and {cell["seeds"] for cell in report["cells"]} == {3}
    assert {cell["config"]["rate"] for cell in report["cells"]} == {0.1}
    assert [row["loss"] for row in report["cells"][0]["grid"]][-1] == "inf"
    each = report["tdamp_against_each"]
    assert {row["outcome"] for row in each if row["data"] == "mnist"} == {"win"} and len(each) == 2 * 9 * 7
    assert (tmp_path / "sparsity" / "runs.jsonl").stat().st_size < 300_000


def test_tuning_and_test_rows(tmp_path):
    """contract: MNIST is tuned on 90 rows with seed 0 alone and tested on 120; no seed is tested twice."""
    assert main.main(["reproduce", "curves", "--seeds", "2", "--data", "mnist", "--out", str(tmp_path)]) == 0
    jobs = [job for call in Toy.calls for job in call]
    assert {(seed, rows) for *_, seed, rows in jobs} == {(0, 90), (0, 120), (1, 120)}
    assert len(jobs) == len(set(jobs)) == 8 * (3 + 2)


def test_ctrl_c_shows_how_to_resume(tmp_path, capsys):
    """identity: the same command, in words a shell takes; nothing finished is lost."""
    out = tmp_path / "my results"
    Toy.stop_at = 3
    arguments = [
        "reproduce",
        "curves",
        "--seeds",
        "2",
        "--data",
        "mnist",
        "--methods",
        "adam",
        "tdamp",
        "--out",
        str(out),
    ]
    assert main.main(arguments) == 130
    assert (
        f"tdamp reproduce curves --seeds 2 --data mnist --methods adam tdamp --out '{out}'" in capsys.readouterr().err
    )
    assert len((out / "curves" / "runs.jsonl").read_text().splitlines()) == 3
    Toy.stop_at = None
    assert main.main(arguments) == 0 and len(Toy.calls) == 3 * 2 + 2 * 2


def test_list_shows_what_is_there(tmp_path, capsys, monkeypatch):
    """contract: made, begun and not made; every name with its title."""
    (tmp_path / "curves").mkdir()
    (tmp_path / "curves" / "curves.json").touch()
    (tmp_path / "sparsity").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main.main(["reproduce", "--list", "--out", "."]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {name: next(line for line in lines if f" {name} " in line) for name in registry.FIGURES}
    assert "yes" in rows["curves"] and "begun" in rows["sparsity"] and "no" in rows["noise"].split()
    assert curves.TITLE in rows["curves"] and sparsity.TITLE in rows["sparsity"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["pies"], "curves"),
        (["curves", "--seeds", "0"], "at least 1"),
        (["curves", "--data", "iris"], "boston"),
        (["curves", "--methods", "magnitude"], "Choose from: tdamp, tdamp_paper, amp"),
    ],
)
def test_wrong_words(tmp_path, capsys, arguments, word):
    """contract: exit code 2 and what would be right."""
    assert main.main(["reproduce", *arguments, "--out", str(tmp_path)]) == 2
    assert word in capsys.readouterr().err
