"""`Equations`: the moments that the equation of each variable is fitted to, where experiments make them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Indices, Mask
from ordag.common.linalg import triangle
from ordag.common.words import did_you_mean, listed
from ordag.data.covariates import Condition, Root, merged
from ordag.data.moments import Moments

UNTOUCHED = ("", "observational", "observation", "obs", "none", "control", "baseline", "wild type", "wt")
"""Labels of rows in which no variable was acted on, in small letters."""

LEFT_OUT = -1
"""In `Equations.groups`: rows of this condition tell nothing of the equation."""

FEWEST_ROWS = 5
"""Rows that an equation needs: a variable with fewer, as one that was acted on in all rows, is taken to have no causes."""


@dataclass(frozen=True, eq=False)
class Equations:
    """The moments that the equation of each variable is fitted to: those of the rows that tell something of it.

    distinct: moments of all variables. which: for every variable, the place of its own moments among these. groups: [k, c] is the number
    of the group of rows with one mean that condition c belongs to in the k-th moments, or `LEFT_OUT`. targets: the variables that were
    acted on under every condition, and labels its names. external: variables that were acted on in (nearly) all rows. reason: what
    an arrow owes its direction to that these conditions decide.
    """

    distinct: tuple[Moments, ...]
    which: tuple[int, ...]
    groups: NDArray[np.intp]
    targets: tuple[tuple[int, ...], ...] = ()
    external: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    reason: str = "experiment"

    @classmethod
    def of(cls, moments: Moments, changed: Sequence[Sequence[int]] | None = None) -> Equations | None:
        """Return the equations of moments with conditions; None for others.

        changed: the variables whose equation is another under each condition, for environments.
        """
        if not moments.conditions:
            return None
        own = [targets_of(one, moments.names) for one in moments.conditions] if changed is None else changed
        patterns = [
            tuple(_group(one, c, j, own[c]) for c, one in enumerate(moments.conditions)) for j in range(moments.p)
        ]
        sizes = np.array([one.root.n for one in moments.conditions])
        external = [j for j, one in enumerate(patterns) if sizes[np.array(one) != LEFT_OUT].sum() < FEWEST_ROWS]
        for j in external:
            patterns[j] = tuple(range(1, len(moments.conditions) + 1))
        every = list(dict.fromkeys(patterns))
        distinct = tuple(together(moments, pattern) for pattern in every)
        which = tuple(every.index(pattern) for pattern in patterns)
        reason = "environment" if all(one.kind == "environment" for one in moments.conditions) else "experiment"
        labels = tuple(one.label for one in moments.conditions)
        return cls(distinct, which, np.array(every), tuple(map(tuple, own)), tuple(external), labels, reason)

    def of_variable(self, j: int) -> Moments:
        """Return the moments of the equation of variable j."""
        return self.distinct[self.which[j]]

    @property
    def each(self) -> list[int]:
        """What the rows of each variable's equation count for."""
        return [self.distinct[k].n for k in self.which]

    def ordered(self, order: Sequence[int] | Indices) -> Equations:
        """Return the same with the variables in another order."""
        order = [int(j) for j in order]
        place = {j: k for k, j in enumerate(order)}
        return replace(
            self,
            distinct=tuple(in_order(one, order) for one in self.distinct),
            which=tuple(self.which[j] for j in order),
            targets=tuple(tuple(sorted(place[j] for j in one)) for one in self.targets),
            external=tuple(place[j] for j in self.external),
        )

    @property
    def remarks(self) -> Iterator[str]:
        """Yield sentences on labels that name no variable, and on variables that were acted on in all rows."""
        names = self.distinct[0].names
        unknown = {}
        for label, own in zip(self.labels, self.targets, strict=True):
            missed = [] if own and label in names else [part for part in _parts(label) if part not in names]
            if missed and self.reason == "experiment" and not is_untouched(label):
                unknown[label] = missed
        if unknown:
            odd = list(dict.fromkeys(part for missed in unknown.values() for part in missed))
            untargeted = [label for label in unknown if not self.targets[self.labels.index(label)]]
            rest = (
                "these rows are an environment, with means of their own, where equations may be others"
                if untargeted
                else "the other targets of these experiments are used"
            )
            no = "is no variable" if len(odd) == 1 else "are no variables"
            yield f"{listed(odd)} {no} of this table: {rest}.{did_you_mean(odd, names)}"
        if self.external:
            which = [names[j] for j in self.external]
            yield (
                f"{listed(which)} {'was' if len(which) == 1 else 'were'} acted on in (nearly) all rows, which therefore tell nothing of "
                f"{'its' if len(which) == 1 else 'their'} causes: arrows into {'it' if len(which) == 1 else 'them'} are ruled out."
            )

    @property
    def told_apart(self) -> Mask:
        """The pairs, [i, j], of which some condition acts on one and not on the other: graphs in which their arrow differs do not agree
        on what that condition changes (Hauser & Bühlmann 2012)."""
        acted = np.zeros((len(self.targets), len(self.which)), dtype=bool)
        for c, own in enumerate(self.targets):
            acted[c, list(own)] = True
        return np.asarray((acted[:, :, None] != acted[:, None, :]).any(axis=0))

    def deciding(self, i: int, j: int) -> list[str]:
        """Return the labels of the conditions that act on one of two variables and not on the other."""
        return [label for label, own in zip(self.labels, self.targets, strict=True) if (i in own) != (j in own)]

    def to_dict(self, moments: Moments) -> list[dict[str, Any]]:
        """Return every condition with its rows and its targets, in plain values."""
        each = zip(moments.conditions, self.targets, strict=True)
        return [
            {"label": one.label, "kind": one.kind, "rows": one.root.used, "targets": [moments.names[j] for j in own]}
            for one, own in each
        ]

    def variables(self) -> list[Indices]:
        """Return the variables that each of the moments is for."""
        which = np.array(self.which)
        return [np.flatnonzero(which == k) for k in range(len(self.distinct))]


