"""The arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Text = Annotated[str, typer.Argument(help="The statement.", show_default=False)]
Kind = Annotated[str, typer.Option(help="What sort of statement: preference, decision, context, …")]
SourceId = Annotated[
    str,
    typer.Option(
        help="Your own stable id of where it comes from. Repeating a call with it writes once."
    ),
]
Field = Annotated[str | None, typer.Option(help="Name of the structured part.")]
Value = Annotated[
    str | None, typer.Option(help="The structured part: JSON, or else the text as it stands.")
]
_TIME = "ISO-8601 with Z or an offset."
ExpiresAt = Annotated[str | None, typer.Option(help=f"When to stop keeping it. {_TIME}")]
ValidFrom = Annotated[str | None, typer.Option(help=f"From when it is true. {_TIME}")]
ValidUntil = Annotated[str | None, typer.Option(help=f"Until when it is true. {_TIME}")]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", help="NAME=VALUE, a label of your own. May be repeated."),
]
OverrideTombstone = Annotated[
    str | None,
    typer.Option(
        metavar="REASON",
        help="Why a value that was rejected or corrected may come back. The audit trail keeps it.",
    ),
]
NewText = Annotated[str | None, typer.Option("--text", help="The statement as it should be.")]

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The record.", show_default=False)]
CandidateId = Annotated[
    str, typer.Argument(metavar="ID", help="The candidate.", show_default=False)
]
CandidateIds = Annotated[
    list[str], typer.Argument(metavar="ID…", help="The candidates.", show_default=False)
]
Status = Annotated[str, typer.Option(help="pending, approved, rejected or lapsed.")]
Version = Annotated[
    list[int] | None,
    typer.Option(
        "--version", help="The version that was shown. With several ids, once for each, in order."
    ),
]
ContentHash = Annotated[
    list[str] | None,
    typer.Option("--content-hash", help="The content hash that was shown, likewise."),
]
Reason = Annotated[str, typer.Option(help="Why. It is kept with the candidate.")]

Limit = Annotated[int, typer.Option(help="Most records to return.")]
Cursor = Annotated[str | None, typer.Option(help="The cursor that the page before printed.")]
PageLimit = Annotated[int, typer.Option("--limit", help="Most to return, up to 1,000.")]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", help="A kind to look in. May be repeated.")
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="NAME=VALUE, or NAME={operator: value} as JSON. Names: metadata.NAME, field, value, "
        "source_id, created_at, … May be repeated.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask first.")]
Wait = Annotated[
    bool, typer.Option("--wait", help="Rewrite the file at once, so that no byte is left in it.")
]
PolicyFile = Annotated[Path, typer.Argument(help="TOML file with the kinds.", show_default=False)]
AllAgents = Annotated[
    bool, typer.Option("--all-agents", help="Of the user with every agent; --agent is not used.")
]
SkipErrors = Annotated[
    bool, typer.Option("--skip-errors", help="Leave out what cannot be taken in.")
]
