"""Groups of commands."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class DefaultGroup(TyperGroup):
    """A group of commands that does the first of them when none is named."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - what typer passes
        super().__init__(**attributes)
        name, first = next(iter(self.commands.items()))
        options = (max(one.opts, key=len) for one in first.params)
        named = ", ".join(option for option in options if option.startswith("--"))
        self.epilog = f"With no command it does `{name}` and takes its options: {named}."

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put the first command in front of arguments that name none and ask for no help."""
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else [next(iter(self.commands)), *args])
