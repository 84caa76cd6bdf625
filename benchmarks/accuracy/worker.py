"""One method in a process of its own: tables in, adjacency or weight matrices out, as .npy files.

`python worker.py CALL SETTINGS LIMIT` answers "ready" when its package is loaded, then reads lines of JSON {"table",
"answer"}, two paths, and answers each with {"status", "seconds", "cpu_seconds"}. A call that takes more than LIMIT seconds
of CPU time ends the process (SIGXCPU): unlike time on the wall, that does not depend on what else the machine does.

Nothing here needs Ordag but its own call: the peers have an environment of their own. Every call gives a matrix with entry
(i, j) not zero for i → j, and both (i, j) and (j, i) for an edge without a direction.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Matrix = np.ndarray[Any, Any]
Call = Callable[[Matrix], Matrix]


def ordag_learn(**settings: Any) -> Call:
    """A first table loads the compiled code, as other packages load theirs when they are imported."""
    from ordag import learn

    quick = {name: value for name, value in settings.items() if name in ("method", "draws")}
    learn(np.random.default_rng(0).standard_normal((100, 20)), **quick)
    return lambda X: learn(X, strict=True, **settings).graph.adjacency


def dagma(**settings: Any) -> Call:
    """All weights; whoever reads them takes those of at least a threshold, as DAGMA itself does at the end."""
    from dagma.linear import DagmaLinear

    return lambda X: np.asarray(DagmaLinear(loss_type="l2").fit(X, w_threshold=0.0, **settings))


def direct_lingam(**settings: Any) -> Call:
    from lingam import DirectLiNGAM

    # adjacency_matrix_[i, j] is the weight of j → i
    return lambda X: np.asarray(DirectLiNGAM(**settings).fit(X).adjacency_matrix_).T


def pc(**settings: Any) -> Call:
    from causallearn.search.ConstraintBased.PC import pc

    return lambda X: _marks(pc(X, show_progress=False, **settings).G)


def ges(**settings: Any) -> Call:
    from causallearn.search.ScoreBased.GES import ges

    return lambda X: _marks(ges(X, **settings)["G"])


def boss(**settings: Any) -> Call:
    from causallearn.search.PermutationBased.BOSS import boss

    return lambda X: _marks(boss(X, verbose=False, **settings))


def grasp(**settings: Any) -> Call:
    from causallearn.search.PermutationBased.GRaSP import grasp

    return lambda X: _marks(grasp(X, verbose=False, **settings))


def flop(penalty: float, **settings: Any) -> Call:
    from flopsearch import flop

    # 1 for an arrow, 2 at both places for an edge without a direction
    return lambda X: np.asarray(flop(X, penalty, **settings)) > 0


def sort_and_regress() -> Call:
    """Order by variance, then a lasso on the predecessors, weighted by least squares and chosen by BIC.

    Reisach, Seiler & Weichwald (2021), Beware of the simulated DAG: "sortnregress".
    """
    from sklearn.linear_model import LassoLarsIC, LinearRegression

    def learn(X: Matrix) -> Matrix:
        order = np.argsort(X.var(axis=0))
        found = np.zeros((X.shape[1], X.shape[1]), dtype=bool)
        for place in range(1, len(order)):
            target, before = order[place], order[:place]
            sizes = np.abs(LinearRegression().fit(X[:, before], X[:, target]).coef_)
            lasso = LassoLarsIC(criterion="bic").fit(X[:, before] * sizes, X[:, target])
            found[before, target] = lasso.coef_ * sizes != 0
        return found

    return learn


CALLS: dict[str, Callable[..., Call]] = {
    "ordag": ordag_learn,
    "dagma": dagma,
    "direct-lingam": direct_lingam,
    "pc": pc,
    "ges": ges,
    "boss": boss,
    "grasp": grasp,
    "flop": flop,
    "sort-and-regress": sort_and_regress,
}


def _marks(graph: Any) -> Matrix:
    """causal-learn's marks: the entry (i, j) is the end at i, −1 a tail, 1 an arrowhead, 0 no edge."""
    ends = np.asarray(graph.graph)
    backward = (ends == 1) & (ends.T == -1)
    return np.asarray((ends != 0) & (ends.T != 0) & ~backward)


def _cpu_seconds() -> float:
    """Of this process with all its threads, and of the processes that it started and that ended.

    Not `time.process_time`, which goes in steps of milliseconds where there is a limit.
    """
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # packages that print do not disturb the answers
    call = CALLS[sys.argv[1]](**json.loads(sys.argv[2]))
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        X = np.load(task["table"], allow_pickle=False)
        allowed = int(time.process_time()) + 1 + int(sys.argv[3])
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002  (packages that draw from the global generator)
        start, cpu = time.perf_counter(), _cpu_seconds()
        try:
            found = call(X)
            status = "ok"
        except Exception as error:
            found, status = np.zeros((0, 0)), f"{type(error).__name__}: {error}"[:200]
        answer = {"status": status, "seconds": time.perf_counter() - start, "cpu_seconds": _cpu_seconds() - cpu}
        np.save(task["answer"], np.asarray(found), allow_pickle=False)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
