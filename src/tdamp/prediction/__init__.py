"""Predictions of a trained network: batched, relevance of the inputs, samples of the posterior."""
