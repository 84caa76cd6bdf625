"""Words in, answers on the terminal out: the command line, one file per command."""

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
from ordag.cli.help import format_status
from ordag.cli.progress import Progress, say
from ordag.cli.typed import options_of, typed
from ordag.errors import OrdagError, OrdagWarning, WorkerError
from ordag.files import remove_unfinished
from ordag.words import did_you_mean, harmless, quoted

COMMANDS = {
    "learn": "Learn the causal graph behind DATA.",
    "check": "Say how far the arrows that ordag learn finds in DATA can be trusted.",
    "effect": "The total causal effect of one variable on another in the model learned from DATA.",
    "compare": "Learn from DATA with several methods, and lay their graphs side by side.",
    "explore": "Open a workbench in the browser, in which the graph of DATA follows every change.",
    "moments": "Keep what learning needs of DATA in a file.",
    "simulate": "Draw a random model of the given DESIGN, and rows from it.",
    "reproduce": "Run the numerical results of Park & Kim again: all of them, or those named.",
    "completion": "Print the script that lets a shell complete ordag's commands, options, files and names.",
}
"""Each with a sentence on it, so that the list of them is there at once."""


SOON = 0.5
"""Seconds that Python has to hear of a signal."""

AT_LAST = 10.0
"""Seconds that what is left of broken workers has to end, which takes hardly one."""


class Commands(click.Group):
    """Commands in files of their own, each of which is imported when it is asked for: most bring SciPy with them."""

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
            with nullcontext() if ctx.resilient_parsing else Progress():  # a shell that completes wants no words
                self.add_command(getattr(import_module(f"ordag.cli.{cmd_name}"), cmd_name))
        return super().get_command(ctx, cmd_name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ordag")
def cli() -> None:
    """Learn causal graphs of Gaussian linear structural equation models: order first, then the DAG.

    COMMAND --help has the options of a command, with examples.

    \b
    ordag learn marks                        the built-in exam marks
    ordag learn data.csv --columns a,b,c     three columns of your own table
    ordag learn data.csv --out graph.dot     and the graph for Graphviz
    ordag learn - < data.csv                 a table from standard input
    ordag check data.csv                     do the data fit what the method assumes?
    ordag effect data.csv --from a --to b    a total causal effect
    ordag compare data.csv                   methods side by side
    ordag explore data.csv                   change settings, units and knowledge in the browser
    ordag moments part.csv --out p.moments   a part of a table; then: ordag learn p.moments q.moments
    ordag simulate homogeneous --out d.csv   a random model and data from it
    ordag reproduce --quick                  the paper's figures and tables again
    ordag completion bash                    completion with the Tab key
    """


def main() -> None:
    """Run the command line: status 0 for an answer, 2 for input that needs changing, with one sentence on what."""
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
            _let_feeders_end(AT_LAST)
        _refuse(typed(error, options_of(cli.commands.values())))
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
    """The one form of every error: a word, a sentence, status 2."""
    stop = "" if sentence.rstrip(")").endswith((".", "?", "!")) else "."
    click.echo(f"Error: {harmless(sentence)}{stop}{hint}", err=True)
    sys.exit(2)


class Terminated(KeyboardInterrupt):
    """The system asks the process to end: it is done as after Ctrl-C, so that no worker and no file is left behind."""


def stopped_with(stop: BaseException) -> int:
    """The status of a command that was stopped: 130 by Ctrl-C, 143 by the system."""
    return 143 if isinstance(stop, Terminated) else 130


def _let_feeders_end(seconds: float = SOON) -> None:
    """The thread that feeds workers gives semaphores back when they are gone. Cut off in the middle by the end of the process, it would
    have them called leaks, after the last word."""
    for thread in threading.enumerate():
        if thread.name == "QueueFeederThread":
            thread.join(seconds)


@contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP, where nobody else has a use for them, end what is going on as Ctrl-C does.

    Python hears of a signal when the library that computes comes back, which may take minutes. So a thread hears of it too, and ends the
    process if Python does not begin to within half a second.
    """
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    mine = threading.current_thread() is threading.main_thread()
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {one: signal.getsignal(one) for one in map(signal.Signals.__getitem__, names) if mine}
    taken = [one for one, handler in before.items() if handler in usual]
    heard = threading.Event()

    def stop(number: int, _: object) -> None:
        heard.set()
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
            threading.Thread(target=_stop_soon, args=[near, stop, heard], daemon=True).start()
        yield
    finally:
        if taken:
            signal.set_wakeup_fd(-1)
        for one in taken:
            signal.signal(one, before[one])
        far.close()  # which ends the thread


def _stop_soon(signals: socket.socket, stop: Callable[[int, object], None], heard: threading.Event) -> None:
    """End the process for a signal that is `stop`'s, unless that has been called soon after."""
    with signals:
        while number := signals.recv(1):
            if signal.getsignal(number[0]) is stop and not heard.wait(SOON):
                for worker in multiprocessing.active_children():
                    worker.kill()
                remove_unfinished()
                say("ordag: stopped")
                os._exit(130 if number[0] == signal.SIGINT else 143)
            heard.clear()


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show warnings of Ordag as sentences, each once, without the line of code that they come from."""
    with warnings.catch_warnings():
        usual = warnings.showwarning
        said: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, OrdagWarning):
                usual(message, category, *place, **more)
            elif str(message) not in said:
                said.add(str(message))
                say(f"Warning: {harmless(str(message))}")

        warnings.simplefilter("always", OrdagWarning)
        warnings.showwarning = show
        yield


def _leave_output() -> None:
    """Give up standard output, so that Python does not try again to write what is left in its buffer."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
