"""A folder that holds one model: model.safetensors, config.json, README.md. Nothing in it is ever executed.

Saving replaces config.json last but one, in one step of the file system; it holds the hash of the data that belong to
it, and that of its own entries. Before that step the folder is the old model, after it the new one, whose data may
still bear the name model-<hash>.safetensors: `load` reads that too. README.md is for people and follows at the end.
One process may save at a time; others may load meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import safetensors.numpy as safetensors_numpy

from ..io.atomic import PART, rename_whole, settle, write_whole
from ..io.errors import ModelFileError

DATA, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
FORMAT, SCHEMA = "tdamp", 1
HEADER = ("format", "schema", "tdamp", "sha256", "config_sha256")
MAX_CONFIG_BYTES = 16 * 2**20
DTYPES = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
DTYPES |= {"float16", "float32", "float64", "bool"}

Arrays = dict[str, np.ndarray]
Migration = Callable[[Arrays, dict[str, Any]], tuple[Arrays, dict[str, Any]]]
MIGRATIONS: dict[int, Migration] = {}
"""The function of each schema that brings arrays and config from that schema to the next."""

_PART = rf"\.\d+{re.escape(PART)}"
_LEFTOVER = re.compile(rf"model-[0-9a-f]{{64}}\.safetensors({_PART})?|(config\.json|README\.md){_PART}")


def save(folder: str | Path, arrays: Arrays, config: dict[str, Any], card: str) -> None:
    """Write a model into a folder that is new, empty, or holds a tdamp model."""
    from .. import __version__  # here, as the package is still being imported when this module is

    folder = Path(folder)
    taken = sorted(set(HEADER) & set(config))
    if taken:
        raise ValueError(f"config: the names {', '.join(taken)} belong to the file format; choose others")
    data = _pack(arrays)
    digest = hashlib.sha256(data).hexdigest()
    header = dict(zip(HEADER, (FORMAT, SCHEMA, __version__, digest, _digest(config)), strict=True))
    text = json.dumps({**header, **config}, allow_nan=False, ensure_ascii=False, indent=1).encode()
    if len(text) > MAX_CONFIG_BYTES:
        raise ValueError(f"config: {len(text)} bytes of JSON, at most {MAX_CONFIG_BYTES} are allowed; use arrays")
    check_ours(folder)
    folder.mkdir(parents=True, exist_ok=True)
    settle(folder.parent)
    pending = folder / _pending(digest)
    write_whole(pending, data)
    write_whole(folder / CONFIG, text)  # from here on the folder is the new model
    rename_whole(pending, folder / DATA)
    write_whole(folder / CARD, card.encode())
    for name in os.listdir(folder):
        if _LEFTOVER.fullmatch(name):
            os.unlink(folder / name)


def load(folder: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and config of a saved model; whatever is wrong with the folder is a ModelFileError."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelFileError(f"{folder}: {'not a folder' if folder.exists() else 'no such folder'}")
    config = _read_config(folder)
    for _ in range(10):  # another process may save between our two reads
        data = _read_data(folder, config["sha256"])
        again = config if data is not None else _read_config(folder)
        if again["sha256"] == config["sha256"]:
            break
        config = again
    if data is None:
        raise ModelFileError(f"{folder / DATA}: damaged or truncated (its SHA-256 is not the one in {CONFIG})")
    arrays = _unpack(data, folder)
    schema, own = config["schema"], config.get("config_sha256")
    config = {k: v for k, v in config.items() if k not in HEADER}
    if own is not None and own != _digest(config):
        raise ModelFileError(
            f'{folder / CONFIG}: damaged or changed since it was saved ("config_sha256" is the hash of other entries): '
            "save the model again; if the change was meant, take that line out"
        )
    for step in range(schema, SCHEMA):
        if step not in MIGRATIONS:
            raise ModelFileError(f"{folder}: schema {schema} is too old for this tdamp; load it with an older one")
        arrays, config = MIGRATIONS[step](arrays, config)
    return arrays, config


def _digest(config: dict[str, Any]) -> str:
    """SHA-256 of the entries, however they are laid out in the file."""
    plain = json.loads(json.dumps(config, allow_nan=False))  # its keys are text, and can be sorted
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _pending(digest: str) -> str:
    return f"model-{digest}.safetensors"


def check_ours(folder: Path) -> None:
    """Refuse a folder with the work of someone else."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ModelFileError(f"{folder}: a file is in the way; choose another folder")
    names = os.listdir(folder)
    if CONFIG in names:
        try:
            _read_config(folder)
        except ModelFileError as error:
            raise ModelFileError(f"will not write over what is not a tdamp model: {error}") from error
        return
    foreign = sorted(name for name in names if not _LEFTOVER.fullmatch(name))
    if foreign:
        raise ModelFileError(f"{folder}: holds other files ({', '.join(foreign[:3])}); choose a new or empty folder")


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    data = _read(path, MAX_CONFIG_BYTES)
    if data is None:
        raise ModelFileError(f"{path}: missing; this is not a tdamp model, or its saving was interrupted")
    try:
        config = json.loads(data.decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: not JSON ({error})") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ModelFileError(f'{path}: not a tdamp model (no "format": "{FORMAT}")')
    schema, digest = config.get("schema"), config.get("sha256")
    if type(schema) is not int or schema < 0:
        raise ModelFileError(f'{path}: "schema" is {schema!r}, expected a whole number')
    if schema > SCHEMA:
        raise ModelFileError(f"{path}: written by a newer tdamp ({config.get('tdamp')}): upgrade tdamp to read it")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise ModelFileError(f'{path}: "sha256" is not the hash of a file')
    return config


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if isfinite(value) else _refuse(text)


def _read(path: Path, limit: int | None = None) -> bytes | None:
    """A file's content, or None when it is not there."""
    try:
        with open(path, "rb") as file:
            data = file.read() if limit is None else file.read(limit + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror})") from error
    if limit is not None and len(data) > limit:
        raise ModelFileError(f"{path}: more than {limit} bytes, which no model of tdamp has")
    return data


def _read_data(folder: Path, digest: str) -> bytes | None:
    """The data with this hash, or None when what is there is something else."""
    anything = False
    for name in (_pending(digest), DATA):  # in this order: the first becomes the second
        data = _read(folder / name)
        anything |= data is not None
        if data is not None and hashlib.sha256(data).hexdigest() == digest:
            return data
    if not anything:
        raise ModelFileError(f"{folder / DATA}: missing")
    return None


def _pack(arrays: Arrays) -> bytes:
    for name, array in arrays.items():
        if np.asarray(array).dtype.name not in DTYPES:
            raise ValueError(f"array {name!r}: cannot store {np.asarray(array).dtype}; use numbers or booleans")
    contiguous = {name: np.array(array, order="C") for name, array in arrays.items()}
    return safetensors_numpy.save(contiguous)


def _unpack(data: bytes, folder: Path) -> Arrays:
    try:
        return {name: np.array(array) for name, array in safetensors_numpy.load(data).items()}
    except Exception as error:  # whatever a foreign file makes the parser say
        raise ModelFileError(f"{folder / DATA}: not a safetensors file of numbers ({error})") from error
