"""The kind registry: which sorts of statement exist and what each may do, parsed from a policy."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from muniment.errors import InvalidInputError, PolicyError, UnknownKindError
from muniment.records import Family
from muniment.scope import Owner, Scope, SpaceType

_DAY = 86_400_000_000
_UNLIMITED = "unlimited"
_MODEL_ACCESS = ("write", "propose", "read")
_SENSITIVITIES = ("public", "internal", "personal", "sensitive")
_BOUNDARIES = ("user", "project", "organisation")
_REACHES = (SpaceType.USER, SpaceType.PROJECT, SpaceType.ORGANISATION)
_REQUIRED = ("family", "purpose", "readers", "model", "sensitivity", "lifetime", "longest",
             "boundary")  # fmt: skip
_OPTIONAL = ("one_per_field", "requires", "aliases", "auto_approve", "on_expiry", "clean_up")
_CLEAN_UP = ("age", "unused", "uses")
_ENDS = ("delete", "archive")


class Reader(StrEnum):
    """Who is shown records: each surface reads for one of them.

    `subject`: get, list, history and one's own candidates. `agent`: recall, answer and tools.
    `reviewer`: the review desk. `operator`: an export, which always holds everything.
    """

    SUBJECT = "subject"
    AGENT = "agent"
    REVIEWER = "reviewer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class CleanUpRule:
    """When a record is old and unused; all three must hold.

    Attributes:
        age: Microseconds since it was made, at least.
        unused: Microseconds since it was last shown, at least; or it was never shown.
        uses: How often it was shown, at most.
    """

    age: int
    unused: int
    uses: int

    def takes(self, now: int, made: int, shown: int, shown_at: int | None) -> bool:
        """Return whether a record is old and unused.

        Args:
            now: The present instant, microseconds since 1970, UTC.
            made: When it was made.
            shown: How often it was shown.
            shown_at: When last, or None.
        """
        idle = shown_at is None or now - shown_at >= self.unused
        return idle and now - made >= self.age and shown <= self.uses


@dataclass(frozen=True, slots=True)
class KindRule:
    """What the policy says about one kind.

    Attributes:
        name: The kind's name.
        family: semantic, episodic or procedural.
        purpose: What it is for, one sentence.
        readers: Who may read it.
        model: What a model may do with it: write, propose, read.
        sensitivity: public, internal, personal or sensitive.
        lifetime: Microseconds it lives when the writer gives no expiry, or None without limit.
        longest: Microseconds that no expiry may exceed, or None without limit.
        boundary: How far it may travel: user, project or organisation.
        one_per_field: Whether a field has at most one active record.
        requires: What a write must bring: `expires_at` or keys of its metadata.
        auto_approve: Proposers whose candidates of this kind need no review when nothing was found.
        on_expiry: What a sweep does with an expired record: delete it, or archive it, which keeps
            it out of every read and of recall, but in an export.
        clean_up: When maintenance deletes an unused record, or None for never.
    """

    name: str
    family: Family
    purpose: str
    readers: tuple[str, ...]
    model: tuple[str, ...]
    sensitivity: str
    lifetime: int | None
    longest: int | None
    boundary: str
    one_per_field: bool
    requires: tuple[str, ...]
    auto_approve: tuple[str, ...]
    on_expiry: str = "delete"
    clean_up: CleanUpRule | None = None

    def may_read(self, reader: Reader) -> bool:
        """Return whether a reader is shown this kind; an agent needs the model's access too."""
        if reader is Reader.AGENT and "read" not in self.model:
            return False
        return reader in self.readers

    def may_enter(self, owner: Owner) -> bool:
        """Return whether the boundary lets this kind into a scope or space.

        One user's own scopes and space are open to every kind.
        """
        if isinstance(owner, Scope):
            return True
        return _REACHES.index(owner.type) <= _BOUNDARIES.index(self.boundary)


@dataclass(frozen=True, slots=True)
class Policy:
    """The closed set of kinds of one memory.

    Attributes:
        version: The policy's own version number.
        kinds: Rules by kind.
        aliases: Other names and the kinds they stand for.
        candidate_lifetime: Microseconds after which a candidate nobody decided lapses.
        tombstone_lifetime: Microseconds that the tombstone of a forgotten or expired record is
            kept, or None without limit. Those of rejected and corrected values are always kept.
    """

    version: int
    kinds: Mapping[str, KindRule]
    aliases: Mapping[str, str]
    candidate_lifetime: int
    tombstone_lifetime: int | None = None

    def names(self, kinds: Collection[str]) -> frozenset[str]:
        """Return the kinds that names and aliases stand for.

        Raises:
            InvalidInputError: It is no collection of names.
            UnknownKindError: The policy has no such kind.
        """
        if isinstance(kinds, str) or not isinstance(kinds, Collection):
            raise InvalidInputError("kinds must be a list of kinds.")
        return frozenset(self.rule(kind).name for kind in kinds)

    def withheld(self, reader: Reader) -> frozenset[str]:
        """Return the kinds that a reader is not shown."""
        return frozenset(rule.name for rule in self.kinds.values() if not rule.may_read(reader))

    def rule(self, kind: object) -> KindRule:
        """Return the rule of a kind or of an alias.

        Raises:
            UnknownKindError: The policy has no such kind.
        """
        name = self.aliases.get(kind, kind) if isinstance(kind, str) else ""
        if name not in self.kinds:
            known = ", ".join(self.kinds)
            raise UnknownKindError(f"kind is not in the policy; use one of: {known}.")
        return self.kinds[name]


