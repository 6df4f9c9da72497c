"""For tests of your own: a frozen clock, a fake embedder and model, and the contract of a store.

`FrozenClock`, `FakeEmbedder` and `FakeModel` need nothing but muniment. `StoreContract` needs
pytest and hypothesis when its tests run, not when it is imported.
"""

from __future__ import annotations

from muniment.testing.contract import StoreContract
from muniment.testing.fakes import FakeEmbedder, FakeModel, FrozenClock

__all__ = ["FakeEmbedder", "FakeModel", "FrozenClock", "StoreContract"]
