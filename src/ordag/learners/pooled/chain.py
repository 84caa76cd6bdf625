"""The compiled loops of `sampler`: steps of a Markov chain over DAGs.

All functions share these arrays (`sampler` makes them), beside C, root, may, terms and W of `order_search.kernel`:

    I     rows COUNT (of parents), GROUP (−1 for none), STACK and SEEN (workspace), CHILDREN (their number), and LAST with the numbers
          EDGES, TIME and FREE, the first variable that can have parents: those before it have none
    P     p + 2 rows: the first COUNT of row j are the parents of j; the last two rows are workspace
    D     the first CHILDREN of row j are the children of j
    V     [j, i]: share of j's variance that is left with i as one more parent, or one less; row p: the present log variances; row
          p + 1: workspace
    Q     [j, i]: weight of that change as a proposal; row p: workspace
    E     the edges, one row [source, target] each; F[i, j]: the row of i → j, −1 if there is none
    S     for every group: its size, a centre, and the sums of v − centre and of its squares
    M     for every group the pooling of its variances, at even steps of the logarithm of the sum of squares
    prior [k]: that of graphs with k edges
    since [i, j]: the step at which i → j was added; counts [i, j]: the number of steps in which it was there
"""

from __future__ import annotations

import math

from ordag.common.compiling import compiled, inlined
from ordag.learners.order_search.kernel import keep, regress
from ordag.learners.order_search.layout import (
    ALLOWED,
    ALONE,
    COV,
    HALF,
    LEFT,
    MEAN,
    NUMBERS,
    OWN,
    PRICE,
    REQUIRED,
    ROOM,
    ROW,
    SCALE,
    WEIGHT,
)

COUNT, GROUP, STACK, SEEN, CHILDREN, LAST = 0, 1, 2, 3, 4, 5
EDGES, TIME, FREE = 0, 1, 2
SIZE, CENTRE, SUM, SQUARES = 0, 1, 2, 3

TOGGLE, TURN = 0.5, 0.85
"""Shares of the steps that are toggles, and that are toggles or turns."""

SMALL = 0.02
"""Share of the residual variance up to which five terms of its logarithm are precise to ten digits."""

LEAST_SHARE = 1e-14
"""A residual variance below this share of the variable's own has no digits."""

MOST_CHANGE = 60.0
"""Changes of the sum beyond this have the weight of this."""


@inlined
def found_at(parents, k, w):
    """Return the index of w among the first k parents."""
    at = -1
    for i in range(k):
        if parents[i] == w:
            at = i
    return at


@inlined
def weight_of(change):
    """Return exp(−change / 2) to five digits or more, by a polynomial, which is compiled into vector instructions."""
    x = -min(max(change, -MOST_CHANGE), MOST_CHANGE) / (2.0 * 64.0)
    y = 1.0 + x * (
        1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0)))))
    )
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y * y


@inlined
def change_by(half, weight, vertex, away, d):
    """Return the change of a term without the price of its parents (`kernel.term`) if v rises by d; vertex, away: v − mean."""
    before, after = max(away, vertex), max(away + d, vertex)
    return (after - before) * (half + weight * (after + before))


@compiled
def weigh(C, root, may, terms, W, V, Q, j, P, k, v_row, q_row):
    """Compute rows of V and Q for j with the first k parents of the last row but one of P; return its log variance."""
    p, t = C.shape[1], W.shape[0] - 1
    regress(C, root, W, int(terms[OWN, j]), j, P, k)
    if q_row == j:
        keep(W, j, P, k)
    own, half, weight, price = W[t, LEFT, j], terms[HALF, j], terms[WEIGHT, j], terms[NUMBERS, PRICE]
    v = math.log(own) + terms[SCALE, j]
    away, vertex = v - terms[MEAN, j], -half / (2.0 * weight) if weight > 0.0 else -math.inf
    for i in range(p):
        share = W[t, COV, i] * W[t, COV, i] / (W[t, LEFT, i] * own)
        W[t, ROW, i] = share
        V[v_row, i] = own * (1.0 - share)
        d = -share * (1.0 + share * (1.0 / 2.0 + share * (1.0 / 3.0 + share * (1.0 / 4.0 + share / 5.0))))
        Q[q_row, i] = weight_of(change_by(half, weight, vertex, away, d) + price)
    room, alone = k < P.shape[1] - 1, terms[NUMBERS, ALONE]
    for i in range(p):
        if not (room and may[j, i] & ALLOWED and W[t, LEFT, i] >= alone):
            Q[q_row, i] = 0.0
        elif W[t, ROW, i] > SMALL:
            d = math.log(max(1.0 - W[t, ROW, i], LEAST_SHARE))
            Q[q_row, i] = weight_of(change_by(half, weight, vertex, away, d) + price)
    for a in range(k):
        i, slope = P[p, a], W[t, ROOM + a, j]
        V[v_row, i] = own + slope * slope / W[t, ROOM + a, i]
        d = math.log(V[v_row, i] / own)
        Q[q_row, i] = 0.0 if may[j, i] & REQUIRED else weight_of(change_by(half, weight, vertex, away, d) - price)
    return v


