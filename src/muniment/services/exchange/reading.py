"""The export format, read: every line checked before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from muniment.clock import to_instant
from muniment.errors import ImportFileError
from muniment.ports import (
    ArchivedRecord,
    ImportedEntry,
    ImportedReceipt,
    NewTombstone,
    ThreadRow,
)
from muniment.records import (
    AuditEntry,
    EmbeddingState,
    Record,
    Source,
    Statement,
    Status,
    WritePath,
)
from muniment.results import Candidate, CandidateStatus, Finding
from muniment.rules.tombstones import Burial
from muniment.scope import Owner
from muniment.services.exchange.fields import Fields
from muniment.services.exchange.files import Source as File
from muniment.services.exchange.files import numbered_lines, object_of, parse_json
from muniment.services.exchange.lines import FORMAT, TYPES, VERSION, owner_hash
from muniment.services.exchange.threads_lines import PlacedEntry, read_entry, read_thread

Body: TypeAlias = (
    ArchivedRecord
    | Candidate
    | NewTombstone
    | ImportedReceipt
    | ImportedEntry
    | ThreadRow
    | PlacedEntry
)


@dataclass(frozen=True, slots=True)
class Item:
    """One line of an export between its header and its footer.

    Attributes:
        line: Its number, from 1.
        owner: Whose it is, as the file says.
        body: What it says.
    """

    line: int
    owner: Owner
    body: Body


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A whole export, checked.

    Attributes:
        owners: Whose it is.
        marks: What tells the key of each scope's tombstones apart.
        items: Its lines between header and footer.
        sha256: Their SHA-256, hexadecimal, as its footer says.
    """

    owners: tuple[Owner, ...]
    marks: Mapping[Owner, str]
    items: tuple[Item, ...]
    sha256: str


def read_export(source: File) -> ExportFile:
    """Return a whole export.

    Raises:
        InvalidInputError: There is no such file.
        ImportFileError: A line is malformed, missing or was changed.
    """
    lines = numbered_lines(source)
    marks = _read_header(lines)
    owners = tuple(marks)
    items: list[Item] = []
    seen, number = sha256(), 1
    for number, text in lines:
        given = object_of(parse_json(text, number), number)
        if given.get("type") == "footer":
            _check_footer(Fields(given, number), items, seen.hexdigest())
            _check_end(lines)
            return ExportFile(owners, marks, tuple(items), seen.hexdigest())
        item = _read_item(given, number)
        if item.owner not in owners:
            raise ImportFileError("The line's scope is not one that the header names.", number)
        items.append(item)
        seen.update(text.encode("utf-8", "surrogatepass") + b"\n")
    raise ImportFileError("The export ends without its footer; it is not whole.", number)


def _read_header(lines: Iterator[tuple[int, str]]) -> dict[Owner, str]:
    number, text = next(lines, (1, ""))
    given = object_of(parse_json(text, number), number) if text else {}
    if given.get("type") != "header" or given.get("format") != FORMAT:
        raise ImportFileError(f"The first line must be the header of a {FORMAT}.", number)
    fields = Fields(given, number)
    for name in ("type", "format"):
        fields.take(name)
    if fields.number("version") != VERSION:
        raise ImportFileError(f"This muniment reads version {VERSION} of the format.", number)
    fields.moment("made_at")
    marks = dict(_read_owner(one, number) for one in fields.objects("owners"))
    fields.end()
    return marks


def _read_owner(fields: Fields, line: int) -> tuple[Owner, str]:
    owner = fields.owner("scope")
    if fields.text("hash") != owner_hash(owner):
        raise ImportFileError("The hash of a scope does not match the scope.", line)
    mark = fields.octets("key").hex()
    fields.end()
    return owner, mark


def _check_footer(fields: Fields, items: list[Item], seen: str) -> None:
    fields.take("type")
    counted = Counter(type(item.body) for item in items)
    named = {name: counted[kind] for name, kind in zip(TYPES, _BODIES, strict=True)}
    if dict(fields.mapping("counts")) != named:
        fields.wrong("counts", "the number of lines of each type; a line is missing or too many")
    if fields.text("sha256") != seen:
        fields.wrong("sha256", "that of the lines before it; one was changed")
    fields.end()


def _check_end(lines: Iterator[tuple[int, str]]) -> None:
    for number, text in lines:
        if text:
            raise ImportFileError("Nothing may follow the footer.", number)


def _read_item(given: Mapping[str, Any], line: int) -> Item:
    read = _READERS.get(str(given.get("type")))
    if read is None:
        raise ImportFileError(f"type must be one of: {', '.join(TYPES)}.", line)
    fields = Fields(given, line)
    fields.take("type")
    owner = fields.owner("scope")
    body = read(fields, owner)
    fields.end()
    return Item(line, owner, body)


