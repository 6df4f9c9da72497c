"""The kind registry: what a policy must say before it is in force."""

from __future__ import annotations

from pathlib import Path

import pytest

import muniment.rules
from muniment.errors import PolicyError, UnknownKindError
from muniment.records import Family
from muniment.rules.kinds import Policy, parse_policy

BUILTIN = Path(muniment.rules.__file__).with_name("policy.toml").read_text(encoding="utf-8")
DAY = 86_400_000_000
ABOUT_THE_PERSON = {"preference", "verified_fact", "context", "feedback"}
WHOLE = {
    "family": '"semantic"',
    "purpose": '"What the person likes."',
    "readers": '["subject", "agent"]',
    "model": '["read"]',
    "sensitivity": '"personal"',
    "lifetime": "30",
    "longest": "60",
    "boundary": '"user"',
}


def policy_text(name: str = "taste", /, **changes: str | None) -> str:
    lines = [f"{key} = {value}" for key, value in (WHOLE | changes).items() if value is not None]
    return "\n".join(["version = 3", f"[kinds.{name}]", *lines])


@pytest.fixture(scope="module")
def builtin() -> Policy:
    return parse_policy(BUILTIN)


def test_a_whole_policy_is_read() -> None:
    policy = parse_policy(policy_text(aliases='["liking"]', requires='["seen"]'))
    rule = policy.rule("liking")
    assert policy.version == 3
    assert rule is policy.rule("taste")
    assert (rule.family, rule.lifetime, rule.longest) == (Family.SEMANTIC, 30 * DAY, 60 * DAY)
    assert (rule.readers, rule.model) == (("subject", "agent"), ("read",))
    assert (rule.requires, rule.one_per_field) == (("seen",), True)


@pytest.mark.promise("WRI-12")
@pytest.mark.parametrize("key", WHOLE)
def test_a_kind_that_leaves_something_unsaid_is_refused(key: str) -> None:
    with pytest.raises(PolicyError, match=f"kind taste lacks {key}"):
        parse_policy(policy_text(**{key: None}))


@pytest.mark.promise("WRI-12")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"family": '"other"'}, "family must be one of"),
        ({"family": "3"}, "family must be one of"),
        ({"purpose": '"  "'}, "needs a purpose"),
        ({"purpose": "7"}, "needs a purpose"),
        ({"readers": '["everyone"]'}, "readers must be one of"),
        ({"readers": '"subject"'}, "readers must be a list"),
        ({"model": '["erase"]'}, "model must be one of"),
        ({"sensitivity": '"secret"'}, "sensitivity must be one of"),
        ({"boundary": '"planet"'}, "boundary must be one of"),
        ({"lifetime": "0"}, "lifetime must be a number of days"),
        ({"lifetime": "true"}, "lifetime must be a number of days"),
        ({"longest": '"forever"'}, "longest must be a number of days"),
        ({"lifetime": "61"}, "lives longer than its longest"),
        ({"lifetime": '"unlimited"'}, "lives longer than its longest"),
        ({"requires": "[1]"}, "requires must be a list"),
        ({"colour": '"red"'}, "has unknown colour"),
        ({"aliases": '["taste"]'}, "already names a kind"),
        ({"aliases": '["a", "a"]'}, "already names a kind"),
    ],
)
def test_a_kind_that_contradicts_itself_is_refused(changes: dict[str, str], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        parse_policy(policy_text(**changes))


@pytest.mark.promise("WRI-12")
@pytest.mark.parametrize("requires", [None, "[]", '["expires_at"]', '["owner"]'])
def test_a_constraint_must_have_an_owner_and_an_expiry(requires: str | None) -> None:
    with pytest.raises(PolicyError, match="must require expires_at and owner"):
        parse_policy(policy_text("constraint", requires=requires))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version = 1",
        "version = 0\n[kinds.a]",
        "version = true\n[kinds.a]",
        'version = "1"\n[kinds.a]',
        "version = 1\nkinds = 3",
        "version = 1\n[kinds]",
        "version = ",
        "\x00",
    ],
)
def test_a_text_that_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(text)


@pytest.mark.promise("WRI-1", "WRI-12")
def test_the_built_in_kinds_cover_all_families_and_say_everything(builtin: Policy) -> None:
    assert set(builtin.kinds) == {
        "preference",
        "verified_fact",
        "decision",
        "constraint",
        "context",
        "feedback",
        "error",
        "outcome",
        "insight",
        "procedure",
    }
    assert {rule.family for rule in builtin.kinds.values()} == set(Family)
    for rule in builtin.kinds.values():
        assert rule.purpose.endswith(".")
        assert "subject" in rule.readers
        assert ("write" in rule.model) is (rule.name in ABOUT_THE_PERSON)
    assert builtin.rule("fact").name == "verified_fact"
    assert {"succeeded", "actions"} <= set(builtin.rule("outcome").requires)


@pytest.mark.promise("WRI-1")
@pytest.mark.parametrize(
    "kind", ["", "Preference", "preference ", "session_message", None, 3, ["preference"], {}]
)
def test_a_kind_outside_the_policy_is_refused_without_being_repeated(
    builtin: Policy, kind: object
) -> None:
    with pytest.raises(UnknownKindError, match="use one of: preference") as caught:
        builtin.rule(kind)
    assert "session_message" not in str(caught.value)
