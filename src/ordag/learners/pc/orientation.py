"""A skeleton and its colliders in, a partly directed graph out, and the edges on which they disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ordag.arrays import Mask
from ordag.knowledge.masks import Constraints
from ordag.learners.pc.triples import Triples


@dataclass(frozen=True)
class Orientation:
    """`adjacency` as in `Cpdag`; `contested` (symmetric) marks edges that colliders want directed both ways, `torn`
    (symmetric) those for which Meek's rules do; `denied` the triples that became colliders and are known to be none,
    `refused` those that did not, because knowledge directs one of their edges otherwise."""

    adjacency: Mask
    contested: Mask
    torn: Mask
    denied: Mask
    refused: Mask


def orient(skeleton: Mask, triples: Triples, *, overwrite: bool, known: Constraints | None = None) -> Orientation:
    """Direct the edges of which knowledge leaves one direction only, then those of all colliders that this leaves
    possible, then those that follow.

    A contested edge stays undirected and takes no part in the rules; with `overwrite` it points at the later column
    instead, which is where it ends if colliders are directed one by one in the order of their middle nodes.
    """
    refused = np.zeros_like(triples.collider)
    claimed = np.zeros_like(skeleton)
    if known is not None:
        against = ~known.allowed
        refused = triples.collider & (against[triples.a, triples.b] | against[triples.c, triples.b])
        claimed = skeleton & known.fixed
        triples = replace(triples, collider=triples.collider & ~refused, ambiguous=triples.ambiguous | refused)
    for end in (triples.a, triples.c):
        claimed[end[triples.collider], triples.b[triples.collider]] = True
    contested = claimed & claimed.T
    arrows = claimed & ~(np.tril(contested) if overwrite else contested)
    lines = skeleton & ~claimed & ~claimed.T
    torn = follow(arrows, lines, triples, fourth=known is not None)
    undirected = lines | torn if overwrite else lines | torn | contested
    into = arrows[triples.a, triples.b] & arrows[triples.c, triples.b]
    return Orientation(arrows | undirected, contested, torn, into & ~triples.collider & ~triples.ambiguous, refused)


def follow(arrows: Mask, lines: Mask, triples: Triples, *, fourth: bool = False) -> Mask:
    """Meek's (1995) rules R1 to R3, in place; takes out and returns the edges that they want directed both ways.

    R1, R3 and R4 argue from a triple that is no collider, so they use the triples known to be none; where all triples
    are decided and agree, this is `ordag.graph.meek`. (R4 serves background knowledge only, and is asked for by
    `fourth`.) All edges that one round asks for are directed together, so the order of the nodes does not matter.
    """
    known = ~triples.collider & ~triples.ambiguous
    a = np.concatenate([triples.a[known], triples.c[known]])
    b = np.concatenate([triples.b[known], triples.b[known]])
    c = np.concatenate([triples.c[known], triples.a[known]])
    torn = np.zeros_like(lines)
    while lines.any():
        asked = np.zeros_like(lines)
        # R1: a → b — c gives b → c
        first = arrows[a, b] & lines[b, c]
        asked[b[first], c[first]] = True
        # R2: x → y → z with x — z gives x → z
        asked |= lines & (arrows.astype(np.float32) @ arrows.astype(np.float32) > 0)
        # R3: b — a, b — c, a → x ← c with b — x gives b → x
        third = np.flatnonzero(lines[b, a] & lines[b, c] & (a < c))
        row, x = np.nonzero(arrows[a[third]] & arrows[c[third]] & lines[b[third]])
        asked[b[third[row]], x] = True
        if fourth:
            # R4: a — b — c, a → x → c with b, x joined gives b → c
            joined = arrows | arrows.T | lines
            last = np.flatnonzero(lines[b, a] & lines[b, c])
            through = (arrows[a[last]] & arrows[:, c[last]].T & joined[b[last]]).any(axis=1)
            asked[b[last[through]], c[last[through]]] = True
        if not asked.any():
            break
        torn |= asked & asked.T
        arrows |= asked & ~torn
        lines &= ~(asked | asked.T)
    return torn
