"""Whose memory it is: the verified, complete scope that every read and write carries."""

from __future__ import annotations

from dataclasses import dataclass

from muniment.errors import ScopeError

MAX_PART_LENGTH = 256


def _checked(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ScopeError(
            f"{name} must be a string, not {type(value).__name__}; there is no default {name}."
        )
    if not value.strip():
        raise ScopeError(f"{name} must not be empty or blank; there is no default {name}.")
    if value == "*":
        raise ScopeError(f"{name} must name exactly one {name}; '*' is not a wildcard here.")
    if len(value) > MAX_PART_LENGTH:
        raise ScopeError(f"{name} must have at most {MAX_PART_LENGTH} characters.")
    if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise ScopeError(f"{name} must not contain control characters or lone surrogates.")
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """The tenant, user and agent that a record belongs to.

    Parts are opaque. They are compared byte for byte: never trimmed, case-folded, normalised,
    joined by a delimiter or matched as patterns.

    Attributes:
        tenant_id: The customer or organisation.
        user_id: The person, as the application's authentication proved them.
        agent_id: The agent that remembers.

    Raises:
        ScopeError: A part is missing, blank, `*`, not a string, longer than 256 characters, or
            contains control characters.
    """

    tenant_id: str
    user_id: str
    agent_id: str

    def __post_init__(self) -> None:
        _checked("tenant_id", self.tenant_id)
        _checked("user_id", self.user_id)
        _checked("agent_id", self.agent_id)

    def to_dict(self) -> dict[str, str]:
        """Return the three parts by name."""
        return {
            "tenant_id": self.tenant_id,
            "user_id": self.user_id,
            "agent_id": self.agent_id,
        }
