"""Slow, literal versions of what the package computes, one file a room or method. They share no code with it."""
