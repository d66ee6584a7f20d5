"""One training on the host: data, minibatches, compiled programs, epochs, checkpoints."""
