"""A process that charges a card and is killed at a place of the test's choosing.

Usage: python -m tests.threads.workers STORE WORLD PLACE

PLACE is `before` the effect, `between` effect and acknowledgement, or `after` it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import muniment


def charge(world: Path, key: str) -> str:
    """Charge once by idempotency key, as a payment service does, and note that it was called."""
    with (world / "calls").open("a") as calls:
        calls.write(key + "\n")
    (world / f"charge-{key}").touch()
    return f"receipt-{key}"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(store: str, world: Path, place: str) -> None:
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
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
