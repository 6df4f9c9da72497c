"""All use cases of threads, together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.services.threads.checkpoints import CheckpointShelf
from muniment.services.threads.items import ItemShelf
from muniment.services.threads.log import ThreadLog
from muniment.services.threads.summaries import SummaryShelf
from muniment.services.threads.workflows import Workflows

if TYPE_CHECKING:
    from muniment.ports import LanguageModel
    from muniment.services.forgetting import ThreadForgetting
    from muniment.services.gate import Gate


class ThreadServices:
    """The use cases of threads.

    Attributes:
        log: Events.
        items: Items.
        checkpoints: Checkpoints of frameworks.
        workflows: Workflows and their effects.
        summaries: Summaries.
    """

    def __init__(
        self, gate: Gate, forgetting: ThreadForgetting, model: LanguageModel | None
    ) -> None:
        self.log = ThreadLog(gate)
        self.items = ItemShelf(gate, forgetting)
        self.checkpoints = CheckpointShelf(gate, forgetting)
        self.workflows = Workflows(gate)
        self.summaries = SummaryShelf(gate, model)
