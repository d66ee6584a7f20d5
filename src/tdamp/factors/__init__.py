"""The factors of the graph. A factor imports no other factor."""
