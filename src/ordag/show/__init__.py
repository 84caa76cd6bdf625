"""A Fit in, something to look at out."""
