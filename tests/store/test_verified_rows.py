"""Scores of verified triples in the store: found by item, read in pages, counted, copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from rows_for_tests import item, item_set, open_store, run

from proofstone.methods.bequ.verification.stored_verdicts import counts_of
from proofstone.records.runs import Score
from proofstone.records.verdicts import JudgeVote, PanelVerdict, Passage
from proofstone.store.copies import merge
from proofstone.store.scores import ScoreRow, UnitRow
from proofstone.store.store import Store

SETTINGS = b'{"judges":"j","reference":"known-1f2e"}'
SAID = PanelVerdict(
    state="decided", label="entailment", rests_on=Passage("A text.", "wiki", "Ulm", "https://x"),
    judge_votes=(JudgeVote(judge="j", state="voted", label="entailment", reason="so"),),
)  # fmt: skip


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


def scored(store: Store, n: int) -> tuple[int, int, list[int]]:
    """A run of two items with ``n`` verified triples of the first, beside a score of each item: the
    keys of the run, of the scoring and of the items."""
    items = [item("Ulm"), item("Linz", number=1)]
    form = item_set(items)
    store.items.add_set(form, items, 1.0)
    asked = run(form)
    key = store.runs.add(asked, 2.0, "1")
    page = store.items.page(form.id, -1, 10)
    keys = [stored.key for stored in page]
    scoring = store.scores.begin(key, asked, 1, "j, reference=known-1f2e", 3.0, SETTINGS)
    whole = [UnitRow(each, "item", b"", 1, b"", "", 0, ()) for each in keys]
    rows = [ScoreRow(unit, 0, Score(unit=0, measure="given", outcome="answered", value=1.0))
            for unit in whole]  # fmt: skip
    for place in range(n):
        unit = UnitRow(keys[0], "test.triple", bytes([place]), 1, b"{}", "", 0, ())
        is_judged = place % 2 == 0
        score = Score(
            unit=0, measure="precision", outcome="answered", value=float(is_judged),
            answer="entailment" if is_judged else "neutral",
            basis="judge" if is_judged else "no reference",
            flags=(f"drawn {place + 1}",), verdict=SAID if is_judged else None,
        )  # fmt: skip
        rows.append(ScoreRow(unit, 0, score))
    store.scores.add(scoring, rows)
    return key, scoring, keys


def test_they_are_found_by_item_read_in_pages_and_counted(store: Store) -> None:
    _run, scoring, keys = scored(store, 5)
    found = [
        row for page in store.scores.unit_pages(scoring, ["precision"], size=2) for row in page
    ]
    assert [row.flags for row in found] == [f"drawn {place + 1}" for place in range(5)]
    assert [row.verdict for row in found] == [SAID, None, SAID, None, SAID]
    assert list(store.scores.unit_pages(scoring, ["precision"], [keys[1]])) == []
    places = store.scores.unit_places([scoring], ["precision"], [keys[0]])
    assert places == {(scoring, "precision", bytes([place]), 0) for place in range(5)}
    assert store.scores.unit_places([scoring], ["precision"], [keys[1]]) == set()
    assert counts_of(store, scoring) == {"precision": {"entailment": 3, "no reference": 2}}
    assert [
        (each.outcome, each.answer, each.basis, each.n)
        for each in store.scores.answer_counts(scoring, ["precision"])
    ] == [
        ("answered", "entailment", "judge", 3),
        ("answered", "neutral", "no reference", 2),
    ]
    assert store.scores.has_any([scoring], ["precision"])


def test_scores_are_copied_into_a_scoring_without_any(store: Store) -> None:
    key, scoring, _keys = scored(store, 3)
    _key, asked = store.runs.run(store.runs.every()[0][1].id)
    other = store.scores.begin(key, asked, 1, "other", now=4.0)
    assert not store.scores.has_any([other], ["precision"])
    store.scores.copy(scoring, other)
    assert store.scores.n_scored(other) == 2
    assert counts_of(store, other) == counts_of(store, scoring)


def test_what_a_verdict_rests_on_comes_along_where_workspaces_are_merged(
    store: Store, new_database: Callable[[], str]
) -> None:
    _run, _scoring, _keys = scored(store, 1)
    target = open_store(new_database())
    try:
        merge(store.database, target.database)
        ((key, _asked),) = target.runs.every()
        found = target.scores.newest(key, 1, "j, reference=known-1f2e")
        assert found is not None
        assert found.settings == SETTINGS
        ((row,),) = list(target.scores.unit_pages(found.key, ["precision"]))
        assert row.verdict == SAID
    finally:
        target.close()
