"""The plug-in boundary: what becomes of an exception that someone else's code raised."""

from __future__ import annotations

from muniment.errors import ProviderError


def provider_failure(error: Exception, provider: str) -> ProviderError:
    """Return the error for an exception of a plug-in: its class and status, never its message."""
    status = getattr(error, "status_code", None)
    number = f" with HTTP status {status}" if isinstance(status, int) else ""
    return ProviderError(
        f"{provider} failed: {type(error).__name__}{number}.",
        cause=type(error).__name__,
        **({"status": status} if number else {}),
    )
