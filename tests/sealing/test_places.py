"""A ciphertext opens in its own place only, even where the rows' digests were made to agree."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import Memory
from muniment.errors import TamperedError
from muniment.ports import OwnerState, SealedRow, Store, Transaction
from muniment.storage.sealed import SealedStore
from muniment.storage.sealed_writer import SealedTransaction
from muniment.storage.sealing import Sealer
from muniment.storage.vault import Place, Vault
from tests.sealing.conftest import Open, remember, scope_of, sealed_store
from tests.sealing.test_shredding import state

TABLES = ["records", "words", "vectors", "candidates", "threads", "entries"]


def fill(memory: Memory) -> None:
    for user in ("user_1", "user_2"):
        me = scope_of(memory, user)
        for number in range(3):
            remember(me, f"Statement {number}.", number)
        for number in range(2):
            me.propose(f"Perhaps {number}.", kind="context", source_id=f"perhaps-{number}")
            me.thread(f"thread-{number}").append(f"Said {number}.")


def rows(memory: Memory, owner: OwnerState, table: str) -> Sequence[SealedRow]:
    with sealed_store(memory)._inner.snapshot() as view:
        return view.sealed_rows(owner.owner.tenant_id, owner.owner_no, table, 1, 100)


def put(memory: Memory, owner: OwnerState, row: SealedRow) -> None:
    """Write ciphertexts with digests that agree, as somebody with half of the keys could."""

    def work(tx: Transaction) -> None:
        tx.put_sealed(owner.owner.tenant_id, owner.owner_no, row)

    sealed_store(memory)._inner.write(work)


def read(memory: Memory, user_id: str) -> None:
    me = scope_of(memory, user_id)
    me.recall("Statement", minimum_score=-1)
    me.list(limit=100)
    me.candidates()
    for thread in me.threads():
        me.thread(thread.thread_id).latest()


@pytest.mark.promise("SEC-1")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("change", ["swapped", "moved", "truncated", "flipped"])
def test_a_ciphertext_that_was_moved_or_altered_is_an_error_when_it_is_read(
    open_memory: Open, table: str, change: str
) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    one, other = state(memory, "user_1"), state(memory, "user_2")
    first, second = rows(memory, one, table)[:2]
    foreign = rows(memory, other, table)[0]
    parts = {
        "swapped": second.parts,
        "moved": foreign.parts,
        "truncated": tuple(_cut(part) for part in first.parts),
        "flipped": tuple(_flipped(part) for part in first.parts),
    }[change]
    put(memory, one, first._replace(parts=parts))
    later = open_memory()
    with pytest.raises(TamperedError):
        read(later, "user_1")
    read(later, "user_2")
    flaws = memory.verify().flaws
    assert {(flaw.name, flaw.table) for flaw in flaws} == {("unreadable", table)}


FILTER: dict[str, Any] = {"filters": {"metadata.n": {"gte": 0}}, "minimum_score": -1}


@pytest.mark.promise("SEC-1")
def test_labels_that_were_opened_before_are_no_answer_for_others_in_their_place(
    open_memory: Open,
) -> None:
    memory = open_memory(sealed=True)
    me = scope_of(memory, "user_1")
    for number in range(3):
        remember(me, f"Statement {number}.", number, metadata={"n": number})
    assert len(me.recall("Statement", **FILTER)) == 3
    owner = state(memory, "user_1")
    first, second = rows(memory, owner, "records")[:2]
    put(memory, owner, first._replace(parts=second.parts))
    put(memory, owner, second._replace(parts=first.parts))
    remember(me, "Statement 3.", 3, metadata={"n": 3})
    with pytest.raises(TamperedError):
        me.recall("Statement", filters={"metadata.n": {"gte": 100}})


def test_a_filter_after_a_write_sees_old_and_new_labels(open_memory: Open) -> None:
    me = scope_of(open_memory(sealed=True), "user_1")
    for number in range(3):
        remember(me, f"Statement {number}.", number, metadata={"n": number})
        found = {item.record.metadata["n"] for item in me.recall("Statement", **FILTER)}
        assert found == set(range(number + 1))
    me.forget(me.list(limit=1).records[0].memory_id)
    found = {item.record.metadata["n"] for item in me.recall("Statement", **FILTER)}
    assert found == {0, 1}


def _cut(part: str | bytes | None) -> str | bytes | None:
    if part is None or isinstance(part, bytes):
        return part and part[:-8]
    place = len(part) // 2
    return part[: place - 4] + part[place + 4 :]


def _flipped(part: str | bytes | None) -> str | bytes | None:
    if part is None:
        return None
    if isinstance(part, bytes):
        return part[:-1] + bytes([part[-1] ^ 1])
    place = len(part) // 2
    return part[:place] + ("A" if part[place] != "A" else "B") + part[place + 1 :]


class _Key:
    name = "The test's key"

    def load(self) -> bytes:
        return bytes(32)

    def create(self) -> bytes:
        return bytes(32)


def _sealer() -> tuple[Sealer, Sealer]:
    vault = Vault(":memory:", _Key())
    vault.make()
    for number in (1, 2):
        vault.add(Place("acme", number), b"i" * 16)
    one, other = (Sealer(vault.data_keys(Place("acme", n)), b"i" * 16) for n in (1, 2))
    return one, other


SEALERS = _sealer()
PLACES = st.tuples(
    st.sampled_from(["text", "labels", "words", "vector:1", "vector:11"]), st.integers(0, 2**40)
)


@given(content=st.binary(max_size=60), place=PLACES, elsewhere=PLACES)
def test_what_is_sealed_opens_in_its_place_and_nowhere_else(
    content: bytes, place: tuple[str, int], elsewhere: tuple[str, int]
) -> None:
    one, other = SEALERS
    blob = one.seal(*place, content)
    assert one.open(*place, blob) == content
    with pytest.raises(TamperedError):
        other.open(*place, blob)
    if elsewhere != place:
        with pytest.raises(TamperedError):
            one.open(*elsewhere, blob)


@given(content=st.binary(max_size=30), at=st.integers(4, 61), bit=st.integers(0, 7))
def test_no_bit_of_a_ciphertext_can_change(content: bytes, at: int, bit: int) -> None:
    one, _ = SEALERS
    blob = bytearray(one.seal("text", 1, content))
    blob[4 + at % (len(blob) - 4)] ^= 1 << bit
    with pytest.raises(TamperedError):
        one.open("text", 1, bytes(blob))


@pytest.mark.parametrize(("port", "own"), [(Transaction, SealedTransaction), (Store, SealedStore)])
def test_the_seal_has_every_method_of_the_ports(port: type, own: type) -> None:
    """A method that is added to a port must be thought about here: is there anything to seal?"""
    wanted = {name for name, _ in inspect.getmembers(port) if not name.startswith("_")}
    assert wanted - set(dir(own)) == set()
