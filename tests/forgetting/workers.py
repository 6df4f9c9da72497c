"""A process that forgets and is killed at a chosen statement."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import muniment
from muniment.testing import FakeEmbedder
from tests.forgetting.breaking import at_statement

SCOPE = {"tenant_id": "t1", "user_id": "u1", "agent_id": "a1"}


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(arguments: list[str]) -> None:
    """Open the store of the first argument and die at the statement of the second."""
    memory = muniment.open(arguments[0], embedder=FakeEmbedder())
    me: Any = memory.scoped(**SCOPE)
    with at_statement(memory, int(arguments[1]), die):
        me.forget_where(kinds=["feedback"], wait=True)


if __name__ == "__main__":
    main(sys.argv[1:])
