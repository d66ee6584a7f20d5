"""A process of its own that reads spoiled files: `python -m helpers.fuzz_files FOLDER '{"KIND": COUNT, ...}'`.

It prints a JSON object for each kind, with the count of every outcome. A hang ends it with a traceback after HANG
seconds; a crash of the interpreter ends it as crashes do. The file FOLDER/now names the mutation at work. Code that is
run, started or connected to while a file is read is a fault, whatever else comes of it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import json
import random
import sys
import sysconfig
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from helpers.mutate import other_arrays, other_json, spoiled

HANG = 180  # seconds: two orders above a load, with a compilation on a busy machine
WATCHED = ("exec", "compile", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "subprocess.Popen")
WATCHED += (
    "socket.connect",
    "socket.bind",
    "pickle.find_class",
    "ctypes.dlopen",
    "code.__new__",
    "os.remove",
    "os.rename",
)
SOURCES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
SOURCES += ("<frozen", str(Path(__file__).parents[2]))
ROWS = np.random.default_rng(1).normal(size=(8, 3))

code_run: list[str] = []
listening: list[bool] = []


def listen(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook; modules that Python imports from where it is installed are not news."""
    if not event.startswith(WATCHED):
        return
    where = ""
    if event in ("exec", "compile"):
        code = arguments[0] if event == "exec" else arguments[1]
        where = str(getattr(code, "co_filename", code))
        if where.startswith(SOURCES) or (event == "compile" and where == "<unknown>"):
            return  # the second is ast.literal_eval, with which NumPy reads headers: it parses, and runs nothing
    if listening:
        code_run.append(f"{event} {where}")


class WrongAnswer(Exception):
    """A file was read, and what came of it is neither refused nor proper."""


def predictions(model: Any) -> list[Any]:
    """Everything that a model says of some rows."""
    if hasattr(model, "classes_"):
        probs = model.predict_proba(ROWS)
        if not np.allclose(probs.sum(1), 1) or not np.isfinite(probs).all():
            raise WrongAnswer("probabilities")
        return [probs.tolist(), model.predict(ROWS).tolist()]
    mean, std = model.predict(ROWS, return_std=True)
    if not (np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()):
        raise WrongAnswer("moments")
    return [mean.tolist(), std.tolist(), model.predict_interval(ROWS).tolist()]


def describe(model: Any) -> list[Any]:
    """The predictions, and what else people read off."""
    names = getattr(model, "feature_names_in_", np.array([])).tolist()
    return [*predictions(model), names, [p.tolist() for p in model.active_prob_], len(model.history_), model.n_rows_]


def read_model(folder: Path, expected: list[Any], mended: bool) -> str:
    """Through the door of the command line, which reads the encoder, too."""
    from tdamp import ModelFileError
    from tdamp.cli.exit_codes import CommandError
    from tdamp.cli.files import open_model

    try:
        model = open_model(folder).estimator
    except (ModelFileError, CommandError) as error:
        if len(str(error)) < 20:
            raise WrongAnswer(f"a message without words: {error}") from error
        return "refused"
    try:
        actual = describe(model)
    except ValueError as error:
        if mended and ("not finite: the network" in str(error) or "check its unit" in str(error)):
            return "refused when it predicts"
        raise
    if actual == expected:
        return "same"
    if not mended:
        raise WrongAnswer("another model, though its hash was not mended")
    return "another proper model"


def spoil_model(clean: Path, folder: Path, kind: str, rng: random.Random) -> None:
    """A copy of the model with one file spoiled; "mended" has the hashes that its files then have."""
    from tdamp.persistence import folder as store

    data, text = (clean / store.DATA).read_bytes(), (clean / store.CONFIG).read_bytes()
    if "data" in kind:
        if "mended" in kind and rng.random() < 0.5:
            data = store._pack(other_arrays(store._unpack(data, clean), rng))
        else:
            data = spoiled(data, rng)
        if "mended" in kind:
            text = json.dumps({**json.loads(text), "sha256": hashlib.sha256(data).hexdigest()}).encode()
    elif "mended" in kind:
        config = other_json(json.loads(text), rng)
        own = {k: v for k, v in config.items() if k not in store.HEADER}
        text = json.dumps({**config, "config_sha256": store._digest(own)}).encode("utf-8", "surrogatepass")
    elif rng.random() < 0.1:
        text = text.replace(b"1", rng.choice([b"[", b'{"a":', b"-"]) * 100_000 + b"1", 1)
    else:
        text = spoiled(text, rng)
    (folder / store.DATA).write_bytes(data)
    (folder / store.CONFIG).write_bytes(text)


