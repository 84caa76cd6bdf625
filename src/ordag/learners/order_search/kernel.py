"""The compiled loops of the search over orders of the variables, one variable at a time.

A graph is an order with parents among the predecessors of each variable. Its cost is a sum over variables of

    half · v + weight · (v − mean)² + price · |parents|,    v = log(RSS / n),

flat in v below the vertex of the square; a negative weight stands for half · exp(v − mean) instead (equal error variances).
Every variable is tried at every position. Parents are grown from the present ones, then shrunk. M caches the change of the cost of y
if x comes before it, or no longer does, and the cost of x itself at other positions. A move clears only what depends on parents that
changed, so few variables are fitted again.

Residual variances come from the correlation matrix or, where that has too few digits, from the root of the scatter, whose columns
are made orthogonal to the parents one by one.

All functions share these arrays (`engine` makes them):

    C     m × p × p   correlations: every variable is fitted in one of these matrices, its own
    root  m + 1 × p × p, or 0 × … where C has the digits: the unit columns of each root as rows, and what is left of those in use
    may   p × p   [j, w]: ALLOWED if w may be a parent of j, REQUIRED if it is one, FIRST if it comes before j
    terms rows MEAN, WEIGHT, SCALE (log of the variance), LEAST (cost with all others before), HALF (of the number of rows), OWN (the
          variable's own matrix), NUMBERS (PRICE, ALONE)
    G     the graph: rows ORDER, POSITION, COUNT (of parents), DUE (to be tried again), ALTERED; workspace PASSED, QUEUE
    P     p + 2 rows of most + 1: the first COUNT of row j are the parents of j; the last two rows are workspace
    M     the cache: row j has the change of j's cost by each other variable, row p + j that at the position of each, row 2p v
    W     the workspace of one fit, the last; before it, if there is room, one for every variable in which its regressions are kept. Rows
          COV, LEFT, ABLE (1 for a possible parent), NAMES (of the parents); at [0] of their rows the NUMBER of parents and one, the
          CHANGES since all was computed anew, and the LEAST_PIVOT; workspace; from ROOM on the coefficients of the regressions of all
          variables on the parents
    status  MOVES, RESTARTS and WORK (multiplications) so far; LIMIT, the work after which the search ends; SETTLED unless the terms
          or the graph are new; STOP interrupts the search; FREE, the first variable that restarts may move

Functions that are compiled alone and call one another are compiled again for each caller, so most are inlined.
"""

from __future__ import annotations

import math

from ordag.common.compiling import compiled, inlined
from ordag.learners.order_search.layout import (
    ABLE,
    ALLOWED,
    ALONE,
    ALONG,
    ALTERED,
    BOUND,
    CHANGES,
    COUNT,
    COV,
    DUE,
    FIRST,
    FREE,
    HALF,
    LEAST,
    LEAST_PIVOT,
    LEFT,
    LIMIT,
    MEAN,
    MOST_MOVES_PER_RESTART,
    MOVES,
    NAMES,
    NUMBER,
    NUMBERS,
    ORDER,
    OTHERS,
    OWN,
    PASSED,
    POSITION,
    PRICE,
    QUEUE,
    REQUIRED,
    RESTARTS,
    ROOM,
    ROW,
    SCALE,
    SETTLED,
    STOP,
    WANTED,
    WEIGHT,
    WORK,
)

LEAST_FALL = 1e-9
"""A term must fall by more than this: less is rounding."""

LEAST_GAIN = 1e-6
"""A move must lower the sum by more than this."""

LEAST_SHARE = 1e-14
"""A residual variance below this share of the variable's own has no digits; from the root of the scatter, below its square."""

TRIES = 3
"""Positions that are fitted again for one variable at most, where the cached change was too good."""

MOST_CHANGES = 12
"""Parents that join or leave the regressions that are kept of a variable before they are computed anew: each costs digits."""

SURE = 1e-5
"""The share of its variance that every parent kept beside those before it in regressions that are kept: with less, digits are lost."""

