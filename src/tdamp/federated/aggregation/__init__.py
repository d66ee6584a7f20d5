"""How the server combines the posteriors of its clients."""
