"""`Desk`: states in, answers out. What is quick is done in a thread, the rest by a crew of processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, Event, to_thread

from ordag import __version__
from ordag.checks import is_whole, short
from ordag.data.datasets import DATASETS
from ordag.diagnosis.diagnosis import NUMBERS as MOST_CHECKED
from ordag.errors import SettingError
from ordag.explore import tasks
from ordag.explore.asked import Asked, Search
from ordag.explore.cache import Cache
from ordag.explore.crew import Crew, Hear
from ordag.explore.documents import brief, effect_of, effects_of, is_pending, judgement, turned
from ordag.explore.forms import forms
from ordag.explore.state import method_schemas, read_state
from ordag.explore.tables import Tables, Tell, UnreadError, numbers_of
from ordag.fit import Fit
from ordag.learners.methods import METHODS, is_counted, learn_from, recipe_for, settings_of
from ordag.plain import to_json
from ordag.resampling.support import Support
from ordag.show.again import command_line, python_call
from ordag.words import harmless

Value = TypeVar("Value")

NUMBERS = 2**24
"""In the fits that are kept to be asked again, an eighth of a gigabyte: a few hundred of 50 variables and 1000 rows."""

OTHERWISE = 2**12
"""Numbers that would take as much memory as names, texts and small arrays of a fit."""

MANY = 3
"""Edges for each variable from which places in layers take long to find."""

THREADS = 4
"""Quick answers that are worked on at once."""

USUAL_REPLICATES, MOST_REPLICATES = 200, 100_000

ALL_HAVE = ("alpha", "min_effect")
"""Settings that mean the same for every method that has them: methods that are compared take them over."""


class UnwantedError(Exception):
    """Nobody waits for this any more."""


class Desk:
    """What the addresses of a workbench answer. Fits are kept within bounds for whoever asks again."""

    def __init__(self, tables: Tables) -> None:
        cores = os.cpu_count() or 1
        self.tables = tables
        self._fits: Cache[Fit] = Cache(NUMBERS)
        self._searched: dict[tuple[str, str], Event] = {}
        self._threads: CapacityLimiter | None = None
        self._quick, self._long = Crew(max(2, cores)), Crew(max(1, cores // 2))

    def close(self) -> None:
        """End all processes."""
        self._quick.close()
        self._long.close()

    async def in_thread(self, work: Callable[[], Value]) -> Value:
        self._threads = self._threads or CapacityLimiter(THREADS)
        return await to_thread.run_sync(work, limiter=self._threads)

    async def reading(self, work: Callable[[Tell], Value]) -> Value:
        """The same for work that reads a file. When nobody waits for it any more it ends with the rows that it is at."""
        self._threads = self._threads or CapacityLimiter(THREADS)
        unwanted = threading.Event()

        def tell(_: str) -> None:
            if unwanted.is_set():
                raise UnwantedError

        try:
            return await to_thread.run_sync(work, tell, limiter=self._threads, abandon_on_cancel=True)
        finally:
            unwanted.set()

    def start(self) -> dict[str, Any]:
        """What a page has to know before anything else."""
        first, refused = self.tables.first, self.tables.first_unread
        return {
            "data": None if first is None else first.description,
            "unread": None if refused is None else unread(refused),
            "builtin": [{"name": one.name, "title": one.title} for one in DATASETS.values()],
            "most_bytes": self.tables.most_bytes,
            "methods": method_schemas(),
            "forms": forms(),
            "version": __version__,
        }

    async def asked(self, given: Any) -> Asked:
        """The state in a request, checked, with its table."""

        def work() -> Asked:
            state = read_state(given)
            held = self.tables.named(state)
            return Asked(held, state.over(held.table.names))

        return await self.in_thread(work)

    async def fit(self, asked: Asked, hear: Hear | None = None) -> Fit:
        """What the method of a state finds in its table, with all that there is to be warned of."""
        found = await self._found(asked, hear)
        return found if is_counted(found) else self._kept(asked, await self._quick.run(tasks.counted, found, hear=hear))

    async def _found(self, asked: Asked, hear: Hear | None = None) -> Fit:
        """The same with what is there to be said at once."""
        found = self._fits.get(asked.key)
        if found is not None:
            return found

        def begin() -> Fit | Search:
            table = self.tables.table(asked.held, asked.state)
            search = Search(table, recipe_for(table, asked.state.method, asked.state.asked))
            return search.fit(learn_from(search.table, search.recipe)) if search.is_quick else search

        begun = await self.in_thread(begin)
        return self._kept(asked, begun) if isinstance(begun, Fit) else await self._slow(asked, begun, hear)

    async def _slow(self, asked: Asked, search: Search, hear: Hear | None) -> Fit:
        """What a search that takes long comes to. Whoever else asks meanwhile waits for the same one."""
        while asked.key in self._searched:
            await self._searched[asked.key].wait()
            found = self._fits.get(asked.key)
            if found is not None:
                return found
        done = self._searched[asked.key] = Event()
        try:
            if search.recipe.needs_rows:
                found = await self._quick.run(tasks.learned, asked.call, hear=hear)
            else:
                raw = await self._quick.run(
                    tasks.search, search.table.moments, search.table.profile, search.recipe, hear=hear
                )
                found = await self.in_thread(partial(search.fit, raw))
            return self._kept(asked, found)
        finally:
            del self._searched[asked.key]
            done.set()

    def _kept(self, asked: Asked, fit: Fit) -> Fit:
        return self._fits.put(asked.key, fit, _weight(fit))

    async def answer(self, asked: Asked, hear: Hear, layout: Any = False, **_: Any) -> dict[str, Any]:
        """The document of a state."""
        fit, before = await self._found(asked, hear), None
        if asked.state.transform:
            before = await self._found(Asked(asked.held, asked.state.unscaled()), hear)
        scales = None if before is None else turned(before, fit)
        if layout and fit.graph.edge_count > MANY * len(fit.names):
            said = await self._quick.run(tasks.told, fit, asked.origin)
        else:
            said = await self.in_thread(lambda: brief(fit, asked.origin, layout=layout is True))
        return {"document": said, "scales": scales}

    async def verdict(self, asked: Asked) -> dict[str, Any]:
        """What was left out of the document at first: the verdict with its forecast, counts, and what probabilities say of the pairs."""
        fit = await self._found(asked)
        if is_pending(fit):
            fit = self._kept(asked, await self._quick.run(tasks.judged, fit))

        def work() -> dict[str, Any]:
            said = brief(fit, asked.origin, layout=False, whole=True)
            more = ("warnings", "notes") if fit.posterior is None else ("warnings", "notes", "pairs", "level", "fixed")
            return {**judgement(said, pending=False), **{name: said[name] for name in more}}

        return await self.in_thread(work)

    async def effects(self, asked: Asked, cause: str) -> dict[str, Any]:
        fit = await self.fit(asked)
        return await self.in_thread(lambda: effects_of(fit, cause))

    async def effect(self, asked: Asked, cause: str, effect: str) -> dict[str, Any]:
        fit = await self.fit(asked)
        return await self.in_thread(lambda: effect_of(fit, cause, effect))

    async def bootstrap(self, asked: Asked, hear: Hear, replicates: Any = None, **_: Any) -> dict[str, Any]:
        """The document of a state with the support of every arrow."""
        fit = await self._resampled(asked, USUAL_REPLICATES if replicates is None else replicates, hear)
        said = await self.in_thread(lambda: brief(fit, asked.origin, layout=False, whole=True))
        found = _support(fit)
        return {"document": said, "seed": found.entropy, "replicates": found.replicates}

    async def _resampled(self, asked: Asked, replicates: Any, hear: Hear | None = None) -> Fit:
        """The fit of a state with what resamples say of its arrows. Their seed is that of the method, as it is for `learn`."""
        if not is_whole(replicates, 2) or replicates > MOST_REPLICATES:
            raise SettingError(
                f"replicates={short(replicates)}: a bootstrap takes a whole number of them, from 2 to {MOST_REPLICATES:,}; 500 is usual."
            )
        key = (*asked.key, replicates)
        kept = self._fits.get(key)
        if kept is not None:
            return kept
        fit = await self.fit(asked, hear)
        call = {**asked.call, "workers": 1, "replicates": replicates, "seed": getattr(fit.recipe, "seed", 0)}
        found = await self._long.run(tasks.resampled, fit, call, hear=hear)
        return self._fits.put(key, found, _weight(found))

    async def check(self, asked: Asked, hear: Hear, **_: Any) -> Any:
        fit = await self.fit(asked, hear)

        def kept() -> Any:
            rows = self.tables.table(asked.held, asked.state).rows
            return None if rows is None else rows.thinned(max(MOST_CHECKED // len(fit.names), 1000))

        rows = await self.in_thread(kept)
        alpha = asked.state.settings.get("alpha")
        return await self._long.run(tasks.checked, fit, rows, asked.origin, alpha, hear=hear)

    async def compare(self, asked: Asked, hear: Hear, methods: Any = None, **_: Any) -> Any:
        fit = await self.fit(asked, hear)
        names = [name for name in METHODS if name != fit.method] if methods is None else methods
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise SettingError(f"methods={short(names)}: give a list of names, and choose among {', '.join(METHODS)}.")
        taken = {name: value for name, value in asked.state.asked.items() if name in (*ALL_HAVE, "knowledge")}
        own = {
            method: {name: value for name, value in taken.items() if name in settings_of(method)}
            for method in dict.fromkeys(names)
            if method in METHODS
        }
        return await self._long.run(tasks.compared, fit, names, own, asked.origin, hear=hear)

    async def export(self, asked: Asked, form: str, replicates: Any = None) -> tuple[str, str | bytes]:
        """The name of a file and what is in it. replicates: of the resamples whose support the page shows, None without."""
        if form not in [one["form"] for one in forms()]:
            raise SettingError(f"form={short(form)}: there is no such kind of file.")
        stem = asked.held.name.rpartition("/")[2].rpartition("\\")[2].split(".")[0] or "graph"
        if form == "knowledge":
            return "knowledge.txt", asked.state.knowledge.to_text()
        fit = await (self.fit(asked) if replicates is None else self._resampled(asked, replicates))
        if form == "python":
            return f"{stem}.py", f"{python_call(fit, asked.origin)}\n"
        if form == "command":
            return f"{stem}.sh", f"{command_line(fit, asked.origin)}\n"
        ending = {"report": ".html", ".csv": "_arrows.csv"}.get(
            form, form
        )  # the second is not to be taken for the data
        return f"{stem}{ending}", await self._quick.run(tasks.written, fit, form, asked.origin)


def _support(fit: Fit) -> Support:
    assert fit.bootstrap is not None
    return fit.bootstrap


def _weight(fit: Fit) -> int:
    """About as many numbers as would take its memory. Its sample of rows is its own where columns or units are not those of the file."""
    squares, places = 8, 0
    if fit.bootstrap is not None:
        squares += 12
        places = 0 if fit.bootstrap.places is None else fit.bootstrap.places.size
    return squares * len(fit.names) ** 2 + numbers_of(fit.profile) + places + OTHERWISE


def unread(error: UnreadError) -> dict[str, Any]:
    """Why a table could not be read, and what can be done about it: the page gives the number of what is chosen back."""
    remedies = [harmless(one.words) for one in error.remedies]
    return {"error": harmless(str(error)), "kind": error.kind, "unread": error.id, "remedies": remedies}


def as_bytes(value: Mapping[str, Any]) -> bytes:
    """JSON."""
    return to_json(value, None).encode()
