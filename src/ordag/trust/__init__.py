"""Data and fits in, how far to believe them out."""
