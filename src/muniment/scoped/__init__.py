"""The facade of one scope, in parts, and the review desk."""

from __future__ import annotations

from muniment.scoped.base import (
    DEFAULT_BUDGET,
    DEFAULT_LIMIT,
    DEFAULT_MINIMUM_SCORE,
    OnError,
    Progress,
    Services,
)
from muniment.scoped.checkpoints import Checkpoints
from muniment.scoped.delegate import Delegate
from muniment.scoped.desk import ReviewDesk
from muniment.scoped.items import Items
from muniment.scoped.memory import ScopedMemory
from muniment.scoped.thread import Thread
from muniment.scoped.workflow import Workflow

__all__ = [
    "DEFAULT_BUDGET",
    "DEFAULT_LIMIT",
    "DEFAULT_MINIMUM_SCORE",
    "Checkpoints",
    "Delegate",
    "Items",
    "OnError",
    "Progress",
    "ReviewDesk",
    "ScopedMemory",
    "Services",
    "Thread",
    "Workflow",
]