GROWTHS = 5
"""Times that parents grow and shrink in turn at most: near-collinear ones would go on without end."""

HOPELESS = 1.0 / 3.0
"""A restart is given up when all variables have been looked at and more than this share of what its random moves cost is left."""

TO_A_PARENT = 0.7
"""The share of random moves that take a variable before one of its parents."""


@inlined
def term(terms, j, v):
    """Return the term of j without the price of its parents."""
    half, weight = terms[HALF, j], terms[WEIGHT, j]
    away = v - terms[MEAN, j]
    value = half * math.exp(away) if weight < 0.0 else 0.0
    if weight >= 0.0:
        if weight > 0.0 and away < -half / (2.0 * weight):
            away = -half / (2.0 * weight)
        value = half * (terms[MEAN, j] + away) + weight * away * away
    return value


@inlined
def cost(terms, j, v, k):
    return term(terms, j, v) + terms[NUMBERS, PRICE] * k


@inlined
def worthwhile(terms, j, v):
    """Return the share of j's residual variance that one more parent must explain to lower the cost."""
    price = terms[NUMBERS, PRICE] + LEAST_FALL
    half, weight = terms[HALF, j], terms[WEIGHT, j]
    share = price / half * math.exp(terms[MEAN, j] - v) if weight < 0.0 else 0.0
    if weight >= 0.0:
        s = half / 2.0 + weight * (v - terms[MEAN, j])
        root = s * s - weight * price
        share = 1.0 if price >= 0.0 else -1.0
        if s > 0.0 and root >= 0.0:
            share = -math.expm1(-price / (s + math.sqrt(root)))
    return share


@inlined
def begin(C, root, W, own, j):
    """Set LEFT, the residual variances of all variables, and COV, their residual covariances with j, to those without parents."""
    p, t = C.shape[1], W.shape[0] - 1
    for u in range(p):
        W[t, COV, u] = C[own, j, u]
        W[t, LEFT, u] = 1.0
    if root.shape[0] > 0:
        for u in range(p):
            for i in range(p):
                root[-1, u, i] = root[own, u, i]
    W[t, CHANGES, 0], W[t, LEAST_PIVOT, 0] = 0.0, 1.0


@inlined
def join(C, root, W, own, j, P, k, w):
    r"""Update LEFT, COV and the k rows of coefficients for one more parent w of j, the k-th.

    With $A = C_{PP}^{-1} C_{P\cdot}$ and $r = C_{w\cdot} - C_{wP} A$, the residual covariances of w, the row of w is $r / r_w$, and
    $A_{aw} r / r_w$ goes off row a. In the columns of the parents stand the entries of $C_{PP}^{-1}$, which come about in the same way
    with $-A_{aw}$ in the place of r there (the sweep operator: Beaton 1964).
    """
    p, t = C.shape[1], W.shape[0] - 1
    pivot = W[t, LEFT, w]
    scale = 1.0 / pivot
    if root.shape[0] > 0:
        length = math.sqrt(pivot)
        for i in range(p):
            W[t, ALONG, i] = root[-1, w, i] / length
        for u in range(p):
            product, squares = 0.0, 0.0
            for i in range(p):
                product += W[t, ALONG, i] * root[-1, u, i]
            for i in range(p):
                root[-1, u, i] -= product * W[t, ALONG, i]
                squares += root[-1, u, i] * root[-1, u, i]
            W[t, ROW, u] = product * length
            W[t, LEFT, u] = squares if squares > LEAST_SHARE * LEAST_SHARE else LEAST_SHARE * LEAST_SHARE
        for u in range(p):
            common = 0.0
            for i in range(p):
                common += root[-1, j, i] * root[-1, u, i]
            W[t, COV, u] = common
    else:
        for u in range(p):
            W[t, ROW, u] = C[own, w, u]
        for a in range(k):
            share = C[own, w, P[p, a]]
            for u in range(p):
                W[t, ROW, u] -= share * W[t, ROOM + a, u]
        common = W[t, ROW, j] * scale
        for u in range(p):
            r = W[t, ROW, u]
            W[t, COV, u] -= common * r
            rest = W[t, LEFT, u] - scale * r * r
            W[t, LEFT, u] = rest if rest > LEAST_SHARE else LEAST_SHARE
    for a in range(k):
        W[t, ROW, P[p, a]] = -W[t, ROOM + a, w]
    for u in range(p):
        W[t, ROOM + k, u] = scale * W[t, ROW, u]
    for a in range(k):
        share = W[t, ROOM + a, w]
        for u in range(p):
            W[t, ROOM + a, u] -= share * W[t, ROOM + k, u]
        W[t, ROOM + a, w] = -share * scale
    W[t, ROOM + k, w] = scale
    P[p, k] = w
    W[t, ABLE, w] = 0.0
    W[t, CHANGES, 0] += 1.0
    W[t, LEAST_PIVOT, 0] = min(W[t, LEAST_PIVOT, 0], pivot)


