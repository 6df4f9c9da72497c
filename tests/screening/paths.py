"""Write paths by their value, so that a test can use one before the vocabulary has it."""

from __future__ import annotations

from typing import cast

from muniment.records import WritePath

PROPOSE = cast("WritePath", "propose")
