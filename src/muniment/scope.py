"""Whose memory it is, and who is calling: verified, complete, in every read and write."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

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


def checked_part(name: str, value: object) -> str:
    """Return one part of a scope as it is.

    Raises:
        ScopeError: It is missing, blank, `*`, not a string, longer than 256 characters, or
            contains control characters.
    """
    return _checked(name, value)


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


class SpaceType(StrEnum):
    """Who shares a space: one user's agents, a project, or a whole organisation."""

    USER = "user"
    PROJECT = "project"
    ORGANISATION = "organisation"


@dataclass(frozen=True, slots=True)
class Space:
    """A shared scope of a tenant: readable by verified claim, written only through review.

    Attributes:
        tenant_id: The customer or organisation.
        type: Who shares it.
        space_id: Which user, project or organisation.

    Raises:
        ScopeError: A part is missing, blank, `*`, not a string, or the type is unknown.
    """

    tenant_id: str
    type: SpaceType
    space_id: str

    def __post_init__(self) -> None:
        _checked("tenant_id", self.tenant_id)
        _checked("space_id", self.space_id)
        if not isinstance(self.type, SpaceType):
            raise ScopeError(f"A space's type must be one of: {', '.join(SpaceType)}.")

    @classmethod
    def of_user(cls, tenant_id: str, user_id: str) -> Space:
        """Return the space that all agents of one user share."""
        return cls(tenant_id, SpaceType.USER, user_id)

    def to_dict(self) -> dict[str, str]:
        """Return the three parts by name."""
        return {"tenant_id": self.tenant_id, "type": self.type.value, "space_id": self.space_id}


Owner: TypeAlias = Scope | Space
"""Whose a row is: one agent's memory of one user, or a shared space."""


class Role(StrEnum):
    """What a principal may do beyond its own scope."""

    REVIEWER = "reviewer"


def _are(members: object, *types: type) -> bool:
    return isinstance(members, frozenset) and all(isinstance(one, types) for one in members)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling, as proven by credentials.

    Attributes:
        tenant_id: The tenant whose data it may touch; never another's.
        principal_id: Its id, kept in decisions and audit entries.
        roles: What it may do.
        reach: The scopes and spaces it may review; None for every one of the tenant.

    Raises:
        ScopeError: A part is missing or blank, a role is none, or the reach leaves the tenant.
    """

    tenant_id: str
    principal_id: str
    roles: frozenset[Role]
    reach: frozenset[Owner] | None = None

    def __post_init__(self) -> None:
        _checked("tenant_id", self.tenant_id)
        _checked("principal_id", self.principal_id)
        if not _are(self.roles, Role):
            raise ScopeError("A principal's roles must be a frozenset of Role.")
        if self.reach is not None and not _are(self.reach, Scope, Space):
            raise ScopeError(
                "A principal's reach must be a frozenset of scopes and spaces, or None."
            )
        if any(owner.tenant_id != self.tenant_id for owner in self.reach or ()):
            raise ScopeError("A principal's reach must lie within its own tenant.")

    def reaches(self, owner: Owner) -> bool:
        """Return whether it may review what belongs to an owner."""
        if owner.tenant_id != self.tenant_id or Role.REVIEWER not in self.roles:
            return False
        return self.reach is None or owner in self.reach