@inlined
def leave(W, j, P, k, at):
    """Update LEFT, COV and the k rows of coefficients for one parent less of j; the last takes its place in the list."""
    p, t = W.shape[2], W.shape[0] - 1
    w = P[p, at]
    scale = 1.0 / W[t, ROOM + at, w]
    common = scale * W[t, ROOM + at, j]
    for u in range(p):
        r = W[t, ROOM + at, u]
        W[t, COV, u] += common * r
        W[t, LEFT, u] += scale * r * r
    W[t, LEFT, w], W[t, COV, w] = scale, common
    for a in range(k):
        if a != at:
            share = scale * W[t, ROOM + a, w]
            for u in range(p):
                W[t, ROOM + a, u] -= share * W[t, ROOM + at, u]
            W[t, ROOM + a, w] = -share
    for u in range(p):
        W[t, ROOM + at, u] = W[t, ROOM + k - 1, u]
    P[p, at] = P[p, k - 1]
    W[t, CHANGES, 0] += 1.0


@inlined
def regress(C, root, W, own, j, P, k):
    """Put the regressions on the first k parents of the last row but one of P into the workspace, and return the rows computed.

    They come from those that were kept of j, if the parents are nearly the same. The parents may get into another order.
    """
    p, t = C.shape[1], W.shape[0] - 1
    rows, kept = 2, -1
    if t > 0 and k > 0:
        kept = int(W[j, NUMBER, 0]) - 1
        common = 0
        for i in range(k):
            P[p + 1, i] = P[p, i]
            W[t, WANTED, P[p, i]] = 1.0
        for a in range(kept):
            common += W[t, WANTED, int(W[j, NAMES, a])] > 0.0
        changes = k + kept - 2 * common
        if W[j, CHANGES, 0] + changes > MOST_CHANGES or 2 * changes * k > k * (k - 1):
            kept = -1
        if kept >= 0:
            for u in range(p):
                W[t, COV, u] = W[j, COV, u]
                W[t, LEFT, u] = W[j, LEFT, u]
            W[t, CHANGES, 0], W[t, LEAST_PIVOT, 0] = W[j, CHANGES, 0], W[j, LEAST_PIVOT, 0]
            for a in range(kept):
                for u in range(p):
                    W[t, ROOM + a, u] = W[j, ROOM + a, u]
                P[p, a] = int(W[j, NAMES, a])
                W[t, ABLE, P[p, a]] = 0.0
            rows += kept
            for a in range(kept - 1, -1, -1):
                if W[t, WANTED, P[p, a]] == 0.0:
                    rows += kept + 2
                    leave(W, j, P, kept, a)
                    kept -= 1
                else:
                    W[t, WANTED, P[p, a]] = 0.0
            for i in range(k):
                if W[t, WANTED, P[p + 1, i]] > 0.0:
                    rows += 2 * kept + 4
                    join(C, root, W, own, j, P, kept, P[p + 1, i])
                    kept += 1
        for i in range(k):
            W[t, WANTED, P[p + 1, i]] = 0.0
    if kept < 0:
        begin(C, root, W, own, j)
        for i in range(k):
            rows += 2 * i + 4
            join(C, root, W, own, j, P, i, P[p, i])
        W[t, CHANGES, 0] = 0.0
    return rows


