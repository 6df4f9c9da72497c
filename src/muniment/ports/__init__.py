"""What the core needs from the outside, as protocols. Each method is documented here, once."""

from __future__ import annotations

from muniment.ports.models import (
    Calibration,
    Embedder,
    EmbeddingModel,
    LanguageModel,
    ModelReply,
    Screener,
)
from muniment.ports.rows import (
    Filed,
    NewCandidate,
    NewRecord,
    NewTombstone,
    OwnerState,
    PendingText,
    Proposed,
    Traces,
)
from muniment.ports.store import Snapshot, Store, Transaction

__all__ = [
    "Calibration",
    "Embedder",
    "EmbeddingModel",
    "Filed",
    "LanguageModel",
    "ModelReply",
    "NewCandidate",
    "NewRecord",
    "NewTombstone",
    "OwnerState",
    "PendingText",
    "Proposed",
    "Screener",
    "Snapshot",
    "Store",
    "Traces",
    "Transaction",
]
