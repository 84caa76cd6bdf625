r"""How an adjusted estimate would change with a hidden common cause of given strength (Cinelli & Hazlett 2020).

With the estimate $\hat\tau$ of the weight of d in the regression of y on d and x, its standard error s and its degrees of freedom df, a
hidden variable that explains the share $r_d$ of what x leaves of d, and the share $r_y$ of what d and x leave of y, moves the
estimate by $s \sqrt{df\, r_y r_d / (1 - r_d)}$ and makes its standard error $s \sqrt{(1 - r_y)/(1 - r_d) \cdot df/(df - 1)}$.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import collinear, counted
from ordag.data.moments import Moments
from ordag.errors import CollinearError, TooFewRowsError
from ordag.model.refit import robustness_value

LEVEL = 0.95
"""The level of intervals."""


class Benchmark(NamedTuple):
    """A hidden cause that is as strong as a variable that is held fixed: its shares of cause and target, and the estimate with it."""

    name: str
    share_of_cause: float
    share_of_target: float
    estimate: float


@dataclass(frozen=True)
class Sensitivity:
    """The estimate of an effect with `given` held fixed, and how it would change with a hidden common cause.

    robustness: the share of both that a hidden common cause would have to explain to bring the estimate to zero; robustness_of_interval:
    to bring zero into the 95 % interval. share: of what `given` leaves of the target, the share that the cause explains: a hidden variable
    that explains all the rest of the target would have to explain as much of the cause.
    strengths: for every variable held fixed, the shares of the cause and of the target that it explains itself, given all others.
    """

    source: str
    target: str
    given: tuple[str, ...]
    estimate: float
    std_error: float
    df: int
    strengths: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, moments: Moments, source: str, target: str, given: Sequence[str]) -> Sensitivity:
        """Regress the target on the cause and on what is held fixed."""
        where = {name: k for k, name in enumerate(moments.names)}
        columns = moments.R[:, [where[name] for name in (*given, source, target)]]
        U, df = triangle(columns), moments.n - 2 - len(given)
        if df < 1:
            raise TooFewRowsError(
                f"{moments.n} rows are too few to hold {counted(len(given), 'variable')} fixed: at least {len(given) + 3}."
            )
        if not (np.abs(U.diagonal()) > 8 * EPSILON * lengths(columns)).all():
            raise CollinearError(collinear(source, list(given)))
        std_error = float(abs(U[-1, -1] / U[-2, -2]) / np.sqrt(df))
        of_cause, of_target = _partial_shares(U[:-1, :-1]), _partial_shares(U)[:-1]
        strengths = tuple(zip(of_cause.tolist(), of_target.tolist(), strict=True))
        return cls(source, target, tuple(given), float(U[-2, -1] / U[-2, -2]), std_error, df, strengths)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the estimate."""
        away = float(stdtrit(self.df, (1.0 + LEVEL) / 2.0)) * self.std_error
        return self.estimate - away, self.estimate + away

    @property
    def partial_f(self) -> float:
        return abs(self.estimate / self.std_error) / float(np.sqrt(self.df))

    @property
    def share(self) -> float:
        return self.partial_f**2 / (1.0 + self.partial_f**2)

    @property
    def robustness(self) -> float:
        return float(robustness_value(np.asarray(self.partial_f)))

    @property
    def robustness_of_interval(self) -> float:
        """Their Section 4.2 with the critical value of t on df − 1 degrees of freedom."""
        if self.df < 2:
            return 0.0
        critical = float(stdtrit(self.df - 1, (1.0 + LEVEL) / 2.0)) / np.sqrt(self.df - 1.0)
        f, away = self.partial_f, self.partial_f - critical
        if away <= 0.0:
            return 0.0
        if f > 1.0 / critical:
            return float((f**2 - critical**2) / (1.0 + f**2))
        return float(robustness_value(np.asarray(away)))

    def adjusted(self, of_cause: Array | float, of_target: Array | float) -> Array:
        """Return the estimate with a hidden common cause that explains these shares of cause and target and moves it towards zero."""
        with np.errstate(divide="ignore"):
            bias = self.std_error * np.sqrt(self.df * np.asarray(of_target) * of_cause / (1.0 - np.asarray(of_cause)))
        return np.asarray(np.sign(self.estimate) * (abs(self.estimate) - bias))

    def benchmark(self, name: str, times: float = 1.0) -> Benchmark | None:
        """Return what a hidden cause so many times as strong as a variable that is held fixed would do; None if none can be so strong."""
        cause, target = self.strengths[self.given.index(name)]
        f2 = cause / (1.0 - cause)
        of_cause = times * f2
        if of_cause >= 1.0 or times * cause >= 1.0:
            return None
        between = (
            times * cause**2 / ((1.0 - times * cause) * (1.0 - cause))
        )  # of the hidden cause with the variable, given the cause
        if between >= 1.0:
            return None
        eta = (np.sqrt(times) + np.sqrt(between)) / np.sqrt(1.0 - between)
        of_target = min(float(eta**2 * target / (1.0 - target)), 1.0)
        return Benchmark(name, of_cause, of_target, float(self.adjusted(of_cause, of_target)))

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate, its robustness, and what causes as strong as those held fixed would do, in plain values."""
        benchmarks = [self.benchmark(name) for name in self.given]
        return {
            "given": list(self.given),
            "estimate": self.estimate,
            "std_error": self.std_error,
            "df": self.df,
            "share": self.share,
            "robustness": self.robustness,
            "robustness_of_interval": self.robustness_of_interval,
            "benchmarks": [one._asdict() for one in benchmarks if one is not None],
        }


def _partial_shares(U: Array) -> Array:
    """Return for all columns but the last the share of the last that each explains beyond all others: t² / (t² + df)."""
    inverse = np.linalg.solve(U, np.eye(len(U)))
    precision = inverse @ inverse.T
    return np.asarray(precision[:-1, -1] ** 2 / (precision.diagonal()[:-1] * precision[-1, -1]))