@inlined
def log_variance(terms, V, j, row, i):
    """Return the log variance of j with i as one more parent, or one less, from a row of V."""
    return math.log(max(V[row, i], LEAST_SHARE)) + terms[SCALE, j]


@inlined
def descend_from(I, D, j, without):
    """Mark j and its descendants in SEEN, without its own arrow to `without`; no more of them if that is one."""
    for i in range(D.shape[0]):
        I[SEEN, i] = 0
    I[SEEN, j] = 1
    I[STACK, 0] = j
    size = 1
    while size > 0 and not (without >= 0 and I[SEEN, without]):
        size -= 1
        x = I[STACK, size]
        for c in range(I[CHILDREN, x]):
            y = D[x, c]
            if not I[SEEN, y] and not (x == j and y == without):
                I[SEEN, y] = 1
                I[STACK, size] = y
                size += 1


@inlined
def pooled_at(M, start, fineness, group, squares):
    """Return the pooling of a group with this sum of squares, interpolated in its table."""
    position = (math.log(max(squares, math.exp(start))) - start) * fineness
    below = min(int(position), M.shape[1] - 2)
    return M[group, below] + min(position - below, 1.0) * (M[group, below + 1] - M[group, below])


@inlined
def pooling_change(S, M, axis, group, first, second):
    """Return the change of the pooling of a group whose sum and sum of squares change by these."""
    change = 0.0
    if group >= 0:
        size = S[group, SIZE]
        before = S[group, SQUARES] - S[group, SUM] * S[group, SUM] / size
        total = S[group, SUM] + first
        after = S[group, SQUARES] + second - total * total / size
        change = pooled_at(M, axis[0], axis[1], group, after) - pooled_at(M, axis[0], axis[1], group, before)
    return change


@inlined
def put_in(I, P, D, E, F, since, i, j):
    """Add i → j."""
    P[j, I[COUNT, j]] = i
    I[COUNT, j] += 1
    D[i, I[CHILDREN, i]] = j
    I[CHILDREN, i] += 1
    edges = I[LAST, EDGES]
    E[edges, 0], E[edges, 1] = i, j
    F[i, j] = edges
    I[LAST, EDGES] = edges + 1
    since[i, j] = I[LAST, TIME]


@inlined
def take_out(I, P, D, E, F, since, counts, i, j):
    """Remove i → j."""
    at, k = found_at(P[j], I[COUNT, j], i), I[COUNT, j] - 1
    for a in range(at, k):
        P[j, a] = P[j, a + 1]
    I[COUNT, j] = k
    at = found_at(D[i], I[CHILDREN, i], j)
    I[CHILDREN, i] -= 1
    D[i, at] = D[i, I[CHILDREN, i]]
    last, row = I[LAST, EDGES] - 1, F[i, j]
    E[row, 0], E[row, 1] = E[last, 0], E[last, 1]
    F[E[row, 0], E[row, 1]] = row
    F[i, j] = -1
    I[LAST, EDGES] = last
    counts[i, j] += I[LAST, TIME] - since[i, j]


