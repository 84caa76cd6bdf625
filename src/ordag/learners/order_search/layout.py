"""Rows and places of the arrays that `kernel` works on, by name."""

ALLOWED, REQUIRED, FIRST = 1, 2, 4
MEAN, WEIGHT, SCALE, LEAST, NUMBERS = 0, 1, 2, 3, 4
HALF, PRICE, ALONE = 0, 1, 2
ORDER, PLACE, COUNT, DUE, ALTERED, PASSED, QUEUE = 0, 1, 2, 3, 4, 5, 6
COV, LEFT, BETA, OTHERS, BOUND, ROOM = 0, 1, 2, 3, 4, 5
MOVES, KICKS, WORK, LIMIT, STOP, SETTLED = 0, 1, 2, 3, 4, 5

MOST_IN_A_KICK = 12
"""Moves in a kick at the most; half of the kicks have three or fewer."""

LOTS = 3 * MOST_IN_A_KICK + 1
"""Random numbers that a kick takes."""
