"""`copy`: a whole store into another database."""

from __future__ import annotations

from typing import Annotated

import typer

from muniment.cli.options import Run, command
from muniment.cli.output import done
from muniment.cli.views import plural

app = typer.Typer()

Source = Annotated[str, typer.Argument(help="The store: a file or postgresql://…")]
Target = Annotated[str, typer.Argument(help="Where it goes: a file or postgresql://…")]
OwnerURL = Annotated[
    str | None,
    typer.Option(
        "--owner", help="URL of the role that owns a PostgreSQL target, to make a store there."
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        envvar="MUNIMENT_KEY",
        help="What guards both, as for every command. Without it the key file is copied too.",
    ),
]


@command(app, scope=False, embedder=False, store=False)
def copy(run: Run, source: Source, target: Target, owner: OwnerURL = None, key: Key = None) -> None:
    """Copy a store to another database, SQLite or PostgreSQL, and prove that both hold the same.

    Interrupted, it is carried on by asking again.

    Example: muniment copy memory.db postgresql://memory_web@db.example/memory
    """
    from muniment.providers.keys import open_key
    from muniment.storage.copying import copy_store

    with run.out.progress("Copying") as progress:
        did = copy_store(source, target, master=open_key(key), owner=owner, progress=progress)
    run.out.emit(
        {
            "owners": did.owners,
            "moved": did.moved,
            "rows": did.rows,
            "digest": did.digest,
        },
        done(
            f"Copied {plural(did.moved, 'scope')}.",
            f"{plural(did.owners, 'scope')} and {plural(did.rows, 'row')} are the same in both",
        ),
    )
