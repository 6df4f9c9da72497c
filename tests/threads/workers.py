"""A process that charges a card and is killed at a place of the test's choosing.

Usage: python -m tests.threads.workers STORE WORLD PLACE FILES

PLACE is `before` the effect, `between` effect and acknowledgement, or `after` it. FILES is the path
of the own files of a store in PostgreSQL, or empty.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import muniment
from muniment.storage import Postgres


def charge(world: Path, key: str) -> str:
    """Charge once by idempotency key, as a payment service does, and note that it was called."""
    with (world / "calls").open("a") as calls:
        calls.write(key + "\n")
    (world / f"charge-{key}").touch()
    return f"receipt-{key}"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(store: str | Postgres, world: Path, place: str) -> None:
    def effect(key: str) -> str:
        if place == "before":
            die()
        receipt = charge(world, key)
        if place == "between":
            die()
        return receipt

    with muniment.open(store, embedder="none") as memory:
        me = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
        me.workflow("order-7").run("charge", effect, key="key-1", tool_call_id="call_1")
        die()


if __name__ == "__main__":
    where, what, at, files = sys.argv[1:]
    main(Postgres(where, files=files) if files else where, Path(what), at)
