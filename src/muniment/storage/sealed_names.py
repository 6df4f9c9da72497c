"""What a sealed store keeps in the place of names, notes and whole records."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muniment.errors import TamperedError
from muniment.keys import Keys, digest
from muniment.ports import Head, NewCandidate, NewRecord
from muniment.records import AuditEntry, Record, Source, Statement, canonical_json
from muniment.results import Candidate, Finding
from muniment.scope import Owner, Scope, Space, SpaceType
from muniment.storage.base import to_statement
from muniment.storage.sealing import Sealer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SEALED = "sealed"
DECIDED = "sealed:"
_NONCE = 12


class Names:
    """Keyed digests of names, and notes that outlive an owner. Safe to use from several threads.

    Args:
        keys: The store's keys.
    """

    def __init__(self, keys: Keys) -> None:
        self._key = lru_cache(maxsize=1024)(keys.names)
        self._keys = keys
        self._ciphers = lru_cache(maxsize=256)(self._cipher)
        self.owner = lru_cache(maxsize=4096)(self._owner)

    def _owner(self, owner: Owner) -> Owner:
        """Return an owner with digests in the place of its parts; the tenant stays."""
        tenant = owner.tenant_id
        if isinstance(owner, Scope):
            user, agent = owner.user_id, owner.agent_id
            return Scope(tenant, self.name(tenant, "user", user), self.name(tenant, "agent", agent))
        return Space(tenant, owner.type, self.name(tenant, owner.type.value, owner.space_id))

    def name(self, tenant_id: str, sort: str, name: str) -> str:
        """Return the keyed digest of a name: the same for the same sort and name of a tenant."""
        return digest(self._key(tenant_id), sort, name).hex()

    def _cipher(self, tenant_id: str) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._keys.notes(tenant_id))

    def note(self, tenant_id: str, owner_no: int, *words: str | None) -> str:
        """Return words of an audit entry sealed with the tenant's key, as text."""
        nonce = os.urandom(_NONCE)
        said = canonical_json(list(words)).encode()
        return (nonce + self._ciphers(tenant_id).encrypt(nonce, said, b"%d" % owner_no)).hex()

    def words(self, tenant_id: str, owner_no: int, note: str) -> list[Any]:
        """Return the words of a note.

        Raises:
            TamperedError: It was altered or moved.
        """
        from cryptography.exceptions import InvalidTag

        try:
            raw = bytes.fromhex(note)
            cipher = self._ciphers(tenant_id)
            words: list[Any] = json.loads(
                cipher.decrypt(raw[:_NONCE], raw[_NONCE:], b"%d" % owner_no)
            )
        except (InvalidTag, ValueError) as error:
            raise TamperedError(
                "A sealed actor of an audit entry or deletion was altered; run a verification."
            ) from error
        return words

    def opened(self, tenant_id: str, owner_no: int, entry: AuditEntry) -> AuditEntry:
        """Return an audit entry with its own actor and reason.

        Raises:
            TamperedError: They were altered or moved.
        """
        actor, reason = self.words(tenant_id, owner_no, entry.actor)
        return replace(entry, actor=actor, reason=reason)

    def revealed(self, head: Head, entry: AuditEntry) -> AuditEntry:
        """Return an entry opened for its chain; one that was altered stays as it is."""
        try:
            opened = self.opened(head.tenant_id, head.owner_no, entry)
        except TamperedError:
            return entry
        return opened if entry.reason is None else entry


def owner_label(owner: Owner) -> bytes:
    """Return an owner's parts as bytes, to be sealed."""
    kind = owner.type.value if isinstance(owner, Space) else "scope"
    return canonical_json([kind, *list(owner.to_dict().values())]).encode()


def labelled(label: bytes) -> Owner:
    """Return the owner of its parts."""
    kind, *parts = json.loads(label)
    if kind == "scope":
        return Scope(*parts)
    return Space(parts[0], SpaceType(kind), parts[-1])


