"""Data in, what was learned from many samples of them out."""
