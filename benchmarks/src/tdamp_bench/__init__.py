"""Benchmarks of tdamp beside its peers, and the figures of its evaluation: `tdamp bench`, `tdamp reproduce`."""