def in_order(moments: Moments, order: Sequence[int]) -> Moments:
    """Return moments with the variables in another order."""
    names, R = [moments.names[j] for j in order], triangle(moments.R[:, order])
    return Moments(moments.n, moments.mean[order], names, R=R, rows=moments.rows)


def targets_of(condition: Condition, names: Sequence[str]) -> tuple[int, ...]:
    """Return the variables that were acted on under a condition, by its label: names with ; between them. Others are no columns."""
    if condition.kind == "environment" or is_untouched(condition.label):
        return ()
    place = {name: j for j, name in enumerate(names)}
    whole = place.get(condition.label)
    known = {place[part] for part in _parts(condition.label) if part in place}
    return (whole,) if whole is not None else tuple(sorted(known))


def is_untouched(label: str) -> bool:
    """Return whether a label says that no variable was acted on."""
    return label.strip().lower() in UNTOUCHED


def _parts(label: str) -> list[str]:
    return [part.strip() for part in label.split(";") if part.strip()]


def _group(condition: Condition, c: int, j: int, targets: Sequence[int]) -> int:
    """Return the group of rows with one mean that a condition belongs to for variable j."""
    if condition.kind == "shift":
        return c + 1 if j in targets else 0
    if j in targets:
        return LEFT_OUT
    return 0 if is_untouched(condition.label) else c + 1


def together(moments: Moments, pattern: Sequence[int]) -> Moments:
    """Return the moments of the conditions that are not left out, about the means of their groups."""
    roots = [
        _one_group([one.root for one, own in zip(moments.conditions, pattern, strict=True) if own == group])
        for group in sorted(set(pattern) - {LEFT_OUT})
    ]
    n, rows = sum(one.n for one in roots) - len(roots) + 1, sum(one.used for one in roots)
    mean = np.average([one.mean for one in roots], axis=0, weights=[max(one.used, 1) for one in roots])
    covariates = roots[0].covariates
    before = [column for one in covariates for column in one.columns]
    R = triangle(np.concatenate([one.R for one in roots]))
    whole = Moments(n, mean, [*before, *moments.names], R=R, rows=rows, covariates=covariates, dropped=moments.dropped)
    return whole.adjusted()


def of_conditions(moments: Moments, chosen: Sequence[int]) -> Moments:
    """Return the moments of the rows of some conditions, about their common mean."""
    return together(moments, [0 if c in set(chosen) else LEFT_OUT for c in range(len(moments.conditions))])


def _one_group(roots: Sequence[Root]) -> Root:
    """Return the root of rows with one mean; about the means of clusters there is nothing between the parts."""
    if len(roots) == 1 or roots[0].rows is None:
        return roots[0] if len(roots) == 1 else merged(roots)
    n, rows = sum(one.n for one in roots), sum(one.used for one in roots)
    mean = np.average([one.mean for one in roots], axis=0, weights=[one.used for one in roots])
    return Root(n, mean, triangle(np.concatenate([one.R for one in roots])), roots[0].covariates, rows)
