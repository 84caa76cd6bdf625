"""`python -m benchmarks.honesty.false_alarms FIRST TABLES`: which cautions have tables in which nothing is broken?

Of every kind of `KINDS` whose model holds, but for published networks and 100 columns. Probabilities are worked out only where a row
lies so far out that it could decide: nothing else depends on them.
"""

from __future__ import annotations

import sys
from collections import Counter

from threadpoolctl import threadpool_limits

import ordag
from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.run import COUNTED
from ordag.assess.cautions import cautions
from ordag.assess.influence import lies_out

MOST_COLUMNS = 50


def main(first: int, tables: int) -> None:
    counts: Counter[str] = Counter()
    total = 0
    for kind in KINDS:
        if kind.group == BROKEN or kind.network or kind.p > MOST_COLUMNS:
            continue
        here: Counter[str] = Counter()
        for number in range(first, first + tables):
            X = kind.draw(number).X
            with threadpool_limits(1):
                try:
                    fit = ordag.learn(X, "pooled", draws=None if lies_out(X) is not None else 0)
                except ordag.errors.TooFewRowsError:
                    continue
                here.update({one.key for one in cautions(fit)})
            total += 1
        counts += here
        print(f"{kind.name}: {dict(here) or 'none'}", flush=True)
    shares = ", ".join(f"{key.replace('_', ' ')} {counts[key]} ({100 * counts[key] / total:.1f} %)" for key in COUNTED)
    print(f"Of {total} tables: {shares}.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
