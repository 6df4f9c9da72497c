"""Looks at a text before it is stored: what must never be kept, and what a reviewer should see.

`DefaultScreener` is the composed default. Importing this package loads little; the first text
loads the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from muniment.records import WritePath
from muniment.results import Finding
from muniment.rules.screening.characters import CharacterScreener, characters
from muniment.rules.screening.folding import Folded
from muniment.rules.screening.seen import merged

__all__ = ["INFERRED_PATHS", "CharacterScreener", "DefaultScreener"]

INFERRED_PATHS = frozenset({"delegate", "propose"})
"""Values of the write paths on which a model, and not a person or a program, is the author."""

MOST_FINDINGS = 100
"""Findings that refuse, of one part of the screener, after which it looks no further."""

Look: TypeAlias = tuple[Callable[[Folded], bool], Callable[[Folded], Iterator[Finding]]]
"""Whether a part of the screener may find something in a text, told fast; and what it finds."""


class DefaultScreener:
    """Refuses secrets, payment cards, ids and hidden characters; flags instructions.

    On an inferred path it refuses transcripts, tool output and statements about somebody's health
    or money as well. Safe to use from several threads; it never raises and reads in linear time.
    """

    def __init__(self, *, allowed: Collection[str] = ()) -> None:
        """Make a screener.

        Args:
            allowed: Classes, such as `medical_inference`, that are reported but do not refuse.
        """
        self._allowed = frozenset(allowed)

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        """Return what was seen, in order of position.

        Findings of one class that overlap are merged. A finding names its class and place, never
        the text.
        """
        looks = (*_always(), *_inferred()) if str(path) in INFERRED_PATHS else _always()
        folded = Folded(text)
        findings = [one for may, look in looks if may(folded) for one in self._first(look(folded))]
        return merged(findings) if findings else ()

    def _first(self, findings: Iterator[Finding]) -> Iterator[Finding]:
        """Yield findings until enough of them refuse, and no more than enough of the others."""
        refused = shown = 0
        for one in findings:
            refuses = one.refuses and one.name not in self._allowed
            refused += refuses
            shown += not refuses
            if refuses or shown <= MOST_FINDINGS:
                yield one if refuses == one.refuses else replace(one, refuses=False)
            if refused >= MOST_FINDINGS:
                return


def _may_hide(folded: Folded) -> bool:
    return not (folded.source.isascii() and folded.source.isprintable())


def _characters(folded: Folded) -> Iterator[Finding]:
    return characters(folded.source)


@cache
def _always() -> tuple[Look, ...]:
    from muniment.rules.screening import identifiers, instructions, passwords, secrets

    return (
        (_may_hide, _characters),
        (secrets.may_occur, secrets.secrets),
        (passwords.may_occur, passwords.passwords),
        (identifiers.may_occur, identifiers.identifiers),
        (instructions.may_occur, instructions.instructions),
    )


@cache
def _inferred() -> tuple[Look, ...]:
    from muniment.rules.screening import sensitive, shapes

    return (sensitive.may_occur, sensitive.sensitive), (shapes.may_occur, shapes.shapes)
