"""Change the source in one place at a time, and count how many of the changes the tests notice: `make mutants`.

1. Every test runs once; `tools/line_recorder.py` records which lines each of them executes, and how long it takes.
   `--recorded` takes what was recorded before: lines that have moved since then are found again.
2. Mutants are drawn by a seed, room by room: a comparison turned, + for −, a constant moved, a statement left out, two arguments
   exchanged, a condition negated.
3. Each mutant runs with the tests that execute its line until one fails: the one that failed before, then those in files of the same
   name, those of its own room, and the others, the quick ones first.
   Nothing is written to the source: a child process compiles the changed syntax tree when it imports the module.

`--again FILE` takes the mutants of an earlier result instead of new ones, whatever else changed in the source since then, and fails
if one survives that was killed then. With `--fill` it draws more for every room that has fewer than its share, and `--update` writes
the outcomes into FILE: those of one room at a time, if `--only` names it. `tools/known_mutants.json` is such a result, of all rooms.
`tools/equivalent_mutants.txt` lists survivors that change no answer, each with the reason.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import copy
import difflib
import gc
import importlib.machinery
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "ordag"
RECORDS = ROOT / ".mutants"
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"

NOT_RUN_HERE = (
    "learners/order_search/layout.py",
    "order/triton_steps.py",
    "order/on_device.py",
    "order/device_factor.py",
    "data/sources/tensors.py",
    "common/transfer.py",
    "__main__.py",
    "keywords.py",
)
"""Files that need PyTorch, which the tests' environment has not, whose numbers are in machine code that is kept, or that hold no code
that a test in one process could run."""

COMPILED = (
    "learners/order_search/kernel.py",
    "learners/pooled/chain.py",
    "learners/pooled/changed_fit.py",
    "learners/pooled/hidden_fit.py",
)
"""Files whose code numba compiles. They are changed only for the tests that import them with ORDAG_COMPILED=0: elsewhere, machine code
that is kept from before would hide the change."""

LEAST_PER_ROOM = 14

PRELOADED = (
    "numpy scipy.linalg scipy.stats scipy.optimize scipy.special scipy.sparse pandas pyarrow.csv pyarrow.parquet pyarrow.dataset "
    "sklearn.base sklearn.linear_model networkx narwhals joblib numba click rich.console matplotlib.figure pytest hypothesis.extra.numpy"
).split()

UNUSED = "--assert=plain -p no:cacheprovider -p no:xdist -p no:anyio -p no:unraisableexception".split()
"""Words that leave out what a process of a mutant does not need, and would take half of its time."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}
LEFT_OUT = (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)
SYMMETRIC = ("min", "max", "minimum", "maximum", "logaddexp", "hypot", "union1d", "array_equal", "allclose")
"""Functions whose answer does not depend on the sequence of two arguments."""

NO_CODE = ("annotation", "returns", "decorator_list", "format_spec")