def read_table(path: Path, clean: Any) -> str:
    """A table of names that differ and at least one row, or TableError."""
    from tdamp import tables

    try:
        frame = tables.read_table(path)
    except tables.TableError as error:
        if str(path) not in str(error):
            raise WrongAnswer("the file is not named") from error
        return "refused"
    if not len(frame) or not frame.columns.is_unique:
        raise WrongAnswer("a table without rows, or with twin columns")
    return "same" if frame.equals(clean) else "another proper table"


def read_program(path: Path, content: bytes) -> str:
    """A cached program that is not the one that was written is not used."""
    from tdamp.training import compiled

    if compiled._read(path) is None:
        return "refused"
    if path.read_bytes() != content:
        raise WrongAnswer("a spoiled program was taken")
    return "same"


def read_torch(path: Path, clean: np.ndarray) -> str:
    """A module, or ModelFileError."""
    import torch

    from tdamp import ModelFileError
    from tdamp.export import load_torch

    try:
        module = load_torch(path)
    except ModelFileError:
        return "refused"
    result = module(torch.from_numpy(ROWS.astype(np.float32))).detach().numpy()
    return "same" if np.array_equal(result, clean) else "another network"


def read_onnx(content: bytes, clean: list[np.ndarray]) -> str:
    """By onnx and onnxruntime, which are others' work: whatever they raise is a refusal."""
    import onnx
    import onnxruntime

    try:
        onnx.checker.check_model(onnx.load_from_string(content))
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        result = session.run(None, {"x": ROWS.astype(np.float32)})
    except Exception:
        return "refused"
    same = len(result) == len(clean) and all(np.array_equal(a, b) for a, b in zip(result, clean, strict=True))
    return "same" if same else "another answer"


def reader(folder: Path, kind: str) -> Any:
    """A function of a random generator: one mutation, and its outcome."""
    if kind.startswith("model"):
        clean, copy = folder / kind.split()[1], folder / "copy"
        copy.mkdir(exist_ok=True)
        from tdamp.cli.files import open_model

        expected = describe(open_model(clean).estimator)

        def model(rng: random.Random) -> str:
            spoil_model(clean, copy, kind, rng)
            return read_model(copy, expected, "mended" in kind)

        return model
    (path,) = folder.glob(f"clean.{kind}")
    content, copy = path.read_bytes(), folder / f"copy.{kind}"
    if kind == "onnx":
        import onnxruntime

        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        answer = session.run(None, {"x": ROWS.astype(np.float32)})
        return lambda rng: read_onnx(spoiled(content, rng), answer)
    if kind == "pt":
        import torch

        from tdamp.export import load_torch

        clean_answer: Any = load_torch(path)(torch.from_numpy(ROWS.astype(np.float32))).detach().numpy()
    elif kind != "stablehlo":
        from tdamp import tables

        clean_answer = tables.read_table(path)

    def file(rng: random.Random) -> str:
        copy.write_bytes(spoiled(content, rng))
        if kind == "stablehlo":
            return read_program(copy, content)
        return read_torch(copy, clean_answer) if kind == "pt" else read_table(copy, clean_answer)

    return file


def campaign(folder: Path, kind: str, count: int) -> None:
    """Mutation after mutation; those of the warm-up are of other seeds, and import what has to be imported."""
    read = reader(folder, kind)
    for seed in range(5):
        with contextlib.suppress(Exception):
            read(random.Random(f"warm-up {kind} {seed}"))
    outcomes: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for seed in range(count):
        (folder / "now").write_text(f"{kind} {seed}")
        faulthandler.dump_traceback_later(HANG, exit=True)
        code_run.clear()
        listening.append(True)
        try:
            outcome = read(random.Random(f"{kind} {seed}"))
        except Exception as error:  # the finding of this campaign: told, counted, and a failure of the test
            outcome = f"FAULT {type(error).__name__}: {error}"[:200]
        listening.clear()
        if code_run:
            outcome = f"FAULT ran code: {code_run[0]}"
        outcomes[outcome] += 1
        examples.setdefault(outcome, f"{kind} {seed}")
    faulthandler.cancel_dump_traceback_later()
    faults = {outcome: place for outcome, place in examples.items() if outcome.startswith("FAULT")}
    print(json.dumps({"kind": kind, "outcomes": outcomes, "faults": faults}), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.addaudithook(listen)
    for kind, count in json.loads(sys.argv[2]).items():
        campaign(Path(sys.argv[1]), kind, count)
