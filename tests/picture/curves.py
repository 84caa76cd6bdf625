"""Where curves run and boxes stand, worked out from their points alone."""

from __future__ import annotations

import numpy as np


def along(points, steps=24):
    """Points on a curve of cubic Bézier pieces, by de Casteljau's construction."""
    found = []
    for k in range(0, len(points) - 1, 3):
        for t in np.linspace(0.0, 1.0, steps):
            piece = np.asarray(points[k : k + 4], dtype=float)
            while len(piece) > 1:
                piece = (1 - t) * piece[:-1] + t * piece[1:]
            found.append(tuple(piece[0]))
    return found


def rectangles(layout):
    """Left, top, right and bottom of every box."""
    return [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(layout.centres, layout.sizes, strict=True)
    ]


def inside(point, box, slack=0.0):
    x, y = point
    return box[0] + slack < x < box[2] - slack and box[1] + slack < y < box[3] - slack


def apart(one, other):
    return one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
