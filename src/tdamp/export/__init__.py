"""Models on disk and outside of tdamp: a folder without pickle, ONNX, PyTorch, and one NumPy file."""

from .._optional import MissingExtra
from ..io.errors import ModelFileError
from .numpy import to_numpy
from .onnx import to_onnx
from .plain import Plain, PlainLayer, plain_of
from .sizes import render, size_table
from .torch import load_torch, save_torch, to_torch

__all__ = [
    "MissingExtra",
    "ModelFileError",
    "Plain",
    "PlainLayer",
    "load_torch",
    "plain_of",
    "render",
    "save_torch",
    "size_table",
    "to_numpy",
    "to_onnx",
    "to_torch",
]
