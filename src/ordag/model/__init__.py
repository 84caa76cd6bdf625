"""Graphs and numbers in, structural equation models out: their moments, their data, their identifiability."""
