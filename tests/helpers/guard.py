"""The one limit of time that tests have."""

HANGS = 3600.0
"""Seconds after which a process that was started hangs. Tests wait for events: no machine is too slow for them."""
