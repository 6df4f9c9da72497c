"""Which records of a ranking only repeat one before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from muniment.rules.sameness import Wording, likeness


def repeats(said: Sequence[Wording], cosine: Callable[[int, int], float]) -> list[int]:
    """Return the places of records that say the same as an earlier one, in order.

    Args:
        said: The wording of each record, best first.
        cosine: Returns the cosine of two records, by place; 0 without an embedding.
    """
    if len({one.gist for one in said}) == len(said):
        return []
    seen: dict[bytes, list[int]] = {}
    found = []
    for place, one in enumerate(said):
        earlier = seen.setdefault(one.gist, [])
        if any(likeness(one, said[at], partial(cosine, place, at)) for at in earlier):
            found.append(place)
        else:
            earlier.append(place)
    return found
