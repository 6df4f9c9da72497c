"""What the adapters share: whose memory a run works with, and calls that hold up no event loop."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, TypeVar

from muniment.aio import AsyncMemory, AsyncScopedMemory
from muniment.errors import MissingExtraError, NotFoundError, ScopeError
from muniment.memory import Memory
from muniment.records import Packet
from muniment.scope import Scope
from muniment.scoped import ScopedMemory
from muniment.scoped.thread import Thread

T = TypeVar("T")

AnyMemory: TypeAlias = Memory | AsyncMemory
"""A memory, sync or async. The adapter does not close it: whoever opened it does."""

AnyScoped: TypeAlias = ScopedMemory | AsyncScopedMemory
"""The memory of one scope, sync or async."""


async def with_memory(memory: AnyMemory, work: Callable[[Memory], T]) -> T:
    """Run work on a memory in a worker thread and return its result."""
    if isinstance(memory, AsyncMemory):
        return await memory.run(work)
    return await to_thread(work, memory)


async def with_scoped(memory: AnyScoped, work: Callable[[ScopedMemory], T]) -> T:
    """Run work on the memory of a scope in a worker thread and return its result."""
    if isinstance(memory, AsyncScopedMemory):
        return await memory.run(work)
    return await to_thread(work, memory)


async def in_scope(memory: AnyMemory, scope: Scope, work: Callable[[ScopedMemory], T]) -> T:
    """Run work on the memory of a scope that was proven elsewhere, in a worker thread."""
    return await with_memory(memory, lambda sync: work(sync.scoped(**scope.to_dict())))


def known_scope(context: object) -> Scope | None:
    """Return the scope that a run's context names; None when it names none."""
    scope = context if isinstance(context, Scope) else getattr(context, "scope", None)
    return scope if isinstance(scope, Scope) else None


def scope_of(context: object) -> Scope:
    """Return whose memory a run works with, from the context that the application gave it.

    Args:
        context: A scope, or an object whose `scope` is one.

    Raises:
        ScopeError: It is neither.
    """
    scope = known_scope(context)
    if scope is None:
        raise ScopeError(
            "The run's context must be a Scope or have one as `scope`; the application sets it "
            "from verified claims, never from what a model says."
        )
    return scope


def show(
    scoped: ScopedMemory,
    question: str,
    *,
    limit: int,
    minimum_score: float,
    budget: int | None,
    kinds: Collection[str] | None = None,
    filters: Mapping[str, Any] | None = None,
) -> Packet | None:
    """Return what bears on a question, to be put before a model as data; None when nothing does.

    The audit trail says which records a model was shown.

    Args:
        scoped: Whose memory is asked.
        question: What the user said last.
        limit: Most records to show.
        minimum_score: Least score to show, in [0, 1].
        budget: Most tokens of the packet; None without limit.
        kinds: Kinds to look in. None for all.
        filters: Conditions on fields and metadata.
    """
    found = scoped.recall(
        question,
        limit=limit,
        minimum_score=minimum_score,
        budget=budget,
        kinds=kinds,
        filters=filters,
    )
    if not found.packet.items:
        return None
    scoped.delegate().note_used(found.packet)
    return found.packet


def has_event(thread: Thread, event_id: str) -> bool:
    """Return whether a thread holds an event."""
    try:
        thread.event(event_id)
    except NotFoundError:
        return False
    return True


def missing(framework: str, extra: str) -> MissingExtraError:
    """Return the error that says which extra brings a framework."""
    return MissingExtraError(
        f"The adapter needs {framework}; install it with: pip install 'muniment[{extra}]'."
    )
