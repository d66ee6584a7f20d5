"""Beliefs and stable scalar functions: what every factor is written in."""
