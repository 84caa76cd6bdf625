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
    P     p + 1 rows of most + 1: the first COUNT of row j are the parents of j; the last row is workspace
    M     the cache: row j has the change of j's cost by each other variable, row p + j that at the position of each, row 2p v
    W     workspace of one fit: rows COV, LEFT, BETA, OTHERS, BOUND, ABLE (1 for a possible parent), then `most` rows each of Z, an
          inverse and products
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
    ALTERED,
    BETA,
    BOUND,
    COUNT,
    COV,
    DUE,
    FIRST,
    FREE,
    HALF,
    LEAST,
    LEFT,
    LIMIT,
    MEAN,
    MOST_MOVES_PER_RESTART,
    MOVES,
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
    SCALE,
    SETTLED,
    STOP,
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

GROWTHS = 5
"""Times that parents grow and shrink in turn at most: near-collinear ones would go on without end."""

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
def found_at(parents, k, w):
    """Return the index of w among the first k parents, −1 if it is none of them."""
    at = -1
    for i in range(k):
        if parents[i] == w:
            at = i
    return at


@inlined
def begin(C, root, W, own, j):
    """Set LEFT, the residual variances of all variables, and COV, their residual covariances with j, to those without parents."""
    p = C.shape[1]
    for u in range(p):
        W[COV, u] = C[own, j, u]
        W[LEFT, u] = 1.0
    if root.shape[0] > 0:
        for u in range(p):
            for i in range(p):
                root[-1, u, i] = root[own, u, i]


@inlined
def extend(C, root, W, own, j, w, k):
    """Update LEFT and COV for one more parent w of j, the k-th."""
    p = C.shape[1]
    if root.shape[0] > 0:
        scale = 1.0 / math.sqrt(W[LEFT, w])
        for i in range(p):
            W[BETA, i] = root[-1, w, i] * scale
        for u in range(p):
            along, squares = 0.0, 0.0
            for i in range(p):
                along += W[BETA, i] * root[-1, u, i]
            for i in range(p):
                root[-1, u, i] -= along * W[BETA, i]
                squares += root[-1, u, i] * root[-1, u, i]
            W[ROOM + k, u] = along
            W[LEFT, u] = squares if squares > LEAST_SHARE * LEAST_SHARE else LEAST_SHARE * LEAST_SHARE
        for u in range(p):
            common = 0.0
            for i in range(p):
                common += root[-1, j, i] * root[-1, u, i]
            W[COV, u] = common
    else:
        row = W[ROOM + k]
        for u in range(p):
            row[u] = C[own, w, u]
        for i in range(k):
            other = W[ROOM + i]
            a = other[w]
            for u in range(p):
                row[u] -= a * other[u]
        cov, left = W[COV], W[LEFT]
        scale = 1.0 / math.sqrt(left[w])
        b = row[j] * scale
        for u in range(p):
            z = row[u] * scale
            row[u] = z
            cov[u] -= b * z
            rest = left[u] - z * z
            left[u] = rest if rest > LEAST_SHARE else LEAST_SHARE


@inlined
def candidate(terms, W, j, parents, k):
    """Return the possible parent that explains most beside the first k, −1 if none explains anything, and what it explains."""
    cov, left, able = W[COV], W[LEFT], W[ABLE]
    alone = terms[NUMBERS, ALONE]
    best, most, beside = -1, 0.0, 1.0
    for w in range(cov.shape[0]):
        explained = cov[w] * cov[w] * able[w]
        if explained * beside > most * left[w] and left[w] >= alone and found_at(parents, k, w) < 0:
            best, most, beside = w, explained, left[w]
    return best, most / beside


@inlined
def slope_of(W, j, parents, k, a):
    """Compute row a of T, the transposed inverse of the factor L of the first k parents; return β_a and (TᵀT)_aa.

    With z the row of j, β = Tᵀz, and without parent a the RSS of j rises by β²_a / (TᵀT)_aa.
    """
    T = W[ROOM + parents.shape[0] - 1 + a]
    slope, squares = 0.0, 0.0
    for i in range(a, k):
        along = 1.0 if i == a else 0.0
        for m in range(a, i):
            along -= W[ROOM + m, parents[i]] * T[m]
        along /= W[ROOM + i, parents[i]]
        T[i] = along
        slope += W[ROOM + i, j] * along
        squares += along * along
    return slope, squares


