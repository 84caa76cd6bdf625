"""Rows in, Moments out."""
