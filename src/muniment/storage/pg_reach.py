"""The owners that a transaction may touch, as row-level security is told them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muniment.storage.pg_statements import Statement, Wide

if TYPE_CHECKING:
    from psycopg.sql import Composed

_PARTS = ("type", "user_id", "agent_id", "space_id")


@dataclass(frozen=True, slots=True)
class Reach:
    """What a transaction may touch: by default nothing.

    Attributes:
        tenant: The tenant, or None.
        owners: Numbers of the owners inside it.
        sought: Exact parts of owners whose own rows are looked up.
        wide: Whether for this moment it is the whole tenant, or every one.
    """

    tenant: str | None = None
    owners: frozenset[int] = frozenset()
    sought: frozenset[tuple[str, ...]] = frozenset()
    wide: Wide = Wide.NO

    def widened(self, statement: Statement, values: Mapping[str, Any]) -> Reach:
        """Return the reach with which a statement runs.

        Args:
            statement: The statement.
            values: Its values. Those that name an owner come from a view that looked the owner up.
        """
        tenant = values.get("tenant_id", self.tenant)
        reach = self if tenant == self.tenant else Reach(tenant)
        if statement.wide is not self.wide:
            reach = replace(reach, wide=statement.wide)
        number = values.get("owner_no")
        if number is not None and number not in reach.owners:
            reach = replace(reach, owners=reach.owners | {number})
        if number is None and statement.wide is Wide.NO and all(one in values for one in _PARTS):
            parts = tuple(values[one] for one in _PARTS)
            if parts not in reach.sought:
                reach = replace(reach, sought=reach.sought | {parts})
        return reach

    def to_json(self) -> str:
        """Return the text that the policies read."""
        return json.dumps(
            {
                "tenant": self.tenant,
                "owners": sorted(self.owners),
                "sought": [dict(zip(_PARTS, parts, strict=True)) for parts in sorted(self.sought)],
                "wide": self.wide.value,
            },
            ensure_ascii=False,
        )


@lru_cache(maxsize=4096)
def reach_statement(reach: Reach) -> Composed:
    """Return the statement that sets a transaction's reach until it ends.

    The one statement that is composed: `SET` takes no parameters, and `set_config` is not passed
    on by every engine that speaks PostgreSQL's protocol.
    """
    from psycopg.sql import SQL, Literal

    return SQL("SET LOCAL muniment.reach = {}").format(Literal(reach.to_json()))
