"""Decisions on reviews are kept with their policy and reviews, and can be come to again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import ReviewPolicy
from proofstone.review.section import review_funnel, review_lines
from proofstone.store.copies import merge
from serving import HurriedClock
from small_bank import BOOKS, PER_BOOK, write_bank

N = 2 * PER_BOOK * len(BOOKS)
CAREFUL = ReviewPolicy(quorum=2, drop="any")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """The small bank, all of it read by two, who differ on one statement."""
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.import_bank(write_bank(tmp_path))
        first = facts(opened)[0].id
        said(opened, tmp_path, "Anna", {})
        said(opened, tmp_path, "Ben", {first: "drop"})
        yield opened


def facts(workspace: Workspace) -> list[Fact]:
    bank = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id)
    return sorted(bank.facts(), key=lambda fact: fact.payload.text)


def said(workspace: Workspace, folder: Path, who: str, verdicts: Mapping[bytes, str]) -> None:
    rows = [
        {
            "target": f"fact:{fact.id.hex()}", "reviewer": who, "task": "format",
            "verdict": verdicts.get(fact.id, "keep"), "reason": "seen",
        }
        for fact in facts(workspace)
    ]  # fmt: skip
    write_rows(folder / f"{who}.jsonl", rows)
    workspace.import_reviews([folder / f"{who}.jsonl"])


def decide(workspace: Workspace, policy: ReviewPolicy | None = None) -> None:
    decided = workspace.review_decisions("old-books", policy)
    workspace.keep_decision("old-books", decided, by="Chief")


def test_a_decision_is_kept_with_its_policy_its_reviews_and_who_made_it(
    workspace: Workspace,
) -> None:
    decide(workspace, CAREFUL)
    last = workspace.last_decision("old-books")
    assert last is not None
    made = last.made
    assert (made.policy, len(made.reviews)) == (CAREFUL, 2 * N)
    assert made.outcomes == {"keep": N - 1, "fix": 0, "drop": 1, "open": 0}
    assert made.decided == {f"fact:{facts(workspace)[0].id.hex()}": "drop"}
    assert made.actor == workspace.person("Chief").actor
    assert (last.n_new, last.stands) == (0, True)


def test_the_card_and_the_page_go_by_the_policy_that_decided(workspace: Workspace) -> None:
    """By a majority half against half is open; where any drop suffices it goes."""
    bank = workspace.find("old-books", "bank")
    before = review_funnel(workspace.store, bank)
    assert before is not None
    assert (before.outcomes["open"], before.policy) == (1, ReviewPolicy())
    decide(workspace, CAREFUL)
    after = review_funnel(workspace.store, bank)
    assert after is not None
    assert (after.outcomes["drop"], after.policy) == (1, CAREFUL)
    ((_name, line),) = review_lines(workspace.store, bank)
    assert line.endswith("47 keep, 1 drop (quorum 2, drop any, tie open, fix any)")
    assert workspace.review_standing("old-books").policy == CAREFUL
    assert workspace.review_decisions("old-books").outcomes["drop"] == 1


def test_the_same_decision_is_kept_once_and_another_beside_it(workspace: Workspace) -> None:
    bank = workspace.find("old-books", "bank").id
    decide(workspace, CAREFUL)
    decide(workspace)
    assert len(workspace.store.decided.every(bank)) == 1
    decide(workspace, ReviewPolicy(quorum=3))
    policies = [each.policy for each in workspace.store.decided.every(bank)]
    assert policies == [CAREFUL, ReviewPolicy(quorum=3)]


def test_what_was_decided_is_come_to_again_from_its_own_reviews(
    workspace: Workspace, tmp_path: Path
) -> None:
    """A third reader's decisions are counted as new and change nothing of what was decided."""
    decide(workspace, CAREFUL)
    said(workspace, tmp_path, "Chen", {fact.id: "drop" for fact in facts(workspace)})
    last = workspace.last_decision("old-books")
    assert last is not None
    assert (last.n_new, last.stands) == (N, True)
    assert workspace.review_decisions("old-books").outcomes["drop"] == N


def test_a_corrected_bank_is_decided_by_the_policy_of_the_one_that_it_corrects(
    workspace: Workspace,
) -> None:
    decide(workspace, CAREFUL)
    one = facts(workspace)[4]
    workspace.edit(f"fact:{short(one.id)}", {"text": "A leaf."}, reason="short", by="Ada")
    assert workspace.review_policy("old-books") == CAREFUL


def test_decisions_travel(workspace: Workspace, tmp_path: Path) -> None:
    decide(workspace, CAREFUL)
    with create_workspace(tmp_path / "other") as other:
        for _twice in range(2):
            merge(workspace.store.database, other.store.database)
        (made,) = other.store.decided.every(other.find("old-books", "bank").id)
        assert made.policy == CAREFUL
        last = other.last_decision("old-books")
        assert last is not None
        assert last.stands


def test_nothing_is_decided_where_nobody_reviewed(tmp_path: Path) -> None:
    with create_workspace(tmp_path / "work") as opened:
        opened.import_bank(write_bank(tmp_path))
        decided = opened.review_decisions("old-books")
        with pytest.raises(BadUsage, match="has no reviews to decide"):
            opened.keep_decision("old-books", decided)
