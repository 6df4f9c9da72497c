"""The systems whose memory can be taken in, by name. Reading only; nothing here writes."""

from __future__ import annotations

from muniment.services.exchange.origins.base import Origin
from muniment.services.exchange.origins.documents import read_documents, read_mem0
from muniment.services.exchange.origins.langgraph import read_store
from muniment.services.exchange.origins.pam import read_pam
from muniment.services.exchange.origins.tables import read_durable, read_memories

ORIGINS = {
    "durable_memory": Origin(read_durable, inferred=False, names_user=True),
    "memories": Origin(read_memories, inferred=True, names_user=True),
    "documents": Origin(read_documents, inferred=True, names_user=True),
    "langgraph": Origin(read_store, inferred=True, names_user=False),
    "mem0": Origin(read_mem0, inferred=True, names_user=True),
    "pam": Origin(read_pam, inferred=True, names_user=True),
}
