"""A number of each record that is worked out only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import Floats

EVERY = slice(None)
_FEW = 16_384

Some = NDArray[np.int64] | slice
"""Places of records, or `EVERY`."""


class Column:
    """Numbers that are read like an array; those of few records are worked out all at once.

    What was worked out last is kept. Belongs to one thread.

    Args:
        count: How many records there are.
        work: Works out the numbers of some records, float32, in their order; those of a record do
            not depend on which others are asked for.
    """

    __slots__ = ("_asked", "_found", "_is_small", "_whole", "_work")

    def __init__(self, count: int, work: Callable[[Some], Floats]) -> None:
        self._is_small = count <= _FEW
        self._work = work
        self._whole: Floats | None = None
        self._asked: Some | None = None

    def __getitem__(self, places: Some) -> Floats:
        """Return the numbers of some records, float32; not to be changed."""
        if self._whole is None and (self._is_small or isinstance(places, slice)):
            self._whole = self._work(EVERY)
        if self._whole is not None:
            return self._whole[places]
        if places is not self._asked:
            self._asked, self._found = places, self._work(places)
        return self._found
