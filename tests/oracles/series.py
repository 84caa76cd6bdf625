"""Literal versions of rows in time: one row, one time, one variable after the other."""

from __future__ import annotations

import math


def lagged_rows(rows, lags, difference=0, season=None):
    """Return {(series, step): values} of all rows whose earlier times are there; `rows` is {(series, step): values}."""
    for _ in range(difference):
        rows = {
            (who, when): [a - b for a, b in zip(values, rows[who, when - 1], strict=True)]
            for (who, when), values in rows.items()
            if (who, when - 1) in rows
        }
    if season is not None:
        rows = _without_season(rows, season)
    found = {}
    for who, when in rows:
        earlier = [(who, when - lag) for lag in range(lags + 1)]
        if all(key in rows for key in earlier):
            found[who, when] = [value for key in earlier for value in rows[key]]
    return found


def _without_season(rows, season):
    p = len(next(iter(rows.values())))
    left = {}
    for who in {who for who, _ in rows}:
        own = {key: values for key, values in rows.items() if key[0] == who}
        means = [_mean(values[j] for values in own.values()) for j in range(p)]
        left |= {key: [value - mean for value, mean in zip(values, means, strict=True)] for key, values in own.items()}
    means = {
        k: [_mean(v[j] for (_, when), v in left.items() if when % season == k) for j in range(p)] for k in range(season)
    }
    middle = [sum(means[k][j] for k in range(season)) / season for j in range(p)]
    return {
        (who, when): [value - means[when % season][j] + middle[j] for j, value in enumerate(values)]
        for (who, when), values in rows.items()
    }


def _mean(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known)


def followed(B, order, start, errors, constant):
    """Return the rows that follow `start` (the last L rows), each variable computed from its causes along the order."""
    rows = [list(row) for row in start]
    lags, p = len(B) - 1, len(B[0])
    for e in errors:
        now = [0.0] * p
        for j in order:
            now[j] = constant[j] + e[j]
            now[j] += sum(B[0][i][j] * now[i] for i in range(p))
            now[j] += sum(B[lag][i][j] * rows[-lag][i] for lag in range(1, lags + 1) for i in range(p))
        rows.append(now)
    return rows[len(start) :]
