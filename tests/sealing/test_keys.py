"""Where a store's key comes from; without the right one nothing opens and nothing is destroyed."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import muniment
from muniment.errors import InvalidInputError, KeyMissingError, StoreError, WrongKeyError
from muniment.keyfile import KeyFile
from muniment.providers.keys import EnvironmentKey, KeyringKey, open_key
from tests.sealing.conftest import Open, remember, scope_of, texts

KINDS = pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
FILES = ("memory.db", "memory.db.key", "memory.db.keys", "memory.db.anchor")


def state_of(folder: Path) -> dict[str, str]:
    """Return the files of a folder with the digests of their bytes."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if not path.name.endswith(("-wal", "-shm"))
    }


class Manager:
    """A key manager that never gives its key away."""

    name = "The test's key manager"

    def __init__(self, pad: int = 0x55) -> None:
        self.pad = pad
        self.asked = 0

    def wrap(self, secret: bytes) -> bytes:
        self.asked += 1
        return bytes([self.pad]) + bytes(octet ^ self.pad for octet in secret)

    def unwrap(self, wrapped: bytes) -> bytes:
        self.asked += 1
        if wrapped[0] != self.pad:
            raise WrongKeyError("Another key wrapped this.")
        return bytes(octet ^ self.pad for octet in wrapped[1:])


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, secret: str) -> None:
        self.kept[service, name] = secret


