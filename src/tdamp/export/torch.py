"""The posterior-mean network in PyTorch: plain Linear layers and activations.

Oracle: tdamp.mean_network.
"""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from .._optional import need
from ..factors.activations.catalog import ACTIVATIONS
from ..factors.likelihoods.base import ExportForm
from ..io.atomic import write_whole
from ..io.errors import ModelFileError
from ..prediction.samples import in_units
from .plain import Plain, describe

if TYPE_CHECKING:
    from torch import nn

FORMATS = dict.fromkeys(get_args(ExportForm), "tdamp-torch-1") | {"log_rate": "tdamp-torch-2"}
"""The file format of each export form. The second ends with the exponential of the outputs, which readers of the first
do not know."""


def to_torch(plain: Plain) -> nn.Sequential:
    """The network whose parameters are the posterior means: float32 Linear and activation modules, no others but a last
    exponential for counts.

    It takes the columns that the network reads, `model(x[:, model.inputs])`, in the user's units: a column that was
    pruned would need a column of zeros. The scales of x and y lie in the first and last layer. A regression gives the
    mean in y's units, counts their rate, a classification scores whose largest is the class (they are not logits of a
    softmax).
    The activation abs is nn.LeakyReLU(-1), which is the same function. Data whose mean is far larger than their
    spread lose digits in the folded bias: to_onnx keeps them.
    """
    torch = need("torch", "torch")
    network = plain.network
    modules = _modules(torch, (*network.widths[:-1], network.n_targets), plain.activation)
    linears = [module for module in modules if isinstance(module, torch.nn.Linear)]
    with torch.no_grad():
        for linear, (weight, bias) in zip(linears, _folded(plain), strict=True):
            linear.weight.copy_(torch.from_numpy(_float32(weight.T)))
            linear.bias.copy_(torch.from_numpy(_float32(bias)))
    model: nn.Sequential = torch.nn.Sequential(*modules, *_last(FORMATS[plain.form])).eval()
    model.inputs = plain.inputs.tolist()
    return model


def save_torch(plain: Plain, path: str | Path) -> None:
    """Write the network's weights and shape; the file holds tensors, numbers and text only, so that loading is safe.

    `load_torch` reads it. Without tdamp, for a ReLU network:

        saved = torch.load(path, weights_only=True)
        modules = []
        for a, b in zip(saved["widths"], saved["widths"][1:]):
            modules += [torch.nn.Linear(a, b), torch.nn.ReLU()]
        model = torch.nn.Sequential(*modules[:-1])
        model.load_state_dict(saved["state_dict"])
        model(x[:, saved["inputs"]])

    Of a model of counts (`saved["likelihood"]` is "poisson") the outputs are logs of rates: take their exponential.
    """
    torch = need("torch", "torch")
    state = {name: tensor.clone() for name, tensor in to_torch(plain).state_dict().items()}
    widths = [*plain.network.widths[:-1], plain.network.n_targets]
    saved = {"format": FORMATS[plain.form], "widths": widths, "state_dict": state, **describe(plain)}
    buffer = io.BytesIO()
    torch.save(saved, buffer)
    write_whole(path, buffer.getvalue())


def load_torch(path: str | Path) -> nn.Sequential:
    """The network that `save_torch` wrote, or ModelFileError; nothing in the file is run."""
    torch = need("torch", "torch")
    try:
        saved = torch.load(path, weights_only=True)
        if not isinstance(saved, dict) or saved.get("format") not in FORMATS.values():
            raise ModelFileError(f"not a network of save_torch (format {' or '.join(sorted(set(FORMATS.values())))})")
        modules = _modules(torch, saved["widths"], saved["activation"])
        model: nn.Sequential = torch.nn.Sequential(*modules, *_last(saved["format"])).eval()
        model.load_state_dict(saved["state_dict"])
        model.inputs = saved["inputs"]
    except OSError:
        raise
    except Exception as error:  # whatever a damaged file makes PyTorch say
        raise ModelFileError(f"{path}: cannot be read as a network: {error}") from error
    return model


def _modules(torch: Any, widths: Any, activation: str) -> list[Any]:
    name, arguments = ACTIVATIONS[activation].torch
    modules: list[Any] = []
    for n_in, n_out in pairwise(widths):
        modules += [torch.nn.Linear(n_in, n_out), getattr(torch.nn, name)(*arguments)]
    return modules[:-1]


def _last(form: str) -> list[Any]:
    """What follows the outputs in a file of this format."""
    if form != FORMATS["log_rate"]:
        return []
    from .torch_rate import Rate  # which needs PyTorch

    return [Rate()]


def _folded(plain: Plain) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of each layer, with the centres and scales folded in, in float64."""
    layers = [[np.asarray(part, np.float64) for part in layer] for layer in plain.layers]
    parts = [(centre, weight, bias) for centre, weight, _, bias, _ in layers]
    return in_units(parts, plain.network.n_targets, plain.x_mean, plain.x_scale, plain.y_mean, plain.y_scale)


def _float32(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # the next line says it better
        array = np.array(values, np.float32, order="C")
    if not np.isfinite(array).all():
        raise ValueError("a weight is not finite in float32; rescale the data and fit again")
    return array
