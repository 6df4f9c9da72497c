"""Forgetting as a job: choose, hide, erase, shred, compact, read back, and say so in a receipt."""

from __future__ import annotations

from muniment.services.forgetting.sweep import Sweeping
from muniment.services.forgetting.threads import ThreadForgetting

__all__ = ["Sweeping", "ThreadForgetting"]
