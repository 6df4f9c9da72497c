"""The file commands of Anthropic's memory tool over the items of one scope.

Paths begin with `/memories/`; directories are where files are. Texts of results and errors are
those that the SDK's own tool gives, because models are trained on them. A file is not a record:
nothing of it is recalled.
"""

from __future__ import annotations

from collections.abc import Sequence

from muniment.scoped import ScopedMemory
from muniment.threads import NewItem

ROOT = "/memories"
STORE = "files"
MOST_LINES = 999_999
_WIDTH = len(str(MOST_LINES))
_DEPTH = 2
_CONTEXT = 2
_TEXT = "text"
_UNITS = ("B", "K", "M", "G")

Path = tuple[str, ...]


class FileCommandError(Exception):
    """A command could not be carried out; the message is for the model."""


class MemoryFiles:
    """The files of one scope.

    Args:
        memory: The memory of the scope.
    """

    def __init__(self, memory: ScopedMemory) -> None:
        self._items = memory.items(STORE)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Return a file with line numbers, or what lies in a directory, two levels deep.

        Args:
            path: The file or directory.
            view_range: The first and last line to show, from 1; -1 for the last one.

        Raises:
            FileCommandError: The path is wrong or not there, or the file has too many lines.
        """
        place = parsed(path)
        text = self._read(place)
        if text is not None:
            return _numbered(path, text, view_range)
        below = self._below(place)
        if place and not below:
            raise FileCommandError(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path, place, below)

    def create(self, path: str, file_text: str) -> str:
        """Make a file; one that is there is not overwritten.

        Args:
            path: The file.
            file_text: What it holds.

        Raises:
            FileCommandError: The path is wrong or taken.
        """
        place = parsed(path)
        if not place or self._taken(place):
            raise FileCommandError(f"File {path} already exists")
        self._refuse_below_file(path, place)
        self._write(place, file_text)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace a text that stands in a file exactly once.

        Args:
            path: The file.
            old_str: The text as it stands.
            new_str: What takes its place.

        Raises:
            FileCommandError: The path is wrong, or the text is there not once.
        """
        place = parsed(path)
        text = self._file(path, place)
        count = text.count(old_str)
        if not old_str or count == 0:
            raise FileCommandError(
                f"No replacement was performed, old_str `{old_str}` did not appear verbatim in "
                f"{path}."
            )
        if count > 1:
            lines = ", ".join(map(str, _lines_of(text, old_str)))
            raise FileCommandError(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in "
                f"lines: {lines}. Please ensure it is unique"
            )
        changed = text.replace(old_str, new_str)
        self._write(place, changed)
        at = text[: text.find(old_str)].count("\n")
        shown = changed.split("\n")[max(0, at - _CONTEXT) : at + _CONTEXT + 1]
        snippet = _with_numbers(shown, max(0, at - _CONTEXT) + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{snippet}"
        )

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Insert a text after a line of a file; 0 for its beginning.

        Args:
            path: The file.
            insert_line: The line, from 0.
            insert_text: What to insert.

        Raises:
            FileCommandError: The path is wrong, or the file has no such line.
        """
        place = parsed(path)
        lines = self._file(path, place).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise FileCommandError(
                f"Invalid `insert_line` parameter: {insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self._write(place, text if text.endswith("\n") else f"{text}\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file, or a directory with everything in it.

        Args:
            path: The file or directory; not the root.

        Raises:
            FileCommandError: The path is wrong, not there, or the root.
        """
        place = parsed(path)
        if not place:
            raise FileCommandError("Cannot delete the /memories directory itself")
        found = self._within(place)
        if not found:
            raise FileCommandError(f"The path {path} does not exist")
        self._items.put_many([_address(one) for one in found])
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file or directory.

        Args:
            old_path: Where it is; not the root.
            new_path: Where it goes; nothing may be there.

        Raises:
            FileCommandError: A path is wrong, not there, taken, or the root.
        """
        old, new = parsed(old_path), parsed(new_path)
        if not old:
            raise FileCommandError("Cannot rename the /memories directory itself")
        if not new or self._taken(new):
            raise FileCommandError(f"The destination {new_path} already exists")
        found = self._within(old)
        if not found:
            raise FileCommandError(f"The path {old_path} does not exist")
        if new[: len(old)] == old:
            raise FileCommandError(f"Cannot move {old_path} into itself")
        self._refuse_below_file(new_path, new)
        texts = {place: self._file(old_path, place) for place in found}
        moved = [_item((*new, *place[len(old) :]), text) for place, text in texts.items()]
        self._items.put_many([*moved, *(_address(place) for place in found)])
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Delete every file."""
        self._items.put_many([_address(place) for place in self._below(())])
        return "All memory cleared"

    def snapshot(self) -> dict[str, str]:
        """Return every file's text by its path without the leading slash."""
        return {"/".join(("memories", *place)): self._file("", place) for place in self._below(())}

    def _read(self, place: Path) -> str | None:
        if not place:
            return None
        item = self._items.get(*_address(place))
        return None if item is None else str(item.value[_TEXT])

    def _file(self, path: str, place: Path) -> str:
        text = self._read(place)
        if text is not None:
            return text
        if not place or self._below(place):
            raise FileCommandError(f"The path {path} is not a file.")
        raise FileCommandError(f"The path {path} does not exist. Please provide a valid path.")

    def _write(self, place: Path, text: str) -> None:
        self._items.put(*_address(place), {_TEXT: text})

    def _below(self, place: Path) -> dict[Path, int]:
        """Return the files in a directory with their sizes in bytes."""
        found = self._items.search(("memories", *place), limit=None)
        return {
            (*item.namespace[1:], item.key): len(str(item.value[_TEXT]).encode())
            for item in sorted(found, key=lambda one: (*one.namespace, one.key))
        }

    def _within(self, place: Path) -> list[Path]:
        return [place] if self._read(place) is not None else list(self._below(place))

    def _taken(self, place: Path) -> bool:
        return self._read(place) is not None or bool(self._below(place))

    def _refuse_below_file(self, path: str, place: Path) -> None:
        for depth in range(1, len(place)):
            if self._read(place[:depth]) is not None:
                raise FileCommandError(f"The path {path} lies below a file.")


