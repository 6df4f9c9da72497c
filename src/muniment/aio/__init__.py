# Generated from the sync facade by `python scripts/generate_aio`; do not edit.
"""The async facade: the same verbs, run on worker threads, so that the event loop never waits.

::

    async with await open_async("agent-memory.db") as memory:
        me = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
        found = await me.recall("Which region?")

Storage and model calls have separate threads, so that a slow model holds up no recall. A call that
is cancelled while it runs may still commit: repeat it with the same `source_id` and it is written
once. A `progress` callback runs on the worker's thread. The arguments and errors are those of the
sync method of the same name, whose docstring describes them.
"""

from __future__ import annotations

from muniment.aio.memory import AsyncMemory, open_async
from muniment.aio.scoped.checkpoints import AsyncCheckpoints
from muniment.aio.scoped.delegate import AsyncDelegate
from muniment.aio.scoped.desk import AsyncReviewDesk
from muniment.aio.scoped.items import AsyncItems
from muniment.aio.scoped.memory import AsyncScopedMemory
from muniment.aio.scoped.thread import AsyncThread
from muniment.aio.scoped.workflow import AsyncWorkflow

__all__ = [
    "AsyncCheckpoints",
    "AsyncDelegate",
    "AsyncItems",
    "AsyncMemory",
    "AsyncReviewDesk",
    "AsyncScopedMemory",
    "AsyncThread",
    "AsyncWorkflow",
    "open_async",
]
