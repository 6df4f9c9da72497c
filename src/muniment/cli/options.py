"""What every command shares: where the store is, whose memory it is, how to print."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from muniment.cli.output import Out
from muniment.errors import InvalidInputError, ScopeError
from muniment.scope import Principal, Role, Scope, Space, SpaceType

if TYPE_CHECKING:
    from muniment.memory import Memory
    from muniment.records import JSONValue
    from muniment.scoped import ReviewDesk, ScopedMemory

P = ParamSpec("P")

DEFAULT_STORE = "muniment.db"
FILE_KEY = "MUNIMENT_FILE_KEY"
"""Variable with the passphrase of a wholly encrypted file; never an option, which others see."""
PANEL = "Where, whose and how"
_PARTS = ("tenant", "user", "agent")
_REVIEWER = ("tenant", "principal")
_TIMES = ("created_at", "valid_from", "valid_until", "expires_at")
_TEXT_NAMES = frozenset({"kind", "field", "source_id", "actor", *_TIMES})

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="MUNIMENT_STORE",
        help="File of the store, or postgresql://…",
        rich_help_panel=PANEL,
    ),
]
TenantOption = Annotated[
    str | None,
    typer.Option(envvar="MUNIMENT_TENANT", help="Tenant of the scope.", rich_help_panel=PANEL),
]
UserOption = Annotated[
    str | None,
    typer.Option(envvar="MUNIMENT_USER", help="User of the scope.", rich_help_panel=PANEL),
]
AgentOption = Annotated[
    str | None,
    typer.Option(envvar="MUNIMENT_AGENT", help="Agent of the scope.", rich_help_panel=PANEL),
]
PrincipalOption = Annotated[
    str | None,
    typer.Option(
        envvar="MUNIMENT_PRINCIPAL",
        help="Who reviews: an id that decisions and the audit trail keep.",
        rich_help_panel=PANEL,
    ),
]
SpacesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--space",
        metavar="TYPE/ID",
        help="A shared space within reach, such as project/apollo. May be repeated.",
        rich_help_panel=PANEL,
    ),
]
EmbedderOption = Annotated[
    str,
    typer.Option(
        envvar="MUNIMENT_EMBEDDER",
        help="auto, none, local, openai:MODEL or azure:DEPLOYMENT.",
        rich_help_panel=PANEL,
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        envvar="MUNIMENT_POLICY",
        help="TOML file with the kinds. Without it the built-in ones.",
        rich_help_panel=PANEL,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        envvar="MUNIMENT_KEY",
        help="file:PATH, env:NAME or keyring:SERVICE/NAME. Without it the file STORE.key.",
        rich_help_panel=PANEL,
    ),
]
JSONOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=PANEL),
]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: the shared options and the way to print.

    Attributes:
        store: File of the store, or the URL of a PostgreSQL database.
        embedder: Which embedder to use, by name.
        tenant: Tenant of the scope, or None.
        user: User of the scope, or None.
        agent: Agent of the scope, or None.
        out: Where to print.
        policy: TOML file with the kinds, or None for the built-in ones.
        key: What guards the store, by name, or None for its key file.
        principal: Who reviews, or None.
        spaces: The shared spaces that may be read, as given.
    """

    store: Path | str
    embedder: str
    tenant: str | None
    user: str | None
    agent: str | None
    out: Out
    policy: Path | None = None
    key: str | None = None
    principal: str | None = None
    spaces: tuple[str, ...] = ()

    @contextmanager
    def memory(
        self,
        *,
        model: str | None = None,
        reranker: str | None = None,
        create: bool = False,
        sealed: bool | None = None,
    ) -> Iterator[Memory]:
        """Open the store, and close it at the end.

        Args:
            model: Name of the language model, or None.
            reranker: Name of the reranker, or None.
            create: Whether to make the file when it does not exist.
            sealed: Whether a new store is sealed; None for what the store says of itself.

        Raises:
            StoreError: The file is missing, foreign, damaged or too new, or its key is missing.
        """
        from muniment.memory import open as open_memory

        with open_memory(
            self.store,
            embedder=self.embedder,
            reranker=reranker,
            model=model,
            policy=self.policy,
            create=create,
            sealed=sealed,
            key=self.key,
            file_key=os.environ.get(FILE_KEY) or None,
        ) as memory:
            yield memory

    @contextmanager
    def scoped(
        self, *, model: str | None = None, reranker: str | None = None
    ) -> Iterator[ScopedMemory]:
        """Open the store for the scope that was given, and close it at the end.

        Args:
            model: Name of the language model, or None.
            reranker: Name of the reranker, or None.

        Raises:
            ScopeError: A part of the scope was not given.
        """
        scope = self.scope()
        spaces = [parse_space(scope.tenant_id, one) for one in self.spaces]
        with self.memory(model=model, reranker=reranker) as memory:
            me = memory.scoped(
                tenant_id=scope.tenant_id, user_id=scope.user_id, agent_id=scope.agent_id
            )
            yield me.with_spaces(*spaces) if spaces else me

    @contextmanager
    def reviewing(self) -> Iterator[ReviewDesk]:
        """Open the store for the reviewer that was given, and close it at the end.

        Raises:
            ScopeError: The tenant or the principal was not given.
        """
        tenant, principal = self.given("tenant", "principal")
        with self.memory() as memory:
            yield memory.reviewing(Principal(tenant, principal, frozenset({Role.REVIEWER})))

    def scope(self) -> Scope:
        """Return the scope.

        Raises:
            ScopeError: A part was not given. No part has a default.
        """
        return Scope(*self.given(*_PARTS))

    def given(self, *parts: str) -> tuple[str, ...]:
        """Return parts of a scope, or the principal, by name.

        Raises:
            ScopeError: One was not given. None has a default.
        """
        found = {part: getattr(self, part) for part in parts}
        missing = [part for part, value in found.items() if value is None]
        if missing:
            options = ", ".join(f"--{part}" for part in missing)
            variables = ", ".join(f"MUNIMENT_{part.upper()}" for part in missing)
            what = "The scope" if parts == _PARTS else "Who is calling"
            raise ScopeError(
                f"{what} is incomplete and has no defaults; pass {options} or set {variables}."
            )
        return tuple(found.values())


