"""Pooled error variances, searched over orders of the variables (docs/pooled.md)."""
