"""`tdamp bench uci`: RMSE, log score and coverage on six tables, by the protocol of probabilistic backpropagation."""
