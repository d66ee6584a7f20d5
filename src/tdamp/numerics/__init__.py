"""Beliefs and stable scalar functions: what every factor is written in."""

from .._moved import names_of

__getattr__ = names_of("numerics")