def _record(fields: Fields, owner: Owner) -> ArchivedRecord:
    source = Fields(fields.mapping("source"), fields.line)
    superseded_at = fields.maybe_moment("superseded_at")
    record = Record(
        memory_id=fields.item_id("memory_id"),
        seq=0,
        scope=owner,
        kind=fields.text("kind"),
        text=fields.text("text"),
        field=fields.maybe_text("field"),
        value=fields.take("value"),
        source=Source(source.text("source_id"), source.choice("path", WritePath)),
        authority=fields.authority("authority"),
        actor=fields.text("actor"),
        approved_by=fields.maybe_text("approved_by"),
        evidence=fields.texts("evidence"),
        reference=fields.maybe_text("reference"),
        follows=fields.maybe_id("follows"),
        status=fields.choice("status", Status),
        created_at=fields.moment("created_at"),
        valid_from=fields.maybe_moment("valid_from"),
        valid_until=fields.maybe_moment("valid_until"),
        expires_at=fields.maybe_moment("expires_at"),
        metadata=fields.mapping("metadata"),
        supersedes=fields.maybe_id("supersedes"),
        superseded_by=fields.maybe_id("superseded_by"),
        embedding=EmbeddingState.NONE,
    )
    source.end()
    at = None if superseded_at is None else to_instant("superseded_at", superseded_at)
    return ArchivedRecord(record, at)


def _candidate(fields: Fields, owner: Owner) -> Candidate:
    said = Fields(fields.mapping("statement"), fields.line)
    return Candidate(
        candidate_id=fields.item_id("candidate_id"),
        seq=0,
        scope=owner,
        statement=_statement(said),
        status=fields.choice("status", CandidateStatus),
        version=fields.number("version"),
        content_hash=fields.octets("content_hash").hex(),
        path=fields.choice("path", WritePath),
        authority=fields.authority("authority"),
        actor=fields.text("actor"),
        evidence=fields.texts("evidence"),
        findings=tuple(_finding(one) for one in fields.objects("findings")),
        contested=fields.maybe_id("contested"),
        created_at=fields.moment("created_at"),
        decided_at=fields.maybe_moment("decided_at"),
        decided_by=fields.maybe_text("decided_by"),
        reason=fields.maybe_text("reason"),
        memory_id=fields.maybe_id("memory_id"),
    )


def _statement(said: Fields) -> Statement:
    statement = Statement(
        kind=said.text("kind"),
        text=said.text("text"),
        source_id=said.text("source_id"),
        field=said.maybe_text("field"),
        value=said.take("value"),
        expires_at=said.maybe_moment("expires_at"),
        valid_from=said.maybe_moment("valid_from"),
        valid_until=said.maybe_moment("valid_until"),
        metadata=said.mapping("metadata"),
        reference=said.maybe_text("reference"),
        follows=said.maybe_text("follows"),
    )
    said.end()
    return statement


def _finding(seen: Fields) -> Finding:
    finding = Finding(
        name=seen.text("name"),
        start=seen.number("start"),
        end=seen.number("end"),
        refuses=seen.flag("refuses"),
        memory_id=seen.maybe_id("memory_id"),
    )
    seen.end()
    return finding


def _tombstone(fields: Fields, _: Owner) -> NewTombstone:
    return NewTombstone(
        memory_id=fields.buried_id("memory_id"),
        source_digest=fields.octets("source_digest"),
        value_digest=fields.octets("value_digest"),
        reason=fields.choice("reason", Burial).value,
        created_at=to_instant("created_at", fields.moment("created_at")),
    )


def _receipt(fields: Fields, _: Owner) -> ImportedReceipt:
    receipt = ImportedReceipt(fields.text("receipt_id"), fields.mapping("content"))
    if receipt.content.get("receipt_id") != receipt.receipt_id:
        fields.wrong("receipt_id", "the same within the content")
    return receipt


def _audit(fields: Fields, _: Owner) -> ImportedEntry:
    chain = fields.octets("chain").hex()
    entry = AuditEntry(
        number=fields.number("number"),
        at=fields.moment("at"),
        actor=fields.text("actor"),
        action=fields.text("action"),
        memory_ids=fields.texts("memory_ids"),
        reason=fields.maybe_text("reason"),
        digest=fields.octets("digest").hex(),
    )
    return ImportedEntry(chain, entry)


_BODIES: tuple[type, ...] = (
    ArchivedRecord,
    Candidate,
    NewTombstone,
    ImportedReceipt,
    ImportedEntry,
    ThreadRow,
    PlacedEntry,
)
_READERS: Mapping[str, Callable[[Fields, Owner], Body]] = dict(
    zip(
        TYPES,
        (_record, _candidate, _tombstone, _receipt, _audit, read_thread, read_entry),
        strict=True,
    )
)
