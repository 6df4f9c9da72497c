"""The command `muniment`: one command per verb of the facade, and what an operator needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from muniment.cli import (
    auditing,
    benchmark,
    copying,
    demo,
    evaluate,
    exporting,
    forgetting,
    importing,
    judging,
    merging,
    policies,
    proposing,
    reading,
    reviewing,
    tenants,
    threads,
    upkeep,
    writing,
)
from muniment.cli.errors import guarded

__all__ = ["app", "main"]

HELP = (
    "Governed, durable long-term memory for AI agents.\n\n"
    "What reads or writes records needs a complete scope: --tenant, --user and --agent, or the "
    "variables MUNIMENT_TENANT, MUNIMENT_USER and MUNIMENT_AGENT. There is no default user.\n\n"
    "Begin with `muniment demo`, or with `muniment init`."
)

app = typer.Typer(
    name="muniment",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"muniment {version('muniment')}")
        raise typer.Exit


@app.callback(help=HELP)
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version)
    ] = False,
) -> None:
    """Options of the command itself."""


for part in (writing, reading, judging, proposing):
    app.add_typer(part.app)
app.add_typer(reviewing.app, name="review", help="Decide about candidates, as a reviewer.")
app.add_typer(forgetting.app)
app.add_typer(forgetting.receipts, name="receipt", help="The evidence of deletions.")
app.add_typer(threads.app, name="thread", help="Conversations and workflows.")
for part in (exporting, importing):
    app.add_typer(part.app)
app.add_typer(auditing.app, name="audit", help="Who did what, and whether all is as it was.")
app.add_typer(auditing.keys, name="keys", help="What guards the store.")
app.add_typer(tenants.app, name="tenants", help="Which server each tenant lives on.")
app.add_typer(policies.app, name="policy", help="The kinds, and what each may do.")
for part in (upkeep, merging, copying, demo):
    app.add_typer(part.app)
app.add_typer(upkeep.maintain, name="maintain", help="Do what is due, and see what waits.")
app.add_typer(evaluate.app, name="eval", help="Measure how well recall finds what it should.")
app.add_typer(benchmark.app, name="bench", help="Measure what recall costs.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 failed, 2 misused.

    Args:
        arguments: What follows the command's name. None for those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    before_dashes = given[: given.index("--")] if "--" in given else given
    return guarded(
        lambda: app(args=given, prog_name="muniment", standalone_mode=False),
        as_json="--json" in before_dashes,
    )
