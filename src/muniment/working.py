"""Working state: what one run needs while it runs, and nothing that lasts."""

from __future__ import annotations

from typing import Generic, NoReturn, TypeVar

from muniment.errors import InvalidInputError

T = TypeVar("T")


class WorkingState(Generic[T]):
    """Holds the state of one run in memory. It is never persisted by accident.

    It refuses to be pickled, copied into another process or written as JSON, and shows no content
    in a log. What has to outlive the run is said explicitly, to a workflow or a thread.

    Args:
        value: The state; give it a type of your own, such as a dataclass.
    """

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        """Return what it is, and nothing of what it holds."""
        return f"WorkingState({type(self.value).__name__})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be pickled.

        Raises:
            InvalidInputError: Always.
        """
        raise InvalidInputError(
            "Working state lives in memory only; keep what has to last with workflow.note or "
            "thread.set_state."
        )
