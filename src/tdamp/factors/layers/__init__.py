"""Linear factors: one module a kind of layer."""
