"""`ordag completion`: what a shell needs in order to complete commands, options, files and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ordag.cli.help import ManualPage

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=ManualPage)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Print the script that lets a shell complete ordag's commands, options, files and names.

    For the shell that is open, once: in bash and zsh evaluate what is printed, in fish source it. For every shell to come, put
    that line into ~/.bashrc or ~/.zshrc, or write what is printed to ~/.config/fish/completions/ordag.fish. bash must be 4.4 or
    newer.

    \b
    Examples
      eval "$(ordag completion bash)"
      eval "$(ordag completion zsh)"
      ordag completion fish | source
      ordag completion fish > ~/.config/fish/completions/ordag.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(context.find_root().command, {}, "ordag", "_ORDAG_COMPLETE").source())
