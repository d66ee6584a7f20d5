"""`tdamp bench speed`: seconds per epoch beside the peers, scaling, compilation and memory."""
