"""The command line: each command, its JSON, its errors, and what a terminal shows."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import muniment
from muniment.cli import main
from muniment.cli.output import visible
from muniment.cli.views import DEGRADATIONS, REJECTIONS
from muniment.errors import ConflictError, MunimentError
from muniment.testing import FakeEmbedder, FakeModel
from muniment.trace import Degraded, Reason
from tests.command_line import (
    PERSIAN,
    STATEMENT,
    Command,
    Terminal,
    command_line,
    remember,
    write_lines,
)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


def test_init_makes_the_file_tells_where_and_leaves_a_store_as_it_is(cli: Command) -> None:
    made = cli("init", "--store", "new.db")
    assert made.code == 0
    assert str(Path("new.db").absolute()) in made.out
    assert Path("new.db").stat().st_size > 0
    again = cli("init", "--store", "new.db", "--json").json
    assert again["created"] is False
    assert again["store"]["schema_version"] >= 1


def test_init_refuses_a_foreign_file_untouched(cli: Command) -> None:
    Path("notes.db").write_text("notes " * 500, encoding="utf-8")
    refused = cli("init", "--store", "notes.db", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "foreign_file")
    assert Path("notes.db").read_text(encoding="utf-8") == "notes " * 500
    assert cli("init", "--store", "no/such/folder.db").code == 2


def test_a_missing_store_is_named_with_the_next_step(cli: Command) -> None:
    result = cli("list", "--store", "absent.db")
    assert result.code == 1
    assert result.err.startswith("error: ")
    assert "muniment init" in result.err
    assert not Path("absent.db").exists()


def test_remember_stores_once_and_supersedes_a_field(cli: Command) -> None:
    seat = ("--field", "seat", "--value", "aisle", "--metadata", "tag=travel")
    first = remember(cli, "Prefers aisle seats.", "f1", *seat)
    assert remember(cli, "Prefers aisle seats.", "f1", *seat) == first
    assert (
        "Already remembered"
        in cli(
            *("remember", "Prefers aisle seats.", "--kind", "preference", "--source-id", "f1"),
            *(*seat, "--approved"),
        ).out
    )
    second = remember(cli, "Prefers window seats.", "f2", "--field", "seat", "--value", "window")
    shown = cli("show", first, "--json").json
    assert (shown["status"], shown["superseded_by"]) == ("superseded", second)
    assert shown["metadata"] == {"tag": "travel"}
    both = cli("history", second, "--json").json["records"]
    assert [one["memory_id"] for one in both] == [first, second]
    assert cli("history", second).out.count("mem_") == 2


@pytest.mark.promise("WRI-1")
def test_remember_without_approval_is_refused(cli: Command) -> None:
    given = ("remember", "Prefers tea.", "--kind", "preference", "--source-id", "t1")
    refused = cli(*given)
    assert refused.code == 2
    assert "--approved" in refused.err
    assert cli(*given, "--json").json["error"]["code"] == "not_approved"
    assert cli("list", "--json").json["records"] == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("aisle", "aisle"),
        ("5", 5),
        ('"5"', "5"),
        ("true", True),
        ('["a", 1]', ["a", 1]),
        ("NaN", "NaN"),
        ("{broken", "{broken"),
    ],
)
def test_a_value_is_json_or_else_the_text_itself(cli: Command, given: str, kept: object) -> None:
    memory_id = remember(cli, "A statement.", "v1", "--field", "f", "--value", given)
    assert cli("show", memory_id, "--json").json["value"] == kept


@pytest.mark.promise("WRI-11")
def test_preview_shows_and_writes_nothing(cli: Command) -> None:
    first = remember(cli, "Prefers aisle seats.", "f1", "--field", "seat", "--value", "aisle")
    given = ("--kind", "preference", "--source-id", "f2", "--field", "seat", "--value", "window")
    seen = cli("preview", "  Prefers window seats.  ", *given, "--json").json
    assert (seen["accepted"], seen["supersedes"]) == (True, first)
    assert seen["text"] == "Prefers window seats."
    assert "would be written" in cli("preview", "Prefers window seats.", *given).out
    hidden = cli("preview", "Prefers\u202e seats.", *given)
    assert "would be refused" in hidden.out
    assert "hidden characters at 7–8" in hidden.out
    assert "\u202e" not in hidden.out
    assert cli("show", first, "--json").json["status"] == "active"


def test_recall_shows_the_packet_and_the_trace(cli: Command) -> None:
    memory_id = remember(cli, "Prefers the eu-west region.", "p1", "--metadata", "tag=work")
    remember(cli, "Likes green tea.", "p2")
    found = cli("recall", "Which region?", "--json").json
    assert [item["record"]["memory_id"] for item in found["packet"]["items"]] == [memory_id]
    assert found["trace"]["considered"] == 2
    shown = cli("recall", "Which region?").out
    for part in ("Packet · 1 record", "Trace", memory_id, "1 below the minimum score", "by words"):
        assert part in shown
    raw = cli("recall", "Which region?", "--packet").out
    assert raw == found["packet"]["text"] + "\n"
    assert cli("recall", "Which region?", "--packet", "--json").code == 2


def test_recall_filters_and_limits(cli: Command) -> None:
    tagged = remember(cli, "Region one.", "p1", "--metadata", 'tags=["work"]', "--metadata", "n=5")
    remember(cli, "Region two.", "5")

    def ids(*options: str) -> list[str]:
        found = cli("recall", "region", "--minimum-score", "-1", "--json", *options).json
        return [item["record"]["source"]["source_id"] for item in found["packet"]["items"]]

    assert ids("--filter", 'metadata.tags={"any": ["work"]}') == ["p1"]
    assert ids("--filter", "metadata.n=5") == ["p1"]
    assert ids("--filter", "source_id=5") == ["5"]
    assert ids("--filter", 'source_id={"ne": "5"}') == ["p1"]
    assert len(ids("--limit", "1")) == 1
    assert ids("--kind", "decision") == []
    assert cli("recall", "x", "--filter", "nothing").code == 2
    assert cli("recall", "x", "--filter", "field=a", "--filter", "field=b").code == 2
    for broken in ('metadata.n={"lt": 5', "metadata.tags=[work]", 'metadata.n={"lt": NaN}'):
        refused = cli("recall", "x", "--filter", "field=a", "--filter", broken)
        assert (refused.code, refused.out) == (2, "")
        assert "--filter number 2" in refused.err
    assert ids("--filter", 'metadata.tags="[work"') == []
    assert (
        cli("list", "--filter", "metadata.n=5", "--json").json["records"][0]["memory_id"] == tagged
    )


def test_list_goes_page_by_page(cli: Command) -> None:
    assert "No record here." in cli("list").out
    ids = [remember(cli, f"Statement {n}.", f"s{n}") for n in range(3)]
    first = cli("list", "--limit", "2", "--json").json
    rest = cli("list", "--limit", "2", "--cursor", first["cursor"], "--json").json
    listed = [one["memory_id"] for one in (*first["records"], *rest["records"])]
    assert (listed, rest["cursor"]) == (ids[::-1], None)
    assert f"--cursor {first['cursor']}" in cli("list", "--limit", "2").out.replace("\n", "")


def test_forget_asks_deletes_and_prints_a_receipt(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = remember(cli, "Prefers tea.", "t1")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    declined = cli("forget", memory_id)
    assert (declined.code, "Nothing was done" in declined.err) == (1, True)
    assert cli("forget", memory_id, "--json").json["error"]["code"] == "invalid_input"
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    shown = cli("forget", memory_id)
    assert (shown.code, "Receipt" in shown.out, "compacted" in shown.out) == (0, True, True)
    other = remember(cli, "Prefers coffee.", "t2")
    receipt = cli("forget", other, "--wait", "--yes", "--json").json
    assert receipt["memory_ids"] == [other]
    assert all(surface["left"] == 0 for surface in receipt["surfaces"])
    assert cli("show", other, "--json").json["error"]["code"] == "not_found"
    assert [one["action"] for one in cli("audit", "--json").json["entries"]].count("forget") == 2
    assert "forget" in cli("audit").out


def test_answer_without_a_model_shows_the_packet(cli: Command) -> None:
    memory_id = remember(cli, "Prefers the eu-west region.", "p1")
    shown = cli("answer", "Which region?")
    assert (shown.code, memory_id in shown.out) == (1, True)
    assert "MUNIMENT_MODEL" in shown.err
    failed = cli("answer", "Which region?", "--json").json
    assert failed["error"]["code"] == "no_model"
    assert memory_id in failed["packet"]


def test_answer_prints_what_the_model_says(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_id = remember(cli, "Prefers the eu-west region.", "p1")
    model = FakeModel("Use eu-west.", "Use eu-west.")
    monkeypatch.setattr("muniment.providers.llm.open_model", lambda _: model)
    answered = cli("answer", "Which region?", "--model", "openai:any", "--json").json
    assert (answered["text"], answered["memory_ids"]) == ("Use eu-west.", [memory_id])
    assert "fake-model, shown 1 record" in cli("answer", "Which region?").out


@pytest.mark.promise("OPE-6")
def test_doctor_tells_versions_counts_and_problems(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cli, "Prefers tea.", "t1")
    well = cli("doctor", "--json")
    assert (well.code, well.json["problems"], well.json["counts"]["active"]) == (0, [], 1)
    assert well.json["sqlite_safe"] is True
    assert set(well.json["versions"]) == {"muniment", "python", "sqlite"}
    assert "Everything works." in cli("doctor").out
    absent = cli("doctor", "--store", "absent.db")
    assert (absent.code, "muniment init" in absent.out.replace("\n", " ")) == (1, True)
    broken = cli("doctor", "--embedder", "nonsense", "--json")
    assert (broken.code, broken.json["embedder"], broken.json["scopes"]) == (1, None, 1)
    assert "embedder" in broken.json["problems"][0]


@pytest.mark.promise("OPE-6")
def test_maintain_embeds_what_waits_and_a_failing_embedder_is_seen(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cli, "Prefers tea.", "t1")
    embedder = FakeEmbedder()
    embedder.fail = True
    monkeypatch.setattr("muniment.providers.embedding.open_embedder", lambda _: embedder)
    failed = cli("maintain", "embed", "--json")
    assert (failed.code, failed.json) == (1, {"embedded": 0, "waiting": 1})
    sick = cli("doctor", "--json")
    assert (sick.code, sick.json["embedder"]) == (1, None)
    assert any("fake embedder fails" in problem for problem in sick.json["problems"])
    embedder.fail = False
    assert cli("maintain", "embed", "--json").json == {"embedded": 1, "waiting": 0}
    assert "Embedded 0 records." in cli("maintain", "embed").out
    assert "fake, 64 dimensions" in cli("doctor").out


def test_maintain_compacts_and_says_what_it_cannot_embed(cli: Command) -> None:
    assert set(cli("maintain", "compact", "--json").json) == {"bytes_before", "bytes_after"}
    refused = cli("maintain", "embed", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "invalid_input")


@pytest.mark.promise("SCO-2")
@pytest.mark.parametrize("command", ["list", "audit", "recall", "remember", "import", "forget"])
def test_an_incomplete_scope_is_refused(
    cli: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.delenv("MUNIMENT_USER")
    more = {
        "recall": ["x"],
        "remember": ["x", "--kind", "preference", "--source-id", "s", "--approved"],
        "import": [write_lines(STATEMENT)],
        "forget": ["mem_x", "--yes"],
    }
    refused = cli(command, *more.get(command, []))
    assert refused.code == 2
    assert "--user" in refused.err
    assert "MUNIMENT_USER" in refused.err
    assert cli(command, *more.get(command, []), "--json").json["error"]["code"] == "invalid_scope"
    for wrong in ("", " ", "*"):
        assert cli("list", "--user", wrong).code == 2


@pytest.mark.promise("SCO-3")
@pytest.mark.parametrize("command", ["show", "history", "forget"])
def test_an_id_of_another_scope_is_not_found(cli: Command, command: str) -> None:
    memory_id = remember(cli, "Prefers tea.", "t1")
    more = ["--yes"] if command == "forget" else []
    foreign = cli(command, memory_id, "--tenant", "globex", "--json", *more)
    unknown = cli(command, "mem_" + "0" * 32, "--json", *more)
    assert (foreign.code, foreign.out) == (1, unknown.out)
    assert foreign.json["error"]["code"] == "not_found"
    assert cli("show", memory_id).code == 0


@pytest.mark.promise("OPE-1")
def test_an_error_has_the_shape_of_the_library(cli: Command) -> None:
    remember(cli, "Prefers tea.", "t1")
    given = ("--kind", "preference", "--source-id", "t1", "--approved", "--json")
    printed = cli("remember", "Prefers coffee.", *given)
    memory = muniment.open("muniment.db", embedder="none")
    me = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
    with pytest.raises(ConflictError) as raised:
        me.remember("Prefers coffee.", kind="preference", source_id="t1", approved=True)
    memory.close()
    assert (printed.code, printed.json) == (1, raised.value.to_dict())


def test_misuse_and_the_unexpected_are_errors_of_the_same_shape(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("recall", "--json").json["error"]["code"] == "invalid_input"
    assert "muniment recall --help" in cli("recall").err
    for error, code, said in (
        (ZeroDivisionError("secret"), 1, "ZeroDivisionError"),
        (PermissionError(13, "Permission denied", "f.db"), 1, "f.db: Permission denied"),
        (KeyboardInterrupt(), 130, "Stopped"),
        (MunimentError("Plain."), 1, "Plain."),
    ):

        def fail(*_: object, error: BaseException = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("muniment.memory.open", fail)
        failed = cli("list")
        assert (failed.code, said in failed.err, "secret" in failed.err) == (code, True, False)
        assert set(cli("list", "--json").json["error"]) == {"code", "message"}


def test_persian_is_isolated_on_a_terminal_only(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = remember(cli, PERSIAN, "f1")
    assert "\u2068" not in cli("list").out + cli("list", "--json").out
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    assert main(["list"]) == 0
    assert main(["show", memory_id, "--json"]) == 0
    shown, _, plain = terminal.getvalue().partition("{")
    assert f"\u2068{PERSIAN}\u2069" in shown
    assert "\u2068" not in plain


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (PERSIAN, PERSIAN),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("a\u200cb", "a\\u200cb"),
        ("\x1b[31mred\u202e", "\\u001b[31mred\\u202e"),
        ("so\u00adft", "so\\u00adft"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("filler\u3164", "filler\\u3164"),
    ],
)
def test_what_hides_is_shown_as_an_escape_and_joiners_of_persian_stay(
    stored: str, shown: str
) -> None:
    assert visible(stored) == shown


def test_a_policy_of_one_s_own_is_checked_shown_and_used(cli: Command) -> None:
    builtin = cli("policy", "show", "--json").json
    assert builtin["kinds"]["decision"]["model"] == ["propose", "read"]
    text = files("muniment.rules").joinpath("policy.toml").read_text("utf-8")
    Path("own.toml").write_text(text.replace("kinds.preference", "kinds.taste"), "utf-8")
    assert "10 kinds" in cli("policy", "check", "own.toml").out
    assert "taste" in cli("policy", "show", "--policy", "own.toml").out
    given = ("Likes tea.", "--kind", "taste", "--source-id", "t", "--approved", "--json")
    assert cli("remember", *given).json["error"]["code"] == "unknown_kind"
    assert cli("remember", *given, "--policy", "own.toml").json["outcome"] == "created"
    Path("own.toml").write_text("version = 1\n[kinds.taste]\n", "utf-8")
    refused = cli("policy", "check", "own.toml")
    assert (refused.code, "kind taste lacks family" in refused.err) == (2, True)
    assert cli("policy", "check", "absent.toml").err == (
        "error: absent.toml: No such file or directory.\n"
    )


def test_the_terminal_has_a_phrase_for_every_reason() -> None:
    assert set(REJECTIONS) == set(Reason)
    assert set(DEGRADATIONS) == set(Degraded)


def test_help_needs_no_numerics_and_no_model_runtime() -> None:
    code = (
        "import sys\nfrom muniment.cli import main\nmain(['--help'])\n"
        "print([m for m in ('numpy', 'onnxruntime', 'openai', 'apsw') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
    module = [sys.executable, "-m", "muniment", "--version"]
    assert subprocess.run(module, capture_output=True, text=True, check=True).stdout.startswith(
        "muniment "
    )


def test_the_reference_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "generate_cli_reference"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