@compiled
def walk(C, root, may, terms, W, I, P, D, V, Q, E, F, S, M, axis, prior, since, counts, uniforms, stop):
    """Make one step for every row of `uniforms`, four numbers each: for the kind of step, where, what, and the acceptance.

    A step changes the parents of x by i (and, if an arrow is turned or a parent swapped, of y by another); the new log
    variances are `v_x` and `v_y`.
    """
    p = C.shape[1]
    for step in range(uniforms.shape[0]):
        if stop[0]:
            return
        I[LAST, TIME] += 1
        kind, where, what = uniforms[step, 0], uniforms[step, 1], uniforms[step, 2]
        edges = I[LAST, EDGES]
        if kind >= TOGGLE and edges == 0:
            continue  # nothing to turn or swap: a toggle instead would leave the empty graph more often than enter it
        x = I[LAST, FREE] + int(where * (p - I[LAST, FREE]))
        i = y = -1
        if kind >= TOGGLE:
            i, x = E[int(where * edges), 0], E[int(where * edges), 1]
        v = v_x = v_y = ratio = 0.0
        more = 0  # edges
        new = -1  # the one that replaces i among the parents of x
        if kind >= TOGGLE and kind < TURN:  # turn i → x: i has x as a parent then
            y = i
            if may[x, i] & REQUIRED or not may[i, x] & ALLOWED or I[COUNT, i] >= P.shape[1] - 1:
                continue
            descend_from(I, D, i, x)
            if I[SEEN, x]:
                continue
            v_x, v_y = log_variance(terms, V, x, x, i), log_variance(terms, V, y, y, x)
        else:
            swaps = kind >= TURN
            if swaps and may[x, i] & REQUIRED:
                continue
            descend_from(I, D, x, -1)
            k = I[COUNT, x]
            row = x
            if swaps:  # weights beside the other parents
                row, count = p, 0
                for a in range(k):
                    if P[x, a] != i:
                        I[SEEN, P[x, a]] = 1
                        P[p, count] = P[x, a]
                        count += 1
                weigh(C, root, may, terms, W, V, Q, x, P, count, p + 1, p)
            total = 0.0
            for u in range(p):  # no parent of x is among its descendants
                total += 0.0 if I[SEEN, u] else Q[row, u]
            if total <= 0.0:
                continue
            drawn, far = -1, what * total
            for u in range(p):
                if not I[SEEN, u] and Q[row, u] > 0.0:
                    drawn = u
                    far -= Q[row, u]
                    if far < 0.0:
                        break
            if swaps:
                if drawn == i or Q[p, i] <= 0.0:
                    continue
                new, v_x = drawn, log_variance(terms, V, x, p + 1, drawn)
                ratio = math.log(Q[p, i] / Q[p, drawn])
            else:
                i = drawn
                v_x = log_variance(terms, V, x, x, i)
                more = -1 if F[i, x] >= 0 else 1
                count = 0
                for a in range(k):
                    if P[x, a] != i:
                        P[p, count] = P[x, a]
                        count += 1
                if more > 0:
                    P[p, count] = i
                    count += 1
                v = weigh(C, root, may, terms, W, V, Q, x, P, count, p + 1, p)
                there = 0.0
                for u in range(p):
                    there += 0.0 if I[SEEN, u] else Q[p, u]
                if Q[p, i] <= 0.0:
                    continue
                ratio = math.log(Q[p, i] / there) - math.log(Q[x, i] / total)
        change = terms[HALF, x] * (v_x - V[p, x]) + prior[edges + more] - prior[edges]
        group = I[GROUP, x]
        centre = S[group, CENTRE] if group >= 0 else 0.0
        first = v_x - V[p, x]
        second = (v_x - centre) * (v_x - centre) - (V[p, x] - centre) * (V[p, x] - centre)
        other, first_y, second_y = -1, 0.0, 0.0
        if y >= 0:
            change += terms[HALF, y] * (v_y - V[p, y])
            other = I[GROUP, y]
            centre = S[other, CENTRE] if other >= 0 else 0.0
            first_y = v_y - V[p, y]
            second_y = (v_y - centre) * (v_y - centre) - (V[p, y] - centre) * (V[p, y] - centre)
            if other == group:
                first, second = first + first_y, second + second_y
                other = -1
        change += pooling_change(S, M, axis, group, first, second) + pooling_change(
            S, M, axis, other, first_y, second_y
        )
        if not math.log(uniforms[step, 3]) < ratio - change:
            continue
        if group >= 0:
            S[group, SUM] += first
            S[group, SQUARES] += second
        if other >= 0:
            S[other, SUM] += first_y
            S[other, SQUARES] += second_y
        if more > 0:
            put_in(I, P, D, E, F, since, i, x)
        else:
            take_out(I, P, D, E, F, since, counts, i, x)
            if new >= 0 or y >= 0:
                put_in(I, P, D, E, F, since, new if new >= 0 else x, x if new >= 0 else y)
        if more != 0:  # weighed already
            keep(W, x, P, I[COUNT, x])
            for u in range(p):
                V[x, u], Q[x, u] = V[p + 1, u], Q[p, u]
            V[p, x] = v
            continue
        for end in range(2):
            z = x if end == 0 else y
            if z >= 0:
                for a in range(I[COUNT, z]):
                    P[p, a] = P[z, a]
                V[p, z] = weigh(C, root, may, terms, W, V, Q, z, P, I[COUNT, z], z, z)
