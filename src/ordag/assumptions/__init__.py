"""Checks of the assumptions behind a fit: one finding per assumption."""
