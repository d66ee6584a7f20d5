"""Arms of the figure `ablations` that need an epoch loop of their own; `loop.py` is the one to read first."""
