"""Orders of the variables, moved to better places one variable at a time: the loops, compiled.

A graph is an order with parents among the predecessors of each variable. Its cost is a sum over variables of

    half · v + weight · (v − mean)² + price · |parents|,    v = log(RSS / n),

flat in v below the vertex of the square; a negative weight stands for half · exp(v − mean) instead (equal error variances).
Every variable is tried at every place. Parents are grown from those that the variable has, then shrunk. What x would change in the
cost of y, by coming before it or no longer, is remembered until y has other parents, and so is what x would cost at another place:
after a move only those whom it concerns are fitted again.

Residuals come from the correlation matrix, or where that has too few digits from the root of the scatter, whose columns are
made orthogonal to the parents one by one.

All functions share these arrays, few of them because every argument is one more thing to compile (`engine` makes them):

    C     p × p   correlations
    root  2 × p × p, or 0 × … where C has the digits: the unit columns of the root as rows, and what is left of them
    may   p × p   [j, w]: ALLOWED if w may be a parent of j, REQUIRED if it is one, FIRST if it comes before j
    terms rows MEAN, WEIGHT, SCALE (log of the own variance), LEAST (cost with all others before), NUMBERS (HALF, PRICE, ALONE)
    G     the graph: rows ORDER, PLACE, COUNT (of parents), DUE (to be looked at), ALTERED, and room: PASSED, QUEUE
    P     p × most + 1: the first COUNT of row j are the parents of j
    M     what is remembered: row j is the change of j's cost by each other, row p + j its own change at the place of each, 2p: v
    W     room for one fit: rows COV, LEFT, BETA, OTHERS, BOUND, then `most` rows each of Z, an inverse and products
    told  LOOKS, MOVES, KICKS so far; anything but 0 in STOP ends the search
"""

from __future__ import annotations

import math

from ordag.arrays import Array, Integers
from ordag.compiling import compiled
from ordag.learners.order_search.layout import (
    ALLOWED,
    ALONE,
    ALTERED,
    BETA,
    BOUND,
    COUNT,
    COV,
    DUE,
    FIRST,
    HALF,
    KICKS,
    LEAST,
    LEFT,
    LOOKS,
    MEAN,
    MOST_IN_A_KICK,
    MOVES,
    NUMBERS,
    ORDER,
    OTHERS,
    PASSED,
    PLACE,
    PRICE,
    QUEUE,
    REQUIRED,
    ROOM,
    SCALE,
    STOP,
    WEIGHT,
)

CLEAR = 1e-9
"""A term has to fall by more than this: less is rounding."""

BETTER = 1e-6
"""A move has to lower the sum by more than this."""

NOTHING = 1e-14
"""A residual variance below this share of the variable's own has no digits."""

TRIES = 3
"""Places that a variable is looked at afresh for, one after the other, where what is remembered of them was too good."""

TO_A_PARENT = 0.7
"""The share of moves in a kick that take a variable before a parent of its own."""


@compiled
def term(terms: Array, j: int, v: float) -> float:
    """The term of j without the price of its parents."""
    half, weight = terms[NUMBERS, HALF], terms[WEIGHT, j]
    away = v - terms[MEAN, j]
    if weight < 0.0:
        return half * math.exp(away)
    if weight > 0.0 and away < -half / (2.0 * weight):
        away = -half / (2.0 * weight)
    return half * (terms[MEAN, j] + away) + weight * away * away


@compiled
def cost(terms: Array, j: int, v: float, k: int) -> float:
    return term(terms, j, v) + terms[NUMBERS, PRICE] * k


@compiled
def worthwhile(terms: Array, j: int, v: float) -> float:
    """The share of j's residual variance that one more parent has to explain to pay."""
    price = terms[NUMBERS, PRICE] + CLEAR
    half, weight = terms[NUMBERS, HALF], terms[WEIGHT, j]
    if weight < 0.0:
        return price / half * math.exp(terms[MEAN, j] - v)
    s = half / 2.0 + weight * (v - terms[MEAN, j])
    root = s * s - weight * price
    if s <= 0.0 or root < 0.0:
        return 1.0 if price >= 0.0 else -1.0
    return -math.expm1(-price / (s + math.sqrt(root)))


