"""Where a policy comes from: the built-in one, a text or a file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from muniment.errors import PolicyError
from muniment.rules.kinds import Policy, parse_policy


def open_policy(policy: str | Path | None) -> Policy:
    """Return the policy of a TOML text or file; None for the built-in one.

    Raises:
        PolicyError: The file cannot be read, or the policy is malformed.
    """
    if policy is None:
        builtin = files("muniment.rules").joinpath("policy.toml")
        return parse_policy(builtin.read_text(encoding="utf-8"))
    if isinstance(policy, str):
        return parse_policy(policy)
    try:
        return parse_policy(policy.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{policy.name}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise PolicyError(f"{policy.name} is not text in UTF-8.") from None
