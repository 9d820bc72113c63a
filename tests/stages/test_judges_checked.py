"""Judges of a build against people: on the same words, by task, with what nobody read said so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from encyclo_k.scripted_author import panelists
from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import describe
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import CheckedQuestion, Review, ReviewTask, review_id
from proofstone.review.section import (
    checked_judges_lines,
    checked_judges_section,
    checked_judges_sentences,
)
from proofstone.session.session import acting_person
from serving import HurriedClock, configure, serving

METALS = ("copper", "silver", "gold")
JUDGES = ["scripted/a", "scripted/b", "scripted/c"]
N = 2 * len(METALS)  # true statements of both books, and as many falsified


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A bank of two books by a panel, of which c finds four of six true ones unsupported."""
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        for book in ("Metals", "Wires"):
            text = "\n\n".join(
                f"Pure {metal} of {book} conducts electric current well at room temperature "
                f"because its electrons move freely through the lattice of {metal}."
                for metal in METALS
            )
            (tmp_path / f"{book}.txt").write_text(text, encoding="utf-8")
            ingest_paths(opened.store, [tmp_path / f"{book}.txt"], clock=opened.clock)
        with serving(panelists(dissent="c")) as server:
            configure(opened.folder, server.url)
            opened.build_in_steps(
                "statements", ["Metals", "Wires"], name="metals", models="scripted/author",
                judge=JUDGES,
            )  # fmt: skip
        yield opened


def facts(workspace: Workspace) -> list[Fact]:
    bank = workspace.store.knowledge.bank(workspace.find("metals", "bank").id)
    return sorted(bank.facts(), key=lambda fact: fact.payload.text)  # type: ignore[attr-defined]


def said(workspace: Workspace, who: str, task: ReviewTask, verdict: Callable[[Fact], str]) -> None:
    """What a person says of each fact; nothing where the verdict is empty."""
    actor = acting_person(workspace.store, who, workspace.clock).actor
    reviews = []
    for fact in facts(workspace):
        if verdict(fact):
            made = Review(target=fact.id, task=task, verdict=verdict(fact), reviewer=actor, at=1.0)
            reviews.append(_named(made))
    workspace.store.reviews.add(reviews, [actor])


def _named(review: Review) -> Review:
    from msgspec import structs  # noqa: PLC0415

    return structs.replace(review, id=review_id(review))


def truth(fact: Fact) -> str:
    return "true" if fact.payload.correct else "false"  # type: ignore[attr-defined]


def questions(workspace: Workspace) -> dict[str, CheckedQuestion]:
    return {one.question: one for one in workspace.judges_checked("metals")}


def test_each_judge_and_all_together_stand_against_people(workspace: Workspace) -> None:
    """People find all as it is meant: the panel agrees on all, c on the two that it supported."""
    said(workspace, "Anna", "truth", truth)
    found = questions(workspace)
    assert list(found) == ["standing", "support", "falsity", "reason"]
    support = found["support"]
    assert (support.judged, support.read, support.unsure, support.against) == (N, N, 0, 0)
    counts = {one.judge: one.counts for one in support.judges}
    all_agree = ((N, 0), (0, 0))
    assert counts == {
        "": all_agree,
        "scripted/a": all_agree,
        "scripted/b": all_agree,
        "scripted/c": ((2, 4), (0, 0)),
    }
    last = support.judges[-1]
    assert (last.agreed, last.n) == (2, N)
    assert last.measures["agreement"].value == pytest.approx(2 / N)
    # Chance by AC1 (Gwet 2008): p = (N + 2) / 2N supported; twice p(1 - p).
    p = (N + 2) / (2 * N)
    chance = 2 * p * (1 - p)
    assert last.measures["Gwet's AC1"].value == pytest.approx((2 / N - chance) / (1 - chance))
    assert found["falsity"].judges[0].counts[0] == (N, 0, 0)


def test_what_nobody_read_is_said_to_be_so(workspace: Workspace) -> None:
    """No numbers are made up for it, on the card, in the terminal and on the page."""
    found = questions(workspace)
    assert all(one.judged == N and not one.read and not one.judges for one in found.values())
    assert list(checked_judges_sentences([*found.values()])) == [
        "standing, support, falsity, reason: not checked by people"
    ]
    lines = list(checked_judges_lines([*found.values()]))
    assert lines[0] == (
        "standing, compared with people's format   6 statements judged, none reviewed by people"
    )
    section = checked_judges_section([*found.values()])
    assert section.finding.startswith("No judged statement was reviewed by people")
    assert [table.title for table in section.tables] == ["Statements labeled by both"]


def test_people_who_cannot_tell_or_differ_give_no_label(workspace: Workspace) -> None:
    first = facts(workspace)[0]
    other = {"true": "false", "false": "true"}[truth(first)]
    said(workspace, "Anna", "truth", truth)
    said(workspace, "Ben", "truth", lambda fact: other if fact.id == first.id else "unsure")
    found = questions(workspace)
    read = found["support"], found["falsity"]
    assert [(one.read, one.unsure) for one in read] in ([(N, 1), (N, 0)], [(N, 0), (N, 1)])


def test_a_fix_or_a_drop_counts_as_leaning(workspace: Workspace) -> None:
    kept, mended, gone = [fact for fact in facts(workspace) if truth(fact) == "true"][:3]
    verdicts = {kept.id: "keep", mended.id: "fix", gone.id: "drop"}
    said(workspace, "Anna", "format", lambda fact: verdicts.get(fact.id, ""))
    standing = questions(workspace)["standing"]
    assert (standing.read, standing.judges[0].counts) == (3, ((1, 0), (2, 0)))
    lines = list(checked_judges_lines([standing]))
    assert lines[-1] == (
        "  all together, scripted/a, scripted/b, scripted/c: people leans, judge stands: 2"
    )


def test_an_edited_statement_counts_with_the_reviews_of_the_wording_that_was_judged(
    workspace: Workspace,
) -> None:
    """Of the corrected bank too the builds are known; reviews of new words are no check of judges
    who never saw them."""
    true = next(fact for fact in facts(workspace) if truth(fact) == "true")
    said(workspace, "Anna", "truth", lambda fact: truth(fact) if fact.id == true.id else "")
    assert questions(workspace)["support"].read == 1
    workspace.edit(f"fact:{short(true.id)}", {"text": "Copper conducts."}, reason="short", by="Ada")
    assert questions(workspace)["support"].read == 1
    new = next(fact for fact in facts(workspace) if fact.payload.text == "Copper conducts.")  # type: ignore[attr-defined]
    said(workspace, "Ben", "truth", lambda fact: "true" if fact.id == new.id else "")
    found = questions(workspace)["support"]
    assert (found.judged, found.read) == (N, 1)


def test_the_card_names_the_judges_and_how_they_do(workspace: Workspace) -> None:
    said(workspace, "Anna", "truth", truth)
    lines = describe(workspace.store, workspace.find("metals", "bank")).lines
    assert dict(lines)["judged by"].startswith("scripted/a, scripted/b, scripted/c (")
    told = [value for name, value in lines if name == "judges"]
    assert told[0].startswith("support: 3 judges agree with people on 6 of 6 statements, 100.0 [")
    assert told[-1] == "standing, reason: not checked by people"