@compiled
def extend(C: Array, root: Array, W: Array, j: int, w: int, k: int) -> None:
    """What is left with one more parent w of j, the k-th."""
    p = C.shape[0]
    if root.shape[0] > 0:
        E, row = root[1], W[ROOM + k]
        scale = 1.0 / math.sqrt(W[LEFT, w])
        for i in range(p):
            W[BETA, i] = E[w, i] * scale
        for u in range(p):
            along, squares = 0.0, 0.0
            for i in range(p):
                along += W[BETA, i] * E[u, i]
            for i in range(p):
                E[u, i] -= along * W[BETA, i]
                squares += E[u, i] * E[u, i]
            row[u] = along
            W[LEFT, u] = squares if squares > NOTHING else NOTHING
        for u in range(p):
            common = 0.0
            for i in range(p):
                common += E[j, i] * E[u, i]
            W[COV, u] = common
        return
    row, given = W[ROOM + k], C[w]
    for u in range(p):
        row[u] = given[u]
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
        left[u] = rest if rest > NOTHING else NOTHING


@compiled
def condition(C: Array, root: Array, W: Array, j: int, parents: Integers, k: int) -> None:
    """What is left given the first k of these parents of j: of all variances (LEFT), and of covariances with j (COV)."""
    p = C.shape[0]
    for u in range(p):
        W[COV, u] = C[j, u]
        W[LEFT, u] = 1.0
    if root.shape[0] > 0:
        for u in range(p):
            for i in range(p):
                root[1, u, i] = root[0, u, i]
    for i in range(k):
        extend(C, root, W, j, parents[i], i)


@compiled
def grow(
    C: Array,
    root: Array,
    may: Integers,
    terms: Array,
    G: Integers,
    W: Array,
    j: int,
    parents: Integers,
    k: int,
    limit: int,
    extra: int,
    without: int,
) -> int:
    """Add parents, the best first, as long as that pays; how many there are then. The conditions are at hand before and after."""
    p = C.shape[0]
    cov, left, place, able = W[COV], W[LEFT], G[PLACE], may[j]
    alone = terms[NUMBERS, ALONE]
    while k < parents.shape[0] - 1:
        most, best = worthwhile(terms, j, math.log(left[j]) + terms[SCALE, j]) * left[j], -1
        for w in range(p):
            if cov[w] * cov[w] > most * left[w] and (place[w] < limit or w == extra):
                if w == without or not able[w] & ALLOWED or left[w] < alone or found_at(parents, k, w) >= 0:
                    continue
                most, best = cov[w] * cov[w] / left[w], w
        if best < 0:
            break
        extend(C, root, W, j, best, k)
        parents[k] = best
        k += 1
    return k


@compiled
def shrink(may: Integers, terms: Array, W: Array, j: int, parents: Integers, k: int) -> tuple[int, float]:
    """Drop parents, the idlest first, as long as that pays: how many there are then, and v. The conditions are those before."""
    rss, scale, beta = W[LEFT, j], terms[SCALE, j], W[BETA]
    v = math.log(rss) + scale
    most = parents.shape[0] - 1
    # with L the factor of the parents and T = L⁻¹: β = Tᵀz, and without parent a the RSS rises by β²_a / (TᵀT)_aa
    T, K = ROOM + most, ROOM + 2 * most
    least, at = math.inf, -1
    for a in range(k):
        W[T + a, a] = 1.0 / W[ROOM + a, parents[a]]
        for i in range(a + 1, k):
            total = 0.0
            for m in range(a, i):
                total += W[ROOM + m, parents[i]] * W[T + a, m]
            W[T + a, i] = -total / W[ROOM + i, parents[i]]
        slope, squares = 0.0, 0.0
        for i in range(a, k):
            slope += W[ROOM + i, j] * W[T + a, i]
            squares += W[T + a, i] * W[T + a, i]
        beta[a] = slope
        if not may[j, parents[a]] & REQUIRED and slope * slope < least * squares:
            least, at = slope * slope / squares, a
    now = term(terms, j, v)
    made = False
    while at >= 0:
        smaller = math.log(rss + least) + scale
        then = term(terms, j, smaller)
        if then - now >= terms[NUMBERS, PRICE] - CLEAR:
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
        k = taken_out(parents, k, at)
        for a in range(at, k):
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
def fit(
    C: Array,
    root: Array,
    may: Integers,
    terms: Array,
    G: Integers,
    W: Array,
    j: int,
    parents: Integers,
    k: int,
    limit: int,
    extra: int,
    without: int,
) -> tuple[int, float]:
    """Grow the first k parents among those before `limit` and `extra`, but for `without`, and shrink: how many there are then, and v."""
    condition(C, root, W, j, parents, k)
    k = grow(C, root, may, terms, G, W, j, parents, k, limit, extra, without)
    return shrink(may, terms, W, j, parents, k)


