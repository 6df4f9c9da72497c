"""The public suite of agent memory integrity (agmi) judges a store's file and its front door."""

from __future__ import annotations

import pytest
from agmi import check, measure
from agmi.attacks import memory_specific as attacks

from tests.conformance.agmi.at_rest import FileAdapter, SealedFileAdapter, UnverifiedFileAdapter
from tests.conformance.agmi.front_door import ReviewedAdapter, TrustingAdapter

SEEN_BY_A_READ = {
    "tamper",
    "reorder",
    "forge",
    "cross_replay",
    "rollback_replay",
    "metadata_tamper",
}
SEEN_BY_A_VERIFICATION = {"truncate", "delete_middle", "snapshot_rollback"}
SAID = {
    *(one.genuine for one in attacks.INJECTION_FIXTURES),
    *(one.secret for one in attacks.BLEED_FIXTURES),
    *(text for one in attacks.HIJACK_FIXTURES for text in one.genuine),
    *(one.genuine for one in attacks.PROMPT_INJECTION_FIXTURES),
    *(one.genuine for one in attacks.UPDATE_FIXTURES),
    *(one.genuine for one in attacks.METADATA_FIXTURES),
}


def verdicts(adapter: FileAdapter) -> dict[str, set[str]]:
    """Return the names of the edits by what became of them."""
    found: dict[str, set[str]] = {}
    for row in check.run(adapter):
        found.setdefault(row["verdict"], set()).add(row["attack"])
    return found


def cells(adapter: ReviewedAdapter, *, mutate: bool = False) -> dict[str, str]:
    """Return the verdict on each attack; `n/a` where the suite could take none."""
    try:
        return {
            one.attack: one.status for one in measure.run_memory_attacks(adapter, mutate=mutate)
        }
    finally:
        adapter.close()


@pytest.mark.promise("AUD-1", "SEC-1")
@pytest.mark.parametrize("adapter", [FileAdapter, SealedFileAdapter])
def test_none_of_nine_edits_of_the_file_is_served_in_silence(adapter: type[FileAdapter]) -> None:
    assert verdicts(adapter()) == {
        "REJECTED": SEEN_BY_A_READ,
        "REPORTED": SEEN_BY_A_VERIFICATION,
    }


def test_the_edits_that_only_a_verification_sees_are_these() -> None:
    assert verdicts(UnverifiedFileAdapter()) == {
        "REJECTED": SEEN_BY_A_READ,
        "ACCEPTED": SEEN_BY_A_VERIFICATION,
    }


@pytest.mark.promise("SCO-1", "WRI-1")
def test_text_that_nobody_approved_is_served_on_no_channel_and_to_no_other_user() -> None:
    found = cells(ReviewedAdapter(SAID), mutate=True)
    assert len(found) == len(attacks.ALL_MEMORY_ATTACKS)
    assert set(found.values()) == {"safe"}


def test_the_suite_finds_what_a_careless_reviewer_approved() -> None:
    found = cells(TrustingAdapter(SAID))
    assert found.pop("cross_session_bleed") == "safe"
    assert set(found.values()) == {"VULNERABLE"}
