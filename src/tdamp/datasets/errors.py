"""Errors of data sets: missing, or not the pinned content."""

from __future__ import annotations


class DataNotFound(FileNotFoundError):
    """A data set is in none of the places looked at and could not be fetched; the message says what to do."""


class DataDamaged(ValueError):
    """A file is there, but its content is not the pinned one, or cannot be read at all."""
