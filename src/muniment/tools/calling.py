"""Carrying out a tool call in one scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256

from muniment.aio import AsyncScopedMemory
from muniment.clock import new_id
from muniment.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    TombstonedError,
)
from muniment.records import PacketItem, canonical_json
from muniment.results import Candidate, Outcome
from muniment.rules.statement import field_key
from muniment.scoped import ScopedMemory
from muniment.scoped.delegate import Writes
from muniment.tools.definitions import Tool, ToolName, definitions
from muniment.tools.guidance import memory_rules
from muniment.tools.outcomes import (
    CONTESTED,
    GONE,
    SAVED,
    WAITING,
    Fact,
    Facts,
    Saved,
    ToolResult,
    Withdrawn,
)

DEFAULT_KIND = "fact"
DEFAULT_FACTS = 20
DEFAULT_HITS = 5
_SAME_NAME = 50
"""How many records that answer to a key are looked at, besides those that hold it."""

_TOLD = (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    TombstonedError,
)
"""What a model can do something about. A failing store or embedder is the application's matter."""

_Arguments = dict[str, str | int]


class MemoryTools:
    """The tools of an agent in one scope.

    Args:
        memory: The memory of the scope, made by the application from verified context.
        writes: `"propose"`: what the agent says waits for review. `"explicit"`: the application
            lets the agent write and delete for the person; it ranks below what the person says.
        kind: The kind of what `remember_fact` stores.
        language: Of the memory rules: `"en"` or `"fa"`.
        budget: Most tokens that `search_memory` may return.

    Raises:
        InvalidInputError: An argument is none of those above.
    """

    def __init__(
        self,
        memory: ScopedMemory,
        *,
        writes: Writes = "propose",
        kind: str = DEFAULT_KIND,
        language: str = "en",
        budget: int = 2_000,
    ) -> None:
        self._memory = memory
        self._delegate = memory.delegate(writes=writes)
        self._kind = kind
        self._budget = budget
        self._rules = memory_rules(language, writes=writes)
        self._tools = {one.name: one for one in definitions(writes)}
        self._actions: Mapping[ToolName, Callable[[_Arguments, str | None], object]] = {
            ToolName.REMEMBER: self._remember,
            ToolName.RECALL: self._recall,
            ToolName.LIST: self._list,
            ToolName.FORGET: self._forget,
            ToolName.SEARCH: self._search,
        }

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """The tools as a model sees them."""
        return tuple(self._tools.values())

    @property
    def rules(self) -> str:
        """The memory rules for the system prompt."""
        return self._rules

    def call(self, name: str, arguments: object, *, call_id: str | None = None) -> ToolResult:
        """Carry out one call of a model.

        What the model did wrong is a result with `is_error`; a write that is refused is audited.

        Args:
            name: The tool.
            arguments: What the model gave: a mapping of parameters to values.
            call_id: The framework's id of the call. The same call again writes nothing twice.

        Raises:
            InvalidInputError: There is no such tool.
            ProviderError: The embedder failed.
            StoreError: The database failed; nothing was written.
        """
        if name not in self._tools:
            raise InvalidInputError(f"There is no tool of this name; use {', '.join(ToolName)}.")
        tool = self._tools[ToolName(name)]
        try:
            outcome = self._actions[tool.name](self._checked(tool, arguments), call_id)
        except _TOLD as error:
            return ToolResult(error)
        assert isinstance(outcome, Facts | Saved | Withdrawn)
        return ToolResult(outcome)

    def _checked(self, tool: Tool, arguments: object) -> _Arguments:
        try:
            return tool.check(arguments)
        except InvalidInputError:
            if not tool.is_read_only:
                self._delegate.refuse("tool_arguments")
            raise

    def _remember(self, given: _Arguments, call_id: str | None) -> Saved:
        key, value = str(given["key"]).strip(), str(given["value"]).strip()
        source = new_id("src") if call_id is None else _source_of(call_id, key, value)
        try:
            written = self._delegate.remember(
                f"{key}: {value}", kind=self._kind, source_id=source, field=key, value=value
            )
        except (ConflictError, InvalidInputError) as error:
            self._delegate.refuse(error.code)
            raise
        if isinstance(written, Candidate):
            return _saved_candidate(written, key)
        if written.outcome is Outcome.CONTESTED:
            return Saved("contested", key, written.memory_id, written.candidate_id, CONTESTED)
        return Saved("saved", key, written.memory_id, None, SAVED)

    def _recall(self, given: _Arguments, _: str | None) -> Facts:
        return Facts(tuple(map(Fact.of_item, self._named(str(given["key"])))))

    def _named(self, key: str) -> list[PacketItem]:
        """Return what holds a key, and what is labelled with it among kinds that keep many.

        Both as recall shows them where it does, with what a system of record holds now.
        """
        wanted = field_key(key)
        recalled = self._memory.recall(key, limit=_SAME_NAME, minimum_score=-1, budget=None)
        found = {
            item.record.memory_id: item
            for item in recalled.packet
            if item.record.field and field_key(item.record.field) == wanted
        }
        holding = self._delegate.named(key)
        return [*(found.pop(item.record.memory_id, item) for item in holding), *found.values()]

    def _list(self, given: _Arguments, _: str | None) -> Facts:
        limit, cursor = int(given.get("limit", DEFAULT_FACTS)), given.get("cursor")
        page = self._delegate.list(limit=limit, cursor=None if cursor is None else str(cursor))
        return Facts(tuple(Fact.of(record) for record in page), page.cursor)

    def _search(self, given: _Arguments, _: str | None) -> Facts:
        found = self._memory.recall(
            str(given["query"]),
            limit=int(given.get("limit", DEFAULT_HITS)),
            budget=self._budget,
        )
        return Facts(tuple(Fact.of_item(item) for item in found.packet))

    def _forget(self, given: _Arguments, _: str | None) -> Withdrawn:
        key = str(given["key"]).strip()
        scope = self._memory.scope
        found = [one.record for one in self._named(key) if one.record.scope == scope]
        if not found:
            return Withdrawn("not_found", key, (), "Nothing is saved under this key.")
        receipts = tuple(self._delegate.forget(one.memory_id).receipt_id for one in found)
        return Withdrawn("deleted", key, receipts, GONE)


