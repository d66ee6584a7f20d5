"""Files: whole-or-nothing writes, checksummed records, the cache folder of the user."""
