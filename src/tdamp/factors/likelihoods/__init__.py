"""Output factors: one module a likelihood."""
