"""Anthropic's SDK: its memory tool (`memory_20250818`) over files of one scope, and the tools.

::

    tools = [MunimentMemoryTool(me), *memory_tools(me, writes="explicit")]
    client.beta.messages.tool_runner(tools=tools, model=…, max_tokens=…, messages=…).until_done()

In the memory tool Claude keeps notes in files below `/memories`. They are its notebook, not
records: nothing of them is recalled, and a fact becomes a record only through the gate. Made for
anthropic 2; the interfaces are `anthropic.tools.memory.BetaAbstractMemoryTool` and
`anthropic.lib.tools.BetaBuiltinFunctionTool`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from muniment.adapters.bridge import AnyScoped, missing, with_scoped
from muniment.adapters.memory_files import FileCommandError, MemoryFiles
from muniment.errors import InvalidInputError, RefusedError
from muniment.scoped import ScopedMemory
from muniment.scoped.delegate import Writes
from muniment.tools import MemoryTools, Tool, ToolResult, definitions

try:
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaBuiltinFunctionTool,
        ToolError,
    )
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
        BetaToolUnionParam,
    )
except ImportError as error:
    raise missing("anthropic", "anthropic") from error


class MunimentMemoryTool(BetaAbstractMemoryTool):
    """The memory tool of one scope.

    Args:
        memory: The memory of the scope. It is not closed by the tool.
        cache_control: As in the SDK.
    """

    def __init__(
        self,
        memory: ScopedMemory,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(memory)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or directory."""
        return _told(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return _told(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file."""
        return _told(
            lambda: self._files.str_replace(command.path, command.old_str, command.new_str)
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text into a file."""
        return _told(
            lambda: self._files.insert(command.path, command.insert_line, command.insert_text)
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or directory."""
        return _told(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or directory."""
        return _told(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Delete every file of the scope."""
        return _told(self._files.clear)


class AsyncMunimentMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool of one scope for the async client.

    Args:
        memory: The memory of the scope, sync or async. It is not closed by the tool.
        cache_control: As in the SDK.
    """

    def __init__(
        self,
        memory: AnyScoped,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or directory."""
        return await self._on_files(lambda files: files.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return await self._on_files(lambda files: files.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file."""
        return await self._on_files(
            lambda files: files.str_replace(command.path, command.old_str, command.new_str)
        )

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text into a file."""
        return await self._on_files(
            lambda files: files.insert(command.path, command.insert_line, command.insert_text)
        )

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or directory."""
        return await self._on_files(lambda files: files.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or directory."""
        return await self._on_files(lambda files: files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        """Delete every file of the scope."""
        return await self._on_files(MemoryFiles.clear)

    async def _on_files(self, work: Callable[[MemoryFiles], str]) -> str:
        return await with_scoped(
            self._memory, lambda scoped: _told(lambda: work(MemoryFiles(scoped)))
        )


def memory_tools(
    memory: ScopedMemory, *, writes: Writes = "propose", kind: str = "fact"
) -> list[BetaBuiltinFunctionTool]:
    """Return the memory tools of one scope for `client.beta.messages.tool_runner`.

    Args:
        memory: The memory of the scope.
        writes: What the application lets the agent write; see `muniment.tools`.
        kind: The kind of what `remember_fact` stores.
    """
    tools = MemoryTools(memory, writes=writes, kind=kind)
    return [_FactTool(tools, tool) for tool in tools.definitions]


def async_memory_tools(
    memory: AnyScoped, *, writes: Writes = "propose", kind: str = "fact"
) -> list[BetaAsyncBuiltinFunctionTool]:
    """Return the memory tools of one scope for the tool runner of the async client.

    Args:
        memory: The memory of the scope, sync or async.
        writes: What the application lets the agent write; see `muniment.tools`.
        kind: The kind of what `remember_fact` stores.
    """

    def make(scoped: ScopedMemory) -> MemoryTools:
        return MemoryTools(scoped, writes=writes, kind=kind)

    return [_AsyncFactTool(memory, make, tool) for tool in definitions(writes)]


class _FactTool(BetaBuiltinFunctionTool):
    def __init__(self, tools: MemoryTools, tool: Tool) -> None:
        self._tools = tools
        self._tool = tool

    def to_dict(self) -> BetaToolUnionParam:
        return cast("BetaToolUnionParam", self._tool.to_dict())

    def call(self, input: object) -> str:
        return _read(self._tools.call(self._tool.name, input))


class _AsyncFactTool(BetaAsyncBuiltinFunctionTool):
    def __init__(
        self, memory: AnyScoped, make: Callable[[ScopedMemory], MemoryTools], tool: Tool
    ) -> None:
        self._memory = memory
        self._make = make
        self._tool = tool

    def to_dict(self) -> BetaToolUnionParam:
        return cast("BetaToolUnionParam", self._tool.to_dict())

    async def call(self, input: object) -> str:
        name = self._tool.name
        return _read(
            await with_scoped(self._memory, lambda scoped: self._make(scoped).call(name, input))
        )


def _read(result: ToolResult) -> str:
    if result.is_error:
        raise ToolError(result.text)
    return result.text


def _told(command: Callable[[], str]) -> str:
    """Carry out a command; what the model did wrong is an error that it reads."""
    try:
        return command()
    except (FileCommandError, InvalidInputError, RefusedError) as wrong:
        raise ToolError(str(wrong)) from wrong
