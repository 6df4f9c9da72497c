"""Takes an export back in: what is known is skipped, what is new is stored under its own id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.clock import to_instant
from muniment.errors import ConflictError, ForbiddenError, InvalidInputError
from muniment.ports import ArchivedRecord, NewTombstone, Transaction
from muniment.records import Record, WritePath
from muniment.results import Candidate
from muniment.rules.statement import statement_of
from muniment.scope import Owner, Scope, Space
from muniment.services.admission import texts_of
from muniment.services.exchange.files import Source
from muniment.services.exchange.knowing import Knowing, arrived_id, as_written
from muniment.services.exchange.ledger import LINE_ERRORS, Ledger, NothingSavedError, check_mode
from muniment.services.exchange.lines import key_mark
from muniment.services.exchange.reading import ExportFile, Item, read_export
from muniment.services.exchange.refiling import Arrival, Refiling
from muniment.services.exchange.threads_lines import PlacedEntry
from muniment.services.gate import Gate
from muniment.services.past import Author
from muniment.services.threads.places import unpacked
from muniment.services.writes import OPERATOR as OPERATING
from muniment.transfers import ImportReport

if TYPE_CHECKING:
    from muniment.services.review import Reviewing
    from muniment.services.vectors import Progress

REVIEWED = "reviewed"
OPERATOR = "operator"
OTHER_KEY = (
    "The file's tombstones were made with another store's key; here they hold by id, not by value."
)


class Restoring:
    """Imports exports."""

    def __init__(self, gate: Gate, reviewing: Reviewing) -> None:
        self._gate = gate
        self._reviewing = reviewing

    def scope(
        self,
        scope: Scope,
        source: Source,
        *,
        mode: str,
        trust: str,
        rescope: bool,
        progress: Progress | None,
    ) -> ImportReport:
        """Take in what an export holds of one scope.

        Args:
            scope: The scope it goes to, whatever the file says.
            source: The export.
            mode: `all_or_nothing` or `skip`.
            trust: `reviewed` or `operator`.
            rescope: Whether an export of one other scope may go to this one, under new ids.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            InvalidInputError: The file cannot be read, or an argument is unknown.
            ImportFileError: A line is malformed; nothing was written.
            ForbiddenError: The file is another scope's.
            BatchError: A line cannot be taken in and the mode is all or nothing.
            StoreError: The database failed; nothing was written.
        """
        ledger = Ledger(check_mode(mode), _check_trust(trust))
        file = read_export(source)
        if not rescope and scope not in file.owners:
            raise ForbiddenError(
                "The export is of another scope; only an operator may bring it in here, with "
                "rescope."
            )
        if rescope and (len(file.owners) != 1 or not isinstance(file.owners[0], Scope)):
            raise ForbiddenError("Only an export of exactly one scope can be rescoped.")
        moved = rescope and file.owners[0] != scope
        targets = {file.owners[0] if moved else scope: scope}
        return self._restore(file, targets, ledger, progress)

    def user(
        self,
        tenant_id: str,
        user_id: str,
        source: Source,
        *,
        mode: str,
        trust: str,
        progress: Progress | None,
    ) -> ImportReport:
        """Take in an export of every scope of a user, and of the user's own space.

        Raises:
            InvalidInputError: The file cannot be read, or an argument is unknown.
            ImportFileError: A line is malformed; nothing was written.
            ForbiddenError: The file holds another user's data.
            BatchError: A line cannot be taken in and the mode is all or nothing.
            StoreError: The database failed; nothing was written.
        """
        ledger = Ledger(check_mode(mode), _check_trust(trust))
        space = Space.of_user(tenant_id, user_id)
        file = read_export(source)
        for owner in file.owners:
            own = isinstance(owner, Scope) and (owner.tenant_id, owner.user_id) == (
                tenant_id,
                user_id,
            )
            if not own and owner != space:
                raise ForbiddenError("The export holds data that is not this user's.")
        return self._restore(file, {owner: owner for owner in file.owners}, ledger, progress)

    def _restore(
        self,
        file: ExportFile,
        targets: Mapping[Owner, Owner],
        ledger: Ledger,
        progress: Progress | None,
    ) -> ImportReport:
        ledger.read = len(file.items)
        mine = [item for item in file.items if item.owner in targets]
        for item in file.items:
            if item.owner not in targets:
                ledger.skip(item.line, "other_scope", None)
        arrivals = self._admit(self._unknown(mine, targets, ledger), targets, ledger)
        ledger.check()
        self._embed(arrivals, progress)

        keys = self._gate.store.keys
        for owner, target in targets.items():
            foreign = file.marks[owner] != key_mark(keys, target)
            if foreign and any(isinstance(item.body, NewTombstone) for item in mine):
                ledger.note(OTHER_KEY)

        def work(tx: Transaction) -> ImportReport:
            for owner, target in targets.items():
                here = [one for one in arrivals if one.item.owner == owner]
                refiling = Refiling(self._gate, self._reviewing, tx, target, ledger)
                refiling.take(here, moved=owner != target, file_hash=file.sha256)
            return ledger.end()

        try:
            return self._gate.store.write(work)
        except NothingSavedError as nothing:
            return nothing.report

    def _unknown(
        self, items: Sequence[Item], targets: Mapping[Owner, Owner], ledger: Ledger
    ) -> list[Item]:
        """Leave out statements that are here already, before they are screened and embedded."""
        wanted = []
        with self._gate.store.snapshot() as view:
            states = {owner: view.owner(target) for owner, target in targets.items()}
            knowings = {
                owner: Knowing(self._gate, view, state, moved=owner != targets[owner])
                for owner, state in states.items()
                if state is not None
            }
            for item in items:
                try:
                    known = item.owner in knowings and knowings[item.owner].knows(item.body)
                except ConflictError as error:
                    ledger.fail(item.line, error, arrived_id(item.body))
                    continue
                if known:
                    ledger.skip(item.line, "known", arrived_id(item.body))
                else:
                    wanted.append(item)
        return wanted

    def _admit(
        self, items: Sequence[Item], targets: Mapping[Owner, Owner], ledger: Ledger
    ) -> list[Arrival]:
        """Check and screen every statement outside the transaction; a refusal is reported."""
        sources = {
            (item.owner, item.body.record.memory_id): item.body.record.source.source_id
            for item in items
            if isinstance(item.body, ArchivedRecord)
        }
        arrivals = []
        for item in items:
            try:
                arrivals.append(self._arrival(item, targets[item.owner], sources, ledger.trust))
            except LINE_ERRORS as error:
                ledger.fail(item.line, error, arrived_id(item.body))
        return arrivals

    def _arrival(
        self,
        item: Item,
        target: Owner,
        sources: Mapping[tuple[Owner, str], str],
        trust: str,
    ) -> Arrival:
        body, gate = item.body, self._gate
        if isinstance(body, Candidate):
            author = Author("operator", WritePath.IMPORT, body.authority)
            return Arrival(item, gate.admit(target, body.statement, author))
        if isinstance(body, PlacedEntry) and body.row.sort == "item":
            gate.check_texts(target, texts_of(unpacked(body.row.content)), OPERATING)
        if not isinstance(body, ArchivedRecord):
            return Arrival(item, None)
        record = body.record
        follows = sources.get((item.owner, record.follows or ""))
        statement = replace(statement_of(record), follows=follows)
        inferred = trust != OPERATOR and _is_inferred(record, gate)
        author = Author("operator", WritePath.IMPORT, record.authority)
        admitted = gate.admit(target, statement, author)
        made = to_instant("created_at", record.created_at)
        return Arrival(item, as_written(admitted, made, gate), inferred=inferred)

    def _embed(self, arrivals: Sequence[Arrival], progress: Progress | None) -> None:
        wanted = [one for one in arrivals if isinstance(one.item.body, ArchivedRecord)]
        by_owner: dict[Owner, list[Arrival]] = {}
        for one in wanted:
            by_owner.setdefault(one.item.owner, []).append(one)
        for owner, some in by_owner.items():
            batch = [one.admitted for one in some if one.admitted is not None]
            for one, vector in zip(some, self._gate.embed(owner, batch, progress), strict=True):
                one.vector = vector


def _check_trust(trust: str) -> str:
    if trust not in (REVIEWED, OPERATOR):
        raise InvalidInputError(f"trust must be {REVIEWED!r} or {OPERATOR!r}.")
    return trust


def _is_inferred(record: Record, gate: Gate) -> bool:
    """Return whether no person ever stood behind a record, by the policy of this memory."""
    if record.approved_by == "policy":
        rule = gate.policy.rule(record.kind)
        return record.actor not in rule.auto_approve
    by_a_model = record.source.path in (WritePath.PROPOSE, WritePath.DELEGATE)
    return by_a_model and record.approved_by is None
