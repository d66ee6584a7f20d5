"""Debian packages: the archive's format, what apt-get is asked for, and what its errors become."""

import hashlib
import io
import shutil
import subprocess
import tarfile

import pytest

from helpers.stand_in import calls, fails, stand_in
from tdamp.datasets import DataDamaged, DataNotFound, debian
from tdamp.datasets.debian import ar_members
from tdamp.datasets.fetch import obtain
from tdamp.datasets.pinned import DataSet, DebianPackage, File

CONTENT = b"a,y\n1,2\n3,4\n"
PATH = "usr/share/toy/toy.csv.gz"
FILE = File("toy.csv.gz", hashlib.sha256(CONTENT).hexdigest(), PATH)
TOY = DataSet("toy", 2, 1, "y", "regression", DebianPackage("toy-data", 100), (FILE,), ((FILE,),))
NAME = "toy-data_1.0~git2020-3_all.deb"


def data_tar(packing, content=CONTENT):
    """The member data.tar as dpkg-deb writes it: paths begin with ./, folders are members."""
    file, packed = io.BytesIO(), FILE.pack(content)
    with tarfile.open(fileobj=file, mode=f"w:{packing}") as tar:
        folder = tarfile.TarInfo("./usr")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        info = tarfile.TarInfo(f"./{PATH}")
        info.size = len(packed)
        tar.addfile(info, io.BytesIO(packed))
    return file.getvalue()


def ar(members):
    """An ar archive: a header of 60 characters each, contents padded to even lengths."""
    parts = [b"!<arch>\n"]
    for name, content in members.items():
        parts.append(f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode() + content)
        parts.append(b"\n" * (len(content) % 2))
    return b"".join(parts)


def package(packing="xz", content=CONTENT, suffix=None):
    """A .deb file."""
    suffix = packing if suffix is None else suffix
    data = data_tar(packing, content)
    return ar({"debian-binary": b"2.0\n", "control.tar.xz": b"odd", f"data.tar.{suffix}".rstrip("."): data})


def test_members_of_an_ar_archive():
    """identity: names with and without a slash at their end, contents of even and odd length and none."""
    members = {"debian-binary": b"2.0\n", "odd/": b"abc", "empty": b"", "last": b"`\n!<arch>\n"}
    assert list(ar_members(ar(members))) == [(name.rstrip("/"), content) for name, content in members.items()]


@pytest.mark.parametrize("packing", ["xz", "gz", "bz2", ""])
def test_what_is_fetched_is_kept(tmp_path, monkeypatch, packing):
    """identity: the bytes of the package, whatever it is packed with; apt-get is asked for any version, to a folder."""
    (tmp_path / "served").write_bytes(package(packing))
    code = f"shutil.copy({str(tmp_path / 'served')!r}, {NAME!r})"
    monkeypatch.setattr(debian, "APT", stand_in(tmp_path, code))
    lines = []
    assert obtain(TOY, progress=lines.append) == {"toy.csv.gz": CONTENT} == obtain(TOY)
    assert FILE.unpack((tmp_path / "cache/data/toy/toy.csv.gz").read_bytes()) == CONTENT
    (call,) = calls(tmp_path)
    assert call.split()[1] == "--quiet" and call.endswith(" download toy-data")
    assert lines[0] == "Fetching toy-data with apt-get (0.0 MB)"


def test_a_package_of_dpkg_is_read(tmp_path):
    """twin: dpkg-deb builds the package; it is read without it."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("there is no dpkg-deb")
    tree, made = tmp_path / "tree", tmp_path / "made"
    for name, content in {PATH: FILE.pack(CONTENT), "DEBIAN/control": CONTROL}.items():
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_bytes(content)
    tree.joinpath("DEBIAN").chmod(0o755)
    made.mkdir()
    subprocess.run(["dpkg-deb", "-Zxz", "--build", str(tree), str(made / NAME)], check=True, capture_output=True)
    assert obtain(TOY, made) == {"toy.csv.gz": CONTENT}


CONTROL = b"Package: toy-data\nVersion: 1.0~git2020-3\nArchitecture: all\nMaintainer: x <x@y>\nDescription: toy\n"


def test_the_last_version_of_several(tmp_path):
    """contract: any version in a folder of one's own; of two the last by name; what they hold is checked."""
    (tmp_path / "toy-data_1.0_all.deb").write_bytes(package(content=b"old"))
    with pytest.raises(DataDamaged, match=FILE.sha256):
        obtain(TOY, tmp_path)
    (tmp_path / "toy-data_1.1_all.deb").write_bytes(package())
    assert obtain(TOY, tmp_path) == {"toy.csv.gz": CONTENT}


WHOLE = package()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"PK no ar archive",
        WHOLE[:30],
        WHOLE[:-100],
        WHOLE.replace(b"`\n", b"..", 1),
        ar({"debian-binary": b"2.0\n"}),
        ar({"data.tar.xz": data_tar("xz")[:100]}),
        ar({"data.tar.xz": b"not packed at all"}),
        ar({"data.tar": b""}),
    ],
    ids=["empty", "zip", "header cut", "end cut", "header wrong", "no data", "data cut", "data wrong", "data empty"],
)
def test_damaged_packages(tmp_path, raw):
    """contract: an error that names the package and says what to do."""
    (tmp_path / NAME).write_bytes(raw)
    with pytest.raises(DataDamaged, match=r"toy-data_1.* cannot be read as the Debian package.*Fetch it again"):
        obtain(TOY, tmp_path)


def test_a_packing_that_python_may_lack(tmp_path):
    """contract: zstd is read, or the error gives the command that unpacks it."""
    (tmp_path / NAME).write_bytes(ar({"data.tar.zst": b"\x28\xb5\x2f\xfd and so on"}))
    with pytest.raises(DataDamaged, match=r"zstd(?s:.*)dpkg-deb -x toy-data_1"):
        obtain(TOY, tmp_path)


UNKNOWN = "E: Unable to locate package toy-data\n"


@pytest.mark.parametrize("said", [f"{UNKNOWN}W: a warning\n", f"Err:1 x\nE: no lists\n{UNKNOWN}"])
def test_offline_error_says_what_to_do(tmp_path, monkeypatch, said):
    """golden(a promise): the last of apt-get's errors, the command, the variable, the files that do, and the lists."""
    monkeypatch.setattr(debian, "APT", stand_in(tmp_path, fails(said, 100)))
    with pytest.raises(DataNotFound) as caught:
        obtain(TOY, progress=False)
    words = "ended with code 100: E: Unable to locate package toy-data. ", "apt-get download toy-data", "apt-get update"
    for part in (*words, "toy-data_*_all.deb", "TDAMP_DATA", "`folder`", "the file toy.csv.gz"):
        assert part in str(caught.value)


def test_without_apt(tmp_path, monkeypatch):
    """contract: a machine that is no Debian is told which files to put where."""
    monkeypatch.setattr(debian, "APT", (str(tmp_path / "nothing"),))
    with pytest.raises(DataNotFound, match=r"not be started(?s:.*)A folder with the file toy\.csv\.gz does as well"):
        obtain(TOY, progress=False)


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="there is no apt-get")
def test_real_apt_get_gives_the_same_error(tmp_path, monkeypatch):
    """twin: apt-get itself, asked for a package that does not exist; nothing is left in the folder of the caller."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataNotFound, match=r"(?s)apt-get ended with code 100: E: .*toy-data.*apt-get update"):
        obtain(TOY, progress=False)
    assert list(tmp_path.iterdir()) == []
