"""Every error muniment raises, as one tree.

::

    MunimentError                    code
    ├── InvalidInputError            invalid_input      (also a ValueError)
    │   ├── ScopeError               invalid_scope
    │   ├── NotApprovedError         not_approved
    │   ├── UnknownKindError         unknown_kind
    │   ├── FilterError              invalid_filter
    │   ├── CursorError              invalid_cursor
    │   ├── PolicyError              invalid_policy
    │   └── ImportFileError          invalid_file
    ├── RefusedError                 refused
    ├── ForbiddenError               forbidden
    ├── NotFoundError                not_found
    ├── ConflictError                conflict
    │   ├── StaleApprovalError       stale_approval
    │   ├── VersionConflictError     version_conflict
    │   └── UncertainEffectError     uncertain_effect
    ├── TombstonedError              tombstoned
    ├── BatchError                   batch_failed
    ├── ProviderError                provider_failed
    │   └── NoModelError             no_model
    ├── MissingExtraError            missing_extra      (also an ImportError)
    └── StoreError                   store_failed
        ├── StoreBusyError           store_busy
        │   └── TenantMovedError     tenant_moved
        ├── StoreUnavailableError    store_unavailable
        ├── UnsafeRoleError          unsafe_role
        ├── StoreClosedError         store_closed
        ├── StoreCorruptError        store_corrupt
        │   └── TamperedError        tampered
        ├── KeyMissingError          key_missing
        ├── WrongKeyError            wrong_key
        ├── StoreVersionError        store_version
        └── ForeignFileError         foreign_file

A message says what is wrong and what to do next. It never contains the text, value or metadata
of a record: only names of parameters, ids, counts and positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


class MunimentError(Exception):
    """The root of every error raised by muniment.

    Attributes:
        code: Stable, machine-readable name of the error, the same on every surface.
        details: Facts about the error that are safe to log (ids, names, numbers).
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.details: Mapping[str, object] = details

    def to_dict(self) -> dict[str, object]:
        """Return the one error shape used by the command line and other surfaces."""
        shape: dict[str, object] = {"code": self.code, "message": str(self)}
        if self.details:
            shape["details"] = dict(self.details)
        return {"error": shape}


class InvalidInputError(MunimentError, ValueError):
    """An argument is missing, malformed or out of range."""

    code = "invalid_input"


class ScopeError(InvalidInputError):
    """A scope part is missing, blank, a wildcard or not a string."""

    code = "invalid_scope"


class NotApprovedError(InvalidInputError):
    """`remember` was called without the application's approval."""

    code = "not_approved"


class UnknownKindError(InvalidInputError):
    """The kind is not in the policy."""

    code = "unknown_kind"


class FilterError(InvalidInputError):
    """A filter names an unknown record field or operator, or has a value of the wrong type."""

    code = "invalid_filter"


class CursorError(InvalidInputError):
    """A cursor was altered, or belongs to another scope or other filters."""

    code = "invalid_cursor"


class PolicyError(InvalidInputError):
    """The policy text is incomplete or contradicts itself."""

    code = "invalid_policy"


class ImportFileError(InvalidInputError):
    """A file to import is malformed, so nothing of it was read into the store.

    Attributes:
        line: Number of the line, or place of the item in a JSON list, from 1.
    """

    code = "invalid_file"

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"Line {line}: {message}", line=line)
        self.line = line


class RefusedError(MunimentError):
    """The write gate refused the text. Names the class and position of the finding only."""

    code = "refused"


class ForbiddenError(MunimentError):
    """The principal's roles or reach do not allow this."""

    code = "forbidden"


class NotFoundError(MunimentError):
    """No such record in this scope. A record of another scope is always *not found*."""

    code = "not_found"


class ConflictError(MunimentError):
    """The source_id already identifies a different statement in this scope."""

    code = "conflict"


class StaleApprovalError(ConflictError):
    """What would be approved is not what was shown: look at it again."""

    code = "stale_approval"


class VersionConflictError(ConflictError):
    """A thread has another version than the writer saw: read it again and decide anew."""

    code = "version_conflict"


class UncertainEffectError(ConflictError):
    """Nobody knows whether a step had its effect: look there, then resolve it."""

    code = "uncertain_effect"


class TombstonedError(MunimentError):
    """The statement was forgotten, and a write tried to bring it back."""

    code = "tombstoned"


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One item of a batch that could not be written.

    Attributes:
        index: Position in the batch, from 0.
        error: What was wrong with it.
    """

    index: int
    error: MunimentError

    def to_dict(self) -> dict[str, int | str]:
        """Return the position, code and message."""
        return {"index": self.index, "code": self.error.code, "message": str(self.error)}


class BatchError(MunimentError):
    """At least one item of a batch was wrong, so nothing of the batch was written.

    Attributes:
        items: Every item that was wrong, in order.
    """

    code = "batch_failed"

    def __init__(self, message: str, items: Sequence[BatchItem]) -> None:
        super().__init__(message, items=[item.to_dict() for item in items])
        self.items = tuple(items)


class ProviderError(MunimentError):
    """An embedder or a language model failed."""

    code = "provider_failed"


class NoModelError(ProviderError):
    """`answer` needs a language model and none is configured.

    Attributes:
        packet: The packet that the model would have been shown.
    """

    code = "no_model"

    def __init__(self, message: str, packet: object) -> None:
        super().__init__(message)
        self.packet = packet


class MissingExtraError(MunimentError, ImportError):
    """An optional dependency is not installed. Names the extra to install."""

    code = "missing_extra"


class StoreError(MunimentError):
    """The database failed. The transaction was rolled back as a whole."""

    code = "store_failed"


class StoreBusyError(StoreError):
    """Another process held the database's write lock for longer than the busy timeout."""

    code = "store_busy"


class TenantMovedError(StoreBusyError):
    """A tenant is on its way from one server to another. Nothing was done; retry."""

    code = "tenant_moved"


class StoreUnavailableError(StoreError):
    """The database cannot be reached, ended the session, or has no connection free.

    A write that was not acknowledged may or may not have been kept; repeat it with its source_id.
    """

    code = "store_unavailable"


class UnsafeRoleError(StoreError):
    """Row-level security would not hold for the role that opens the store, so it is not served."""

    code = "unsafe_role"


class StoreClosedError(StoreError):
    """The store was closed and cannot be used again."""

    code = "store_closed"


class StoreCorruptError(StoreError):
    """The database file is damaged."""

    code = "store_corrupt"


class TamperedError(StoreCorruptError):
    """Something in the database was not written by muniment with this store's key."""

    code = "tampered"


class KeyMissingError(StoreError):
    """The store's key is not where it should be. Nothing was touched."""

    code = "key_missing"


class WrongKeyError(StoreError):
    """The key is not this store's, or not a key. Nothing was touched."""

    code = "wrong_key"


class StoreVersionError(StoreError):
    """The file was written by a newer muniment, or this SQLite is not safe to use."""

    code = "store_version"


class ForeignFileError(StoreError):
    """The file is not a muniment store. It was not touched."""

    code = "foreign_file"
