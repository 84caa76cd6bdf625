"""`Workbench`: the answers to questions of the page. Quick ones are found in a thread, slow ones in a process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from ordag import __version__
from ordag.checking import NUMBERS as MOST_CHECKED_NUMBERS
from ordag.common.checks import is_whole, short
from ordag.common.words import harmless
from ordag.data.datasets import DATASETS
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.learners.found import Found
from ordag.learners.methods import METHODS, learn_from, settings_for, settings_of, with_quick_warnings
from ordag.learners.settings import MethodSettings
from ordag.show.columns import ROLES
from ordag.show.provenance import Origin, command_line, python_call
from ordag.workbench import tasks
from ordag.workbench.documents import brief, effect_of, effects_of, is_pending, judgement, scale_changes
from ordag.workbench.pool import AsyncProgress, ProcessPool, Progress
from ordag.workbench.state import State, method_schemas, read_state
from ordag.workbench.tables import Cache, OpenTable, Tables, UnreadError, numbers_of
from ordag.workbench.users_graph import users_graph

Value = TypeVar("Value")

MOST_FIT_NUMBERS = 2**24
"""In the fits that are kept to be asked again, an eighth of a gigabyte: a few hundred of 50 variables and 1000 rows."""

OTHER_NUMBERS = 2**12
"""Numbers that would take as much memory as the names, texts and small arrays of a fit."""

QUICK_SECONDS = 0.3
"""Up to which a thread learns: it cannot be stopped."""

FEW_VARIABLES = 8
"""With which no search takes long."""

MANY_EDGES = 3
"""Edges for each variable from which a layout takes long."""

THREADS = 4
"""Quick answers that are worked on at once."""

DEFAULT_REPLICATES, MOST_REPLICATES = 200, 100_000

SHARED_SETTINGS = ("alpha", "min_effect", "knowledge")
"""Settings that mean the same for every method that has them: methods that are compared take them over."""


class UnwantedError(Exception):
    """Stop reading: the client has gone."""


@dataclass(frozen=True)
class Question:
    """A state with its table."""

    opened: OpenTable
    state: State

    @property
    def key(self) -> tuple[str, str]:
        return self.opened.id, self.state.key

    @property
    def origin(self) -> Origin:
        request = self.opened.request
        return Origin(request.origin, self._reading, digest=(self.opened.digest, self.opened.digest_of))

    @property
    def call(self) -> dict[str, Any]:
        """The keywords of `learn` that give this answer."""
        return {"data": self.opened.request.data, "method": self.state.method, **self._reading, **self.state.keywords}

    @property
    def _reading(self) -> dict[str, Any]:
        reading = dict(self.opened.request.reading)
        if self.state.columns is not None:
            reading["columns"] = list(self.state.columns)
        if self.state.transform:
            reading["transform"] = dict(self.state.transform)
        if self.state.left_out:
            reading["leave_out"] = list(self.state.left_out)
        return reading


class Workbench:
    """Answers to the questions of all tabs. Fits are kept within bounds, for later questions about them."""

    def __init__(self, tables: Tables) -> None:
        cores = os.cpu_count() or 1
        self.tables = tables
        self._fits: Cache[Fit] = Cache(MOST_FIT_NUMBERS)
        self._threads: CapacityLimiter | None = None
        self._answers, self._jobs = ProcessPool(max(2, cores)), ProcessPool(max(1, cores // 2))

    def close(self) -> None:
        """End all processes."""
        self._answers.close()
        self._jobs.close()

    async def in_thread(self, work: Callable[[], Value]) -> Value:
        self._threads = self._threads or CapacityLimiter(THREADS)
        return await to_thread.run_sync(work, limiter=self._threads)

    async def open(self, read: Callable[[Progress], OpenTable]) -> dict[str, Any]:
        """Read a table in a thread, and describe it. A cancellation stops it at the rows that it is reading."""
        self._threads = self._threads or CapacityLimiter(THREADS)
        unwanted = threading.Event()

        def progress(_: str) -> None:
            if unwanted.is_set():
                raise UnwantedError

        def work() -> dict[str, Any]:
            return read(progress).description

        try:
            return await to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)
        finally:
            unwanted.set()

    def start(self) -> dict[str, Any]:
        """Return what the page needs before its first question."""
        first, refused = self.tables.first, self.tables.first_unread
        return {
            "data": None if first is None else first.description,
            "unread": None if refused is None else unread(refused),
            "builtin": [{"name": one.name, "title": one.title} for one in DATASETS.values()],
            "most_bytes": self.tables.most_bytes,
            "methods": method_schemas(),
            "forms": tasks.forms(),
            "roles": ROLES,
            "version": __version__,
        }

    async def question(self, given: Any) -> Question:
        """Check the state in a request, and find its table."""

        def work() -> Question:
            state = read_state(given)
            opened = self.tables.of(state)
            return Question(opened, state.for_columns(opened.table.names))

        return await self.in_thread(work)

    async def fit(self, question: Question, progress: AsyncProgress | None = None) -> Fit:
        """Learn what a question asks for, with all warnings."""
        found = await self._quick_fit(question, progress)
        if found.result.is_complete(found) or found.result.by_probabilities:
            return found
        return self._keep(question, await self._answers.run(tasks.count_false_edges, found, progress=progress))

    async def _quick_fit(self, question: Question, progress: AsyncProgress | None = None) -> Fit:
        """Learn what a question asks for, without a count of false edges that takes time."""
        kept = self._fits.get(question.key)
        if kept is not None:
            return kept
        state = question.state

        def begin() -> tuple[Table, MethodSettings, Fit | None]:
            table = self.tables.changed(question.opened, state)
            settings = settings_for(table, state.method, state.keywords)
            return table, settings, _fit(table, learn_from(table, settings)) if _is_quick(table, settings) else None

        table, settings, fit = await self.in_thread(begin)
        if fit is None and settings.needs_rows:
            fit = await self._answers.run(tasks.learn_from_rows, question.call, progress=progress)
        elif fit is None:
            given = table.moments, table.profile, settings, table.series
            found = await self._answers.run(tasks.search, *given, progress=progress)
            fit = await self.in_thread(partial(_fit, table, found))
        return self._keep(question, fit)

    def _keep(self, question: Question, fit: Fit) -> Fit:
        return self._fits.put(question.key, fit, _weight(fit))

    async def answer(
        self, question: Question, progress: AsyncProgress, layout: Any = False, **_: Any
    ) -> dict[str, Any]:
        """Return the document of a state, and what its units change."""
        fit = await self._quick_fit(question, progress)
        scales = None
        if question.state.transform:
            unscaled = replace(question, state=question.state.unscaled())
            scales = scale_changes(await self._quick_fit(unscaled, progress), fit)
        if layout and fit.graph.edge_count > MANY_EDGES * len(fit.names):
            shown = await self._answers.run(tasks.lay_out, fit, question.origin)
        else:
            shown = await self.in_thread(lambda: brief(fit, question.origin, layout=layout is True))
        return {"document": shown, "scales": scales}

    async def verdict(self, question: Question) -> dict[str, Any]:
        """Return what the first document leaves out: the forecast, counts of false edges, and sampled probabilities."""
        fit = await self._quick_fit(question)
        if is_pending(fit):
            fit = self._keep(question, await self._answers.run(tasks.judge, fit))

        def work() -> dict[str, Any]:
            whole = brief(fit, question.origin, layout=False, whole=True)
            more = ("warnings", "notes", *(("pairs", "level", "fixed") if fit.result.by_probabilities else ()))
            return {**judgement(whole), **{name: whole[name] for name in more}}

        return await self.in_thread(work)

    async def effects(self, question: Question, cause: str) -> dict[str, Any]:
        fit = await self.fit(question)
        return await self.in_thread(lambda: effects_of(fit, cause))

    async def effect(self, question: Question, cause: str, effect: str) -> dict[str, Any]:
        fit = await self.fit(question)
        return await self.in_thread(lambda: effect_of(fit, cause, effect))

    async def users_graph(
        self, question: Question, graph: str, file: str, change: str, source: str, target: str
    ) -> dict[str, Any]:
        """Test a graph of the user's own, after one change of it if one is asked for."""
        fit = await self._quick_fit(question)
        return await self.in_thread(lambda: users_graph(fit, graph, file, change, source, target))

    async def bootstrap(
        self, question: Question, progress: AsyncProgress, replicates: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Return the document of a state with the support of every arrow."""
        count = DEFAULT_REPLICATES if replicates is None else replicates
        fit = await self._resampled(question, count, progress)
        shown = await self.in_thread(lambda: brief(fit, question.origin, layout=False, whole=True))
        assert fit.support is not None
        return {"document": shown, "seed": fit.support.entropy, "replicates": fit.support.replicates}

    async def _resampled(self, question: Question, replicates: Any, progress: AsyncProgress | None = None) -> Fit:
        """Return a fit with the support of its arrows. The seed is that of the method, as in `learn`."""
        if not is_whole(replicates, 2) or replicates > MOST_REPLICATES:
            raise SettingError(
                f"replicates={short(replicates)}: a bootstrap takes a whole number of them, from 2 to {MOST_REPLICATES:,}; 500 is usual."
            )
        key = (*question.key, replicates)
        kept = self._fits.get(key)
        if kept is not None:
            return kept
        fit = await self.fit(question, progress)
        seed = getattr(fit.method_settings, "seed", 0)
        call = {**question.call, "workers": 1, "replicates": replicates, "seed": seed}
        resampled = await self._jobs.run(tasks.resample, fit, call, progress=progress)
        return self._fits.put(key, resampled, _weight(resampled))

    async def check(self, question: Question, progress: AsyncProgress, **_: Any) -> Any:
        """Return the findings of the checks."""
        fit = await self.fit(question, progress)

        def thinned() -> Any:
            rows = self.tables.changed(question.opened, question.state).rows
            return None if rows is None else rows.thinned(max(MOST_CHECKED_NUMBERS // len(fit.names), 1000))

        rows = await self.in_thread(thinned)
        alpha = question.state.settings.get("alpha")
        return await self._jobs.run(tasks.check, fit, rows, question.origin, alpha, progress=progress)

    async def compare(self, question: Question, progress: AsyncProgress, methods: Any = None, **_: Any) -> Any:
        """Compare the graph with those of other methods."""
        fit = await self.fit(question, progress)
        names = [name for name in METHODS if name != fit.method] if methods is None else methods
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise SettingError(f"methods={short(names)}: give a list of names, and choose among {', '.join(METHODS)}.")
        shared = {name: value for name, value in question.state.keywords.items() if name in SHARED_SETTINGS}
        settings = {
            method: {name: value for name, value in shared.items() if name in settings_of(method)}
            for method in dict.fromkeys(names)
            if method in METHODS
        }
        return await self._jobs.run(tasks.compare_methods, fit, names, settings, question.origin, progress=progress)

    async def export(self, question: Question, form: str, replicates: Any = None) -> tuple[str, str | bytes]:
        """Return the name and content of a file. replicates: those whose support the page shows, None for no support."""
        if form not in [one["form"] for one in tasks.forms()]:
            raise SettingError(f"form={short(form)}: there is no such kind of file.")
        if form == "knowledge":
            return "knowledge.txt", question.state.knowledge.to_text()
        stem = question.opened.request.name.rpartition("/")[2].rpartition("\\")[2].split(".")[0] or "graph"
        fit = await (self.fit(question) if replicates is None else self._resampled(question, replicates))
        if form == "python":
            return f"{stem}.py", f"{python_call(fit, question.origin)}\n"
        if form == "command":
            return f"{stem}.sh", f"{command_line(fit, question.origin)}\n"
        # the table of arrows must not take the name of the data
        ending = {"report": ".html", ".csv": "_arrows.csv"}.get(form, form)
        return f"{stem}{ending}", await self._answers.run(tasks.export, fit, form, question.origin)


def _is_quick(table: Table, settings: MethodSettings) -> bool:
    """Return whether a thread may learn this: a search without a bound on its time needs a process, which can be stopped."""
    p = len(table.names)
    if settings.needs_rows:
        return False
    if settings.is_bounded is None:
        return p <= FEW_VARIABLES and not settings.has_probabilities
    return settings.is_bounded and settings.cost(p) <= QUICK_SECONDS


def _fit(table: Table, found: Found) -> Fit:
    learned = replace(
        found, profile=table.profile, transform=table.transform, warnings=(*table.remarks, *found.warnings)
    )
    return Fit.of(with_quick_warnings(learned))


def _weight(fit: Fit) -> int:
    """Count the numbers of a fit in memory. Its sample of rows is its own where columns or units are not those of the file."""
    squares, positions = 8, 0
    if fit.support is not None:
        squares += 12
        positions = 0 if fit.support.positions is None else fit.support.positions.size
    return squares * len(fit.names) ** 2 + numbers_of(fit.profile) + positions + OTHER_NUMBERS


def unread(error: UnreadError) -> dict[str, Any]:
    """Describe why a table could not be read, and its remedies; the page returns the number of one."""
    remedies = [harmless(one.words) for one in error.remedies]
    return {"error": harmless(str(error)), "kind": error.kind, "unread": error.id, "remedies": remedies}
