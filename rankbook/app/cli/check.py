"""``rankbook check``: the conformance checks of a solver."""

import json
import re
from dataclasses import asdict
from typing import Annotated

import typer

from .reading import parse_options
from .report import say

Name = Annotated[str, typer.Argument(metavar="NAME", help="Of a solver: see rankbook solvers.")]
Options = Annotated[
    list[str], typer.Option("--option", metavar="KEY=VALUE", help="Of the solver; several times.")
]
TimeLimit = Annotated[float, typer.Option(help="Seconds that a check may take.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]


def check(
    solver: Name, option: Options = None, time_limit: TimeLimit = 120.0, as_json: AsJson = False
):
    """Put a solver through checks on degenerate data.

    The command exits with 1 if one fails.
    """
    from rankbook.registry.plugins import get_solver
    from rankbook.testing.kit import check_solver

    asked = (solver, parse_options(option, "--option"))
    try:
        get_solver(asked)
    except (ValueError, TypeError) as error:  # here a name is an argument
        if type(error) not in (ValueError, TypeError):
            raise
        said = re.sub("^solver is", "NAME is", re.sub("^option (?!--)", "--option ", str(error)))
        raise type(error)(said) from error
    table = check_solver(asked, time_limit=time_limit)
    say(json.dumps([asdict(row) for row in table], indent=2) if as_json else str(table))
    if table.failed:
        raise typer.Exit(1)