@dataclass(frozen=True)
class Mutant:
    """One change of the source, addressed by the text of its place and not by its line."""

    file: str
    scope: str
    kind: str
    before: str
    after: str
    occurrence: int
    line: int

    @property
    def key(self) -> str:
        return f"{self.file} | {self.scope} | {self.kind} | {self.before} | {self.after} | {self.occurrence}"

    @property
    def room(self) -> str:
        return self.file.split("/")[0] if "/" in self.file else "top level"

    def is_in(self, places: list[str]) -> bool:
        """Whether it is in one of these rooms, folders or files; everything is if none is named."""
        return not places or any(
            place in (self.room, self.file) or self.file.startswith(f"{place}/") for place in places
        )


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield every single change of this one node: its kind, and the node that takes its place."""
    match node:
        case ast.Compare(ops=[operator]):
            for other in COMPARISONS[type(operator)]:
                yield "comparison", ast.Compare(node.left, [other()], node.comparators)
        case ast.BinOp() if type(node.op) in ARITHMETIC and not _is_text(node.left) and not _is_text(node.right):
            yield "arithmetic", ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
        case ast.BoolOp():
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield "constant", ast.Constant(value * 1.5 or 1.0)
        case ast.Call(args=[first, second, *rest]) if not isinstance(first, ast.Starred | ast.GeneratorExp):
            symmetric = not rest and getattr(node.func, "attr", getattr(node.func, "id", "")) in SYMMETRIC
            if not symmetric and not isinstance(second, ast.Starred) and ast.dump(first) != ast.dump(second):
                yield "exchanged", ast.Call(node.func, [second, first, *rest], node.keywords)
        case ast.If() | ast.While() | ast.IfExp():
            changed = copy.copy(node)
            changed.test = ast.UnaryOp(ast.Not(), node.test)
            yield "negated", changed
    if isinstance(node, LEFT_OUT) and not (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Yield)
    ):
        yield "left out", ast.Pass()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def places(node: ast.AST, scope: str = "") -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST]]:
    """Yield every node that is executed: its scope, its parent, the parent's field and index, and the node."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}".lstrip(".")
    for field, value in ast.iter_fields(node):
        if field not in NO_CODE:
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and not _for_types_only(child):
                    yield scope, node, field, index, child
                    yield from places(child, scope)


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def mutants_of(path: Path) -> Iterator[tuple[Mutant, Callable[[], ast.Module]]]:
    """Yield the mutants of a file, each with a function that gives the changed syntax tree (good for one call)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = path.relative_to(SOURCE).as_posix()
    seen: Counter[str] = Counter()
    for scope, parent, field, index, node in list(places(tree)):
        for kind, replacement in changes(node):
            before = _text(parent) if isinstance(node, ast.Constant) else _text(node)
            mutant = Mutant(file, scope, kind, before, _text(replacement), 0, getattr(node, "lineno", 0))
            occurrence = seen[mutant.key]
            seen[mutant.key] += 1
            mutant = Mutant(**{**asdict(mutant), "occurrence": occurrence})

            def change(parent=parent, field=field, index=index, node=node, replacement=replacement) -> ast.Module:
                ast.copy_location(replacement, node)
                if index is None:
                    setattr(parent, field, replacement)
                else:
                    getattr(parent, field)[index] = replacement
                return ast.fix_missing_locations(tree)

            yield mutant, change


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.copy(node))).split())[:120]


def drawn(count: int, seed: int, only: list[str], known: Sequence[Mutant] = ()) -> list[Mutant]:
    """Draw mutants: a least number from every room, the rest in proportion to the rooms' sizes; those known count."""
    rooms: dict[str, list[Mutant]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).as_posix() not in NOT_RUN_HERE:
            for mutant, _ in mutants_of(path):
                rooms.setdefault(mutant.room, []).append(mutant)
    total = sum(map(len, rooms.values()))
    generator = random.Random(seed)
    chosen = []
    keys = {mutant.key for mutant in known}
    for _, all_of_room in sorted(rooms.items()):
        share = max(LEAST_PER_ROOM, round(count * len(all_of_room) / total))
        there = sum(mutant.key in keys for mutant in all_of_room)
        candidates = [mutant for mutant in all_of_room if mutant.key not in keys and mutant.is_in(only)]
        chosen += generator.sample(candidates, max(0, min(share - there, len(candidates))))
    return chosen


@dataclass(frozen=True)
class Row:
    """What became of a mutant, which test failed, and the seconds of processor time that this took."""

    mutant: Mutant
    outcome: str
    by: str = ""
    seconds: float = 0.0

    @classmethod
    def stored(cls, row: dict) -> Row:
        return cls(**{**row, "mutant": Mutant(**row["mutant"])})

    @property
    def noticed(self) -> bool:
        return self.outcome in ("killed", "timeout")


def moved_lines(before: str, path: Path) -> Callable[[int], int]:
    """Return a function from lines recorded in this text to those of the file now; a changed line counts as any of those it became."""
    after = path.read_text(encoding="utf-8") if path.exists() else ""
    if before == after:
        return lambda mask: mask
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()

    def moved(mask: int) -> int:
        found = 0
        for kind, start, stop, first, last in blocks:
            own = mask >> start + 1 & (1 << stop - start) - 1
            if own:
                found |= (own if kind == "equal" else (1 << last - first) - 1) << first + 1
        return found

    return moved


