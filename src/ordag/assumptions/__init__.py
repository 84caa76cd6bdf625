"""A table and its fit in, one finding per assumption out."""
