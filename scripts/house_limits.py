"""Checks the house limits that no linter knows, and prints `path:line message` for each breach.

Usage: python scripts/house_limits.py [ROOT]

Limits for a file depend on its tree: `src` keeps all of them, `scripts` all but docstrings of
every public name, `tests` only sizes, because the name of a test is a sentence.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

MODULE_LINES = 400
FUNCTION_LINES = 40
FUNCTION_P90 = 25
NAME_WORDS = 4
COMMENTS_PER_100 = 8.0

BLIND_EXCEPT_ALLOWED = {
    "src/muniment/cli/": "the outermost loop of a command",
    "src/muniment/providers/": "the plug-in boundary, which maps to ProviderError",
    "src/muniment/server/": "the outermost loop of a server",
    "src/muniment/storage/sqlite.py": "the writer hands an error to the caller whose work it was",
}
"""Where `except Exception` may stand (a path, or the start of one), and why."""

PORTS = "src/muniment/ports/"
BACK_ENDS = ("src/muniment/providers/", "src/muniment/storage/", "src/muniment/testing.py")
"""Where a method that the ports document needs no second docstring."""

TEXT_SUFFIXES = {"", ".cfg", ".json", ".jsonl", ".md", ".py", ".sh", ".sql", ".toml", ".txt"}
SKIPPED_FOLDERS = {"__pycache__", "build", "dist", "htmlcov"}
_MACHINE_PATH = re.compile(r"(?<![\w.~/$}-])/(?:home|root|Users|work)/\w")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed Python file.

    Attributes:
        path: Its path from the repository's root, with forward slashes.
        text: Its source.
        tree: Its syntax tree.
    """

    path: str
    text: str
    tree: ast.Module


@dataclass(frozen=True, slots=True, order=True)
class Breach:
    """A limit that is not kept, and where."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.message}"


Check: TypeAlias = Callable[[Module], Iterator[Breach]]


def parse(path: str, text: str) -> Module:
    """Return the module of a path and its source."""
    return Module(path, text, ast.parse(text, path))


def functions(module: Module) -> Iterator[Function]:
    """Yield every function and method of a module, nested ones too."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function):
            yield node


def function_lines(function: Function) -> int:
    """Return the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return function.body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def words(name: str) -> list[str]:
    """Return the words of a snake_case or CamelCase name."""
    return _WORD.findall(name)


def check_module_size(module: Module) -> Iterator[Breach]:
    """A module has at most 400 lines."""
    count = len(module.text.splitlines())
    if count > MODULE_LINES:
        message = f"module has {count} lines, more than {MODULE_LINES}; it wants to be two"
        yield Breach(module.path, 1, message)


def check_function_size(module: Module) -> Iterator[Breach]:
    """A function has at most 40 lines besides its docstring."""
    for function in functions(module):
        count = function_lines(function)
        if count > FUNCTION_LINES:
            message = f"{function.name} has {count} lines, more than {FUNCTION_LINES}"
            yield Breach(module.path, function.lineno, message)


def check_names(module: Module) -> Iterator[Breach]:
    """A function, class or argument has a name of at most four words."""
    for node in ast.walk(module.tree):
        name = node.arg if isinstance(node, ast.arg) else getattr(node, "name", None)
        if isinstance(node, Definition | ast.arg) and name and len(words(name)) > NAME_WORDS:
            message = f"the name {name} has {len(words(name))} words, more than {NAME_WORDS}"
            yield Breach(module.path, node.lineno, message)


def _public(node: ast.stmt) -> bool:
    return isinstance(node, Definition) and not node.name.startswith("_")


def _second_half(node: Definition) -> bool:
    """Tell whether a definition is an overload or a setter, documented on its other half."""
    marks = (ast.unparse(decorator) for decorator in node.decorator_list)
    return any(
        mark in {"overload", "typing.overload"} or mark.endswith(".setter") for mark in marks
    )


def _public_definitions(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Definition) and _public(node) and not _second_half(node):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public_definitions(node.body)


def port_methods(module: Module) -> frozenset[str]:
    """Return the names of the methods that the protocols of the ports document."""
    classes = (node for node in module.tree.body if isinstance(node, ast.ClassDef))
    return frozenset(
        method.name
        for one in classes
        for method in one.body
        if isinstance(method, Function) and ast.get_docstring(method) is not None
    )


def docstring_check(documented: frozenset[str]) -> Check:
    """Return the check that every public name has a docstring.

    Args:
        documented: Names of methods that need none in a back end, because the ports have it.
    """

    def check(module: Module) -> Iterator[Breach]:
        if ast.get_docstring(module.tree) is None:
            yield Breach(module.path, 1, "module has no docstring")
        excused = documented if module.path.startswith(BACK_ENDS) else frozenset[str]()
        for node in _public_definitions(module.tree.body):
            if ast.get_docstring(node) is None and node.name not in excused:
                yield Breach(module.path, node.lineno, f"public {node.name} has no docstring")

    return check


def _blind(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return "Exception" in names or ("BaseException" in names and not _raises(handler))


def _raises(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise)


def check_blind_except(module: Module) -> Iterator[Breach]:
    """Nothing catches everything outside the allowed places.

    `except BaseException` that ends in `raise` is clean-up and is allowed everywhere.
    """
    if module.path.startswith(tuple(BLIND_EXCEPT_ALLOWED)):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and _blind(node):
            yield Breach(module.path, node.lineno, "catches everything; name the errors it expects")


def check_built_sql(module: Module) -> Iterator[Breach]:
    """A statement given to execute is a named query, never built from strings."""
    for node in ast.walk(module.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if node.func.attr.startswith("execute") and _built(node.args[0]):
            yield Breach(module.path, node.lineno, "SQL is built from strings; name it in sql/")


def _built(statement: ast.expr) -> bool:
    if isinstance(statement, ast.JoinedStr | ast.BinOp):
        return True
    called = statement.func if isinstance(statement, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in {"format", "join", "replace"}


def comment_lines(module: Module) -> list[int]:
    """Return the numbers of the lines that hold only a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    return [
        token.start[0]
        for token in tokens
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
    ]


