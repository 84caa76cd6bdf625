"""Words in, answers on the terminal out: the command line, one file a command."""

from __future__ import annotations

import io
import sys

import click

from ordag import __version__
from ordag.cli.check import check
from ordag.cli.compare import compare
from ordag.cli.effect import effect
from ordag.cli.learn import learn
from ordag.cli.reproduce import reproduce
from ordag.cli.simulate import simulate
from ordag.errors import OrdagError


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
        cli(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("ordag: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except OrdagError as error:
        click.echo(f"ordag: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
