"""Moments in, Ordering out."""