@inlined
def keep(W, j, P, k):
    """Keep the regressions of j in the workspace, where there is room for them and they have digits to lose."""
    p, t = W.shape[2], W.shape[0] - 1
    if t > 0:
        kept = k + 1 if W[t, LEAST_PIVOT, 0] > SURE else 0
        W[j, NUMBER, 0] = kept
        W[j, CHANGES, 0], W[j, LEAST_PIVOT, 0] = W[t, CHANGES, 0], W[t, LEAST_PIVOT, 0]
        if kept > 0:
            for u in range(p):
                W[j, COV, u] = W[t, COV, u]
                W[j, LEFT, u] = W[t, LEFT, u]
            for a in range(k):
                W[j, NAMES, a] = P[p, a]
                for u in range(p):
                    W[j, ROOM + a, u] = W[t, ROOM + a, u]


@inlined
def candidate(terms, W):
    """Return the possible parent that explains most, −1 if none explains anything, and what it explains."""
    t, alone = W.shape[0] - 1, terms[NUMBERS, ALONE]
    for w in range(W.shape[2]):
        W[t, ROW, w] = W[t, COV, w] * W[t, COV, w] * W[t, ABLE, w] / W[t, LEFT, w]
    best, most = -1, 0.0
    for w in range(W.shape[2]):
        explained = W[t, ROW, w]
        if explained > most and W[t, LEFT, w] >= alone:
            best, most = w, explained
    return best, most


@inlined
def least_useful(may, W, j, P, k):
    """Return the parent that is not required and raises the residual variance of j least where it goes, −1 if there is none, and by
    how much: $A_{aj}^2 / (C_{PP}^{-1})_{aa}$."""
    p, t = W.shape[2], W.shape[0] - 1
    at, least = -1, math.inf
    for a in range(k):
        slope, square = W[t, ROOM + a, j], W[t, ROOM + a, P[p, a]]
        if slope * slope < least * square and not may[j, P[p, a]] & REQUIRED:
            at, least = a, slope * slope / square
    return at, least


@compiled
def fit(C, root, may, terms, G, P, W, status, j, limit, x):
    """Fit j on parents among those before the position `limit`; return their number, and v. They are in the last row but one of P.

    x counts as coming before if it does not, and as not coming before if it does; j stands for no variable. The parents of j are
    grown, then shrunk; at its own position and with x = j, until neither lowers the cost, and LEFT and COV are those given the last.
    """
    p, t = C.shape[1], W.shape[0] - 1
    joins = x != j and G[POSITION, x] >= limit
    for w in range(p):
        W[t, ABLE, w] = 1.0 if may[j, w] & ALLOWED and G[POSITION, w] < limit else 0.0
    if x != j:
        W[t, ABLE, x] = 1.0 if joins and may[j, x] & ALLOWED else 0.0
    k = 0
    for i in range(G[COUNT, j]):
        parent = P[j, i]
        if parent != x and G[POSITION, parent] < limit:
            P[p, k] = parent
            k += 1
    if joins:
        P[p, k] = x
        k += 1
    own, scale, price = int(terms[OWN, j]), terms[SCALE, j], terms[NUMBERS, PRICE]
    here, rooted = x == j and limit == G[POSITION, j], root.shape[0] > 0
    least = LEAST_SHARE * LEAST_SHARE if rooted else LEAST_SHARE
    rows = regress(C, root, W, own, j, P, k)
    times = work = 0
    while True:
        v = math.log(W[t, LEFT, j]) + scale
        now = term(terms, j, v)
        times += 1
        while k < P.shape[1] - 1 and times <= GROWTHS:
            w, explained = candidate(terms, W)
            if w < 0:
                break
            smaller = math.log(max(W[t, LEFT, j] - explained, least)) + scale
            then = term(terms, j, smaller)
            if now - then <= price + LEAST_FALL:
                break
            v, now = smaller, then
            rows += 2 * k + 4
            join(C, root, W, own, j, P, k, w)
            k += 1
        done = k
        work += 4 * (done + 1) * p
        while True:
            at, rise = least_useful(may, W, j, P, k)
            if at < 0:
                break
            larger = math.log(W[t, LEFT, j] + rise) + scale
            then = term(terms, j, larger)
            if then - now >= price - LEAST_FALL:
                break
            v, now = larger, then
            rows += k + 2
            W[t, ABLE, P[p, at]] = 1.0
            leave(W, j, P, k, at)
            k -= 1
        if k == done or not here:
            break
        if rooted:
            regress(C, root, W, own, j, P, k)
    status[WORK] += p * (work if rooted else rows)
    if here:
        keep(W, j, P, k)
    return k, v


