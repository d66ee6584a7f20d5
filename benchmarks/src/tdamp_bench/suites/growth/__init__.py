"""`tdamp bench growth`: seconds per epoch against rows, width, depth and the share of the units kept."""
