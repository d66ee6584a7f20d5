"""Priors of the weights: one module a prior."""
