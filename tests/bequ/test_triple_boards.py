"""The leaderboard of verified triples: who stands where, what is tied, and who has no rank."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from known_world import KnownJudge, elicited_rows, gathered, reference_rows
from msgspec import structs
from verified_worlds import verified_runs, verified_triples

from proofstone.methods.bequ.records import Group, Verdict, Verified, VerifiedRuns, VerifySettings
from proofstone.methods.bequ.report.board import TripleBoard, triple_board
from proofstone.methods.bequ.verification.people import PeopleSaid
from proofstone.methods.bequ.verification.plan import make_plan
from proofstone.methods.bequ.verification.verify import verify
from proofstone.stats.ranks import RankInterval

N = 60
GOOD, TWIN, POOR = Group("acme/good", "direct"), Group("acme/twin"), Group("lab/poor", "wikidata")
SIM, OTHER_SIM = Group("sim/ann"), Group("sim/bob")


def runs_of(*asked: tuple[Group, float, float]) -> VerifiedRuns:
    """Runs over the same entities, by their chances of being right."""
    triples = [
        [*verified_triples(at, range(N), (precision, recall))]
        for at, (_group, precision, recall) in enumerate(asked)
    ]
    return verified_runs([group for group, *_chances in asked], triples, N)


def ranked(board: TripleBoard) -> dict[str, tuple[int, int] | None]:
    return {
        row.label: None if row.rank is None else (row.rank.low, row.rank.high) for row in board.rows
    }


def test_models_that_are_alike_are_tied_and_the_poor_one_is_below() -> None:
    board = triple_board(runs_of((POOR, 0.3, 0.1), (GOOD, 0.8, 0.4), (TWIN, 0.8, 0.4)))
    ranks = ranked(board)
    assert set(list(ranks)[:2]) == {GOOD.model + " direct", TWIN.model}
    assert [*ranks.values()] == [(1, 2), (1, 2), (3, 3)]
    assert board.ties == ((0, 1),)
    assert [row.ties for row in board.rows] == [(0,), (0,), ()]
    f1 = [row.measured.estimates["f1"].value for row in board.rows]
    assert f1 == sorted(f1, reverse=True)


def test_simulated_respondents_are_ranked_among_themselves_below_models() -> None:
    board = triple_board(
        runs_of((SIM, 0.7, 0.7), (GOOD, 0.8, 0.4), (OTHER_SIM, 0.7, 0.7), (POOR, 0.3, 0.1))
    )
    assert [row.simulated for row in board.rows] == [False, False, True, True]
    assert [row.rank for row in board.rows] == [
        RankInterval(1, 1), RankInterval(2, 2), RankInterval(1, 2), RankInterval(1, 2),
    ]  # fmt: skip
    assert board.ties == ((2, 3),)


def test_who_waits_for_a_judge_or_was_not_judged_both_ways_has_no_rank() -> None:
    waits = [*verified_triples(1, range(N), (0.9, 0.9))]
    waits[0] = structs.replace(waits[0], verdict=Verdict(label="", basis="waiting"))
    one_way = [e for e in verified_triples(2, range(N), (0.9, 0.9)) if e.direction == "precision"]
    first = [*verified_triples(0, range(N), (0.6, 0.5))]
    board = triple_board(verified_runs([GOOD, TWIN, POOR], [first, waits, one_way], N))
    assert [*ranked(board).values()] == [(1, 1), None, None]
    assert [row.waiting for row in board.rows] == [0, 1, 0]
    assert board.rows[2].group == POOR
    assert "f1" not in board.rows[2].measured.estimates
    assert board.counts["waiting"] == 1


def test_runs_over_other_entities_are_shown_and_not_ranked() -> None:
    triples = [
        [*verified_triples(0, range(30), (0.9, 0.9))],
        [*verified_triples(1, range(20, 50), (0.2, 0.2))],
    ]
    board = triple_board(verified_runs([GOOD, TWIN], triples, N))
    assert not board.is_common
    assert [row.rank for row in board.rows] == [None, None]
    assert board.rows[0].group == GOOD
    assert board.ties == ()
    assert board.entities == 50


def test_a_run_without_some_replies_stands_below_those_that_have_all() -> None:
    """It is not held against the entities that it has no reply of: ten fewer than the others."""
    triples = [
        [*verified_triples(0, range(N), (0.5, 0.5))],
        [*verified_triples(1, range(N - 10), (0.9, 0.9))],
        [*verified_triples(2, range(N), (0.2, 0.2))],
    ]
    board = triple_board(verified_runs([GOOD, TWIN, POOR], triples, N))
    assert [row.group for row in board.rows] == [GOOD, POOR, TWIN]
    assert [row.other_entities for row in board.rows] == [0, 0, 10]
    assert [*ranked(board).values()] == [(1, 1), (2, 2), None]
    assert board.is_common


def test_a_model_that_says_nothing_of_an_entity_is_still_ranked() -> None:
    """Precision is over what it says; recall counts what it leaves out."""
    brief = [
        e for e in verified_triples(1, range(N), (0.9, 0.2))
        if e.direction == "recall" or e.entity < 20
    ]  # fmt: skip
    first = [*verified_triples(0, range(N), (0.6, 0.7))]
    board = triple_board(verified_runs([GOOD, TWIN], [first, brief], N))
    assert board.is_common
    assert [*ranked(board).values()] == [(1, 1), (2, 2)]


def test_shares_of_entities_have_their_intervals() -> None:
    """Two of twenty abstained from; of five that do not exist two described."""
    (row,) = triple_board(runs_of((GOOD, 0.8, 0.4))).rows
    assert row.abstention.value == pytest.approx(2 / 20)
    assert row.abstention.low < 0.1 < row.abstention.high
    assert (row.abstention.n, row.abstention.resampled) == (20, "entities")
    assert row.nonexistent_given is not None
    assert row.nonexistent_given.value == pytest.approx(2 / 5)
    assert (row.elicited.triples, row.rank) == (N * 4, RankInterval(1, 1))


def test_parts_are_those_that_are_asked_for() -> None:
    runs = runs_of((GOOD, 0.8, 0.4), (POOR, 0.3, 0.1))
    board = triple_board(runs, by=["domain", "popularity"])
    assert [(part.by, part.value) for part in board.parts if part.group == GOOD] == [
        ("domain", "person"), ("domain", "plant"), ("popularity", "head"), ("popularity", "tail"),
    ]  # fmt: skip
    assert {part.by for part in triple_board(runs).parts} == {
        "domain", "popularity", "source", "family",
    }  # fmt: skip


def test_the_confidence_is_that_of_every_interval() -> None:
    runs = runs_of((GOOD, 0.8, 0.4))
    wide, narrow = (triple_board(runs, confidence=level) for level in (0.99, 0.8))
    for name in ("f1", "precision", "recall"):
        one, other = (board.rows[0].measured.estimates[name] for board in (wide, narrow))
        assert (one.level, other.level) == (0.99, 0.8)
        assert one.low < other.low < other.high < one.high


def test_nothing_at_all_is_an_empty_board() -> None:
    board = triple_board(verified_runs([], [], 0))
    assert (board.rows, board.ties, board.entities, board.is_common) == ((), (), 0, True)


def test_a_group_of_which_nothing_was_drawn_stands_last() -> None:
    runs = verified_runs([TWIN, GOOD], [[], [*verified_triples(1, range(N), (0.5, 0.5))]], N)
    board = triple_board(runs)
    assert [row.group for row in board.rows] == [GOOD, TWIN]
    assert board.rows[1].rank is None


def test_the_board_goes_through_json() -> None:
    board = triple_board(runs_of((GOOD, 0.8, 0.4), (POOR, 0.3, 0.1)))
    again = msgspec.json.decode(msgspec.json.encode(board), type=TripleBoard)
    assert again.rows[0].measured == board.rows[0].measured


async def test_a_judge_without_errors_gives_its_exact_figures() -> None:
    """Of ten triples six are right; six of twelve facts are said (see ``known_world``)."""
    with gathered(elicited_rows(N), reference_rows(N)) as held:
        pages = verify(held, make_plan(held, VerifySettings(sample=0)), KnownJudge())
        found: list[Verified] = [each async for page in pages for each in page]
        runs = replace(verified_runs(held.groups, [found], N), entities=tuple(held.entities))
    (row,) = triple_board(runs).rows
    values = {name: each.value for name, each in row.measured.estimates.items()}
    assert values["precision"] == pytest.approx(6 / 10)
    assert values["recall"] == pytest.approx(6 / 12)
    assert values["f1"] == pytest.approx(2 * 0.6 * 0.5 / (0.6 + 0.5))


def test_what_people_say_stands_beside_the_figures_of_those_whom_they_looked_at() -> None:
    """Every verdict on the first sixty entities' first triple is confirmed: agreement is 1, and the
    corrected figures are those of the judge."""
    runs = runs_of((GOOD, 0.8, 0.4), (POOR, 0.3, 0.1))
    people = {
        each.id: PeopleSaid(each.verdict.label, each.verdict.label == "entailment")
        for each in runs.read()
        if each.group == 0 and each.id.split("-")[2] == "0"
    }
    people["of another sample"] = PeopleSaid("neutral", None)
    board = triple_board(runs, people=people)
    assert board.people_elsewhere == 1
    first, second = board.rows
    assert second.people is None
    assert first.people is not None
    assert first.people.n == {"precision": N, "recall": N}
    found = first.people.estimates
    assert found["agreement"].value == 1.0
    assert found["f1"].value == pytest.approx(first.measured.estimates["f1"].value, abs=0.06)
    assert found["corpus"].value == 1.0
