"""Activation factors."""