@inlined
def shrink(may, terms, W, j, parents, k, v, now):
    """Drop parents, the least useful first, while that lowers the cost; return their number, and v. LEFT and COV stay.

    v, now: the logarithm of the residual variance, and its term.
    """
    rss, scale, beta = W[LEFT, j], terms[SCALE, j], W[BETA]
    most = parents.shape[0] - 1
    T, K = ROOM + most, ROOM + 2 * most
    least, at = math.inf, -1
    for a in range(k):
        slope, squares = slope_of(W, j, parents, k, a)
        beta[a] = slope
        if not may[j, parents[a]] & REQUIRED and slope * slope < least * squares:
            least, at = slope * slope / squares, a
    made = False
    while at >= 0:
        smaller = math.log(rss + least) + scale
        then = term(terms, j, smaller)
        if then - now >= terms[NUMBERS, PRICE] - LEAST_FALL:
            break
        if not made:
            for a in range(k):
                for b in range(a, k):
                    product = 0.0
                    for i in range(b, k):
                        product += W[T + a, i] * W[T + b, i]
                    W[K + a, b] = product
                    W[K + b, a] = product
            made = True
        rss, v, now = rss + least, smaller, then
        slope = beta[at] / W[K + at, at]
        for a in range(k):
            beta[a] -= W[K + a, at] * slope
            if a != at:
                factor = W[K + a, at] / W[K + at, at]
                for b in range(k):
                    W[K + a, b] -= factor * W[K + at, b]
        k -= 1
        for a in range(at, k):
            parents[a] = parents[a + 1]
            beta[a] = beta[a + 1]
            for b in range(k + 1):
                W[K + a, b] = W[K + a + 1, b]
        least, new = math.inf, -1
        for a in range(k):
            for b in range(at, k):
                W[K + a, b] = W[K + a, b + 1]
            if not may[j, parents[a]] & REQUIRED and beta[a] * beta[a] < least * W[K + a, a]:
                least, new = beta[a] * beta[a] / W[K + a, a], a
        at = new
    return k, v


@compiled
def fit(C, root, may, terms, G, P, W, status, j, limit, x):
    """Fit j on parents among those before the position `limit`; return their number, and v. They are in the last row of P.

    x counts as coming before if it does not, and as not coming before if it does; j stands for no variable. The parents of j are
    grown, then shrunk; at its own position and with x = j, until neither lowers the cost, and LEFT and COV are those given the last.
    """
    p = C.shape[1]
    parents = P[p]
    position, able = G[POSITION], W[ABLE]
    joins = x != j and position[x] >= limit
    for w in range(p):
        able[w] = 1.0 if may[j, w] & ALLOWED and position[w] < limit else 0.0
    if x != j:
        able[x] = 1.0 if joins and may[j, x] & ALLOWED else 0.0
    k = 0
    for i in range(G[COUNT, j]):
        parent = P[j, i]
        if parent != x and G[POSITION, parent] < limit:
            parents[k] = parent
            k += 1
    if joins:
        parents[k] = x
        k += 1
    v, times, own = 0.0, 0, int(terms[OWN, j])
    least = LEAST_SHARE if root.shape[0] == 0 else LEAST_SHARE * LEAST_SHARE
    while True:
        begin(C, root, W, own, j)
        for i in range(k):
            extend(C, root, W, own, j, parents[i], i)
        v = math.log(W[LEFT, j]) + terms[SCALE, j]
        now = term(terms, j, v)
        times += 1
        while k < parents.shape[0] - 1 and times <= GROWTHS:
            w, explained = candidate(terms, W, j, parents, k)
            if w < 0:
                break
            smaller = math.log(max(W[LEFT, j] - explained, least)) + terms[SCALE, j]
            then = term(terms, j, smaller)
            if now - then <= terms[NUMBERS, PRICE] + LEAST_FALL:
                break
            v, now = smaller, then
            parents[k] = w
            extend(C, root, W, own, j, w, k)
            k += 1
        done = k
        k, v = shrink(may, terms, W, j, parents, k, v, now)
        status[WORK] += (done + 4) * (done + 4) * p if root.shape[0] == 0 else 4 * (done + 1) * p * p
        if k == done or x != j or limit != position[j]:
            break
    return k, v


@compiled
def change_of(C, root, may, terms, G, P, M, W, status, row, x):
    """Return M[row, x], fitted where it is not known: the change of j's cost where x comes before it or no longer does (row j), or
    where j takes the position of x (row p + j)."""
    p = C.shape[1]
    value = M[row, x]
    if math.isnan(value):
        position = G[POSITION]
        j, limit, other = row, position[row % p], x
        if row >= p:
            j = other = row - p
            limit = position[x] + (1 if position[x] > position[j] else 0)
        k, v = fit(C, root, may, terms, G, P, W, status, j, limit, other)
        value = cost(terms, j, v, k) - cost(terms, j, M[2 * p, j], G[COUNT, j])
        if row < p and value > 0.0 and position[x] > position[j]:
            value = 0.0
        M[row, x] = value
    return value


@inlined
def best_position(C, root, may, terms, G, P, M, W, status, x):
    """Return the position of x with the lowest sum; the present one if none is lower.

    On each side, the variables that x passes change by known amounts, and x itself is fitted at the most promising position first: its
    cost is no lower anywhere before that, which rules most positions out. The cache may be out of date, so the chosen position is
    fitted again.
    """
    p = C.shape[1]
    order, others, bound = G[ORDER], W[OTHERS], W[BOUND]
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
    cov, left, change = W[COV], W[LEFT], M[j]
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

    The start is the order in G, with parents that are grown and shrunk along it. A restart moves one variable or a few to random
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
        moves_left = 0 if row < 0 else 1 + int(uniforms[row, 0] * uniforms[row, 0] * MOST_MOVES_PER_RESTART)
        moved, tried, i = True, 0, p
        before = math.inf
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
                    before = now
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
