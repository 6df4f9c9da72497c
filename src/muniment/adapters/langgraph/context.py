"""Whose memory a run may use: from the context that the application gave it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muniment.adapters.bridge import scope_of
from muniment.memory import Memory
from muniment.scoped.memory import ScopedMemory

Binding = Callable[[Any], ScopedMemory]
"""From the context of a run to the memory that the run may use."""


def binding(memory: Memory | Binding) -> Binding:
    """Return how the context of a run becomes a memory.

    Args:
        memory: A memory, when the context is a `Scope` or has one as `scope`; else a function from
            the context to the memory of its scope, which may also read spaces.
    """
    if not isinstance(memory, Memory):
        return memory
    return lambda context: memory.scoped(**scope_of(context).to_dict())
