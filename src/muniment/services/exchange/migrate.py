"""Takes in what other systems keep, through the write gate, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from muniment.errors import InvalidInputError, UnknownKindError
from muniment.ports import OldTables, Transaction
from muniment.records import Authority, WritePath
from muniment.results import Outcome
from muniment.scope import Owner, Scope
from muniment.services.exchange.files import Source
from muniment.services.exchange.knowing import as_written
from muniment.services.exchange.ledger import LINE_ERRORS, Ledger, NothingSavedError, check_mode
from muniment.services.exchange.origins import ORIGINS
from muniment.services.exchange.origins.base import Found, Options, Origin
from muniment.services.gate import Gate
from muniment.services.past import Admitted, Author
from muniment.transfers import ImportReport

if TYPE_CHECKING:
    from muniment.services.review import Reviewing
    from muniment.services.vectors import Progress

Place: TypeAlias = Callable[[Found], Owner | None]

DEFAULT_KIND = "verified_fact"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an operator asks of an import from another system.

    Attributes:
        mode: `all_or_nothing` or `skip`.
        approved: Whether the operator approves all of it.
        kind: The kind of items that name none, or None for a verified fact.
        namespace: The part of a source with namespaces that is wanted.
        assume_utc: Whether a time without an offset is UTC.
        progress: Called with how many statements are embedded and how many there are.
    """

    mode: str
    approved: bool
    kind: str | None
    namespace: tuple[str, ...]
    assume_utc: bool
    progress: Progress | None


@dataclass(slots=True)
class Newcomer:
    """One row on its way into the store.

    Attributes:
        found: The row.
        owner: Where it goes.
        admitted: Its statement after the write gate.
        author: Who writes it.
        vector: Its embedding, or None.
    """

    found: Found
    owner: Owner
    admitted: Admitted
    author: Author
    vector: bytes | None = None


