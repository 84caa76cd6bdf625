r"""The equation of one variable, fitted to the rows of several environments in some of which it may be another (compiled).

With d_e the rows of environment e, b the shared weights, s the shared error variance, and RSS_e(b) the residual sum of squares there,
the term of e is the least of (all but `FORBIDDEN` and `OWN` of few rows)

    SHARED    d_e/2 · {log s + RSS_e(b) / (d_e s)}
    VARIANCE  d_e/2 · {log(RSS_e(b) / d_e) + 1} + h + c
    OWN       d_e/2 · {log(min RSS_e / d_e) + 1} + (k + 1) h + c,

h the price of a parameter, c that of a change, k the number of parents. The environments that share have `SPARE` rows more than there are
weights. The sum is lowered by choosing the states given b and s, then b and s given the states, from several starts.

    roots   E × p × p   the root of the scatter of each environment, about its mean
    degrees E           d_e
    may     E           what the state of an environment may be: FORBIDDEN (left out), SHARED alone, or any
    T       E × (k+1) × (k+1)   triangular factors of [parents, variable], workspace of at least that size
"""

from __future__ import annotations

import math

import numpy as np

from ordag.common.compiling import allocating, inlined
from ordag.data.environments import FORBIDDEN, OWN, SHARED, SPARE, VARIANCE

MOST_ENUMERATED, MOST_TOGGLED = 3, 12
"""Environments up to which all choices of states are tried, and up to which states are changed one at a time in the end."""

MOST_ROUNDS, MOST_STARTS = 60, 8
"""Rounds of states and weights at most, and environments that the search for the states starts from."""

LEAST_FALL = 1e-10
"""The share of the number of rows by which the sum must fall for another round."""

LEAST_SHARE, NO_DIGITS = 1e-28, 1e-20
"""A residual sum of squares below the first share of the variable's own is rounding. Below the second the equation of an environment alone
is exact, which says nothing of a Gaussian error."""


@inlined
def reflect(A, m, n):
    """Make the first n columns of the m rows of A upper triangular, by Householder's reflections of all of them."""
    for i in range(min(n, m)):
        norm = 0.0
        for r in range(i, m):
            norm += A[r, i] * A[r, i]
        norm = math.sqrt(norm)
        if norm > 0.0:
            if A[i, i] > 0.0:
                norm = -norm
            head = A[i, i] - norm
            scale = -1.0 / (norm * head)
            A[i, i] = norm
            for c in range(i + 1, n):
                along = head * A[i, c]
                for r in range(i + 1, m):
                    along += A[r, i] * A[r, c]
                along *= scale
                A[i, c] -= along * head
                for r in range(i + 1, m):
                    A[r, c] -= along * A[r, i]
            for r in range(i + 1, m):
                A[r, i] = 0.0


@inlined
def back_substitute(A, k, b):
    """Solve A b = (column k of A) for the leading k rows of the triangle; weights that nothing determines are zero."""
    largest = 0.0
    for i in range(k):
        largest = max(largest, abs(A[i, i]))
    for i in range(k - 1, -1, -1):
        rest = A[i, k]
        for c in range(i + 1, k):
            rest -= A[i, c] * b[c]
        b[i] = rest / A[i, i] if abs(A[i, i]) > 1e-15 * largest else 0.0


@inlined
def left_by(T, k, b):
    """Return the residual sum of squares |T (−b, 1)|² of shared weights in an environment with the factor T."""
    total = T[k, k] * T[k, k]
    for i in range(k):
        rest = T[i, k]
        for c in range(i, k):
            rest -= T[i, c] * b[c]
        total += rest * rest
    return total


@inlined
def shared_weights(T, k, degrees, states, s, variances, A, b):
    """Set b to the weights that the environments share, given their error variances."""
    m = 0
    for e in range(len(degrees)):
        if states[e] == 0 or states[e] == 1:
            root = math.sqrt(1.0 / (s if states[e] == 0 else variances[e]))
            for i in range(k):
                for c in range(k + 1):
                    A[m, c] = T[e, i, c] * root if c >= i else 0.0
                m += 1
    reflect(A, m, k + 1)
    back_substitute(A, k, b)


