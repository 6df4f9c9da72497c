"""Governed, durable long-term memory for AI agents.

::

    import muniment

    memory = muniment.open("agent-memory.db")
    me = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
    me.remember("Prefers the eu-west region.", kind="preference", source_id="p1", approved=True)
    print(me.recall("Which region?").packet)
"""

from __future__ import annotations

from muniment.errors import (
    BatchError,
    ConflictError,
    InvalidInputError,
    MunimentError,
    NoModelError,
    NotApprovedError,
    NotFoundError,
    ProviderError,
    RefusedError,
    ScopeError,
    StoreError,
    TombstonedError,
)
from muniment.memory import Memory, open
from muniment.records import Packet, Record, Statement
from muniment.results import Answer, Receipt, Written
from muniment.scope import Scope
from muniment.scoped import ScopedMemory
from muniment.trace import Recall, RecallTrace
from muniment.usefulness import Usefulness

__all__ = [
    "Answer",
    "BatchError",
    "ConflictError",
    "InvalidInputError",
    "Memory",
    "MunimentError",
    "NoModelError",
    "NotApprovedError",
    "NotFoundError",
    "Packet",
    "ProviderError",
    "Recall",
    "RecallTrace",
    "Receipt",
    "Record",
    "RefusedError",
    "Scope",
    "ScopeError",
    "ScopedMemory",
    "Statement",
    "StoreError",
    "TombstonedError",
    "Usefulness",
    "Written",
    "open",
]
