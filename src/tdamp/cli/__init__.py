"""The commands of `tdamp`, one module each: `add` puts it on the parser, `run` does the work.

Whatever is slow to import is imported inside the functions, so that help comes at once.
"""