def parse_policy(text: str) -> Policy:
    """Return the policy written in a TOML text.

    Raises:
        PolicyError: The text is not TOML, or a kind is incomplete or contradicts itself.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"The policy is not valid TOML: {error}.") from None
    version, kinds = document.get("version"), document.get("kinds")
    if type(version) is not int or version < 1:
        raise PolicyError("The policy needs a version: a whole number from 1.")
    if not isinstance(kinds, dict) or not kinds:
        raise PolicyError("The policy needs at least one table [kinds.NAME].")
    rules = {name: _parse_kind(name, table) for name, table in kinds.items()}
    days = document.get("candidate_days", 30)
    if type(days) is not int or days < 1:
        raise PolicyError("candidate_days must be a whole number of days from 1.")
    kept = document.get("tombstone_days", _UNLIMITED)
    if kept != _UNLIMITED and (type(kept) is not int or kept < 1):
        raise PolicyError(f"tombstone_days must be a number of days or {_UNLIMITED!r}.")
    lifetime = None if kept == _UNLIMITED else kept * _DAY
    return Policy(version, rules, _aliases(kinds), days * _DAY, lifetime)


def _parse_kind(name: str, table: Mapping[str, Any]) -> KindRule:
    missing = [key for key in _REQUIRED if key not in table]
    unknown = [key for key in table if key not in _REQUIRED + _OPTIONAL]
    if missing or unknown:
        words = "lacks " + ", ".join(missing) if missing else "has unknown " + ", ".join(unknown)
        raise PolicyError(f"kind {name} {words}.")
    lifetime, longest = (_span(name, key, table[key]) for key in ("lifetime", "longest"))
    if longest is not None and (lifetime is None or lifetime > longest):
        raise PolicyError(f"kind {name} lives longer than its longest lifetime.")
    requires = _texts(name, "requires", table.get("requires", []))
    if name == "constraint" and not {"expires_at", "owner"} <= set(requires):
        raise PolicyError("kind constraint must require expires_at and owner.")
    if not isinstance(table["purpose"], str) or not table["purpose"].strip():
        raise PolicyError(f"kind {name} needs a purpose: one sentence.")
    return KindRule(
        name=name,
        family=Family(_one_of(name, "family", table["family"], tuple(Family))),
        purpose=table["purpose"],
        readers=_some_of(name, "readers", table["readers"], tuple(Reader)),
        model=_some_of(name, "model", table["model"], _MODEL_ACCESS),
        sensitivity=_one_of(name, "sensitivity", table["sensitivity"], _SENSITIVITIES),
        lifetime=lifetime,
        longest=longest,
        boundary=_one_of(name, "boundary", table["boundary"], _BOUNDARIES),
        one_per_field=table.get("one_per_field") is not False,
        requires=requires,
        auto_approve=_texts(name, "auto_approve", table.get("auto_approve", [])),
        on_expiry=_one_of(name, "on_expiry", table.get("on_expiry", "delete"), _ENDS),
        clean_up=_clean_up(name, table.get("clean_up")),
    )


def _clean_up(kind: str, table: object) -> CleanUpRule | None:
    if table is None:
        return None
    parts = table if isinstance(table, dict) else {}
    numbers = [parts[key] for key in _CLEAN_UP if type(parts.get(key)) is int]
    if set(parts) != set(_CLEAN_UP) or len(numbers) < len(_CLEAN_UP) or min(numbers) < 0:
        raise PolicyError(
            f"kind {kind}: clean_up must say age and unused in days, and uses: three whole numbers."
        )
    age, unused, uses = numbers
    return CleanUpRule(age * _DAY, unused * _DAY, uses)


def _span(kind: str, key: str, value: object) -> int | None:
    if value == _UNLIMITED:
        return None
    if type(value) is not int or value < 1:
        raise PolicyError(f"kind {kind}: {key} must be a number of days or {_UNLIMITED!r}.")
    return value * _DAY


def _texts(kind: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PolicyError(f"kind {kind}: {key} must be a list of words.")
    return tuple(value)


def _one_of(kind: str, key: str, value: object, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise PolicyError(f"kind {kind}: {key} must be one of: {', '.join(allowed)}.")
    return value


def _some_of(kind: str, key: str, value: object, allowed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_one_of(kind, key, item, allowed) for item in _texts(kind, key, value))


def _aliases(kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, table in kinds.items():
        for alias in _texts(name, "aliases", table.get("aliases", [])):
            if alias in kinds or alias in found:
                raise PolicyError(f"kind {name}: the alias {alias} already names a kind.")
            found[alias] = name
    return found
