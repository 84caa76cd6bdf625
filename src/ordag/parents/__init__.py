"""Ordering in, parents out."""
