"""Questions about the method itself, each a command of `tdamp reproduce` with a page in the documentation."""
