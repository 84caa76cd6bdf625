"""`bootstrap`: learn again from many samples of the data, and count. docs/bootstrap.md says what the numbers mean."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import Seed, check_choice, drawn_seed, is_whole, short
from ordag.common.cluster import connected, current_client, on_cluster
from ordag.common.words import News
from ordag.common.workers import worker_count
from ordag.data.labels import RowLabels
from ordag.data.moments import Moments
from ordag.data.profile import Rows
from ordag.data.reading import Missing, split_reading
from ordag.data.sources import DaskSource, Source
from ordag.data.table import Table
from ordag.data.table_checks import least_squares_rows
from ordag.data.way_through import way_shown
from ordag.errors import DataError, SettingError
from ordag.fit import Fit
from ordag.keywords import BootstrapKeywords
from ordag.learners.methods import check_settings, settings_for
from ordag.learners.settings import MethodSettings
from ordag.resampling.intervals import check_interval_level, intervals
from ordag.resampling.labelled import LabelledResampler, refuse_covariates
from ordag.resampling.replicates import Job, Replicate, run
from ordag.resampling.resamplers import (
    CauseResampler,
    HalfResampler,
    HoledRowResampler,
    PlainRowResampler,
    Resampler,
    RowResampler,
    gaussian_resampler,
    joint_moments,
    joint_rows,
    seed_root,
    to_draw,
)
from ordag.resampling.streaming import MOST_CLUSTER_BYTES, MOST_SUM_BYTES, passes, poisson_sums
from ordag.resampling.support import Support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("auto", "rows", "half", "wishart", "poisson")

IN_MEMORY = 2**25
"""Numbers (rows times columns) up to which a file is read into memory, to draw its rows: a quarter of a gigabyte."""

EFFECTS = 2**30
"""Bytes that the total effects of all replicates may take; beyond that there are no intervals for them."""


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Support):
    """The support of every arrow, and the fit that it is about: what was learned from the data themselves."""

    fit: Fit

    def plot(self, kind: str = "support", ax: Axes | None = None, **options: Any) -> Axes:
        """As `ordag.Fit.plot`, of the fit with this support; by itself, the share of resamples that have each arrow."""
        return replace(self.fit, support=self).plot(kind, ax, **options)


def bootstrap(
    data: Any,
    replicates: int = 500,
    *,
    method: str = "auto",
    seed: Seed = None,
    workers: int | None = None,
    client: Any = None,
    kind: str = "auto",
    level: float = 0.95,
    progress: Callable[[str], None] | None = None,
    columns: Sequence[str] | None = None,
    transform: Mapping[str, float | str] | None = None,
    missing: Missing = "auto",
    **settings: Unpack[BootstrapKeywords],
) -> Bootstrap:
    """Learn from `replicates` samples of the data, and count what comes out how often.

    data, method, columns, transform, missing, settings: as for `ordag.learn`.
    seed: the same seed gives the same answer, with any number of workers; a method that draws lots itself has it too. Without one
        it is drawn, and the samples are others every time; `entropy` of the result is what was drawn.
    workers: processes to use; one for every core unless said otherwise. With a cluster, how many batches of replicates it works on
        at a time; as many as it has threads unless said otherwise.
    client: a client of Dask, or the address of its scheduler: samples are then learned from on that cluster. Where the data are
        Dask's own, the current client is taken unless another is given.
    kind: "rows" draws rows with replacement; "half" takes half of the rows each time, none twice (intervals are then those of half as
        many rows); "wishart" draws from the Gaussian distribution with the data's moments, and is all that can be done where
        only `Moments` exist; "poisson" weights the rows of a file in one pass, those of a cluster where they lie. "auto" draws rows
        where they are, or fit, in memory.
    level: that of the percentile intervals.
    progress: called now and then with a few words on how far things are.

    >>> import ordag
    >>> result = bootstrap("marks", 100, alpha=0.05, seed=1)
    >>> bool(result.precedes[result.index("vectors"), result.index("mechanics")] > 0.95)
    True
    """
    count = _checked_count(replicates)
    check_interval_level(level)
    check_choice("kind", kind, KINDS)
    worker_count(workers)
    root = seed_root(drawn_seed() if seed is None else seed)
    reading, chosen = split_reading(settings)
    check_settings(method, chosen)
    keep = {"auto": IN_MEMORY, "rows": sys.maxsize, "half": sys.maxsize}.get(kind, 0)
    reading = {"columns": columns, "transform": transform, "missing": missing, **reading}
    with connected(client) as cluster, way_shown(data, reading):
        table = Table(data, progress=progress, keep=keep, **reading).warn()
        method_settings = settings_for(table, method, chosen)
        if hasattr(method_settings, "seed"):
            told = isinstance(root.entropy, int) and not root.spawn_key
            own: dict[str, Any] = {"seed": root.entropy if told else np.random.default_rng(root)}
            method_settings = replace(method_settings, **own)
        _refuse_rows(kind, table.source)
        fit = Fit.learned(table, method_settings)
        return bootstrap_table(
            table,
            fit,
            count,
            settings=method_settings,
            kind=kind,
            keep=keep,
            seed=root,
            level=level,
            workers=workers,
            cluster=cluster,
        )


def bootstrap_table(
    table: Table,
    fit: Fit,
    replicates: int,
    *,
    settings: MethodSettings,
    kind: str = "auto",
    keep: int = IN_MEMORY,
    seed: Seed = 0,
    level: float = 0.95,
    workers: int | None = None,
    cluster: Any = None,
    rows: Rows | None = None,
) -> Bootstrap:
    """The bootstrap of a fit with the table that it was learned from, learned with `settings`; `keep` is what the table keeps of its rows.

    rows: those to draw from, if not the table's own.
    """
    fit.at_one_time("bootstrap")
    refuse_covariates(fit.moments)
    count, cores, root = _checked_count(replicates), worker_count(workers), seed_root(seed)
    source = table.rows_source
    scattered = isinstance(source, DaskSource)
    takes_rows = settings.needs_rows  # complete ones
    if rows is None and keep and not scattered:
        rows = table.rows if takes_rows else table.used_rows
    X = joint_rows(rows, fit.moments) if rows is not None and rows.stride == 1 and rows.values.size <= keep else None
    kind = _settled(kind, source, X, fit)
    keep_effects = 12 * count * fit.moments.p * (fit.moments.p - 1) // 2 <= EFFECTS

    def announce(done: int) -> None:
        table.announce(News(f"bootstrap: {done:,} of {count:,} replicates", done / count))

    def learned(resampler: Resampler, numbers: range) -> list[Replicate]:
        job = Job(resampler, root, settings, "effects" if keep_effects else "weights")
        with on_cluster(current_client() if scattered and cluster is None else cluster):
            return run(job, numbers, workers, lambda done: announce(numbers.start + done))

    found: list[Replicate] = []
    if kind == "poisson":
        assert source is not None
        memory = MOST_CLUSTER_BYTES if scattered or cluster is not None else MOST_SUM_BYTES
        for numbers in passes(count, fit.moments.p, memory):
            sums = poisson_sums(
                source,
                fit.moments,
                numbers,
                root,
                missing=table.missing,
                workers=cores,
                progress=table.announce_rows,
                starts=table.starts,
            )
            found += learned(sums, numbers)
    else:
        # Any root whitens, but a root of squares and products has half the digits, and Wishart samples would inherit that.
        exact = table.qr_moments if X is None and fit.moments.squared else fit.moments
        labels = None if rows is None else rows.labels
        found = learned(_resampler(kind, X, exact, settings, labels), range(count))
    return _counted(fit, found, kind=kind, seed=root, level=level)


def _resampler(
    kind: str, X: Array | None, base: Moments, settings: MethodSettings, labels: RowLabels | None
) -> Resampler:
    """Return what draws the samples; X are rows of [Z | X] where categories may be causes."""
    if base.causes is not None:
        return CauseResampler(base, _resampler(kind, X, joint_moments(base), settings, None))
    if X is None or kind == "wishart":
        return gaussian_resampler(base, rows=settings.needs_rows)
    if labels is not None:
        if kind == "half" or settings.needs_rows:
            what = "kind='half' takes" if kind == "half" else "This method takes"
            raise SettingError(
                f"{what} rows one by one, and these have conditions, clusters or weights: use kind='rows'."
            )
        return LabelledResampler(base, X, labels)
    if np.isnan(X).any():
        return HoledRowResampler(base, X, halves=kind == "half")
    rows, number = to_draw(X, base)
    if kind == "half":
        return HalfResampler(base, rows, number)
    if settings.needs_rows or base.n < least_squares_rows(base.p):
        return PlainRowResampler(base, rows, number)
    return RowResampler.of(rows, base, number)


def bootstrap_fit(
    fit: Fit,
    replicates: int,
    *,
    seed: Seed = 0,
    level: float = 0.95,
    workers: int | None = None,
    settings: MethodSettings | None = None,
) -> Bootstrap:
    """Return the bootstrap of a fit whose rows are no longer at hand: Gaussian samples with its moments, learned with its settings."""
    fit.at_one_time("bootstrap")
    count = _checked_count(replicates)
    check_interval_level(level)
    settings = settings or fit.method_settings
    _check_linear(settings)
    return _of_memory(fit, None, count, settings, seed, level, workers)


def _of_memory(
    fit: Fit, X: Array | None, count: int, settings: MethodSettings, seed: Seed, level: float, workers: int | None
) -> Bootstrap:
    """Resample rows, or Gaussian samples with the moments of a fit without them, and learn again."""
    kind, root = "wishart" if X is None else "rows", seed_root(seed)
    found = run(Job(_resampler(kind, X, fit.moments, settings, None), root, settings), range(count), workers)
    return _counted(fit, found, kind=kind, seed=root, level=level)


def bootstrap_kept_rows(
    fit: Fit, replicates: int, *, seed: Seed = 0, level: float = 0.95, workers: int | None = None
) -> Bootstrap:
    """Resample the rows that a fit keeps, or draw Gaussian samples with its moments where it keeps only some of them."""
    fit.at_one_time("bootstrap")
    if fit.profile is None or fit.profile.stride > 1 or not fit.n <= len(fit.profile.rows) <= fit.rows:
        return bootstrap_fit(fit, replicates, seed=seed, level=level, workers=workers)
    check_interval_level(level)
    if fit.moments.causes is not None:
        X = joint_rows(Rows(fit.profile.rows, 1, fit.profile.labels), fit.moments)
        return _of_memory(fit, X, _checked_count(replicates), fit.method_settings, seed, level, workers)
    rows = fit.profile.rows
    if fit.profile.labels is None:
        table, kept = Table(dict(zip(fit.names, rows.T, strict=True)), missing=fit.moments.missing, strict=True), None
    else:
        table, kept = Table.of_rows(fit.names, rows, like=fit.moments), Rows(rows, 1, fit.profile.labels)
    return bootstrap_table(
        table, fit, replicates, settings=fit.method_settings, seed=seed, level=level, workers=workers, rows=kept
    )


def _checked_count(replicates: int) -> int:
    if not is_whole(replicates, 2):
        raise SettingError(
            f"replicates={short(replicates)}: a bootstrap takes a whole number of them, from 2 on; 500 is usual."
        )
    return int(replicates)


def _check_linear(settings: MethodSettings) -> None:
    if not settings.linear:
        raise SettingError(
            "The equations that were learned need not be linear, and samples with the moments of the data have no others: "
            "resample the rows with ordag.bootstrap(data, …), or take the graph for granted with interval='given-graph'."
        )


def _refuse_rows(kind: str, source: Source | None) -> None:
    """Rows that lie on a cluster are not drawn from."""
    if isinstance(source, DaskSource) and kind in ("rows", "half"):
        raise SettingError(
            f"kind={kind!r} draws from rows in memory, and {source.describe} lies on a cluster: use kind='poisson', which weights them "
            "there, or give .compute() of it."
        )


def _settled(kind: str, source: Source | None, X: Array | None, fit: Fit) -> str:
    if source is None:
        if kind in ("rows", "half", "poisson"):
            raise SettingError(f"kind={kind!r} needs the rows, and only moments were given: use kind='wishart'.")
        return "wishart"
    if kind == "wishart":
        _check_linear(fit.method_settings)
    few = fit.n < least_squares_rows(fit.moments.p)
    if fit.moments.causes is not None and X is None and kind in ("auto", "poisson", "rows", "half"):
        if kind != "auto":
            raise SettingError(
                f"kind={kind!r} with categories as causes draws rows in memory, and these are not: use kind='wishart'."
            )
        return "wishart"
    labelled = bool(fit.moments.conditions) or fit.moments.clusters is not None
    if kind == "poisson" and labelled:
        raise SettingError(
            "kind='poisson' weights rows one by one, and these have conditions, clusters or weights: use kind='rows'."
        )
    if kind == "auto" and X is None and labelled:
        return "wishart"
    if kind == "auto" and X is None and (few or fit.moments.missing == "em") and not fit.method_settings.needs_rows:
        return "wishart"
    if kind == "poisson" and fit.moments.missing == "em":
        raise SettingError(
            "kind='poisson' adds up complete rows, and this table has missing values: use kind='rows', which reads all rows into memory, "
            "or missing='drop'."
        )
    if kind == "auto":
        kind = "poisson" if X is None else "rows"
    if kind == "poisson" and (few or fit.method_settings.needs_rows):
        why = "takes more rows than variables" if few else "keeps no rows, and this learner takes them"
        raise SettingError(
            f"kind='poisson', for files beyond memory, {why}: use kind='rows', which reads all rows into memory."
        )
    return kind


def _counted(fit: Fit, found: list[Replicate], *, kind: str, seed: np.random.SeedSequence, level: float) -> Bootstrap:
    """Return the shares and percentiles that the replicates give."""
    failures = [one.failure for one in found if one.failure is not None]
    good = [one for one in found if one.failure is None]
    if not good:
        raise DataError(f"All {len(found)} bootstrap samples were refused, the first because: {failures[0][1]}")
    p, total = fit.moments.p, len(good)
    arrows = _counts([one.arrows for one in good], p)
    lines = _counts([one.lines for one in good], p)
    joined = arrows + arrows.T + lines + lines.T
    with np.errstate(invalid="ignore", divide="ignore"):
        direction = np.where(joined > 0, arrows / joined, np.nan)
    positions = (
        None if good[0].positions is None else np.stack([one.positions for one in good if one.positions is not None])
    )
    weights = effects = given_path = None
    if good[0].weights is not None:
        values = [one.weights for one in good if one.weights is not None]
        weights = intervals([one.arrows for one in good], values, p, total, level)
    if good[0].effects is not None:
        pairs = [one.effects for one in good if one.effects is not None]
        numbers, values = [one for one, _ in pairs], [one for _, one in pairs]
        effects = intervals(numbers, values, p, total, level)
        given_path = intervals(numbers, values, p, total, level, zeros=False)
    return Bootstrap(
        fit=fit,
        graph=fit.graph,
        kind=kind,
        replicates=len(found),
        level=level,
        entropy=seed.entropy,
        edge_support=arrows / total,
        adjacency_support=joined / total,
        direction_support=direction,
        precedes=None if positions is None else _precedes(positions),
        positions=positions,
        weight_intervals=weights,
        effect_intervals=effects,
        path_intervals=given_path,
        failed=_reasons(failures),
        undecided=sum(one.undecided for one in good),
        mean_edges=float(joined.sum() / 2 / total),
        cause_support=_cause_support(fit, good),
    )


def _cause_support(fit: Fit, good: list[Replicate]) -> Array | None:
    """Return the share of replicates with an arrow from each category, [c, j]."""
    if fit.causes is None:
        return None
    shape = fit.causes.arrows.shape
    numbers = np.concatenate([one.causes for one in good if one.causes is not None])
    return np.bincount(numbers, minlength=shape[0] * shape[1]).reshape(shape) / len(good)


def _counts(numbers: list[Any], p: int) -> Array:
    return np.bincount(np.concatenate(numbers), minlength=p * p).reshape(p, p).astype(np.float64)


def _precedes(positions: Any) -> Array:
    counts = np.zeros((positions.shape[1], positions.shape[1]), dtype=np.int32)
    for place in positions:
        counts += place[:, None] < place[None, :]
    return counts / len(positions)


def _reasons(failures: list[tuple[str, str]]) -> Mapping[str, int]:
    """How often each kind of error came, named by the sentence of the first."""
    first = dict(reversed(failures))
    return {first[name]: times for name, times in Counter(name for name, _ in failures).most_common()}
