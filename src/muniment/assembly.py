"""Puts together the use cases of a memory that share one gate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.ports import LanguageModel
    from muniment.services.answer import Answering
    from muniment.services.exchange import Exchange
    from muniment.services.forgetting import Sweeping, ThreadForgetting
    from muniment.services.gate import Gate
    from muniment.services.judging import Judging
    from muniment.services.maintain import Maintenance
    from muniment.services.merging import Merging
    from muniment.services.reads import Reads
    from muniment.services.review import Reviewing
    from muniment.services.segments import Segments
    from muniment.services.usage import UsageNotes
    from muniment.services.words import WordKeys
    from muniment.upkeep import Upkeep


def exchange(gate: Gate, desk: Reviewing) -> Exchange:
    """Return export and import."""
    from muniment.services.exchange import Exchange
    from muniment.storage.legacy import read_old_tables

    return Exchange(gate, desk, read_old_tables)


def deletion(
    gate: Gate, usage: UsageNotes
) -> tuple[Maintenance, ThreadForgetting, Sweeping, Callable[[], Upkeep]]:
    """Return maintenance, forgetting, the end of lifetimes, and what does all that is due."""
    from muniment.services.forgetting import Sweeping, ThreadForgetting
    from muniment.services.maintain import Maintenance
    from muniment.services.upkeep import keep_up

    maintenance = Maintenance(
        gate.store, embedder=gate.embedder, clock=gate.clock, policy=gate.policy
    )
    forgetting = ThreadForgetting(gate, maintenance.embed_owner)
    sweeping = Sweeping(gate, forgetting, usage)
    return maintenance, forgetting, sweeping, partial(keep_up, maintenance, forgetting, sweeping)


def reviewing(
    gate: Gate, words: WordKeys, segments: Segments
) -> tuple[UsageNotes, Merging, Reviewing]:
    """Return the counts of use, deduplication that goes by them, and review."""
    from muniment.services.likeness import Likeness
    from muniment.services.merging import Merging
    from muniment.services.review import Reviewing
    from muniment.services.usage import UsageNotes

    usage = UsageNotes(gate.store, gate.clock)
    merging = Merging(gate, usage)
    likeness = Likeness(gate.store, embedder=gate.embedder, words=words, segments=segments)
    return usage, merging, Reviewing(gate, likeness, merging)


def reading(
    gate: Gate, model: LanguageModel | None, usage: UsageNotes
) -> tuple[Reads, Answering, Judging]:
    """Return reading without a question, answering, and what is known of how useful records are."""
    from muniment.services.answer import Answering
    from muniment.services.judging import Judging
    from muniment.services.reads import Reads

    reads = Reads(gate.store, policy=gate.policy, clock=gate.clock)
    answering = Answering(gate.store, clock=gate.clock, model=model, usage=usage)
    return reads, answering, Judging(gate, reads, usage)
