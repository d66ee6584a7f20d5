"""`tdamp reproduce`: the figures of the paper's evaluation, one module each; `curves.py` is the one to read first."""
