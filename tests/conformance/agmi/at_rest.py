"""Lets agmi edit a Muniment store's file, and asks the store whether it noticed."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from agmi.adapters.base import MemoryAdapter
from agmi.adapters.base import Record as Row

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import TamperedError
from muniment.testing import FakeEmbedder, FrozenClock
from tests.integrity.editing import Editor

OWN = "tenant_id = 'acme' AND owner_no = ? AND seq = ?"
FIRST, SECOND = 1, 2
CONTENT = ("text", "field", "value", "metadata")
SEARCH_DATA = ("words", "vectors")
LABELS = ("actor", "authority", "source_id")


class FileAdapter(MemoryAdapter):
    """A store of two scopes, and somebody who holds its file and not its key or its anchor.

    The first read and, where that saw nothing, the verification say whether the store is sound;
    `detection_point` says which of them spoke.
    """

    name = "muniment"
    sealed: ClassVar[bool] = False
    verifies: ClassVar[bool] = True
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True
    detection_point = "read"

    def setup(self) -> None:
        self._folder = Path(tempfile.mkdtemp())
        self._path = self._folder / "memory.db"
        self._editor = Editor(self._path)

    def teardown(self) -> None:
        shutil.rmtree(self._folder)

    def seed(self, n: int) -> None:
        self._write("first", range(n))

    def seed_other(self, n: int) -> None:
        self._write("second", range(n))

    def append_genuine(self) -> None:
        self._write("first", [99])

    def reload(self) -> None:
        """Every look opens the file anew."""

    def verify(self) -> bool:
        with self._opened() as memory:
            me = scope_of(memory, "first")
            self.detection_point = "read"
            try:
                for record in me.list(limit=1000):
                    me.get(record.memory_id)
                me.recall("statement", minimum_score=-1.0)
            except TamperedError as error:
                self.verify_detail = str(error)
                return False
            self.detection_point = "audit"
            flaws = memory.verify().flaws if self.verifies else ()
            self.verify_detail = ", ".join(flaw.name for flaw in flaws)
            return not flaws

    def read_all_raw(self) -> list[Row]:
        return self._rows(FIRST)

    def read_other_raw(self) -> list[Row]:
        return self._rows(SECOND)

    def write_raw(self, record: Row) -> None:
        for table in SEARCH_DATA:
            if record.fields["seq"] != record.seq:
                found = self._editor.row(table, OWN, FIRST, record.fields["seq"])
                record.fields[table] = found | {"seq": record.seq}
        self._editor.put("records", self._columns(record) | {"seq": record.seq})
        for table in SEARCH_DATA:
            if table in record.fields:
                self._editor.put(table, record.fields[table])

    def delete_raw(self, seq: int) -> None:
        self._editor.forget_record(FIRST, seq)

    def replay_onto(self, victim_seq: int, donor: Row) -> None:
        row = self._editor.row("records", OWN, FIRST, victim_seq)
        moved = {name: donor.fields[name] for name in (*CONTENT, "payload_digest", "mac")}
        self._editor.put("records", row | moved)

    def read_meta(self, seq: int) -> dict[str, Any]:
        row = self._editor.row("records", OWN, FIRST, seq)
        return {name: row[name] for name in LABELS}

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        """Write labels back; a marked one claims to come from the operator, at the highest rank."""
        claims = {"actor": "operator", "authority": 60} if len(meta) > len(LABELS) else {}
        row = self._editor.row("records", OWN, FIRST, seq)
        self._editor.put("records", row | {name: meta[name] for name in LABELS} | claims)

    def snapshot_store(self) -> str:
        copy: str = self._copy_store(self._path)
        return copy

    def restore_store(self, token: object) -> None:
        self._restore_store(str(token), self._path)
        shutil.rmtree(Path(str(token)).parent)

    def mutate_payload(self, record: Row) -> Row:
        text = record.fields["text"]
        record.fields["text"] = ("B" if text[0] == "A" else "A") + text[1:]
        return record

    def forge_record(self, template: Row) -> Row:
        seq = template.seq + 1
        forged = self.mutate_payload(Row(seq, dict(template.fields)))
        forged.fields |= {"seq": seq, "memory_id": f"mem_{seq:032x}", "source_id": "forged"}
        for table in SEARCH_DATA:
            found = self._editor.row(table, OWN, FIRST, template.seq)
            forged.fields[table] = found | {"seq": seq}
        return forged

    def identity_of(self, record: Row) -> str:
        return str(record.fields["memory_id"])

    def payload_of(self, record: Row) -> str:
        return repr([record.fields[name] for name in CONTENT])

    def owner_of(self, record: Row) -> str:
        return str(record.fields["owner_no"])

    def _opened(self) -> Memory:
        sealed = None if self._path.exists() else self.sealed
        return muniment.open(
            self._path, sealed=sealed, embedder=FakeEmbedder(), clock=FrozenClock()
        )

    def _write(self, label: str, numbers: range | list[int]) -> None:
        with self._opened() as memory:
            for number in numbers:
                scope_of(memory, label).remember(
                    f"Statement {number} of {label}.",
                    kind="verified_fact",
                    source_id=f"{label}-{number}",
                    metadata={"number": number},
                    approved=True,
                )

    def _rows(self, owner_no: int) -> list[Row]:
        found = self._editor.run(
            "SELECT seq FROM records WHERE owner_no = ? ORDER BY seq", owner_no
        )
        return [Row(seq, self._editor.row("records", OWN, owner_no, seq)) for (seq,) in found]

    @staticmethod
    def _columns(record: Row) -> dict[str, Any]:
        return {name: held for name, held in record.fields.items() if name not in SEARCH_DATA}


class SealedFileAdapter(FileAdapter):
    """The same with a sealed store."""

    name = "muniment, sealed"
    sealed = True


class UnverifiedFileAdapter(FileAdapter):
    """The same with an application that only reads and never verifies."""

    name = "muniment, never verified"
    verifies = False


def scope_of(memory: Memory, user_id: str) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id=user_id, agent_id="helper")
