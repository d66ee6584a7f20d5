"""Errors of files that hold models."""


class ModelFileError(ValueError):
    """A folder or file does not hold a model that can be read, or must not be written to."""
