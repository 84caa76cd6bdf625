"""Boxes and arrows in, places and curves out; pictures that need no library. Nothing here knows what the boxes stand for."""
