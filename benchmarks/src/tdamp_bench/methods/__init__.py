"""tdamp and its rivals, as the benchmarks call them."""