@dataclass
class Recording:
    """Which lines each test executes, and how long it takes."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, int]]
    budget: float

    @classmethod
    def read(cls, budget: float) -> Recording:
        seconds: dict[str, float] = {}
        lines: dict[str, dict[str, int]] = {}
        for path in sorted(RECORDS.glob("lines-*.json"), key=lambda path: path.stat().st_mtime):  # the last one counts
            part = json.loads(path.read_text(encoding="utf-8"))
            seconds |= part["seconds"]
            moved = {file: moved_lines(text, SOURCE / file) for file, text in part["text"].items()}
            for test, files in part["lines"].items():
                lines[test] = {file: moved[file](int(mask, 16)) for file, mask in files.items()}
        return cls(seconds, lines, budget)

    def tests_for(self, mutant: Mutant, first: str | None = None) -> list[list[str]]:
        """Return the tests that execute the mutant's line, to be run one list after the other until one fails.

        The first list is the test that noticed it last time; then come those in files with its file's name, those of its own room, and
        all others, the quick ones first. Lines outside functions run when a module is imported, by no test in particular: there, tests
        that execute anything in the file count.
        """
        wanted = 1 << mutant.line if mutant.scope else -1
        tests = [test for test, files in self.lines.items() if files.get(mutant.file, 0) & wanted]
        if not tests and mutant.scope:  # a line inside a class, or a default value: it runs at import too
            tests = [test for test, files in self.lines.items() if mutant.file in files]
        known = {first} & set(tests)
        named = {test for test in tests if Path(mutant.file).stem in test.split("::")[0]}
        own = {test for test in tests if test.startswith(f"tests/{mutant.room}/")} | named
        lists = [list(known)]
        for group in (named - known, own - named - known, set(tests) - own - known):
            left, chosen = self.budget, []
            for test in sorted(group, key=lambda test: (self.seconds[test], test)):
                left -= self.seconds[test]
                if left < 0 and chosen:
                    break
                chosen.append(test)
            lists.append(chosen)
        return [tests for tests in lists if tests]


def change_source(mutant: Mutant, tree: ast.Module) -> None:
    """Have this tree compiled instead of its file, by whatever name a module is made from it."""
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader, name):
        changed = Path(loader.path) == SOURCE / mutant.file
        if mutant.file in COMPILED and os.environ.get("ORDAG_COMPILED") != "0":
            changed = False
        return compile(tree, loader.path, "exec") if changed else usual(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code


def start(mutant: Mutant, tests: list[str], log: Path, limit: int = 0) -> int:
    """Fork a process that runs these tests on the changed source until one fails; its exit status says whether one did.

    A limit is in seconds of processor time, which other work on the machine does not change.
    """
    child = os.fork()
    if child:
        return child
    status = 70
    try:
        os.setpgid(0, 0)
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        os.environ["ORDAG_BROWSER"] = "none"
        sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        for found, change in mutants_of(SOURCE / mutant.file):
            if found.key == mutant.key:
                change_source(mutant, change())
                break
        import pytest

        status = int(pytest.main(["-x", "-q", *UNUSED, "--tb=line", f"--timeout={HANGS}", *tests]))
    except BaseException as error:
        print(repr(error))
    finally:
        sys.stdout.flush()
        os._exit(status)


HANGS = 300
"""Seconds after which a test that uses no processor time hangs: more than any takes, however busy the machine is."""

NOTICED = {1, 2, 3, 4}
"""Pytest's statuses for a failed test, and for a change that breaks an import, pytest itself or a file of tests."""

NO_TESTS = 4
"""Pytest's status where an import in a `conftest.py` breaks, and where a recorded test is no longer there: record again then."""