def sealed_record(
    record: NewRecord, seq: int, sealer: Sealer, names: Names, tenant: str
) -> NewRecord:
    """Return a record as it goes into the database."""
    labels = canonical_json(
        {
            "field": record.field,
            "value": record.value,
            "source_id": record.source_id,
            "reference": record.reference,
            "actor": record.actor,
            "approved_by": record.approved_by,
            "evidence": list(record.evidence),
            "metadata": record.metadata,
        }
    )
    field, key = record.field, record.field_key
    vector = record.vector
    return record._replace(
        text=sealer.seal_text("text", seq, record.text),
        field=None if field is None else names.name(tenant, "field", field),
        field_key=None if key is None else names.name(tenant, "field_key", key),
        value=None,
        source_id=names.name(tenant, "source_id", record.source_id),
        reference=None,
        actor=SEALED,
        approved_by=None,
        evidence=(),
        metadata={SEALED: sealer.seal_text("labels", seq, labels)},
        words=sealer.seal("words", seq, record.words),
        vector=vector and (vector[0], sealer.seal(f"vector:{vector[0]}", seq, vector[1])),
    )


def labels_of(metadata: Mapping[str, Any], seq: int, sealer: Sealer) -> dict[str, Any]:
    """Return what a record's labels say.

    Raises:
        TamperedError: They were altered.
    """
    said: dict[str, Any] = json.loads(sealer.open_text("labels", seq, sealed_part(metadata)))
    return said


def sealed_part(metadata: object) -> str:
    """Return the ciphertext in a record's metadata.

    Raises:
        TamperedError: There is none.
    """
    sealed = metadata.get(SEALED) if isinstance(metadata, dict) else None
    if not isinstance(sealed, str):
        raise TamperedError("The labels of a record were altered; run a verification.")
    return sealed


def opened_record(record: Record, owner: Owner, sealer: Sealer) -> Record:
    """Return a record as it was written."""
    said = labels_of(record.metadata, record.seq, sealer)
    return replace(
        record,
        scope=owner,
        text=sealer.open_text("text", record.seq, record.text),
        field=said["field"],
        value=said["value"],
        source=Source(said["source_id"], record.source.path),
        reference=said["reference"],
        actor=said["actor"],
        approved_by=said["approved_by"],
        evidence=tuple(said["evidence"]),
        metadata=said["metadata"],
    )


def sealed_statement(statement: Statement, text: str, names: Names, tenant: str) -> Statement:
    """Return what the database sees of a statement whose everything is in a ciphertext."""
    source = names.name(tenant, "source_id", statement.source_id)
    return Statement(kind=statement.kind, text=text, source_id=source)


def candidate_text(
    statement: Statement,
    content_hash: bytes,
    actor: str,
    evidence: tuple[str, ...],
    findings: tuple[Finding, ...],
) -> str:
    """Return everything of a candidate that is sealed, as one text."""
    return canonical_json(
        {
            "statement": statement.to_dict(),
            "content_hash": content_hash.hex(),
            "actor": actor,
            "evidence": list(evidence),
            "findings": [finding.to_dict() for finding in findings],
        }
    )


def sealed_candidate(
    candidate: NewCandidate, seq: int, sealer: Sealer, names: Names, tenant: str
) -> NewCandidate:
    """Return a candidate as it goes into the database."""
    text = candidate_text(
        candidate.statement,
        candidate.content_hash,
        candidate.actor,
        candidate.evidence,
        candidate.findings,
    )
    sealed = sealer.seal_text("candidate", seq, text)
    return replace(
        candidate,
        statement=sealed_statement(candidate.statement, sealed, names, tenant),
        content_hash=b"",
        actor=SEALED,
        evidence=(),
        findings=(),
    )


def opened_candidate(candidate: Candidate, owner: Owner, sealer: Sealer) -> Candidate:
    """Return a candidate as it was proposed and decided."""
    said = json.loads(sealer.open_text("candidate", candidate.seq, candidate.statement.text))
    by, reason = candidate.decided_by, candidate.reason
    if reason is not None and reason.startswith(DECIDED):
        decision = reason.removeprefix(DECIDED)
        by, reason = json.loads(sealer.open_text("decision", candidate.seq, decision))
    return replace(
        candidate,
        scope=owner,
        statement=to_statement(said["statement"]),
        content_hash=said["content_hash"],
        actor=said["actor"],
        evidence=tuple(said["evidence"]),
        findings=tuple(Finding(**finding) for finding in said["findings"]),
        decided_by=by,
        reason=reason,
    )


def sealed_decision(by: str | None, reason: str | None, seq: int, sealer: Sealer) -> str:
    """Return who decided and why as it goes into the database."""
    return DECIDED + sealer.seal_text("decision", seq, canonical_json([by, reason]))
