"""Slow, obvious references: nothing here imports the package under test."""
