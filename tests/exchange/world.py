"""What the tests of export and import share: memories, and exports as lines."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import muniment
from muniment import Memory, ScopedMemory
from muniment.testing import FakeEmbedder, FrozenClock
from muniment.transfers import ImportReport

ME = {"tenant_id": "acme", "user_id": "user_42", "agent_id": "helper"}

Line = dict[str, Any]


def opened(clock: FrozenClock | None = None, **options: Any) -> Memory:  # noqa: ANN401
    """Open an empty memory that lives as long as the test."""
    options = {"embedder": FakeEmbedder(), "clock": clock or FrozenClock(), **options}
    return muniment.open(":memory:", **options)


def opened_at(path: Path, clock: FrozenClock, **options: Any) -> Memory:  # noqa: ANN401
    """Open a memory in a file."""
    return muniment.open(path, embedder=FakeEmbedder(), clock=clock, **options)


def mine(memory: Memory, **changes: str) -> ScopedMemory:
    """Return the usual scope, or one that differs from it."""
    return memory.scoped(**{**ME, **changes})


def exported(me: ScopedMemory) -> str:
    """Return a scope's export as text."""
    target = io.StringIO()
    me.export(target)
    return target.getvalue()


def lines_of(text: str) -> list[Line]:
    """Return an export's lines as objects."""
    return [json.loads(line) for line in text.splitlines()]


def items_of(text: str, *types: str) -> list[Line]:
    """Return an export's lines between header and footer; those of some types when asked."""
    return [line for line in lines_of(text)[1:-1] if not types or line["type"] in types]


def resealed(lines: Sequence[Mapping[str, Any] | str]) -> str:
    """Return lines as an export whose footer is right, whatever else is wrong with it."""
    header, *items, _ = (line if isinstance(line, str) else written(line) for line in lines)
    types = ("record", "candidate", "tombstone", "receipt", "audit", "thread", "entry")
    counts = {name: sum(f'"type":"{name}"' in item for item in items) for name in types}
    digest = sha256("".join(f"{item}\n" for item in items).encode()).hexdigest()
    footer = written({"type": "footer", "counts": counts, "sha256": digest})
    return "".join(f"{line}\n" for line in (header, *items, footer))


def written(line: Mapping[str, Any]) -> str:
    """Return an object as the exporter writes it."""
    return json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def restored(text: str, memory: Memory | None = None, **options: Any) -> ScopedMemory:  # noqa: ANN401
    """Return the usual scope after an export was taken into it."""
    me = mine(memory or opened())
    me.import_export(io.StringIO(text), **options)
    return me


def lived(me: ScopedMemory, clock: FrozenClock) -> dict[str, str]:
    """Give a scope one of everything that an export holds; return the ids by what they are."""

    def say(text: str, source_id: str, **more: Any) -> str:  # noqa: ANN401
        more = {"kind": "preference", "approved": True, **more}
        return me.remember(text, source_id=source_id, **more).memory_id

    city: dict[str, Any] = {"kind": "verified_fact", "field": "city"}
    ids = {"first": say("Lives in Rome.", "s1", value="Rome", **city)}
    clock.advance(seconds=60)
    ids["second"] = say("Lives in Oslo.", "s2", value="Oslo", **city)
    clock.advance(seconds=60)
    ids["corrected"] = me.correct(ids["second"], text="Lives in Bergen.", value="Bergen").memory_id
    ids["context"] = say("Is writing a thesis.", "s3", kind="context", metadata={"week": 4.5})
    ids["expiring"] = say("Parking code of today.", "s4", expires_at="2030-01-02T00:00:00Z")
    ids["contested"] = me.propose(
        "Lives in Bonn.", source_id="s5", value="Bonn", evidence=["evt_1"], **city
    ).candidate_id
    rejected = me.propose("Collects stamps.", kind="preference", source_id="s6")
    ids["rejected"] = me.reject(rejected.candidate_id, reason="not so").candidate_id
    liked = me.propose("قهوهٔ تلخ دوست دارد.", kind="preference", source_id="s7")
    ids["approved"] = me.approve(
        liked.candidate_id, version=liked.version, content_hash=liked.content_hash
    ).memory_id
    ids["forgotten"] = say("Keeps a zanzibar-flavoured diary.", "s8")
    me.forget(ids["forgotten"])
    return ids


def taken(me: ScopedMemory, text: str, **options: Any) -> ImportReport:  # noqa: ANN401
    """Take an export in and return the report."""
    return me.import_export(io.StringIO(text), **options)


def edited(text: str, kind: str, /, **changes: Any) -> str:  # noqa: ANN401
    """Return an export in which the first line of a type is changed and the footer agrees."""
    lines: list[Line] = lines_of(text)
    first = next(line for line in lines if line["type"] == kind)
    first.update(changes)
    return resealed(lines)
