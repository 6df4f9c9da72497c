"""`policy`: the kinds of statement that there are, and what the policy says about each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from muniment.cli.options import PolicyOption, Run, command
from muniment.cli.output import DIM, done
from muniment.cli.parameters import PolicyFile
from muniment.cli.views import NAME, plural
from muniment.records import JSONValue

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from muniment.rules.kinds import KindRule, Policy

app = typer.Typer(no_args_is_help=True)

DAY = 86_400_000_000


@command(app, store=False, scope=False, embedder=False)
def show(run: Run, policy: PolicyOption = None) -> None:
    """Show the kinds that there are, and what each may do.

    Example: muniment policy show
    """
    found = _policy(policy)
    run.out.emit(_to_dict(found), _table(found))


@command(app, store=False, scope=False, embedder=False)
def check(run: Run, file: PolicyFile) -> None:
    """Check a policy file before anything uses it.

    Example: muniment policy check policy.toml
    """
    found = _policy(file)
    run.out.emit(
        _to_dict(found),
        done(f"Policy {found.version} is complete.", plural(len(found.kinds), "kind")),
    )


def _policy(file: Path | None) -> Policy:
    from muniment.memory import open as open_memory

    with open_memory(":memory:", embedder="none", policy=file) as memory:
        return memory.policy


def _to_dict(policy: Policy) -> dict[str, JSONValue]:
    return {
        "version": policy.version,
        "candidate_days": policy.candidate_lifetime // DAY,
        "kinds": {name: _rule(policy, rule) for name, rule in policy.kinds.items()},
    }


def _rule(policy: Policy, rule: KindRule) -> dict[str, JSONValue]:
    return {
        "family": rule.family.value,
        "purpose": rule.purpose,
        "readers": list(rule.readers),
        "model": list(rule.model),
        "sensitivity": rule.sensitivity,
        "lifetime_days": _days(rule.lifetime),
        "longest_days": _days(rule.longest),
        "boundary": rule.boundary,
        "one_per_field": rule.one_per_field,
        "requires": list(rule.requires),
        "auto_approve": list(rule.auto_approve),
        "aliases": [alias for alias, name in policy.aliases.items() if name == rule.name],
    }


def _days(lifetime: int | None) -> int | None:
    return None if lifetime is None else lifetime // DAY


def _table(policy: Policy) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style=NAME, no_wrap=True)
    table.add_column(ratio=1)
    for rule in policy.kinds.values():
        table.add_row(Text(rule.name), Text(rule.purpose))
        table.add_row("", Text(" · ".join(_facts(rule)), DIM))
    return table


def _facts(rule: KindRule) -> list[str]:
    days = _days(rule.lifetime)
    kept = "kept without limit" if days is None else f"kept {plural(days, 'day')}"
    longest = [] if rule.longest is None else [f"at most {plural(rule.longest // DAY, 'day')}"]
    return [
        f"a model may {', '.join(rule.model)}" if rule.model else "no model access",
        kept,
        *longest,
        f"for {rule.boundary}",
        *(["one record a field"] if rule.one_per_field else []),
        *([f"needs {', '.join(rule.requires)}"] if rule.requires else []),
        *([f"needs no review from {', '.join(rule.auto_approve)}"] if rule.auto_approve else []),
    ]
