"""The peers: Adam in optax and PyTorch, pytagi, and the rate of a plain matrix product."""