class AsyncMemoryTools:
    """The same tools over an async memory: calls run on its worker threads.

    Takes the arguments of `MemoryTools`.
    """

    def __init__(
        self,
        memory: AsyncScopedMemory,
        *,
        writes: Writes = "propose",
        kind: str = DEFAULT_KIND,
        language: str = "en",
        budget: int = 2_000,
    ) -> None:
        self._memory = memory
        self._make = partial(
            MemoryTools, writes=writes, kind=kind, language=language, budget=budget
        )
        self._rules = memory_rules(language, writes=writes)
        self._definitions = definitions(writes)

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """The tools as a model sees them."""
        return self._definitions

    @property
    def rules(self) -> str:
        """The memory rules for the system prompt."""
        return self._rules

    async def call(self, name: str, arguments: object, *, call_id: str | None = None) -> ToolResult:
        """Carry out one call of a model, as `MemoryTools.call` does."""
        return await self._memory.run(
            lambda sync: self._make(sync).call(name, arguments, call_id=call_id)
        )


def _source_of(call_id: str, key: str, value: str) -> str:
    """Return the source_id of a call: the same for the same call with the same arguments."""
    said = sha256(canonical_json([call_id, key, value]).encode("utf-8", "surrogatepass"))
    return f"tool:{said.hexdigest()[:32]}"


def _saved_candidate(candidate: Candidate, key: str) -> Saved:
    if candidate.memory_id is not None:
        return Saved("saved", key, candidate.memory_id, None, SAVED)
    return Saved("pending", key, None, candidate.candidate_id, WAITING)
