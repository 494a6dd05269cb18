"""``rankbook new-solver``: the files of a solver plugin."""

from typing import Annotated

import typer

NewName = Annotated[str, typer.Argument(metavar="NAME", help="Of the solver, and of its folder.")]


def new_solver(name: NewName):
    """Write the files of a new solver, one that works.

    It is there to be changed, and shared.
    """
    from rankbook.app.new_solver import write_new_solver

    for file in write_new_solver(name):
        typer.echo(f"wrote {file}")
    typer.echo(f"now: pip install -e {name} && pytest {name}")
