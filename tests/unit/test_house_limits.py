"""The checker of the house limits goes red on a sample that breaks one, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import house_limits as limits

PLACE = "src/muniment/sample.py"
ROOT = Path(__file__).resolve().parents[2]


def _messages(check: limits.Check, text: str, path: str = PLACE) -> list[str]:
    return [str(breach) for breach in check(limits.parse(path, text))]


def _function(lines: int, docstring: str = '"""Do."""') -> str:
    return "\n    ".join(["def act() -> None:", docstring, *["pass"] * lines])


DOCSTRINGS = limits.docstring_check(frozenset())

BAD = [
    pytest.param(limits.check_module_size, "x = 1\n" * 401, "1 module has 401 lines", id="module"),
    pytest.param(limits.check_function_size, _function(41), "1 act has 41 lines", id="function"),
    pytest.param(
        limits.check_names, "def one_two_three_four_five(): ...", "has 5 words", id="function-name"
    ),
    pytest.param(limits.check_names, "class OneTwoThreeFourFive: ...", "5 words", id="class-name"),
    pytest.param(limits.check_names, "def a(b_c_d_e_f): ...", "b_c_d_e_f", id="argument-name"),
    pytest.param(DOCSTRINGS, "x = 1", "1 module has no docstring", id="module-docstring"),
    pytest.param(DOCSTRINGS, '"""M."""\ndef act(): ...', "2 public act", id="docstring"),
    pytest.param(
        DOCSTRINGS,
        '"""M."""\nclass A:\n    """A."""\n    async def act(self): ...',
        "4 public act",
        id="method-docstring",
    ),
    pytest.param(
        limits.check_blind_except, "try: ...\nexcept Exception: ...", "2 catches", id="exception"
    ),
    pytest.param(limits.check_blind_except, "try: ...\nexcept: ...", "2 catches", id="bare-except"),
    pytest.param(
        limits.check_blind_except,
        "try: ...\nexcept (ValueError, Exception): raise",
        "2 catches",
        id="exception-in-tuple",
    ),
    pytest.param(
        limits.check_blind_except,
        "try: ...\nexcept BaseException: ...",
        "2 catches",
        id="swallowed-base",
    ),
    pytest.param(
        limits.check_built_sql, 'db.execute(f"SELECT {x}")', "1 SQL is built", id="f-string"
    ),
    pytest.param(
        limits.check_built_sql, 'db.executemany("SELECT " + x, y)', "1 SQL", id="concatenation"
    ),
    pytest.param(limits.check_built_sql, 'db.execute("{}".format(x))', "1 SQL", id="format"),
]


@pytest.mark.parametrize(("check", "text", "message"), BAD)
def test_a_bad_sample_is_named_with_its_place(check: limits.Check, text: str, message: str) -> None:
    found = _messages(check, text)
    assert len(found) == 1
    assert found[0].startswith(f"{PLACE}:")
    assert message in found[0]


GOOD = [
    pytest.param(limits.check_module_size, "x = 1\n" * 400, id="module"),
    pytest.param(limits.check_function_size, _function(40), id="function"),
    pytest.param(
        limits.check_function_size,
        _function(40, '"""Do.\n' + "    more\n" * 30 + '    """'),
        id="long-docstring",
    ),
    pytest.param(limits.check_names, "def __one_two_three_four__(a_b_c_d): ...", id="name"),
    pytest.param(DOCSTRINGS, '"""M."""\ndef _act(): ...', id="private"),
    pytest.param(DOCSTRINGS, '"""M."""\nclass _A:\n    def act(self): ...', id="private-class"),
    pytest.param(
        limits.check_blind_except,
        "try: ...\nexcept BaseException:\n    undo()\n    raise",
        id="clean-up",
    ),
    pytest.param(limits.check_built_sql, 'db.execute(sql["get"], (1,))', id="named-query"),
]


@pytest.mark.parametrize(("check", "text"), GOOD)
def test_a_sample_at_the_limit_passes(check: limits.Check, text: str) -> None:
    assert _messages(check, text) == []


def test_catching_everything_is_allowed_where_plug_ins_are_called() -> None:
    text = "try: ...\nexcept Exception: ..."
    assert _messages(limits.check_blind_except, text, "src/muniment/providers/llm.py") == []


def test_a_method_documented_on_its_port_needs_no_second_docstring() -> None:
    port = limits.parse(limits.PORTS, 'class Store:\n    def get(self):\n        """Get."""')
    check = limits.docstring_check(limits.port_methods(port))
    text = '"""M."""\nclass A:\n    """A."""\n    def get(self): ...'
    assert _messages(check, text, "src/muniment/storage/sqlite.py") == []
    assert len(_messages(check, text)) == 1


def test_a_tree_with_many_comments_is_a_breach() -> None:
    rare = limits.parse(PLACE, "# why\n" * 8 + "x = 1  # beside code\n" * 92)
    many = limits.parse(PLACE, "# why\n" * 9 + "x = 1\n" * 91)
    assert list(limits.check_comment_share([rare])) == []
    assert len(list(limits.check_comment_share([many]))) == 1


def test_a_tree_with_many_long_functions_is_a_breach() -> None:
    short, long = _function(25), _function(26)
    kept = limits.parse(PLACE, "\n".join([short] * 9 + [long]))
    broken = limits.parse(PLACE, "\n".join([short] * 8 + [long] * 2))
    assert list(limits.check_function_spread([kept])) == []
    assert len(list(limits.check_function_spread([broken]))) == 1


@pytest.mark.parametrize("folder", ["home", "root", "Users"])
def test_a_path_of_one_machine_is_a_breach(folder: str) -> None:
    assert len(list(limits.check_machine_paths("README.md", f"see /{folder}/ann/notes"))) == 1
    assert list(limits.check_machine_paths("README.md", f"see ./{folder}/ann")) == []


def test_the_command_prints_each_breach_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "src" / "muniment"
    source.mkdir(parents=True)
    (source / "odd.py").write_text("def act(): ...\n", encoding="utf-8")
    assert limits.main([str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "src/muniment/odd.py:1 module has no docstring\n" in printed
    assert "2 breaches; src has 1 modules, 1 lines" in printed


def test_the_command_passes_a_clean_tree(tmp_path: Path) -> None:
    source = tmp_path / "src" / "muniment"
    source.mkdir(parents=True)
    (source / "fine.py").write_text('"""Fine."""\n', encoding="utf-8")
    assert limits.main([str(tmp_path)]) == 0


def test_the_checker_keeps_its_own_limits() -> None:
    place = "scripts/house_limits.py"
    own = limits.parse(place, (ROOT / place).read_text(encoding="utf-8"))
    checks = (*limits.CODE, DOCSTRINGS)
    assert [breach for check in checks for breach in check(own)] == []