def check_comment_share(modules: list[Module]) -> Iterator[Breach]:
    """Whole-line comments are rare: at most eight in a hundred lines of a tree."""
    lines = sum(len(module.text.splitlines()) for module in modules)
    share = 100 * sum(len(comment_lines(module)) for module in modules) / max(lines, 1)
    if share > COMMENTS_PER_100:
        worst = max(modules, key=lambda module: len(comment_lines(module)))
        message = f"{share:.1f} comment lines per 100 in the tree, most of them here"
        yield Breach(worst.path, 1, message)


def check_function_spread(modules: list[Module]) -> Iterator[Breach]:
    """Nine of ten functions of a tree have at most 25 lines."""
    p90 = function_p90(modules)
    if p90 > FUNCTION_P90:
        message = f"one function in ten has {p90} lines or more, above {FUNCTION_P90}"
        yield Breach(modules[0].path, 1, message)


def function_p90(modules: list[Module]) -> int:
    """Return the length that nine of ten functions do not exceed, in lines."""
    sizes = sorted(function_lines(one) for module in modules for one in functions(module))
    return sizes[(9 * len(sizes) - 1) // 10] if sizes else 0


def check_machine_paths(path: str, text: str) -> Iterator[Breach]:
    """No file names a place on somebody's own machine."""
    for number, line in enumerate(text.splitlines(), start=1):
        if _MACHINE_PATH.search(line):
            yield Breach(path, number, "names a path of one machine")


SIZES: tuple[Check, ...] = (check_module_size, check_function_size)
CODE: tuple[Check, ...] = (*SIZES, check_names, check_blind_except, check_built_sql)


def _modules(root: Path, tree: str) -> list[Module]:
    files = sorted((root / tree).rglob("*.py"))
    return [parse(file.relative_to(root).as_posix(), file.read_text("utf-8")) for file in files]


def _texts(root: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(root.rglob("*")):
        parts = file.relative_to(root).parts
        hidden = any(p in SKIPPED_FOLDERS or (p[0] == "." and p != ".ci") for p in parts[:-1])
        if not hidden and file.name != ".git" and file.is_file() and file.suffix in TEXT_SUFFIXES:
            yield "/".join(parts), file.read_text("utf-8", errors="replace")


def breaches(root: Path) -> list[Breach]:
    """Return every breach below a repository's root, in order of place."""
    source, scripts, tests = (_modules(root, tree) for tree in ("src", "scripts", "tests"))
    ports = frozenset[str]().union(
        *(port_methods(one) for one in source if one.path.startswith(PORTS))
    )
    found = [breach for path, text in _texts(root) for breach in check_machine_paths(path, text)]
    trees: tuple[tuple[list[Module], tuple[Check, ...]], ...] = (
        (source, (*CODE, docstring_check(ports))),
        (scripts, CODE),
        (tests, SIZES),
    )
    for modules, checks in trees:
        found += [breach for one in modules for check in checks for breach in check(one)]
    for modules in (source, scripts):
        found += [*check_comment_share(modules), *check_function_spread(modules)]
    return sorted(found)


def summary(root: Path) -> str:
    """Return one line of the numbers that the limits bound, for the source tree."""
    modules = _modules(root, "src")
    lines = sum(len(module.text.splitlines()) for module in modules)
    comments = sum(len(comment_lines(module)) for module in modules)
    return (
        f"{len(modules)} modules, {lines} lines, "
        f"function p90 {function_p90(modules)} lines, "
        f"{100 * comments / max(lines, 1):.1f} comment lines per 100"
    )


def main(arguments: list[str]) -> int:
    """Print every breach and a summary; return 1 if there is a breach."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    found = breaches(root)
    for breach in found:
        print(breach)
    print(f"{len(found)} breaches; src has {summary(root)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