def run(mutants: list[Mutant], noticed_by: dict[str, str], recording: Recording, jobs: int) -> Iterator[Row]:
    """Run the mutants, several at a time; yield each with its outcome: killed, timeout, survived, not reached, gone or test gone."""
    waiting = list(reversed(mutants))
    running: dict[int, tuple[Mutant, list[list[str]], Path, float]] = {}
    known: dict[str, dict[str, int]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            path = SOURCE / mutant.file
            if mutant.file not in known:
                known[mutant.file] = {found.key: found.line for found, _ in mutants_of(path)} if path.exists() else {}
            if mutant.key not in known[mutant.file]:
                yield Row(mutant, "gone")
                continue
            mutant = Mutant(**{**asdict(mutant), "line": known[mutant.file][mutant.key]})
            lists = recording.tests_for(mutant, noticed_by.get(mutant.key))
            if not lists:
                yield Row(mutant, "not reached")
                continue
            log = RECORDS / f"log-{os.getpid()}-{len(mutants) - len(waiting):04}.txt"
            running[begin(mutant, lists[0], recording, log)] = mutant, lists, log, 0.0
        if not running:
            continue
        child, status, used = os.wait4(-1, 0)
        mutant, lists, log, seconds = running.pop(child)
        seconds += used.ru_utime + used.ru_stime
        _end(child)
        code = os.waitstatus_to_exitcode(status)
        if code == 0 and lists[1:]:
            running[begin(mutant, lists[1], recording, log)] = mutant, lists[1:], log, seconds
            continue
        if code == NO_TESTS and "not found: " in log.read_text(errors="replace"):
            outcome = "test gone"
        elif code in (-signal.SIGXCPU, -signal.SIGKILL):
            outcome = "timeout"
        else:
            outcome = "killed" if code in NOTICED or code < 0 else "survived" if code == 0 else f"status {code}"
        failed = re.search(r"^FAILED (.+?::.+?)(?: - |$)", log.read_text(errors="replace"), re.MULTILINE)
        yield Row(mutant, outcome, failed[1] if failed else "", round(seconds, 1))


def begin(mutant: Mutant, tests: list[str], recording: Recording, log: Path) -> int:
    return start(mutant, tests, log, int(30 + 5 * sum(recording.seconds[test] for test in tests)))


def _end(child: int) -> None:
    """End a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def record(tests: list[str], jobs: int, more: bool) -> None:
    """Run tests once and record their lines, beside those recorded before if there are more to come."""
    RECORDS.mkdir(exist_ok=True)
    for old in [] if more else RECORDS.glob("lines-*.json"):
        old.unlink()
    words = ["-p", "tools.line_recorder", f"--numprocesses={jobs}", "-q", *tests]
    subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, check=False)


def equivalent() -> set[str]:
    """The mutants that change no answer: lines of the list that are no comment."""
    if not EQUIVALENT.exists():
        return set()
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def table(rows: Iterable[Row]) -> str:
    """Count the outcomes room by room, as Markdown."""
    same = equivalent()
    rows = [row for row in rows if row.outcome != "gone"]
    lines = ["| room | mutants | killed | change nothing | survived | share killed |", "|---|---|---|---|---|---|"]
    for room in [*sorted({row.mutant.room for row in rows}), None]:
        mine = [row for row in rows if room is None or row.mutant.room == room]
        killed = sum(row.noticed for row in mine)
        nothing = sum(not row.noticed and row.mutant.key in same for row in mine)
        share = killed / max(1, len(mine) - nothing)
        lines.append(
            f"| {room or 'all'} | {len(mine)} | {killed} | {nothing} | {len(mine) - killed - nothing} | {share:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--again", type=Path, help="mutants of this earlier result")
    parser.add_argument("--only", help="rooms, folders or files, with commas")
    parser.add_argument("--survivors", action="store_true", help="with --again: only those that no test noticed then")
    parser.add_argument(
        "--fill", action="store_true", help="with --again: draw more for rooms with fewer than their share"
    )
    parser.add_argument(
        "--update", action="store_true", help="with --again: write the outcomes there, without what is gone"
    )
    parser.add_argument("--recorded", action="store_true", help="take the lines recorded before")
    parser.add_argument("--record", action="store_true", help="only record, beside what was recorded before")
    parser.add_argument("--out", type=Path, default=RECORDS / "result.json")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests in each of these groups")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("tests", nargs="*", default=["-m", "not thorough"], help="words for pytest: which tests to use")
    words = parser.parse_args()
    os.chdir(ROOT)
    if not hasattr(sys, "monitoring"):
        sys.exit("Recording lines needs Python 3.12 or later: make mutants PYTHON=python3.12")
    if not words.recorded:
        record(words.tests, words.jobs, words.record)
    if words.record:
        return
    recording = Recording.read(words.seconds)
    only = words.only.split(",") if words.only else []
    earlier = [Row.stored(row) for row in json.loads(words.again.read_text(encoding="utf-8"))] if words.again else []
    mutants = [row.mutant for row in earlier if row.mutant.is_in(only) and not (words.survivors and row.noticed)]
    if words.fill or not words.again:
        mutants += drawn(words.count, words.seed, only, [row.mutant for row in earlier])
    os.environ.setdefault("HYPOTHESIS_PROFILE", "same")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MPLBACKEND", "agg")
    tempfile.tempdir = tempfile.mkdtemp(prefix="ordag-mutants-")  # of tests that end in the middle, without a look back
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)
    sys.dont_write_bytecode = False
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()  # so that no process of a mutant looks at all of this again
    nothing = Mutant("common/words.py", "", "nothing", "", "", 0, 0)
    if left := os.waitstatus_to_exitcode(
        os.waitpid(start(nothing, ["tests/test_words.py"], RECORDS / "log-nothing.txt"), 0)[1]
    ):
        sys.exit(f"The tests fail without any change (status {left}): see {RECORDS / 'log-nothing.txt'}.")
    rows = {row.mutant.key: row for row in earlier} if words.update else {}
    noticed_by = {row.mutant.key: row.by for row in earlier if row.by}
    killed = {row.mutant.key for row in earlier if row.noticed}
    lost = []
    for count, row in enumerate(run(mutants, noticed_by, recording, words.jobs), 1):
        key = row.mutant.key
        rows[key] = row
        if words.update and row.outcome == "gone":
            del rows[key]
        if key in killed and not row.noticed and row.outcome != "gone":
            lost.append(key)
        inorder = sorted(rows.values(), key=lambda row: (row.mutant.file, row.mutant.line))
        out = words.again if words.update else words.out
        out.write_text(json.dumps([asdict(row) for row in inorder], indent=1), encoding="utf-8")
        print(
            f"{count:4}/{len(mutants)} {row.outcome:11} {row.seconds:5.1f} s  {key}  (line {row.mutant.line})",
            flush=True,
        )
    print(table(rows.values()))
    if lost:
        sys.exit("Killed before, and survive now:\n" + "\n".join(lost))


if __name__ == "__main__":
    main()