class Migrating:
    """Imports from other systems."""

    def __init__(self, gate: Gate, reviewing: Reviewing, old_tables: OldTables) -> None:
        self._gate = gate
        self._reviewing = reviewing
        self._old_tables = old_tables

    def scope(
        self, scope: Scope, origin: str, source: Source, wishes: Wishes, known_as: str | None
    ) -> ImportReport:
        """Take in what a source holds of one scope.

        Args:
            scope: Where it goes.
            origin: The name of the system.
            source: Its file.
            wishes: What the operator asks.
            known_as: The person's id in that system when it differs.

        Raises:
            InvalidInputError: The source cannot be read, or an argument is unknown.
            ImportFileError: The file is malformed; nothing was written.
            BatchError: A row cannot be taken in and the mode is all or nothing.
            StoreError: A database failed; nothing was written.
        """
        user = scope.user_id if known_as is None else known_as

        def place(found: Found) -> Owner | None:
            named = (found.tenant_id, found.user_id, found.agent_id)
            wanted = (scope.tenant_id, user, scope.agent_id)
            pairs = zip(named, wanted, strict=True)
            return scope if all(one is None or one == other for one, other in pairs) else None

        return self._migrate(origin, source, wishes, place)

    def tenant(
        self,
        origin: str,
        source: Source,
        wishes: Wishes,
        *,
        tenant_id: str,
        agent_id: str | None,
    ) -> ImportReport:
        """Take in what a source holds of every user of a tenant.

        Raises:
            InvalidInputError: As for one scope; or the origin does not say whose its items are, or
                names no agent and none is given.
        """
        if origin in ORIGINS and not ORIGINS[origin].names_user:
            raise InvalidInputError(f"{origin} does not say whose its items are; import by scope.")

        def place(found: Found) -> Owner | None:
            if found.tenant_id not in (None, tenant_id):
                return None
            agent = agent_id if found.agent_id is None else found.agent_id
            if agent is None:
                raise InvalidInputError("agent_id is required: the source names no agent.")
            return Scope(tenant_id, found.user_id or "", agent)

        return self._migrate(origin, source, wishes, place)

    def _migrate(self, origin: str, source: Source, wishes: Wishes, place: Place) -> ImportReport:
        if origin not in ORIGINS:
            raise InvalidInputError(f"origin must be one of: {', '.join(ORIGINS)}.")
        known = ORIGINS[origin]
        ledger = Ledger(check_mode(wishes.mode), "")
        options = Options(
            kind=DEFAULT_KIND if wishes.kind is None else wishes.kind,
            assume_utc=wishes.assume_utc,
            namespace=wishes.namespace,
            now=self._gate.clock.now(),
            is_kind=self._is_kind,
        )
        found = list(known.read(source, options, self._old_tables))
        ledger.read = len(found)
        newcomers = self._admit(found, origin, known, wishes, place, ledger)
        ledger.check()
        self._embed(newcomers, wishes.progress)
        try:
            return self._gate.store.write(lambda tx: self._store(tx, newcomers, ledger))
        except NothingSavedError as nothing:
            return nothing.report

    def _is_kind(self, kind: str) -> bool:
        try:
            self._gate.policy.rule(kind)
        except UnknownKindError:
            return False
        return True

    def _admit(
        self,
        found: Sequence[Found],
        origin: str,
        known: Origin,
        wishes: Wishes,
        place: Place,
        ledger: Ledger,
    ) -> list[Newcomer]:
        newcomers = []
        for one in found:
            try:
                newcomer = self._newcomer(one, origin, known, wishes, place, ledger)
            except LINE_ERRORS as error:
                ledger.fail(one.line, error, one.item_id)
                continue
            if newcomer is not None:
                newcomers.append(newcomer)
        return newcomers

    def _newcomer(
        self,
        one: Found,
        origin: str,
        known: Origin,
        wishes: Wishes,
        place: Place,
        ledger: Ledger,
    ) -> Newcomer | None:
        owner = place(one) if one.problem is None and one.reason != "other_scope" else None
        if one.problem is None and owner is None:
            ledger.skip(one.line, "other_scope", None)
            return None
        if one.problem is not None:
            raise one.problem
        if one.reason is not None:
            ledger.skip(one.line, one.reason, one.item_id)
            return None
        if known.names_user and one.user_id is None:
            raise InvalidInputError("The item does not say whose it is.")
        assert owner is not None
        assert one.statement is not None
        author = _author(origin, one, inferred=known.inferred and not wishes.approved)
        admitted = self._gate.admit(owner, one.statement, author)
        if author.path is WritePath.PROPOSE:
            self._gate.check_access(owner, admitted, author, "propose")
        if one.made_at is not None:
            admitted = as_written(admitted, one.made_at, self._gate)
        return Newcomer(one, owner, admitted, author)

    def _embed(self, newcomers: Sequence[Newcomer], progress: Progress | None) -> None:
        by_owner: dict[Owner, list[Newcomer]] = {}
        for one in newcomers:
            if one.author.path is WritePath.IMPORT:
                by_owner.setdefault(one.owner, []).append(one)
        for owner, some in by_owner.items():
            vectors = self._gate.embed(owner, [one.admitted for one in some], progress)
            for one, vector in zip(some, vectors, strict=True):
                one.vector = vector

    def _store(
        self, tx: Transaction, newcomers: Sequence[Newcomer], ledger: Ledger
    ) -> ImportReport:
        for one in newcomers:
            try:
                self._take(tx, one, ledger)
            except LINE_ERRORS as error:
                ledger.fail(one.found.line, error, one.found.item_id)
        return ledger.end()

    def _take(self, tx: Transaction, one: Newcomer, ledger: Ledger) -> None:
        gate, line, item_id = self._gate, one.found.line, one.found.item_id
        state = tx.ensure_owner(one.owner, gate.clock.now())
        proposed = tx.proposed(state, one.admitted.checked.source_id)
        if one.author.path is WritePath.PROPOSE:
            waits = self._propose(tx, one)
            known = proposed is not None or not waits
        else:
            written = gate.file(
                tx, one.owner, one.admitted, one.author, one.vector, made_at=one.found.made_at
            )
            waits = written.outcome is Outcome.CONTESTED
            known = written.outcome is Outcome.REPEATED or (waits and proposed is not None)
        if known:
            ledger.skip(line, "known", item_id)
            return
        ledger.saved += 1
        ledger.candidates += waits

    def _propose(self, tx: Transaction, one: Newcomer) -> bool:
        """Store a candidate, unless the same words are a record already."""
        gate, source_id = self._gate, one.admitted.checked.source_id
        state = tx.ensure_owner(one.owner, gate.clock.now())
        filed = tx.filed(state, source_id, gate.clock.now())
        if filed is not None and gate.is_payload(state, one.admitted, filed.payload_digest):
            return False
        self._reviewing.file_proposal(tx, one.owner, one.admitted, one.author)
        return True


def _author(origin: str, found: Found, *, inferred: bool) -> Author:
    evidence = (f"{origin}:{found.item_id}",)
    if inferred:
        return Author(f"import:{origin}", WritePath.PROPOSE, Authority.INFERRED, evidence=evidence)
    return Author("operator", WritePath.IMPORT, Authority.EXPLICIT, evidence=evidence)
