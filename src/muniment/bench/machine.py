"""On what a run was measured."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from muniment.records import Plain


@dataclass(frozen=True, slots=True)
class Machine(Plain):
    """The computer and the versions of a run.

    Attributes:
        date: Day of the run, UTC.
        processor: Name of the processor and how many of it there are.
        system: Operating system and architecture.
        versions: Python and the packages that matter, by name.
    """

    date: str
    processor: str
    system: str
    versions: dict[str, str]


def machine(*packages: str) -> Machine:
    """Return the present machine with the versions of packages that are installed."""
    found = {"python": platform.python_version()}
    for package in ("muniment", "numpy", "apsw-sqlite3mc", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return Machine(
        date=datetime.now(UTC).date().isoformat(),
        processor=f"{_processor()}, {os.cpu_count()} cores",
        system=f"{platform.system()} {platform.machine()}",
        versions=found,
    )


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