@allocating
def refit(T, k, degrees, own, least, states, variances, h, c, A, b):
    """Set b and `variances` to those of the least sum with these states; return that sum and the shared variance."""
    shares, price, s = 0.0, 0.0, 1.0
    for e in range(len(degrees)):
        shares += degrees[e] if states[e] == SHARED else 0.0
        if states[e] == OWN:
            variances[e] = own[e] / degrees[e]
            price += degrees[e] / 2.0 * (math.log(variances[e]) + 1.0) + (k + 1) * h + c
        elif states[e] == VARIANCE:
            price += h + c
    before, total = math.inf, math.inf
    for _ in range(MOST_ROUNDS):
        shared_weights(T, k, degrees, states, s, variances, A, b)
        rss, total = 0.0, price
        for e in range(len(degrees)):
            if states[e] == SHARED:
                rss += max(left_by(T[e], k, b), least[e])
            elif states[e] == VARIANCE:
                variances[e] = max(left_by(T[e], k, b), least[e]) / degrees[e]
                total += degrees[e] / 2.0 * (math.log(variances[e]) + 1.0)
        s = max(rss / max(shares, 1.0), 1e-300)
        total += shares / 2.0 * (math.log(s) + 1.0)
        if before - total < LEAST_FALL * shares:
            break
        before = total
    return total, s


@inlined
def possible(state, may, degrees, e, k):
    """Return whether environment e can have this state: SHARED, or another if it has the rows for it."""
    enough = SPARE if state == VARIANCE else k + SPARE
    return state == SHARED or (may[e] > SHARED and degrees[e] >= enough and (state == VARIANCE or k > 0))


@inlined
def enough(states, firm, k):
    """Return whether the environments that share the equation have the rows for it, without those in which it is exact."""
    rows = 0.0
    for e in range(len(firm)):
        rows += firm[e] if states[e] == SHARED else 0.0
    return rows >= k + SPARE


@allocating
def toggle(T, k, degrees, own, least, firm, may, states, variances, h, c, A, b, total):
    """Change the state of one environment as long as that lowers the sum; return the sum."""
    E = len(degrees)
    in_vain, at = 0, 0
    while in_vain < E:
        e, at = at, (at + 1) % E
        in_vain += 1
        current = states[e]
        if may[e] <= SHARED:
            continue
        best, chosen = total - LEAST_FALL * E, current
        for state in range(3):
            if state != current and possible(state, may, degrees, e, k):
                states[e] = state
                if not enough(states, firm, k):
                    continue
                value = refit(T, k, degrees, own, least, states, variances, h, c, A, b)[0]
                if value < best:
                    best, chosen = value, state
        states[e] = chosen
        if chosen != current:
            in_vain, total = 0, best
    return total


@allocating
def settle(T, k, degrees, own, least, firm, may, states, variances, h, c, A, b):
    """Choose the states given the weights and the shared variance, and these given the states, as long as that lowers the sum."""
    E, before, s = len(degrees), math.inf, 1.0
    for _ in range(MOST_ROUNDS):
        shared_weights(T, k, degrees, states, s, variances, A, b)
        rss, rows = 0.0, 0.0
        for e in range(E):
            if states[e] == SHARED:
                rss += max(left_by(T[e], k, b), least[e])
                rows += degrees[e]
        s = max(rss / max(rows, 1.0), 1e-300)
        total, nearest, nearest_loss = 0.0, -1, math.inf
        for e in range(E):
            if may[e] == FORBIDDEN:
                continue
            d, left = degrees[e], max(left_by(T[e], k, b), least[e])
            term = d / 2.0 * math.log(s) + left / (2.0 * s)
            states[e], variances[e], value = SHARED, s, term
            if possible(VARIANCE, may, degrees, e, k):
                other = d / 2.0 * (math.log(left / d) + 1.0) + h + c
                if other < value:
                    states[e], variances[e], value = VARIANCE, left / d, other
            if possible(OWN, may, degrees, e, k):
                other = d / 2.0 * (math.log(own[e] / d) + 1.0) + (k + 1) * h + c
                if other < value:
                    states[e], variances[e], value = OWN, own[e] / d, other
            total += value
            if states[e] != SHARED and firm[e] >= k + SPARE and term - value < nearest_loss:
                nearest, nearest_loss = e, term - value
        if nearest >= 0 and not enough(states, firm, k):
            states[nearest], variances[nearest] = SHARED, s
            total += nearest_loss
        if before - total < LEAST_FALL * E:
            break
        before = total


