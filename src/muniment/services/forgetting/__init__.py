"""Forgetting as a job: choose, hide, erase, shred, compact, read back, and say so in a receipt."""

from __future__ import annotations

from muniment.services.forgetting.requests import Forgetting
from muniment.services.forgetting.sweep import Sweeping

__all__ = ["Forgetting", "Sweeping"]
