"""The benchmark `tdamp bench pruning`: what `keep` costs on twelve tables, and whether the fit says so."""
