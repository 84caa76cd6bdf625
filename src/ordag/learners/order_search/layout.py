"""Names of the rows and entries of the arrays of `kernel`."""

ALLOWED, REQUIRED, FIRST = 1, 2, 4
MEAN, WEIGHT, SCALE, LEAST, HALF, OWN, NUMBERS = 0, 1, 2, 3, 4, 5, 6
PRICE, ALONE = 0, 1
ORDER, POSITION, COUNT, DUE, ALTERED, PASSED, QUEUE = 0, 1, 2, 3, 4, 5, 6
COV, LEFT, ABLE, NAMES, NUMBER, CHANGES, LEAST_PIVOT = 0, 1, 2, 3, 4, 5, 6
WANTED, ROW, ALONG, OTHERS, BOUND, ROOM = 7, 8, 9, 10, 11, 12
MOVES, RESTARTS, WORK, LIMIT, STOP, SETTLED, FREE = 0, 1, 2, 3, 4, 5, 6

MOST_MOVES_PER_RESTART = 12
"""Random moves of a restart at most; every number from one on is as frequent."""

UNIFORMS = 3 * MOST_MOVES_PER_RESTART + 1
"""Random numbers of a restart."""
