"""Builds in the store: outcomes that hold, inputs in order, merged whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec import Struct
from rows_for_tests import call, open_store, source
from sqlalchemy import select

from proofstone.build.flow import make_row
from proofstone.errors import RunInUse
from proofstone.records.builds import (
    Build,
    BuildFunnel,
    Drop,
    Outcome,
    PipelineRow,
    Step,
    StepFunnel,
    StepName,
    build_id,
)
from proofstone.records.ids import canonical_json
from proofstone.records.verdicts import Heard, JudgeVote, PanelRules, PanelVerdict, RowVerdict
from proofstone.store import schema
from proofstone.store.builds import EnteringRow, StoreJournal
from proofstone.store.copies import merge
from proofstone.store.rows import empty_verdicts
from proofstone.store.store import Store
from proofstone.store.writer import BuildPlace


class Line(Struct, frozen=True):
    """A row of these tests."""

    text: str


def row(text: str) -> PipelineRow:
    return make_row(Line(text))


STEP = Step(name="cut", version=1, takes=Line, work=lambda *_: Drop("x"), reasons=("x",))
KEY = bytes(31) + b"k"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


def a_build(*texts: str) -> Build:
    build = Build(
        kind="lines", method="test", steps=(StepName("cut", 1, KEY, ("x",)),),
        inputs=b"".join(row(text).id[:4] for text in texts), n_inputs=len(texts),
    )  # fmt: skip
    return Build(
        **{f: getattr(build, f) for f in build.__struct_fields__} | {"id": build_id(build)}
    )


async def written(store: Store, outcomes: dict[str, Outcome], call_for: str = "") -> None:
    """Outcomes of rows that entered a build, and a call made for one of them."""
    build = a_build(*outcomes)
    entering = [EnteringRow(row(text)) for text in outcomes]
    key = store.builds.add(build, entering, 1.0, "0.1")
    async with store.writer() as writer:
        journal = StoreJournal(store.outcomes, writer)
        step = journal.register(KEY, STEP)
        store.builds.add_stage(key, 0, step)
        if call_for:
            await writer.write(call("asked"), BuildPlace(step, row(call_for).id))
        await journal.write(KEY, [(row(text).id, made) for text, made in outcomes.items()])
        assert len(journal.find(KEY, [row(text).id for text in outcomes])) == len(outcomes)


def found(store: Store, *texts: str) -> dict[str, Outcome]:
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys([KEY]))
    known = journal.find(KEY, [row(text).id for text in texts])
    return {text: known[row(text).id] for text in texts if row(text).id in known}


MADE = {
    "same": Outcome(),
    "cut": Outcome((row("c"), row("u"), row("t"))),
    "gone": Outcome(reason="x", found="g"),
}


async def test_outcomes_are_found_as_they_were_written(store: Store) -> None:
    """Kept as it was, made into others in their order, dropped with what gave the reason."""
    await written(store, MADE)
    store.outcomes.forget()
    assert found(store, *MADE, "another") == MADE
    assert found(store, "c") == {}


async def test_the_first_outcome_of_a_row_holds(store: Store) -> None:
    """Whoever writes a second one changes nothing of it."""
    await written(store, MADE)
    await written(store, {"cut": Outcome((row("C"),)), "gone": Outcome(), "new": Outcome()})
    assert found(store, *MADE, "new") == {**MADE, "new": Outcome()}


SAID = (
    RowVerdict(
        question="so",
        verdict=PanelVerdict(
            state="decided",
            label="yes",
            judge_votes=(
                JudgeVote(
                    judge="a", state="voted", label="yes", reason="the secret text says so",
                    heard=(Heard(order=0, label="yes", reason="the secret text says so"),),
                ),
                JudgeVote(judge="b", state="failed", trouble="timeout"),
            ),
            rules=PanelRules(quorum=1),
        ),
    ),
    RowVerdict(question="again", verdict=PanelVerdict(state="no_quorum")),
)  # fmt: skip


def said(store: Store, text: str) -> list[RowVerdict]:
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys([KEY]))
    return list(journal.verdicts(KEY, [row(text).id]).get(row(text).id, []))


async def test_what_judges_said_is_kept_with_the_outcome(store: Store) -> None:
    """In their order, with the first outcome of a row only; of rows not judged there is nothing."""
    await written(store, {**MADE, "judged": Outcome(verdicts=SAID)})
    await written(store, {"judged": Outcome(verdicts=SAID[:1]), "same": Outcome(verdicts=SAID)})
    assert said(store, "judged") == list(SAID)
    assert said(store, "same") == []
    steps = store.builds.step_keys([KEY])
    assert store.outcomes.judged([*steps.values(), 99]) == set(steps.values())
    assert found(store, "judged") == {"judged": Outcome()}


async def test_verdicts_travel_with_their_outcome_only(new_database: Callable[[], str]) -> None:
    """Where an outcome is there already, nothing is mixed into it."""
    ours, theirs = open_store(new_database()), open_store(new_database())
    await written(ours, {"known": Outcome()})
    await written(theirs, {"known": Outcome(verdicts=SAID), "new": Outcome(verdicts=SAID)})
    for _twice in range(2):
        merge(theirs.database, ours.database)
    assert said(ours, "known") == []
    assert said(ours, "new") == list(SAID)
    ours.close()
    theirs.close()


async def test_a_purge_takes_the_words_of_judges_and_leaves_their_labels(store: Store) -> None:
    await written(store, {"judged": Outcome(verdicts=SAID), "other": Outcome(verdicts=SAID)})
    with store.database.writing() as connection:
        table = schema.build_row
        query = select(table.c.id).where(table.c.hash == row("judged").id)
        of = schema.build_verdict.c.row_id
        empty_verdicts(connection, of, [connection.execute(query).scalar_one()])
    emptied = said(store, "judged")
    assert b"secret" not in canonical_json(emptied)
    assert [each.verdict.label for each in emptied] == ["yes", ""]
    assert [b.label for b in emptied[0].verdict.judge_votes] == ["yes", ""]
    assert said(store, "other") == list(SAID)


async def test_a_build_has_its_rows_in_order(store: Store) -> None:
    """Also a row that enters twice; adding it again changes nothing."""
    texts = [f"line {n % 700}" for n in range(1500)]
    build = a_build(*texts)
    entering = [EnteringRow(row(text), source().id) for text in texts]
    store.knowledge.add_sources([source()])
    key = store.builds.add(build, entering, 1.0, "0.1")
    assert store.builds.add(build, entering, 2.0, "0.2") == key
    pages = list(store.builds.pages(key))
    assert [each.id for page in pages for each in page] == [row(text).id for text in texts]
    assert max(map(len, pages)) <= 512
    assert store.builds.build(build.id) == (key, build)
    assert store.lookup.find(f"build:{build.id.hex()[:8]}").key == key


async def test_a_build_that_was_cut_off_while_it_was_added_is_made_whole(store: Store) -> None:
    """Its rows are counted when it is added again."""
    build = a_build("a", "b", "c")
    store.builds.add(build, [EnteringRow(row("a"))], 1.0, "0.1")
    key = store.builds.add(build, [EnteringRow(row(text)) for text in "abc"], 1.0, "0.1")
    assert [r.payload for page in store.builds.pages(key) for r in page] == [
        b'{"text":"a"}', b'{"text":"b"}', b'{"text":"c"}',
    ]  # fmt: skip


async def test_what_calls_took_is_counted_by_step_and_row(store: Store) -> None:
    """A row without calls took nothing."""
    await written(store, MADE, call_for="cut")
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys([KEY]))
    assert journal.spent(KEY, [row("cut").id]).calls == 1
    assert journal.spent(KEY, [row("same").id, row("gone").id]).calls == 0
    assert journal.spent(KEY, [row(text).id for text in MADE]).calls == 1


async def test_a_build_is_held_by_one(store: Store) -> None:
    """As a run is."""
    await written(store, MADE)
    ((key, _build),) = store.builds.every()
    store.builds.take_lease(key, "host:1", now=100.0)
    with pytest.raises(RunInUse, match="this build is in use by host:1"):
        store.builds.take_lease(key, "host:2", now=120.0)
    store.builds.give_back_lease(key, "host:1")
    store.builds.take_lease(key, "host:2", now=121.0)


async def test_builds_merge_whole_or_not_at_all(new_database: Callable[[], str]) -> None:
    """Of a row that both made something of, what is there stays; the rest comes along."""
    ours, theirs = open_store(new_database()), open_store(new_database())
    await written(ours, {"cut": Outcome((row("C"),)), "ours": Outcome()})
    await written(theirs, MADE, call_for="cut")
    ((key, build),) = theirs.builds.every()
    funnel = BuildFunnel(3, (StepFunnel(name="cut", version=1, entered=3),), 1)
    theirs.builds.add_funnel(build.id, funnel, 5.0)
    theirs.builds.add_funnel(build.id, funnel, 6.0)
    merge(theirs.database, ours.database)
    report = merge(theirs.database, ours.database)
    assert not any(report.added.values())
    ours.outcomes.forget()
    expected = {**MADE, "cut": Outcome((row("C"),)), "ours": Outcome()}
    assert found(ours, *MADE, "ours") == expected
    here, merged = ours.builds.build(build.id)
    assert merged == build
    assert list(ours.builds.pages(here)) == list(theirs.builds.pages(key))
    assert ours.builds.stages(here) == [KEY]
    assert ours.builds.funnel(here) == funnel
    for each in (ours, theirs):
        each.close()