@allocating
def factorise(roots, degrees, may, j, parents, k, T, A, own, least, firm):
    """Set T to the triangular factors of [parents, j], `own` to the residual sums of squares, `least` to what is rounding.

    An environment whose own equation is exact may only share; `firm` are the degrees of freedom of the others.
    """
    last = j
    for i in range(k):
        last = max(last, parents[i])
    for e in range(len(degrees)):
        if may[e] != FORBIDDEN:
            size = 0.0
            for r in range(last + 1):
                for i in range(k):
                    A[r, i] = roots[e, r, parents[i]]
                A[r, k] = roots[e, r, j]
                size += A[r, k] * A[r, k]
            reflect(A, last + 1, k + 1)
            for i in range(k + 1):
                for col in range(k + 1):
                    T[e, i, col] = A[i, col] if i <= last and col >= i else 0.0
            least[e] = max(LEAST_SHARE * size, 1e-300)
            own[e] = max(T[e, k, k] * T[e, k, k], least[e])
            firm[e] = degrees[e]
            if own[e] <= NO_DIGITS * size:
                may[e], firm[e] = SHARED, 0.0


@allocating
def changed_fit(roots, degrees, may, j, parents, k, h, c, T, A, states, variances, b):
    """Fit variable j to the first k of `parents`; return the least sum found and the shared variance.

    Sets `states`, `variances` (of every environment by its state) and the shared weights b. All choices of states are tried for up to
    `MOST_ENUMERATED` environments.
    """
    E = len(degrees)
    own, least, firm, may = np.empty(E), np.empty(E), np.zeros(E), may.copy()
    factorise(roots, degrees, may, j, parents, k, T, A, own, least, firm)
    now, room, tried = np.empty(E, np.int64), np.empty(E), np.zeros(E, np.bool_)
    free = 0
    for e in range(E):
        now[e] = FORBIDDEN if may[e] == FORBIDDEN else SHARED
        states[e] = now[e]
        free += 1 if may[e] > SHARED and degrees[e] >= SPARE else 0
    best = refit(T, k, degrees, own, least, now, room, h, c, A, b)[0]
    if 0 < free <= MOST_ENUMERATED:
        for number in range(1, 3**free):
            rest, fits = number, True
            for e in range(E):
                if may[e] > SHARED and degrees[e] >= SPARE:
                    now[e] = rest % 3
                    rest //= 3
                    fits = fits and possible(now[e], may, degrees, e, k)
            if fits and enough(now, firm, k):
                value = refit(T, k, degrees, own, least, now, room, h, c, A, b)[0]
                if value < best:
                    best = value
                    for e in range(E):
                        states[e] = now[e]
    elif free > 0:
        for start in range(MOST_STARTS + 1):
            # all share at first; then all are like one environment, those of most rows before others
            only = -1
            for e in range(E if start > 0 else 0):
                able = may[e] != FORBIDDEN and not tried[e] and firm[e] >= k + SPARE
                if able and (only < 0 or degrees[e] > degrees[only]):
                    only = e
            if start > 0 and only < 0:
                break
            for e in range(E):
                now[e] = FORBIDDEN if may[e] == FORBIDDEN or (start > 0 and e != only) else SHARED
            if start > 0:
                tried[only] = True
            settle(T, k, degrees, own, least, firm, may, now, room, h, c, A, b)
            value = refit(T, k, degrees, own, least, now, room, h, c, A, b)[0]
            if E <= MOST_TOGGLED:
                value = toggle(T, k, degrees, own, least, firm, may, now, room, h, c, A, b, value)
            if value < best and enough(now, firm, k):
                best = value
                for e in range(E):
                    states[e] = now[e]
    best, s = refit(T, k, degrees, own, least, states, variances, h, c, A, b)
    for e in range(E):
        if states[e] == SHARED:
            variances[e] = s
    return best, s


@allocating
def changed_fits(roots, degrees, may, j, parents, k, others, adding, h, c, T, A, states, variances, b, values):
    """Set `values` to the sums with each of `others` as one more parent, or without each of the places `others` of `parents`."""
    own = np.empty(parents.shape[0] + 1, np.int64)
    for at in range(len(others)):
        m = 0
        for i in range(k):
            if adding or i != others[at]:
                own[m] = parents[i]
                m += 1
        if adding:
            own[m] = others[at]
            m += 1
        values[at] = changed_fit(roots, degrees, may, j, own, m, h, c, T, A, states, variances, b)[0]
