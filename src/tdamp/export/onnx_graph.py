"""A small builder of ONNX graphs: nodes in order, constants by name, every tensor named for what it holds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .._optional import need

OPSET, IR_VERSION = 17, 8
"""Versions of 2022, which every runtime in use reads."""


class Graph:
    """Nodes and constants of a graph that is being written; tensors are handled by name.

    Names are paths, like layer1/z_mean: `at` gives the folder of what is written next.
    """

    def __init__(self) -> None:
        self._onnx = need("onnx", "export")
        self.at = ""
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._uses: dict[str, int] = {}

    def op(self, kind: str, *inputs: Any, name: str = "", outputs: int = 1, **attributes: Any) -> str:
        """Add a node and return the name of its (first) output. Inputs are tensor names or numbers."""
        names = [i if isinstance(i, str) else self.constant("", i) for i in inputs]
        output = self._fresh(name or kind.lower())
        made = [output, *(f"{output}/{i}" for i in range(1, outputs))]
        self._nodes.append(self._onnx.helper.make_node(kind, names, made, name=output, **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        """Add a constant: float32, or int64 when it is made of integers. Numbers without a name are shared."""
        array = np.asarray(value)
        with np.errstate(over="ignore"):  # the next line says it better
            array = array.astype(np.int64 if array.dtype.kind == "i" else np.float32)
        if not np.isfinite(array).all():
            raise ValueError(f"{self.at}{name}: not a finite number in float32; rescale the data and fit again")
        full = self._fresh(name) if name else "constants/" + "_".join(f"{v:.9g}" for v in array.ravel())
        if not name and array.dtype.kind == "i":
            full += "_axes"
        self._constants[full] = self._onnx.numpy_helper.from_array(array, full)
        return full

    def total(self, terms: list[str], name: str) -> str:
        """The name of a tensor that is the sum of these."""
        while len(terms) > 1:
            terms = [self.op("Add", terms[0], terms[1], name=name), *terms[2:]]
        return terms[0]

    def _fresh(self, name: str) -> str:
        full = self.at + name
        count = self._uses[full] = self._uses.get(full, 0) + 1
        return full if count == 1 else f"{full}_{count}"

    def output(self, name: str, tensor: str) -> None:
        """Make a tensor an output of the model, under this name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [tensor], [name], name=f"output/{name}"))

    def model(self, inputs: dict[str, int], outputs: dict[str, int], metadata: dict[str, Any]) -> bytes:
        """The checked model; inputs and outputs are float32 tables with this many columns."""
        helper = self._onnx.helper
        ends = [
            [helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, ["rows", n]) for name, n in end.items()]
            for end in (inputs, outputs)
        ]
        graph = helper.make_graph(self._nodes, "tdamp", *ends, list(self._constants.values()))
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="tdamp"
        )
        helper.set_model_props(
            model, {k: v if isinstance(v, str) else json.dumps(v, allow_nan=False) for k, v in metadata.items()}
        )
        self._onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()