@compiled
def found_at(parents: Integers, k: int, w: int) -> int:
    """Where w is among the parents, −1 if it is not."""
    for i in range(k):
        if parents[i] == w:
            return i
    return -1


@compiled
def taken_out(parents: Integers, k: int, at: int) -> int:
    """Take out the one at this place; how many are left."""
    for a in range(at, k - 1):
        parents[a] = parents[a + 1]
    return k - 1


@compiled
def refitted(
    C: Array,
    root: Array,
    may: Integers,
    terms: Array,
    G: Integers,
    P: Integers,
    W: Array,
    j: int,
    limit: int,
    x: int,
) -> tuple[int, float]:
    """Parents of j, in the last row of P, where it comes before `limit`, with x or, if that comes before, without: how many, and v."""
    mine = P[P.shape[0] - 1]
    joins = x >= 0 and G[PLACE, x] >= limit
    k = 0
    for i in range(G[COUNT, j]):
        parent = P[j, i]
        if parent != x and G[PLACE, parent] < limit:
            mine[k] = parent
            k += 1
    if joins:
        mine[k] = x
        k += 1
    return fit(C, root, may, terms, G, W, j, mine, k, limit, x if joins else -1, -1 if joins else x)


@compiled
def change_of(
    C: Array,
    root: Array,
    may: Integers,
    terms: Array,
    G: Integers,
    P: Integers,
    M: Array,
    W: Array,
    j: int,
    x: int,
    own: bool,
) -> float:
    """By how much the cost of j changes, where x comes before it or no longer does, or where it takes x's place itself (own)."""
    p = C.shape[0]
    row = p + j if own else j
    value = M[row, x]
    if math.isnan(value):
        place = G[PLACE]
        limit = place[j]
        if own:
            limit = place[x] + 1 if place[x] > place[j] else place[x]
        k, v = refitted(C, root, may, terms, G, P, W, j, limit, -1 if own else x)
        value = cost(terms, j, v, k) - cost(terms, j, M[2 * p, j], G[COUNT, j])
        if not own and value > 0.0 and place[x] > place[j]:
            value = 0.0
        M[row, x] = value
    return value


@compiled
def best_place(
    C: Array, root: Array, may: Integers, terms: Array, G: Integers, P: Integers, M: Array, W: Array, x: int
) -> int:
    """The place where x brings the sum down most; where it is if none does.

    On each side, who is passed changes by known amounts, and x itself is fitted at the most promising place first: its cost is no lower
    anywhere before that, which rules most places out. What is remembered may be out of date, so a place that looks good is looked at
    again afresh.
    """
    p = C.shape[0]
    order, others, bound = G[ORDER], W[OTHERS], W[BOUND]
    at = G[PLACE, x]
    for _ in range(TRIES):
        best, to = -BETTER, at
        for side in (-1, 1):
            passed, t = 0.0, at + side
            least = 0.0 if side < 0 else terms[LEAST, x] - cost(terms, x, M[2 * p, x], G[COUNT, x])
            while 0 <= t < p:
                y = order[t]
                if (may[x, y] if side < 0 else may[y, x]) & FIRST:
                    break
                if M[y, x] != 0.0:
                    passed += change_of(C, root, may, terms, G, P, M, W, y, x, False)
                others[t] = passed
                # worth a look: before one who gains x, or behind one whom x gains
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
                own = change_of(C, root, may, terms, G, P, M, W, x, order[t], True)
                if others[t] + own < best:
                    best, to = others[t] + own, t
                bound[t] = math.inf
                for i in range(low, t):
                    if bound[i] < own:
                        bound[i] = own
        if to == at:
            break
        M[p + x, order[to]] = math.nan
        best = change_of(C, root, may, terms, G, P, M, W, x, order[to], True)
        t = at
        while t != to:
            t += -1 if to < at else 1
            if M[order[t], x] != 0.0:
                M[order[t], x] = math.nan
                best += change_of(C, root, may, terms, G, P, M, W, order[t], x, False)
        if best < -BETTER:
            return to
    return at


