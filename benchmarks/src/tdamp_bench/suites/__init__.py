"""The suites of tdamp bench, one folder each."""
