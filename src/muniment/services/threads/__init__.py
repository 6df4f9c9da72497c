"""Threads and what lies in them: events, checkpoints, items and summaries."""

from __future__ import annotations

from muniment.services.threads.places import ThreadKey, thread_key

__all__ = ["ThreadKey", "thread_key"]
