"""The benchmark `tdamp bench compression`: errors of networks of an exact number of units."""