@compiled
def fit_change(C, root, may, terms, G, P, M, W, status, row, x):
    """Fit M[row, x]: the change of j's cost where x comes before it or no longer does (row j), or where j takes the position of x (row
    p + j)."""
    p = C.shape[1]
    j, limit, other = row, G[POSITION, row % p], x
    if row >= p:
        j = other = row - p
        limit = G[POSITION, x] + (1 if G[POSITION, x] > G[POSITION, j] else 0)
    k, v = fit(C, root, may, terms, G, P, W, status, j, limit, other)
    value = cost(terms, j, v, k) - cost(terms, j, M[2 * p, j], G[COUNT, j])
    if row < p and value > 0.0 and G[POSITION, x] > G[POSITION, j]:
        value = 0.0
    M[row, x] = value
    return value


@inlined
def change_of(C, root, may, terms, G, P, M, W, status, row, x):
    """Return M[row, x], fitted where it is not known."""
    value = M[row, x]
    if math.isnan(value):
        value = fit_change(C, root, may, terms, G, P, M, W, status, row, x)
    return value


@inlined
def best_position(C, root, may, terms, G, P, M, W, status, x):
    """Return the position of x with the lowest sum; the present one if none is lower.

    On each side, the variables that x passes change by known amounts, and x itself is fitted at the most promising position first: its
    cost is no lower anywhere before that, which rules most positions out. The cache may be out of date, so the chosen position is
    fitted again.
    """
    p = C.shape[1]
    order, others, bound = G[ORDER], W[W.shape[0] - 1, OTHERS], W[W.shape[0] - 1, BOUND]
    at = G[POSITION, x]
    chosen = at
    for _ in range(TRIES):
        best, to = -LEAST_GAIN, at
        for side in (-1, 1):
            passed, t = 0.0, at + side
            least = 0.0 if side < 0 else terms[LEAST, x] - cost(terms, x, M[2 * p, x], G[COUNT, x])
            while 0 <= t < p:
                y = order[t]
                if (may[x, y] if side < 0 else may[y, x]) & FIRST:
                    break
                if M[y, x] != 0.0:
                    passed += change_of(C, root, may, terms, G, P, M, W, status, y, x)
                if passed + least > -LEAST_GAIN and side > 0:  # variables behind x lose more than x can gain
                    break
                others[t] = passed
                # candidates: before a variable that gains x as a parent, or behind one that x gains
                gains = M[y, x] < 0.0 if side < 0 else M[x, y] != 0.0
                bound[t] = least if gains else math.inf
                t += side
            low, high = (t + 1, at) if side < 0 else (at + 1, t)
            while True:
                lowest, t = best, -1
                for i in range(low, high):
                    if others[i] + bound[i] < lowest:
                        lowest, t = others[i] + bound[i], i
                if t < 0:
                    break
                change = change_of(C, root, may, terms, G, P, M, W, status, p + x, order[t])
                if others[t] + change < best:
                    best, to = others[t] + change, t
                bound[t] = math.inf
                for i in range(low, t):
                    if bound[i] < change:
                        bound[i] = change
        if to == at:
            break
        best, t = 0.0, at
        while True:  # fit again, x itself first, then all that it passes
            row, other = (p + x, order[to]) if t == at else (order[t], x)
            if M[row, other] != 0.0:
                M[row, other] = math.nan
                best += change_of(C, root, may, terms, G, P, M, W, status, row, other)
            if t == to:
                break
            t += -1 if to < at else 1
        if best < -LEAST_GAIN:
            chosen = to
            break
    return chosen


