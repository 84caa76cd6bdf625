"""Words in, answers on the terminal out: the command line, one file a command."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ordag import __version__
from ordag.cli.check import check
from ordag.cli.compare import compare
from ordag.cli.effect import effect
from ordag.cli.learn import learn
from ordag.cli.reproduce import reproduce
from ordag.cli.simulate import simulate
from ordag.errors import OrdagError, OrdagWarning


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ordag")
def cli() -> None:
    """Learn causal graphs of Gaussian linear structural equation models: order first, then the DAG.

    \b
    ordag learn marks                        the built-in exam marks
    ordag learn data.csv --columns a,b,c     three columns of your own table
    ordag learn data.csv --out graph.dot     and the graph for Graphviz
    ordag check data.csv                     do the data fit what the method assumes?
    ordag effect data.csv --from a --to b    a total causal effect
    ordag compare data.csv                   methods side by side
    ordag simulate homogeneous --out d.csv   a random model and data from it
    ordag reproduce --quick                  the paper's figures and tables again
    """


for command in (learn, check, effect, compare, simulate, reproduce):
    cli.add_command(command)


def main() -> None:
    """Run the command line: status 0 for an answer, 2 for input that needs changing, with one sentence on what."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
    try:
        with _stopped_in_order(), _plain_warnings():
            cli(standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        click.echo("ordag: stopped", err=True)
        sys.exit(143 if isinstance(stop.__cause__ or stop, Terminated) else 130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except OrdagError as error:
        click.echo(f"ordag: {error}", err=True)
        sys.exit(2)
    except MemoryError:
        click.echo(
            "ordag: there is not enough memory for this: use fewer columns (--columns) or a larger machine.", err=True
        )
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        what = "the answer could not be written" if error.filename is None else str(error.filename)
        click.echo(f"ordag: {what}: {error.strerror or error}.", err=True)
        _leave_output()
        sys.exit(2)


class Terminated(KeyboardInterrupt):
    """The system asks the process to end: it is done as after Ctrl-C, so that no worker and no file is left behind."""


@contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP, where nobody else has a use for them, end what is going on as Ctrl-C does."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    mine = threading.current_thread() is threading.main_thread()
    taken = [one for one in map(signal.Signals.__getitem__, names) if mine and signal.getsignal(one) == signal.SIG_DFL]

    def stop(*_: object) -> None:
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        raise Terminated

    for one in taken:
        signal.signal(one, stop)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


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
                click.echo(f"ordag: warning: {message}", err=True)

        warnings.simplefilter("always", OrdagWarning)
        warnings.showwarning = show
        yield


def _leave_output() -> None:
    """Give up standard output, so that Python does not try again to write what is left in its buffer."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
