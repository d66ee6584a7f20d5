"""Model folders: saved without pickle, written whole or not at all."""