@KINDS
def test_a_new_store_has_its_key_and_anchor_beside_it_for_its_owner_only(
    tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    open_memory(sealed=sealed).close()
    made = set(FILES) if sealed else set(FILES) - {"memory.db.keys"}
    assert {path.name for path in tmp_path.iterdir()} == made
    for name in made - {"memory.db"}:
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_the_key_is_not_in_the_database(tmp_path: Path, open_memory: Open) -> None:
    open_memory().close()
    key = KeyFile(tmp_path / "memory.db.key").load()
    assert key is not None
    assert key not in (tmp_path / "memory.db").read_bytes()


@pytest.mark.promise("SEC-1")
@KINDS
def test_a_missing_key_is_one_clear_error_and_destroys_nothing(
    tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    with open_memory(sealed=sealed) as memory:
        remember(scope_of(memory), "Kept.")
    key = tmp_path / "memory.db.key"
    key.rename(tmp_path / "away")
    before = state_of(tmp_path)
    with pytest.raises(KeyMissingError, match=r"memory\.db\.key") as caught:
        open_memory()
    assert caught.value.code == "key_missing"
    assert state_of(tmp_path) == before
    (tmp_path / "away").rename(key)
    assert texts(scope_of(open_memory())) == ["Kept."]


@pytest.mark.promise("SEC-1")
@KINDS
def test_a_wrong_key_is_one_clear_error_and_destroys_nothing(
    tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    with open_memory(sealed=sealed) as memory:
        remember(scope_of(memory), "Kept.")
    before = state_of(tmp_path)
    for wrong in (os.urandom(32), f"file:{tmp_path / 'memory.db.anchor'}"):
        with pytest.raises((WrongKeyError, KeyMissingError)):
            open_memory(key=wrong)
    with pytest.raises(WrongKeyError) as caught:
        open_memory(key=os.urandom(32))
    assert caught.value.code == "wrong_key"
    assert state_of(tmp_path) == before
    assert texts(scope_of(open_memory())) == ["Kept."]


def test_a_missing_key_store_is_an_error_and_not_an_empty_memory(
    tmp_path: Path, open_memory: Open
) -> None:
    open_memory(sealed=True).close()
    (tmp_path / "memory.db.keys").rename(tmp_path / "away")
    with pytest.raises(KeyMissingError, match=r"memory\.db\.keys"):
        open_memory()


def test_an_older_key_store_is_an_error_and_not_an_empty_memory(
    tmp_path: Path, open_memory: Open
) -> None:
    open_memory(sealed=True).close()
    older = (tmp_path / "memory.db.keys").read_bytes()
    with open_memory() as memory:
        remember(scope_of(memory), "Kept.")
    (tmp_path / "memory.db.keys").write_bytes(older)
    with pytest.raises(KeyMissingError, match="key store"):
        scope_of(open_memory()).recall("Kept.")


@KINDS
def test_a_lost_database_beside_its_key_is_an_error_and_not_a_new_store(
    tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    open_memory(sealed=sealed).close()
    (tmp_path / "memory.db").rename(tmp_path / "away")
    with pytest.raises(StoreError, match="missing"):
        open_memory(sealed=sealed)
    assert not (tmp_path / "memory.db").exists()


def test_a_store_says_itself_whether_it_is_sealed(open_memory: Open) -> None:
    open_memory("sealed.db", sealed=True).close()
    open_memory("plain.db").close()
    assert open_memory("sealed.db").health().store.sealed
    assert not open_memory("plain.db").health().store.sealed
    with pytest.raises(InvalidInputError, match="sealed"):
        open_memory("sealed.db", sealed=False)
    with pytest.raises(InvalidInputError, match="not sealed"):
        open_memory("plain.db", sealed=True)


OPENER = """
import sys
import muniment
sys.stdin.readline()
with muniment.open(sys.argv[1], sealed=sys.argv[2] == "True", embedder="none") as memory:
    me = memory.scoped(tenant_id="acme", user_id=sys.argv[3], agent_id="helper")
    me.remember("Kept.", kind="verified_fact", source_id="one", approved=True)
"""


@KINDS
def test_four_processes_that_make_one_store_at_once_share_one_key(
    tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    path = tmp_path / "memory.db"
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path), str(sealed), f"user_{number}"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        _, err = racer.communicate(timeout=120)
        assert racer.returncode == 0, err
    memory = open_memory()
    for number in range(4):
        assert texts(scope_of(memory, f"user_{number}")) == ["Kept."]
    assert memory.verify().is_intact


def test_key_files_made_at_once_are_one(tmp_path: Path) -> None:
    keys = {KeyFile(tmp_path / "key").create() for _ in range(5)}
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@KINDS
def test_a_key_from_the_environment_opens_a_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    with pytest.raises(KeyMissingError, match="MUNIMENT_KEY"):
        open_memory("early.db", sealed=sealed, key="env:MUNIMENT_KEY")
    monkeypatch.setenv("MUNIMENT_KEY", base64.b64encode(bytes(range(32))).decode())
    with open_memory(sealed=sealed, key="env:MUNIMENT_KEY") as memory:
        remember(scope_of(memory), "Kept.")
    assert not (tmp_path / "memory.db.key").exists()
    assert texts(scope_of(open_memory(key=bytes(range(32))))) == ["Kept."]
    monkeypatch.setenv("MUNIMENT_KEY", "short")
    with pytest.raises(WrongKeyError, match="MUNIMENT_KEY"):
        open_memory(key="env:MUNIMENT_KEY")


def test_a_key_manager_guards_a_sealed_store_and_is_asked_once_an_opening(
    tmp_path: Path, open_memory: Open
) -> None:
    manager = Manager()
    with open_memory(sealed=True, key=manager) as memory:
        for number in range(3):
            remember(scope_of(memory, f"user_{number}"), "Kept.")
    manager.asked = 0
    with open_memory(key=manager) as memory:
        assert texts(scope_of(memory)) == []
        assert texts(scope_of(memory, "user_1")) == ["Kept."]
    assert manager.asked == 1
    assert not (tmp_path / "memory.db.key").exists()
    with pytest.raises(WrongKeyError):
        open_memory(key=Manager(pad=0x11))
    with pytest.raises(InvalidInputError, match="sealed=True"):
        open_memory("plain.db", key=manager)


def test_a_key_in_a_keyring_is_made_once_and_found_again() -> None:
    ring = Ring()
    made = KeyringKey("muniment", "memory", ring).create()
    assert KeyringKey("muniment", "memory", ring).load() == made
    assert KeyringKey("muniment", "memory", ring).create() == made
    assert KeyringKey("muniment", "other", ring).load() is None


def test_a_variable_is_never_written() -> None:
    with pytest.raises(KeyMissingError):
        EnvironmentKey("NAME", {}).create()


@pytest.mark.parametrize("key", ["", "file:", "env:", "keyring:", "keyring:x", "secret", 7, b"x"])
def test_what_is_no_key_is_refused_without_being_repeated(key: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        open_key(key)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_encrypted_as_a_whole_opens_with_its_passphrase_only(
    tmp_path: Path, open_memory: Open
) -> None:
    with open_memory(file_key="correct horse") as memory:
        remember(scope_of(memory), "Prefers the aisle.")
    held = (tmp_path / "memory.db").read_bytes()
    assert not held.startswith(b"SQLite format 3")
    assert b"aisle" not in held
    for wrong in ("battery staple", None):
        with pytest.raises(StoreError):
            open_memory(file_key=wrong)
    with pytest.raises(WrongKeyError):
        open_memory(file_key="battery staple")
    assert texts(scope_of(open_memory(file_key="correct horse"))) == ["Prefers the aisle."]


def test_importing_and_using_a_plain_store_loads_no_cryptography(tmp_path: Path) -> None:
    code = (
        "import sys, muniment\n"
        "muniment.open(sys.argv[1], embedder='none').close()\n"
        "sys.exit('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "memory.db")], check=False)
    assert done.returncode == 0


def test_keys_never_show_in_what_is_printed(open_memory: Open) -> None:
    memory = open_memory(sealed=True)
    keys = memory._store.keys
    assert keys.root.hex() not in repr(keys)
    assert repr(keys.root) not in repr(keys)
    assert isinstance(memory, muniment.Memory)
