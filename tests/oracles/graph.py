"""Slow, literal versions of what the graph room computes; they share no code with it."""

from itertools import chain, combinations, permutations, product


def is_acyclic(adjacency):
    """No power of the adjacency matrix has anything on its diagonal."""
    p = len(adjacency)
    base = [[int(bool(adjacency[i][j])) for j in range(p)] for i in range(p)]
    power = base
    for _ in range(p):
        if any(power[i][i] for i in range(p)):
            return False
        power = [[int(any(power[i][k] and base[k][j] for k in range(p))) for j in range(p)] for i in range(p)]
    return True


def arrows_of(adjacency):
    p = range(len(adjacency))
    return {(i, j) for i in p for j in p if adjacency[i][j] and not adjacency[j][i]}


def joined_pairs(adjacency):
    p = range(len(adjacency))
    return {frozenset((i, j)) for i in p for j in p if i != j and (adjacency[i][j] or adjacency[j][i])}


def collider_triples(adjacency):
    """Every {a, c} → b with a and c not joined."""
    arrows, joined = arrows_of(adjacency), joined_pairs(adjacency)
    return {
        (frozenset((a, c)), b)
        for (a, b), (c, d) in product(arrows, arrows)
        if b == d and a != c and frozenset((a, c)) not in joined
    }


def matrix(p, edges):
    return [[int((i, j) in edges) for j in range(p)] for i in range(p)]


def extensions(adjacency):
    """All DAGs with the skeleton, the arrows and exactly the colliders of a partly directed graph."""
    p = len(adjacency)
    arrows, wanted = arrows_of(adjacency), collider_triples(adjacency)
    free = [
        tuple(sorted(pair))
        for pair in joined_pairs(adjacency)
        if adjacency[min(pair)][max(pair)] and adjacency[max(pair)][min(pair)]
    ]
    found = []
    for turns in product((False, True), repeat=len(free)):
        edges = arrows | {pair[::-1] if turn else pair for pair, turn in zip(free, turns, strict=True)}
        dag = matrix(p, edges)
        if is_acyclic(dag) and collider_triples(dag) == wanted:
            found.append(dag)
    return found


def equivalent_dags(dag):
    """All DAGs with the same skeleton and the same colliders (Verma & Pearl)."""
    p = len(dag)
    pairs = [tuple(sorted(pair)) for pair in joined_pairs(dag)]
    wanted = collider_triples(dag)
    found = []
    for turns in product((False, True), repeat=len(pairs)):
        candidate = matrix(p, {pair[::-1] if turn else pair for pair, turn in zip(pairs, turns, strict=True)})
        if is_acyclic(candidate) and collider_triples(candidate) == wanted:
            found.append(candidate)
    return found


def union(dags):
    """The graph with every arrow that one of the DAGs has."""
    p = len(dags[0])
    return [[int(any(dag[i][j] for dag in dags)) for j in range(p)] for i in range(p)]


def all_dags(p):
    """Every labelled DAG on p nodes: 1, 3, 25, 543 for p = 1, 2, 3, 4."""
    places = list(permutations(range(p), 2))
    for entries in product((0, 1), repeat=len(places)):
        edges = {place for place, entry in zip(places, entries, strict=True) if entry}
        if not any((j, i) in edges for i, j in edges) and is_acyclic(matrix(p, edges)):
            yield matrix(p, edges)


def meek_demands(adjacency):
    """Every (i, j) for which a rule of Meek's asks i → j, each written out over all choices of nodes."""
    p = range(len(adjacency))

    def arrow(i, j):
        return adjacency[i][j] and not adjacency[j][i]

    def line(i, j):
        return adjacency[i][j] and adjacency[j][i]

    def apart(i, j):
        return i != j and not adjacency[i][j] and not adjacency[j][i]

    demands = set()
    for a, b, c in product(p, repeat=3):
        if arrow(a, b) and line(b, c) and apart(a, c):
            demands.add((b, c))
        if arrow(a, b) and arrow(b, c) and line(a, c):
            demands.add((a, c))
        if not line(a, b) or not arrow(c, b) or c == a or apart(a, c):
            continue
        for d in p:
            if line(a, c) and line(a, d) and arrow(d, b) and apart(c, d):
                demands.add((a, b))
            if line(a, d) and arrow(d, c) and apart(b, d):
                demands.add((a, b))
    return demands


def meek_by_rounds(adjacency):
    """Round after round of all demands at once; what is asked both ways is left, and then all starts over."""
    current = [[int(bool(entry)) for entry in row] for row in adjacency]
    while True:
        before = [list(row) for row in current]
        torn = set()
        while True:
            demands = meek_demands(current)
            torn |= {(i, j) for i, j in demands if (j, i) in demands}
            fresh = demands - torn
            for i, j in fresh:
                current[j][i] = 0
            if not fresh:
                break
        if not torn or current == before:
            return current


def descendants(adjacency, node):
    found, waiting = set(), [node]
    while waiting:
        here = waiting.pop()
        for child in range(len(adjacency)):
            if adjacency[here][child] and child not in found:
                found.add(child)
                waiting.append(child)
    return found


