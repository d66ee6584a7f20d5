"""Benchmarks against peers: `tdamp bench accuracy` and `tdamp bench speed` (extra `bench`)."""