@compiled
def refit(C, root, may, terms, G, P, M, W, status, j):
    """Give j parents that neither growing nor shrinking improves, and clear the cache of what depended on those before.

    Present, former and possible parents of j are due to be tried again.
    """
    p = C.shape[1]
    parents = P[j]
    k, v = fit(C, root, may, terms, G, P, W, status, j, G[POSITION, j], j)
    for i in range(k):
        parents[i] = P[p, i]
    G[COUNT, j] = k
    G[ALTERED, j] = 1
    G[DUE, j] = 1
    M[2 * p, j] = v
    cov, left, change = W[W.shape[0] - 1, COV], W[W.shape[0] - 1, LEFT], M[j]
    enough = worthwhile(terms, j, v) * left[j]
    for w in range(p):
        pays = k < parents.shape[0] - 1 and cov[w] * cov[w] > enough * left[w]
        pays = pays and may[j, w] & ALLOWED != 0 and left[w] >= terms[NUMBERS, ALONE]
        if pays or change[w] != 0.0:
            G[DUE, w] = 1
        change[w] = math.nan if pays else 0.0
        M[p + j, w] = math.nan
    for i in range(k):
        change[parents[i]] = math.nan
        G[DUE, parents[i]] = 1


@inlined
def move(C, root, may, terms, G, P, M, W, status, x, to):
    """Move x to a position, and fit x and the variables that gain or lose it as a parent."""
    order, position = G[ORDER], G[POSITION]
    at = position[x]
    side = -1 if to < at else 1
    t = at
    while t != to:
        t += side
        y = order[t]
        G[PASSED, y] = M[y, x] != 0.0
        for i in range(G[COUNT, y]):  # a parent that costs nothing to lose is lost all the same
            if P[y, i] == x:
                G[PASSED, y] = 1
        if side < 0 and G[PASSED, y]:
            if change_of(C, root, may, terms, G, P, M, W, status, y, x) < 0.0:
                P[y, G[COUNT, y]] = x
                G[COUNT, y] += 1
            else:
                G[PASSED, y] = 0
    t = at
    while t != to:
        order[t] = order[t + side]
        position[order[t]] = t
        t += side
    order[to] = x
    position[x] = to
    G[PASSED, x] = 1
    for t in range(min(at, to), max(at, to) + 1):
        if G[PASSED, order[t]]:
            refit(C, root, may, terms, G, P, M, W, status, order[t])


@inlined
def random_position(may, G, P, x, where, what):
    """Return a random position for x: that of a parent, or any, within knowledge. where, what: uniform numbers."""
    p = may.shape[0]
    to = int(where * p)
    if G[COUNT, x] > 0 and what < TO_A_PARENT:
        to = G[POSITION, P[x, int(where * G[COUNT, x])]]
    t = G[POSITION, x]
    side = -1 if to < t else 1
    while t != to:
        y = G[ORDER, t + side]
        if (may[x, y] if side < 0 else may[y, x]) & FIRST:
            break
        t += side
    return t


@inlined
def put(G, P, M, to_G, to_P, to_M, altered):
    """Copy a graph over another that differs in the order and in the altered variables."""
    p = M.shape[1]
    for j in range(p):
        for row in (ORDER, POSITION, DUE):
            to_G[row, j] = G[row, j]
        if altered[j]:
            altered[j] = 0
            to_G[COUNT, j] = G[COUNT, j]
            for i in range(G[COUNT, j]):
                to_P[j, i] = P[j, i]
            for w in range(p):
                to_M[j, w] = M[j, w]
                to_M[p + j, w] = M[p + j, w]
            to_M[2 * p, j] = M[2 * p, j]


