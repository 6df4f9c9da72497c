"""Puts our memory tools in the place of the SDK's own, which keep files on disk."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

import pytest
from anthropic.lib.tools import _beta_builtin_memory_tool as sdk

import muniment
from muniment import ScopedMemory
from muniment.adapters.anthropic_tool import AsyncMunimentMemoryTool, MunimentMemoryTool
from muniment.adapters.memory_files import MemoryFiles

_folder = tempfile.TemporaryDirectory()
_memory = muniment.open(Path(_folder.name, "memory.db"), embedder="none", sealed=True)
_numbers = count()
_scopes: dict[str, ScopedMemory] = {}


def _scope(base_path: str) -> ScopedMemory:
    """Return the memory of a tool of the suite: one scope for each folder that it names."""
    if base_path not in _scopes:
        user = f"user_{next(_numbers)}"
        _scopes[base_path] = _memory.scoped(tenant_id="acme", user_id=user, agent_id="suite")
    return _scopes[base_path]


class SuiteTool(MunimentMemoryTool):
    """Our tool with the constructor of the SDK's."""

    def __init__(self, base_path: str) -> None:
        super().__init__(_scope(base_path))
        self.base_path = base_path


class AsyncSuiteTool(AsyncMunimentMemoryTool):
    """Our async tool with the constructor of the SDK's."""

    def __init__(self, base_path: str) -> None:
        super().__init__(_scope(base_path))
        self.base_path = base_path


sdk.BetaLocalFilesystemMemoryTool = SuiteTool  # type: ignore[misc, assignment]
sdk.BetaAsyncLocalFilesystemMemoryTool = AsyncSuiteTool  # type: ignore[misc, assignment]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the suite look at our files instead of a folder on disk."""
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        module.get_directory_snapshot = lambda path: MemoryFiles(_scope(path)).snapshot()


def pytest_sessionfinish() -> None:
    """Close what was opened."""
    _memory.close()
    _folder.cleanup()
