"""Words in, answers on the terminal out: the command line, one file a command."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import NoReturn, TextIO

import click

from ordag import __version__
from ordag.cli.check import check
from ordag.cli.compare import compare
from ordag.cli.effect import effect
from ordag.cli.learn import learn
from ordag.cli.reproduce import reproduce
from ordag.cli.simulate import simulate
from ordag.cli.typed import options_of, typed
from ordag.errors import OrdagError, OrdagWarning
from ordag.words import harmless


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ordag")
def cli() -> None:
    """Learn causal graphs of Gaussian linear structural equation models: order first, then the DAG.

    \b
    ordag learn marks                        the built-in exam marks
    ordag learn data.csv --columns a,b,c     three columns of your own table
    ordag learn data.csv --out graph.dot     and the graph for Graphviz
    ordag learn - < data.csv                 a table from standard input
    ordag check data.csv                     do the data fit what the method assumes?
    ordag effect data.csv --from a --to b    a total causal effect
    ordag compare data.csv                   methods side by side
    ordag simulate homogeneous --out d.csv   a random model and data from it
    ordag reproduce --quick                  the paper's figures and tables again
    """


COMMANDS = (learn, check, effect, compare, simulate, reproduce)

for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run the command line: status 0 for an answer, 2 for input that needs changing, with one sentence on what."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
    output = sys.stdout
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            cli(prog_name="ordag", standalone_mode=False)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("ordag: stopped", err=True)
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        _refuse(error.format_message(), f" See {command} --help." if command else "")
    except OrdagError as error:
        _refuse(typed(error, options_of(COMMANDS)))
    except BrokenPipeError:
        _nobody_reads_on()
    except SystemExit:
        if sys.stdout is not output:  # what click does with a broken pipe: another stream, and status 1
            _nobody_reads_on()
        raise


def _nobody_reads_on() -> NoReturn:
    """The reader of a pipe had enough, as after `| head`: no reason to complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _refuse(sentence: str, hint: str = "") -> NoReturn:
    """The one form of every error: a word, a sentence, status 2."""
    stop = "" if sentence.rstrip(")").endswith((".", "?", "!")) else "."
    click.echo(f"Error: {harmless(sentence)}{stop}{hint}", err=True)
    sys.exit(2)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Ordag's own warnings as sentences; others as Python shows them."""
    own = issubclass(category, OrdagWarning)
    sentence = harmless(str(message)) if own else warnings.formatwarning(message, category, filename, lineno, line)
    click.echo(f"Warning: {sentence}" if own else sentence, err=True, nl=own)