@compiled
def move(
    C: Array, root: Array, may: Integers, terms: Array, G: Integers, P: Integers, M: Array, W: Array, x: int, to: int
) -> None:
    """Take x to a place. Who changes by that, and whom it matters to, is due to be looked at again."""
    p = C.shape[0]
    order, place, mine = G[ORDER], G[PLACE], P[p]
    at = place[x]
    side = -1 if to < at else 1
    t = to
    while True:  # x itself last, from the far end, so that all are fitted along the order as it was
        y = order[t]
        G[PASSED, y] = 0
        changes = M[y, x] != 0.0 or t == at
        if changes and side < 0 and t != at:
            changes = change_of(C, root, may, terms, G, P, M, W, y, x, False) != 0.0
        if changes:
            limit = place[y]
            if t == at:
                limit = to if side < 0 else to + 1
            k, _ = refitted(C, root, may, terms, G, P, W, y, limit, -1 if t == at else x)
            remember(G, M, y)
            G[COUNT, y] = k
            for i in range(k):
                P[y, i] = mine[i]
            G[PASSED, y] = 1
        if t == at:
            break
        t -= side
    while t != to:
        order[t] = order[t + side]
        place[order[t]] = t
        t += side
    order[to] = x
    place[x] = to
    for t in range(min(at, to), max(at, to) + 1):
        if G[PASSED, order[t]]:
            take_over(C, root, may, terms, G, P, M, W, order[t])


@compiled
def take_over(
    C: Array, root: Array, may: Integers, terms: Array, G: Integers, P: Integers, M: Array, W: Array, j: int
) -> None:
    """j has other parents: let them grow and shrink until neither pays, and forget what depended on those before."""
    p = C.shape[0]
    parents, k, v = P[j], G[COUNT, j], 0.0
    while True:
        condition(C, root, W, j, parents, k)
        grown = grow(C, root, may, terms, G, W, j, parents, k, G[PLACE, j], -1, -1)
        k, v = shrink(may, terms, W, j, parents, grown)
        if k == grown:
            break
    G[COUNT, j] = k
    G[ALTERED, j] = 1
    M[2 * p, j] = v
    cov, left, change = W[COV], W[LEFT], M[j]
    enough = worthwhile(terms, j, v) * left[j]
    for w in range(p):
        pays = k < parents.shape[0] - 1 and cov[w] * cov[w] > enough * left[w]
        pays = pays and may[j, w] & ALLOWED != 0 and left[w] >= terms[NUMBERS, ALONE]
        change[w] = math.nan if pays else 0.0
        M[p + j, w] = math.nan
    for i in range(k):
        change[parents[i]] = math.nan
    remember(G, M, j)


@compiled
def remember(G: Integers, M: Array, j: int) -> None:
    """j, its parents and whom it would gain are due."""
    G[DUE, j] = 1
    for w in range(M.shape[1]):
        if M[j, w] != 0.0:
            G[DUE, w] = 1


@compiled
def total(terms: Array, G: Integers, M: Array) -> float:
    """The sum."""
    p = M.shape[1]
    whole = 0.0
    for j in range(p):
        whole += cost(terms, j, M[2 * p, j], G[COUNT, j])
    return whole


