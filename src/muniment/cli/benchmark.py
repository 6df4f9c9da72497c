"""Placeholder of `benchmark`."""

import typer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def group() -> None:
    """Nothing yet."""
