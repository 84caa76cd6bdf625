"""Slow, literal versions of what the package computes, one file per room or method. They share no code with it."""