def command(
    app: typer.Typer,
    *,
    name: str | None = None,
    scope: bool = True,
    reviewer: bool = False,
    spaces: bool = False,
    store: bool = True,
    embedder: bool = True,
) -> Callable[[Callable[Concatenate[Run, P], None]], Callable[Concatenate[Run, P], None]]:
    """Register a function as a command and give it the shared options.

    The function receives a `Run` in front of its own parameters.

    Args:
        app: Where to register it.
        name: Its name, when it is not the function's.
        scope: Whether it works in one scope.
        reviewer: Whether it is a reviewer's, who has a tenant and no scope.
        spaces: Whether it may read shared spaces.
        store: Whether it works on a store.
        embedder: Whether it may use an embedder.
    """
    shared = [
        *([("store", StoreOption, DEFAULT_STORE)] if store else []),
        *((part, _WHO[part], None) for part in (_REVIEWER if reviewer else _PARTS) if scope),
        *([("spaces", SpacesOption, None)] if spaces else []),
        *([("embedder", EmbedderOption, "auto")] if embedder else []),
        *([("policy", PolicyOption, None), ("key", KeyOption, None)] if store else []),
        ("as_json", JSONOption, False),
    ]

    def register(
        function: Callable[Concatenate[Run, P], None],
    ) -> Callable[Concatenate[Run, P], None]:
        def called(**given: object) -> None:
            taken = {key: given.pop(key, default) for key, _, default in shared}
            function(_run(taken), **given)  # type: ignore[call-arg, arg-type]

        _sign(called, function, shared)
        app.command(name or function.__name__, help=_help(function))(called)
        return function

    return register


