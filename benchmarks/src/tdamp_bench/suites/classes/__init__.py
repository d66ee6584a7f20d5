"""`tdamp bench classes`: how good class probabilities are, beside Adam, an ensemble of Adams and Laplace."""
