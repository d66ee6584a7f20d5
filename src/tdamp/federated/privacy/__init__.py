"""Differential privacy and sums under masks."""
