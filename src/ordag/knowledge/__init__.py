"""Background knowledge about arrows, and the constraints on a graph that follow from it."""
