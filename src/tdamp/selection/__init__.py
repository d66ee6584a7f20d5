"""Held-out rows and cross-validation: how long to train, and how wide to predict."""