_WHO: Mapping[str, Any] = {
    "tenant": TenantOption,
    "user": UserOption,
    "agent": AgentOption,
    "principal": PrincipalOption,
}


def _location(given: str) -> Path | str:
    return given if given.startswith(("postgresql://", "postgres://")) else Path(given)


def _run(taken: Mapping[str, Any]) -> Run:
    return Run(
        store=_location(taken.get("store", DEFAULT_STORE)),
        embedder=taken.get("embedder", "none"),
        **{part: taken.get(part) for part in _WHO},
        policy=taken.get("policy"),
        key=taken.get("key"),
        spaces=tuple(taken.get("spaces") or ()),
        out=Out(as_json=taken["as_json"]),
    )


def _help(function: Callable[..., None]) -> str:
    """Return a docstring with every paragraph on one line, to be wrapped by the terminal."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _sign(
    called: Callable[..., None],
    function: Callable[..., None],
    shared: Sequence[tuple[str, Any, object]],
) -> None:
    """Give a function the name and parameters of another, and the shared options."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *(parameter.replace(kind=keyword) for parameter in own),
        *(inspect.Parameter(n, keyword, default=d, annotation=a) for n, a, d in shared),
    ]
    called.__name__ = function.__name__
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]


def parse_space(tenant_id: str, given: str) -> Space:
    """Return the space of a tenant that is written TYPE/ID; the id may hold slashes.

    Raises:
        ScopeError: It is written otherwise, or there is no such type.
    """
    name, slash, space_id = given.partition("/")
    if not slash or name not in tuple(SpaceType):
        raise ScopeError(f"--space must be written TYPE/ID with a type of {', '.join(SpaceType)}.")
    return Space(tenant_id, SpaceType(name), space_id)


def parse_value(text: str) -> JSONValue:
    """Return the JSON value that a text is, or the text itself when it is not JSON."""
    try:
        value: JSONValue = json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return text
    return value


def _not_json(constant: str) -> None:
    raise ValueError(constant)


def parse_pairs(option: str, pairs: Sequence[str]) -> dict[str, JSONValue]:
    """Return NAME=VALUE arguments as a mapping; a value may be JSON.

    Raises:
        InvalidInputError: One has no name or no `=`, or a name is given twice.
    """
    found: dict[str, JSONValue] = {}
    for place, pair in enumerate(pairs, start=1):
        name, equals, value = pair.partition("=")
        if not name.strip() or not equals:
            raise InvalidInputError(f"{option} number {place} must be written NAME=VALUE.")
        if name in found:
            raise InvalidInputError(f"{option} number {place} repeats a name; give it once.")
        found[name] = parse_value(value)
    return found


def parse_changes(
    *, value: str | None, metadata: Sequence[str] | None, **texts: str | None
) -> dict[str, object]:
    """Return what a correction changes: the options that were given, by name.

    Raises:
        InvalidInputError: None was given, or a label is malformed.
    """
    changes: dict[str, object] = {name: text for name, text in texts.items() if text is not None}
    if value is not None:
        changes["value"] = parse_value(value)
    if metadata:
        changes["metadata"] = parse_pairs("--metadata", metadata)
    if not changes:
        raise InvalidInputError("Name what to correct, such as --text or --value.")
    return changes


def parse_filters(pairs: Sequence[str]) -> dict[str, JSONValue] | None:
    """Return --filter arguments as filters; what a record keeps as text is compared as text.

    Raises:
        InvalidInputError: One has no name or no `=`, a name is given twice, or a condition is not
            the JSON that it begins as.
    """
    found = parse_pairs("--filter", pairs)
    for number, (name, _, value) in enumerate((pair.partition("=") for pair in pairs), start=1):
        if name in _TEXT_NAMES and not isinstance(found[name], Mapping):
            found[name] = value
        elif found[name] == value and value.lstrip().startswith(("{", "[")):
            raise InvalidInputError(
                f"--filter number {number} begins like JSON and is none; write a text in quotes."
            )
    return found or None
