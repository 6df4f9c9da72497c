"""What the core needs from the outside, as protocols. Each method is documented here, once."""

from __future__ import annotations

from muniment.ports.archive import (
    ArchivedRecord,
    ArchiveView,
    ArchiveWriter,
    ImportedEntry,
    ImportedReceipt,
    OldTables,
)
from muniment.ports.deletions import (
    Deletion,
    DeletionView,
    DeletionWriter,
    ExpiredRow,
    Hidden,
    ReceiptLink,
)
from muniment.ports.integrity import (
    Anchored,
    Head,
    Inspection,
    InspectionView,
    Reveal,
    SealedRow,
)
from muniment.ports.keys import KeyManager, KeySource, MasterKey
from muniment.ports.models import (
    Calibration,
    Embedder,
    EmbeddingModel,
    LanguageModel,
    ModelReply,
    Reranker,
    Resolver,
    Screener,
)
from muniment.ports.rows import (
    Block,
    Filed,
    NewCandidate,
    NewRecord,
    NewTombstone,
    OwnerState,
    PendingText,
    Proposed,
    Traces,
    Usage,
)
from muniment.ports.store import Snapshot, Store, Transaction
from muniment.ports.threads import EndedRow, EntryRow, ThreadRow, ThreadView, ThreadWriter

__all__ = [
    "Anchored",
    "ArchiveView",
    "ArchiveWriter",
    "ArchivedRecord",
    "Block",
    "Calibration",
    "Deletion",
    "DeletionView",
    "DeletionWriter",
    "Embedder",
    "EmbeddingModel",
    "EndedRow",
    "EntryRow",
    "ExpiredRow",
    "Filed",
    "Head",
    "Hidden",
    "ImportedEntry",
    "ImportedReceipt",
    "Inspection",
    "InspectionView",
    "KeyManager",
    "KeySource",
    "LanguageModel",
    "MasterKey",
    "ModelReply",
    "NewCandidate",
    "NewRecord",
    "NewTombstone",
    "OldTables",
    "OwnerState",
    "PendingText",
    "Proposed",
    "ReceiptLink",
    "Reranker",
    "Resolver",
    "Reveal",
    "Screener",
    "SealedRow",
    "Snapshot",
    "Store",
    "ThreadRow",
    "ThreadView",
    "ThreadWriter",
    "Traces",
    "Transaction",
    "Usage",
]
