"""Export, import of exports, and import from what other systems keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.services.exchange.export import Exporting
from muniment.services.exchange.migrate import Migrating
from muniment.services.exchange.restore import Restoring

if TYPE_CHECKING:
    from muniment.ports import OldTables
    from muniment.services.gate import Gate
    from muniment.services.review import Reviewing


class Exchange:
    """The use cases that carry memory out and in.

    Args:
        gate: The write gate.
        reviewing: Files what arrives as a candidate.
        old_tables: Reads the tables of another system's database.

    Attributes:
        exporting: Exports.
        restoring: Imports of exports.
        migrating: Imports of what other systems keep.
    """

    def __init__(self, gate: Gate, reviewing: Reviewing, old_tables: OldTables) -> None:
        self.exporting = Exporting(gate.store, clock=gate.clock)
        self.restoring = Restoring(gate, reviewing)
        self.migrating = Migrating(gate, reviewing, old_tables)
