"""The network as data, its state, and the pure functions that Algorithm 1 is made of."""
