"""A store that seals everything before the database sees it, over any other store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from muniment.keys import Keys
from muniment.ports import Anchored, MasterKey, OwnerState, Snapshot, Store, Transaction
from muniment.results import StoreInfo
from muniment.scope import Owner
from muniment.storage.sealed_facts import OpenFacts
from muniment.storage.sealed_names import Names
from muniment.storage.sealed_pieces import RANGE, TABLES, sealed_again
from muniment.storage.sealed_threads import SealedThreadView
from muniment.storage.sealed_writer import SealedTransaction
from muniment.storage.sealing import Sealer
from muniment.storage.unlock import Unlocker
from muniment.storage.vault import Place, Vault

T = TypeVar("T")


class SealedStore:
    """The `Store` port over another one, sealed with a data key an owner.

    In the clear stay tenant, owner number, kind, write path, rank, status, times, ids and order.
    User, agent, space, source and field are keyed digests, everything else a ciphertext that no
    other place opens.

    Args:
        inner: The store of what is sealed.
        unlocker: Holds the key store, and the master key's place.
    """

    def __init__(self, inner: Store, unlocker: Unlocker) -> None:
        assert unlocker.vault is not None
        self._inner = inner
        self._unlocker = unlocker
        self._names = Names(inner.keys)
        self._facts = OpenFacts()

    @property
    def _vault(self) -> Vault:
        assert self._unlocker.vault is not None
        return self._unlocker.vault

    @property
    def inner(self) -> Store:
        """The store of what is sealed."""
        return self._inner

    @property
    def keys(self) -> Keys:
        """The keys derived from the store's root."""
        return self._inner.keys

    @contextmanager
    def snapshot(self, owners: Sequence[Owner] = (), *, brief: bool = False) -> Iterator[Snapshot]:
        """Open a consistent view of what is sealed, opened."""
        masked = [self._names.owner(owner) for owner in owners]
        with self._inner.snapshot(masked, brief=brief) as view:
            if self._vault.refresh():
                self._facts.clear()
            yield SealedThreadView(view, self._vault, self._names, self._facts)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction that seals what it writes."""

        def tidied(tx: Transaction) -> T:
            sealing = self._sealing(tx)
            result = work(sealing)
            sealing.tidy()
            return result

        return self._inner.write(tidied)

    def _sealing(self, tx: Transaction) -> SealedTransaction:
        self._vault.refresh()
        return SealedTransaction(tx, self._vault, self._names)

    def shred(self, owner: OwnerState) -> bool:
        """Destroy the data keys of an owner's incarnation, durably."""
        place = Place(owner.owner.tenant_id, owner.owner_no)
        self._inner.write(lambda _: self._vault.destroy(place, owner.incarnation))
        self._facts.clear()
        return True

    def reseal(self, owner: OwnerState) -> bool:
        """Give an owner a new data key, seal all its rows again and destroy the old one."""
        place = Place(owner.owner.tenant_id, owner.owner_no)
        newest = self._inner.write(lambda _: self._new_key(place, owner.incarnation))
        if newest is None:
            return True
        low = 1
        while low <= self._last_seq(owner):
            self._reseal_from(owner, low)
            low += RANGE
        self._inner.write(lambda tx: self._relabel(self._sealing(tx), owner))
        self._inner.write(lambda _: self._vault.destroy(place, owner.incarnation, below=newest))
        return True

    def _new_key(self, place: Place, incarnation: bytes) -> int | None:
        """Return the key to seal with: that of an interrupted resealing, else a new one.

        None when the owner's keys are destroyed and there is nothing to seal again.
        """
        self._vault.refresh()
        alive = [
            number
            for number, key in self._vault.data_keys(place).items()
            if key.cipher is not None and key.incarnation == incarnation
        ]
        if not alive:
            return None
        return alive[-1] if len(alive) > 1 else self._vault.add(place, incarnation)

    def _last_seq(self, owner: OwnerState) -> int:
        with self._inner.snapshot() as view:
            return view.next_seq(owner) - 1

    def _reseal_from(self, owner: OwnerState, low: int) -> None:
        self._inner.write(lambda tx: self._reseal_range(tx, owner, low))

    def _reseal_range(self, tx: Transaction, owner: OwnerState, low: int) -> None:
        place = Place(owner.owner.tenant_id, owner.owner_no)
        self._vault.refresh()
        sealer = Sealer(self._vault.data_keys(place), owner.incarnation)
        for table in TABLES:
            for row in tx.sealed_rows(*place, table, low, low + RANGE - 1):
                again = sealed_again(row, sealer)
                if again is not None:
                    tx.put_sealed(*place, again)

    def _relabel(self, tx: SealedTransaction, owner: OwnerState) -> None:
        state = tx.owner(owner.owner)
        if state is not None and state.incarnation == owner.incarnation:
            tx.relabel(state)

    def rotate_master(self, master: MasterKey | None) -> int:
        """Guard the data keys by another master key."""
        return self._unlocker.rotate(master)

    def anchor(self, *, renew: bool = False) -> None:
        """Note the present state of every owner outside the database."""
        self._inner.anchor(renew=renew)

    def anchored(self, path: Path | None = None) -> Anchored | None:
        """Return what the anchor says."""
        return self._inner.anchored(path)

    def compact(self) -> None:
        """Rewrite the database so that no deleted byte is left in it."""
        self._inner.compact()

    def info(self) -> StoreInfo:
        """Return facts about the store."""
        return self._inner.info()

    def close(self) -> None:
        """Release every file and connection."""
        self._inner.close()
        self._vault.close()
