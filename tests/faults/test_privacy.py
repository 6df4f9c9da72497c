"""Published failures of privacy: secrets stored and given back, a wrong key that destroys."""

from __future__ import annotations

import base64
import logging
from pathlib import Path

import pytest

import muniment
from muniment import ScopedMemory, Statement
from muniment.errors import BatchError, InvalidInputError, RefusedError, WrongKeyError
from muniment.threads import NewEvent
from tests.behaviour.conftest import LEXICAL, House, said, texts
from tests.governance.conftest import proposed

SECRETS = {
    "an API key": ("my key is sk-proj-FAKE0123456789abcdefFAKE0123456789abcdef", "FAKE01234567"),
    "a password": ("prod password is hunter2", "hunter2"),
    "a private key": (
        "-----BEGIN PRIVATE KEY-----\nMIIFAKE\n-----END PRIVATE KEY-----",
        "MIIFAKE",
    ),
    "a card": ("card 4111 1111 1111 1111", "4111 1111"),
    "a token": ("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJGQUtFIjoxfQ.RkFLRUZBS0U", "eyJhbG"),
}
DOORS = ["remember", "import", "propose", "outcome", "value", "metadata"]


def write(me: ScopedMemory, door: str, text: str) -> None:
    if door == "remember":
        said(me, text)
    elif door == "import":
        me.import_many([Statement("preference", text, "s")])
    elif door == "propose":
        proposed(me, text)
    elif door == "outcome":
        me.record_outcome(text, source_id="s", succeeded=True, actions=["x"])
    elif door == "value":
        said(me, "Harmless.", field="f", value={"deep": [text]})
    else:
        said(me, "Harmless.", metadata={"note": text})


@LEXICAL
@pytest.mark.promise("WRI-4", "SEC-2")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", SECRETS)
def test_stored_and_recalled(
    house: House, me: ScopedMemory, caplog: pytest.LogCaptureFixture, name: str, door: str
) -> None:
    """mem0#6817"""
    text, needle = SECRETS[name]
    caplog.set_level(logging.DEBUG)
    with pytest.raises((RefusedError, BatchError)) as caught:
        write(me, door, text)
    told = repr(caught.value) + str(caught.value.to_dict()) + caplog.text + repr(me.audit())
    assert needle not in told
    assert (len(me.list()), me.candidates()) == (0, ())
    assert [entry.action for entry in me.audit()] == ["refused"]
    said(me, "my skiing pass is blue")
    house.opened[0].close()
    assert needle.encode() not in house.held()


@LEXICAL
@pytest.mark.promise("WRI-4")
@pytest.mark.parametrize(
    "text",
    ["my skiing pass is blue", "Resets her password every May.", "Room 4111, floor 11.",
     "The key to the shed hangs by the door.", "Order 2030-11-0042 was paid."],
)  # fmt: skip
def test_what_only_sounds_like_a_secret_is_kept(me: ScopedMemory, text: str) -> None:
    said(me, text)
    assert texts(me.list()) == [text]


@LEXICAL
@pytest.mark.promise("WRI-4")
def test_a_typed_number_is_screened_as_the_number_it_is(me: ScopedMemory) -> None:
    card = int("4" + "1" * 15)
    for value in (card, float(card), [card], {"deep": float(card)}):
        with pytest.raises(RefusedError, match="payment_card"):
            said(me, "Harmless.", field="f", value=value)
    for number, value in enumerate((card + 1, 6533621292922227.0, 6533621292922227, 0.1)):
        said(me, "Harmless.", field=f"f{number}", value=value)
    assert len(me.list()) == 4


@pytest.mark.promise("SEC-1")
@pytest.mark.parametrize("sealed", [True, False])
def test_wrong_key_destroys(tmp_path: Path, sealed: bool) -> None:
    """openai-agents#5005"""
    keys = [base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2)]
    one, other = (base64.b64decode(key) for key in keys)
    path = tmp_path / "m.db"
    scope = {"tenant_id": "t1", "user_id": "u1", "agent_id": "a1"}
    with muniment.open(path, embedder="none", key=one, sealed=sealed) as memory:
        me = memory.scoped(**scope)
        said(me, "x")
        me.thread("th").append_many([NewEvent("a"), NewEvent("b")])
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(WrongKeyError):
        muniment.open(path, embedder="none", key=other)
    with pytest.raises(InvalidInputError):
        muniment.open(path, embedder="none", key=other, sealed=not sealed)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    with muniment.open(path, embedder="none", key=one) as memory:
        me = memory.scoped(**scope)
        assert texts(me.list()) == texts(me.recall("x")) == ["x"]
        assert [event.content for event in me.thread("th").events()] == ["a", "b"]
        popped = me.thread("th").pop()
        assert popped is not None
        assert popped.content == "b"