@compiled
def settle(
    C: Array, root: Array, may: Integers, terms: Array, G: Integers, P: Integers, M: Array, W: Array, told: Integers
) -> None:
    """Fit every variable along the order as it is, under new terms. Parents that do not come before are let go first."""
    p = C.shape[0]
    for t in range(p):
        G[PLACE, G[ORDER, t]] = t
    for j in range(p):
        if told[STOP]:
            return
        k, v = refitted(C, root, may, terms, G, P, W, j, p, -1)
        terms[LEAST, j] = cost(terms, j, v, k)
        k = 0
        for i in range(G[COUNT, j]):
            if G[PLACE, P[j, i]] < G[PLACE, j]:
                P[j, k] = P[j, i]
                k += 1
        G[COUNT, j] = k
        take_over(C, root, may, terms, G, P, M, W, j)


@compiled
def descend(
    C: Array,
    root: Array,
    may: Integers,
    terms: Array,
    G: Integers,
    P: Integers,
    M: Array,
    W: Array,
    told: Integers,
    thorough: bool,
) -> None:
    """Move variables until no place is better for any of those that are due, or, if `thorough`, for any at all."""
    p = C.shape[0]
    while True:
        moved, looked = False, 0
        for t in range(p):
            G[QUEUE, t] = G[ORDER, t]
        for i in range(p):
            x = G[QUEUE, i]
            if told[STOP]:
                return
            if not G[DUE, x]:
                continue
            G[DUE, x] = 0
            looked += 1
            to = best_place(C, root, may, terms, G, P, M, W, x)
            told[LOOKS] += 1
            if to != G[PLACE, x]:
                move(C, root, may, terms, G, P, M, W, x, to)
                told[MOVES] += 1
                moved = True
        if not moved:
            if not thorough or looked == p:
                return
            for j in range(p):
                G[DUE, j] = 1


@compiled
def put(G: Integers, P: Integers, M: Array, to_G: Integers, to_P: Integers, to_M: Array, altered: Integers) -> None:
    """Copy a graph over another, from which it differs in these variables and in places."""
    p = M.shape[1]
    for j in range(p):
        for row in (ORDER, PLACE, DUE):
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


@compiled
def kick(
    C: Array, root: Array, may: Integers, terms: Array, G: Integers, P: Integers, M: Array, W: Array, lots: Array
) -> None:
    """Take some variables elsewhere: before a parent of theirs, or anywhere. lots: numbers between 0 and 1."""
    p = C.shape[0]
    for i in range(1 + int(lots[0] * MOST_IN_A_KICK)):
        x = int(lots[3 * i + 1] * p)
        to = int(lots[3 * i + 2] * p)
        if G[COUNT, x] > 0 and lots[3 * i + 3] < TO_A_PARENT:
            to = G[PLACE, P[x, int(lots[3 * i + 2] * G[COUNT, x])]]
        t = G[PLACE, x]
        side = -1 if to < t else 1
        while t != to:
            y = G[ORDER, t + side]
            if (may[x, y] if side < 0 else may[y, x]) & FIRST:
                break
            t += side
        if t != G[PLACE, x]:
            move(C, root, may, terms, G, P, M, W, x, t)


@compiled
def search_on(
    C: Array,
    root: Array,
    may: Integers,
    terms: Array,
    G: Integers,
    P: Integers,
    M: Array,
    W: Array,
    told: Integers,
    spare_G: Integers,
    spare_P: Integers,
    spare_M: Array,
    lots: Array,
) -> None:
    """Kick, search on from there, and keep what is better, once for every row of lots."""
    lowest = total(terms, G, M)
    altered = spare_G[ALTERED]
    for j in range(altered.shape[0]):
        altered[j] = 1
    put(G, P, M, spare_G, spare_P, spare_M, altered)
    for row in range(lots.shape[0]):
        kick(C, root, may, terms, spare_G, spare_P, spare_M, W, lots[row])
        descend(C, root, may, terms, spare_G, spare_P, spare_M, W, told, False)
        if told[STOP]:
            return
        told[KICKS] += 1
        now = total(terms, spare_G, spare_M)
        if now < lowest - BETTER:
            lowest = now
            put(spare_G, spare_P, spare_M, G, P, M, altered)
        else:
            put(G, P, M, spare_G, spare_P, spare_M, altered)
