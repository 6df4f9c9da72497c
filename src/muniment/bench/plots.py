"""A bar chart of one run, as SVG."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from muniment.errors import MissingExtraError

_OURS = "#0b7285"
_LIMIT = "#868e96"
_OTHERS = "#ced4da"


def bars(path: Path, title: str, unit: str, values: Mapping[str, float]) -> None:
    """Write horizontal bars on a logarithmic axis, one a name, in the order given.

    Names that begin with "muniment" are coloured, those that begin with "one " are limits.

    Args:
        path: The file; its folder is made.
        title: What is shown.
        unit: What the axis counts.
        values: Numbers above 0, by name.

    Raises:
        MissingExtraError: The extra `bench` is not installed.
    """
    require()
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams["svg.hashsalt"] = "muniment"
    rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(8, 0.6 + 0.36 * len(values)), layout="constrained")
    axes = figure.add_subplot()
    names = list(values)
    drawn = axes.barh(names, list(values.values()), color=[_colour(name) for name in names])
    axes.bar_label(drawn, fmt="%.3g", padding=3)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})


def require() -> None:
    """Refuse before anything is measured for a plot that nothing could draw.

    Raises:
        MissingExtraError: The extra `bench` is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError("Plots need matplotlib: pip install 'muniment[bench]'.")


def _colour(name: str) -> str:
    if name.startswith("muniment"):
        return _OURS
    return _LIMIT if name.startswith("one ") else _OTHERS