def parsed(path: str) -> Path:
    """Return the names on a path below `/memories`; none for the root itself.

    Raises:
        FileCommandError: It does not begin with `/memories/`, would leave it, or holds what no path
            may hold.
    """
    if not isinstance(path, str):
        raise FileCommandError("A path must be a text.")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise FileCommandError(f"Path must start with /memories, got: {path}")
    names: list[str] = []
    for name in path[len(ROOT) :].split("/"):
        if name == "..":
            if not names:
                raise FileCommandError(f"Path {path} would escape /memories directory")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if any(not name.isprintable() or name != name.strip() or "\\" in name for name in names):
        raise FileCommandError("A path may hold no control characters, outer blanks or backslashes")
    return tuple(names)


def _address(place: Path) -> tuple[tuple[str, ...], str]:
    return ("memories", *place[:-1]), place[-1]


def _item(place: Path, text: str) -> NewItem:
    return NewItem(*_address(place), {_TEXT: text})


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise FileCommandError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first = 1
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0])
        last = len(lines) if view_range[1] == -1 else view_range[1]
        lines = lines[first - 1 : last]
    numbered = _with_numbers(lines, first)
    return f"Here's the content of {path} with line numbers:\n{numbered}"


def _with_numbers(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{at:>{_WIDTH}}\t{line}" for at, line in enumerate(lines, first))


def _lines_of(text: str, wanted: str) -> list[int]:
    found, at = [], text.find(wanted)
    while at != -1:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(wanted, at + 1)
    return found


def _listing(path: str, place: Path, below: dict[Path, int]) -> str:
    sizes: dict[str, int] = {}
    for file, size in below.items():
        names = file[len(place) :]
        if any(name.startswith(".") for name in names):
            continue
        for depth in range(1, min(len(names), _DEPTH) + 1):
            shown = "/".join(names[:depth]) + ("/" if depth < len(names) else "")
            sizes[shown] = sizes.get(shown, 0) + size
    base = path.rstrip("/")
    lines = [f"{_size(sum(below.values()))}\t{path}"]
    lines += [f"{_size(sizes[name])}\t{base}/{name}" for name in sorted(sizes)]
    header = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    return "\n".join([header, *lines])


def _size(count: int) -> str:
    unit = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / 1024**unit
    return f"{size:.0f}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"