@inlined
def total(terms, G, M):
    """Return the sum over all variables."""
    p = M.shape[1]
    whole = 0.0
    for j in range(p):
        whole += cost(terms, j, M[2 * p, j], G[COUNT, j])
    return whole


@compiled
def search(C, root, may, terms, G, P, M, W, status, spare_G, spare_P, spare_M, uniforms):
    """Move variables to better positions until there are none; then restart once for every row of `uniforms`, and keep what is better.

    The start is the order in G, with parents that are grown and shrunk along it. A restart moves one variable to twelve to random
    positions, drawn by uniform random numbers, and searches on from there.
    """
    p = C.shape[1]
    settled = status[SETTLED]
    for t in range(p):
        G[POSITION, G[ORDER, t]] = t
    for j in range(p):
        if settled:
            break
        if status[STOP]:
            return
        k, v = fit(C, root, may, terms, G, P, W, status, j, p, j)
        terms[LEAST, j] = cost(terms, j, v, k)
        refit(C, root, may, terms, G, P, M, W, status, j)
    for j in range(p):
        G[DUE, j] = 1 - settled
    graph, parents, memory = G, P, M
    lowest = 0.0
    for row in range(-1, uniforms.shape[0]):
        if row >= 0 and status[WORK] > status[LIMIT]:
            break
        moves_left = 0 if row < 0 else 1 + int(uniforms[row, 0] * MOST_MOVES_PER_RESTART)
        moved, tried, i = True, 0, p
        before = start = math.inf
        while True:
            if status[STOP]:
                return
            if status[WORK] > status[LIMIT]:
                break
            if moves_left > 0:
                moves_left -= 1
                x = status[FREE] + int(uniforms[row, 3 * moves_left + 1] * (p - status[FREE]))
                to = random_position(
                    may, graph, parents, x, uniforms[row, 3 * moves_left + 2], uniforms[row, 3 * moves_left + 3]
                )
            else:
                while i < p and not graph[DUE, graph[QUEUE, i]]:
                    i += 1
                if i == p:
                    now = total(terms, graph, memory)
                    if now > before - LEAST_GAIN and moved:  # in circles on rounding errors
                        break
                    if row >= 0 and now - lowest > HOPELESS * (start - lowest):
                        break
                    before = now
                    start = now if start == math.inf else start
                    if not moved:
                        if row >= 0 or tried == p or settled:
                            break
                        for j in range(p):
                            graph[DUE, j] = 1
                    moved, tried, i = False, 0, 0
                    for t in range(p):
                        graph[QUEUE, t] = graph[ORDER, t]
                    continue
                x = graph[QUEUE, i]
                i += 1
                graph[DUE, x] = 0
                tried += 1
                to = best_position(C, root, may, terms, graph, parents, memory, W, status, x)
            if to != graph[POSITION, x]:
                move(C, root, may, terms, graph, parents, memory, W, status, x, to)
                status[MOVES] += 1
                moved = True
        now = total(terms, graph, memory)
        status[SETTLED] = 1
        if uniforms.shape[0] == 0:  # the spare graph takes no memory
            return
        back = row < 0 or now >= lowest - LEAST_GAIN
        if row < 0:
            for j in range(p):
                spare_G[ALTERED, j] = 1
        if not back or row < 0:
            lowest = now
        graph, parents, memory = (G, P, M) if back else (spare_G, spare_P, spare_M)
        onto_G, onto_P, onto_M = (spare_G, spare_P, spare_M) if back else (G, P, M)
        put(graph, parents, memory, onto_G, onto_P, onto_M, spare_G[ALTERED])
        graph, parents, memory = spare_G, spare_P, spare_M
        if row >= 0:
            status[RESTARTS] += 1
