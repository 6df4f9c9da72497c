"""Settings of a provider that the environment holds."""

from __future__ import annotations

import os


def environment(*names: str) -> str | None:
    """Return the first of these variables that is set and not blank, or None."""
    values = (os.environ.get(name, "").strip() for name in names)
    return next((value for value in values if value), None)
