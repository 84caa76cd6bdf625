"""Where the kernel has what: rows and places of the arrays that `kernel` describes, by name."""

ALLOWED, REQUIRED, FIRST = 1, 2, 4
MEAN, WEIGHT, SCALE, LEAST, NUMBERS = 0, 1, 2, 3, 4
HALF, PRICE, ALONE = 0, 1, 2
ORDER, PLACE, COUNT, DUE, ALTERED, PASSED, QUEUE = 0, 1, 2, 3, 4, 5, 6
COV, LEFT, BETA, OTHERS, BOUND, ROOM = 0, 1, 2, 3, 4, 5
LOOKS, MOVES, KICKS, STOP = 0, 1, 2, 3

MOST_IN_A_KICK = 3
"""Moves in a kick at the most."""
