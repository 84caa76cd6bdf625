"""The command line: its commands, one file each, and how it starts, stops and reports errors."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any, NoReturn

import click

from ordag import __version__
from ordag.cli.help import complete_command, format_status, in_options
from ordag.cli.progress import Progress, say
from ordag.common.files import remove_unfinished
from ordag.common.words import did_you_mean, harmless, quoted
from ordag.errors import ColumnWarning, DataError, OrdagError, OrdagWarning, WorkerError

COMMANDS = {
    "learn": "Learn the causal graph behind DATA.",
    "check": "Check how far the arrows that ordag learn finds in DATA can be trusted.",
    "effect": "Estimate the total causal effect of one variable on another in the model learned from DATA.",
    "ahead": "Forecast the series in DATA beyond its last time, with intervals.",
    "test": "Test whether a graph holds in DATA.",
    "adjust": "Say which variables to hold fixed to estimate an effect in a graph.",
    "changes": "Say which equations differ between two tables, or two groups of rows, and what explains a change.",
    "explain": "Say where odd rows of DATA come from.",
    "intervene": "Say what happens to every variable of DATA if some are set, shifted, or follow a rule.",
    "compare": "Learn from DATA with several methods, and compare their graphs.",
    "explore": "Open a workbench in the browser, where the graph of DATA follows every change.",
    "moments": "Write what learning needs of DATA to a small file.",
    "simulate": "Draw a random model of the given DESIGN, and rows from it.",
    "reproduce": "Reproduce the numerical results of Park & Kim: all of them, or those named.",
    "completion": "Print the script with which a shell completes ordag's commands, options, files and names.",
}
"""The commands with the first sentences of their help, so that listing them imports none."""

SIGNAL_SECONDS = 0.5
"""Time that Python has to react to a signal before the process is ended."""

BROKEN_WORKER_SECONDS = 10.0
"""Time that the remains of broken workers have to end, which usually takes under a second."""


class Commands(click.Group):
    """The group of commands, each imported when it is used, because most import SciPy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_status(formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(f"There is no command {quoted(args[:1])}.{did_you_mean(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = "help" if cmd_name == "completion" else cmd_name
            with nullcontext() if ctx.resilient_parsing else Progress():  # no progress while a shell completes
                self.add_command(getattr(import_module(f"ordag.cli.{module}"), cmd_name))
        return super().get_command(ctx, cmd_name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ordag")
def cli() -> None:
    """Learn causal graphs of Gaussian linear structural equation models from tables.

    ordag COMMAND --help lists the options of a command, with examples.

    \b
    ordag learn marks                        the built-in exam marks
    ordag learn data.csv --columns a,b,c     three columns of your own table
    ordag learn data.csv --out graph.dot     write the graph for Graphviz
    ordag learn - < data.csv                 a table from standard input
    ordag check data.csv                     check the assumptions
    ordag effect data.csv --from a --to b    a total causal effect
    ordag compare data.csv                   several methods side by side
    ordag explore data.csv                   the workbench in the browser
    ordag moments part.csv --out p.moments   a part of a table, for ordag learn p.moments q.moments
    ordag simulate homogeneous --out d.csv   a random model and data from it
    ordag reproduce --quick                  the paper's figures and tables
    ordag completion bash                    completion with the Tab key
    """


def main() -> None:
    """Run the command line: status 0 for an answer, 2 with one sentence for input that needs changing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            whole = (stream.encoding or "").lower() in ("utf-8", "utf8")  # but for paths that are not
            stream.reconfigure(errors="backslashreplace" if whole else "replace")
    output = sys.stdout
    try:
        with _stopped_in_order(), _plain_warnings():
            cli(prog_name="ordag", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        _let_feeders_end()
        click.echo("ordag: stopped", err=True)
        sys.exit(stopped_with(stop.__cause__ or stop))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        _refuse(error.format_message().replace("\n\t", " "), f" See {command} --help." if command else "")
    except OrdagError as error:
        if isinstance(error, WorkerError) or isinstance(error.__cause__, WorkerError):
            _let_feeders_end(BROKEN_WORKER_SECONDS)
        _refuse(in_options(error, cli.commands.values()), _way(error))
    except MemoryError:
        _refuse("There is not enough memory for this: use fewer columns (--columns) or a larger machine.")
    except BrokenPipeError:
        _leave_output()
        sys.exit(0)
    except OSError as error:
        what = "The answer could not be written" if error.filename is None else str(error.filename)
        _leave_output()
        _refuse(f"{what}: {error.strerror or error}.")
    except SystemExit:
        if sys.stdout is not output:  # what click does with a broken pipe: another stream, and status 1
            _leave_output()
            sys.exit(0)
        raise


def _refuse(sentence: str, hint: str = "") -> NoReturn:
    """Print an error as one sentence and exit with status 2."""
    stop = "" if sentence.rstrip(")").endswith((".", "?", "!")) else "."
    click.echo(f"Error: {harmless(sentence)}{stop}{hint}", err=True)
    sys.exit(2)


def _way(error: OrdagError) -> str:
    """Return the lines with a complete command that leads through all that stands in the way of a table, if one is known."""
    if not isinstance(error, DataError) or not error.way:
        return ""
    command = complete_command(sys.argv[1:], error.way)
    return f"\nThis command goes on with the rest:\n  {command}" if command else ""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, handled like Ctrl-C so that no worker and no unfinished file is left behind."""


def stopped_with(stop: BaseException) -> int:
    """Return the exit status of a stopped command: 130 after Ctrl-C, 143 if the system stopped it."""
    return 143 if isinstance(stop, Terminated) else 130


def _let_feeders_end(seconds: float = SIGNAL_SECONDS) -> None:
    """Wait for the threads that feed workers: they release semaphores, which Python would otherwise report as leaked at exit."""
    for thread in threading.enumerate():
        if thread.name == "QueueFeederThread":
            thread.join(seconds)


@contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, unless the caller handles them.

    Python runs signal handlers only between instructions, and a computation in a library may take minutes. So a thread receives the
    signals too, and ends the process if the handler has not run within half a second.
    """
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    mine = threading.current_thread() is threading.main_thread()
    default = (signal.SIG_DFL, signal.default_int_handler)
    before = {one: signal.getsignal(one) for one in map(signal.Signals.__getitem__, names) if mine}
    taken = [one for one, handler in before.items() if handler in default]
    handled = threading.Event()

    def stop(number: int, _: object) -> None:
        handled.set()
        for one in taken:
            if one != signal.SIGINT:
                signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    for one in taken:
        signal.signal(one, stop)
    near, far = socket.socketpair()
    try:
        if taken:
            far.setblocking(False)
            signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
            threading.Thread(target=_stop_soon, args=[near, stop, handled], daemon=True).start()
        yield
    finally:
        if taken:
            signal.set_wakeup_fd(-1)
        for one in taken:
            signal.signal(one, before[one])
        far.close()  # which ends the thread


def _stop_soon(signals: socket.socket, stop: Callable[[int, object], None], handled: threading.Event) -> None:
    """End the process after a signal that `stop` should handle, unless it runs in time."""
    with signals:
        while number := signals.recv(1):
            if signal.getsignal(number[0]) is stop and not handled.wait(SIGNAL_SECONDS):
                for worker in multiprocessing.active_children():
                    worker.kill()
                remove_unfinished()
                say("ordag: stopped")
                os._exit(130 if number[0] == signal.SIGINT else 143)
            handled.clear()


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print Ordag's warnings as sentences, each once, without the line of code."""
    with warnings.catch_warnings():
        default = warnings.showwarning
        printed: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, OrdagWarning):
                default(message, category, *place, **more)
            elif str(message) not in printed:
                printed.add(str(message))
                label = "" if issubclass(category, ColumnWarning) else "Warning: "
                say(f"{label}{in_options(OrdagError(str(message)), cli.commands.values())}")

        warnings.simplefilter("always", OrdagWarning)
        warnings.showwarning = show
        yield


def _leave_output() -> None:
    """Redirect standard output to nothing, so that Python does not try again to write its buffer."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