def d_separated_by_moral_graph(adjacency, a, b, given):
    """The sets are apart in the moral graph of their ancestors once `given` is taken away (Lauritzen et al. 1990)."""
    p = len(adjacency)
    wanted = a | b | given
    kept = {node for node in range(p) if node in wanted or descendants(adjacency, node) & wanted}
    moral = {pair for pair in joined_pairs(adjacency) if pair <= kept}
    for child in kept:
        parents = [node for node in kept if adjacency[node][child]]
        moral |= {frozenset(pair) for pair in combinations(parents, 2)}
    reached, waiting = set(a), list(a)
    while waiting:
        here = waiting.pop()
        for node in kept - given - reached:
            if frozenset((here, node)) in moral:
                reached.add(node)
                waiting.append(node)
    return not reached & b


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def hamming(first, second):
    p = range(len(first))
    return sum(bool(first[i][j]) != bool(second[i][j]) for i in p for j in p)


def shd(first, second):
    def edge(adjacency, i, j):
        return bool(adjacency[i][j]), bool(adjacency[j][i])

    return sum(edge(first, i, j) != edge(second, i, j) for i, j in combinations(range(len(first)), 2))


def graphviz_strings(text):
    """The quoted strings of a DOT text as Graphviz's scanner takes them: only the quote is unescaped."""
    found, place = [], 0
    while place < len(text):
        if text[place] != '"':
            place += 1
            continue
        place += 1
        string = ""
        while text[place] != '"':
            if text[place] == "\\" and text[place + 1] == '"':
                string, place = string + '"', place + 2
            elif text[place] == "\\" and text[place + 1] == "\\":
                string, place = string + "\\\\", place + 2
            else:
                string, place = string + text[place], place + 1
        place += 1
        found.append(string)
    return found


def graphviz_drawn(label):
    """What Graphviz draws for a label of a plain shape: escapes resolved, entities replaced, \\n a line break."""
    drawn, place = "", 0
    while place < len(label):
        if label[place] == "\\":
            following = label[place + 1]
            assert following not in "NGETHLlr", "an escape that stands for something else"
            drawn += "\n" if following == "n" else following
            place += 2
        elif label.startswith("&amp;", place):
            drawn, place = drawn + "&", place + 5
        else:
            assert label[place] != "&", "an entity that stands for something else"
            drawn, place = drawn + label[place], place + 1
    return drawn


def dagitty_string(text, place):
    """The string that begins at a quote, by the rules of DAGitty's grammar, and the place behind it."""
    assert text[place] == '"'
    place, string = place + 1, ""
    while text[place] != '"':
        if text[place] == "\\" and text[place + 1] == '"':
            string, place = string + '"', place + 2
        elif text[place] == "\\" and text[place + 1] in "\r\n":
            place += 2
        else:
            assert text[place] >= " ", "a control character"
            assert text[place] != "\x7f", "a control character"
            string, place = string + text[place], place + 1
    return string, place + 1


def d_separated(adjacency, i, j, given):
    """No path between i and j is open: every simple path, looked at one by one."""
    p = len(adjacency)
    below = [{k, *descendants(adjacency, k)} for k in range(p)]

    def is_open(path):
        for left, middle, right in zip(path, path[1:], path[2:], strict=False):
            collider = adjacency[left][middle] and adjacency[right][middle]
            if collider and not (below[middle] & set(given)):
                return False
            if not collider and middle in given:
                return False
        return True

    def paths(path):
        if path[-1] == j:
            yield path
            return
        for node in range(p):
            if node not in path and (adjacency[path[-1]][node] or adjacency[node][path[-1]]):
                yield from paths([*path, node])

    return not any(is_open(path) for path in paths([i]))


def is_valid_adjustment(adjacency, a, b, given):
    """The regression of b on a and `given` has the total effect of a, whatever the weights: tried on random ones, exactly."""
    from fractions import Fraction
    from random import Random

    p = len(adjacency)
    random = Random(7)
    for _ in range(2):
        weight = [[Fraction(random.randint(1, 40), 7) * int(adjacency[i][j]) for j in range(p)] for i in range(p)]
        total = total_effects_exactly(weight)
        noise = [Fraction(random.randint(1, 30), 11) for _ in range(p)]
        covariance = [[sum(total[k][i] * noise[k] * total[k][j] for k in range(p)) for j in range(p)] for i in range(p)]
        if regression_exactly(covariance, b, [a, *given])[0] != total[a][b]:
            return False
    return True


def total_effects_exactly(weight):
    """The sum over all directed paths of the products of their weights; 1 from a variable to itself."""
    p = len(weight)

    def effect(i, j):
        return 1 if i == j else sum(weight[i][k] * effect(k, j) for k in range(p) if weight[i][k])

    return [[effect(i, j) for j in range(p)] for i in range(p)]


def regression_exactly(covariance, target, causes):
    """The coefficients of `target` on `causes`, by Gauss and Jordan in fractions."""
    rows = [[covariance[i][j] for j in causes] + [covariance[i][target]] for i in causes]
    for k in range(len(rows)):
        pivot = next(r for r in range(k, len(rows)) if rows[r][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for r in range(len(rows)):
            if r != k:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]
