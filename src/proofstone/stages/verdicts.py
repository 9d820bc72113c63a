"""What the judges of a build said: every verdict with its reasons, and what each judge weighs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from proofstone.engines.judging import QuestionAccount, QuestionTally
from proofstone.engines.pipeline import Visit, walk
from proofstone.engines.store import Found, Store, StoreJournal
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.ports import PipelineRow
from proofstone.records import Build, PanelVerdict, RowVerdict
from proofstone.stages.row_values import row_values

__all__ = ["JudgedRow", "list_verdicts", "read_accounts", "verdict_fields", "verdicts_of"]


class JudgedRow(Struct, frozen=True, kw_only=True):
    """A verdict on a row of a build, and the row's content, None where that was purged."""

    step: str
    row: str
    question: str
    verdict: PanelVerdict
    values: dict[str, Any] | None


def list_verdicts(
    store: Store, found: Found, *, step: str | None = None, limit: int | None = None
) -> list[JudgedRow]:
    """The verdicts of a build, of one step where it is named, in the order of the rows that
    entered. Raises BadUsage for a step that this build does not have."""
    key, build = store.builds.build(found.id)
    _check(build, step)
    judged = (
        JudgedRow(
            step=name,
            row=short(row.id),
            question=each.question,
            verdict=each.verdict,
            values=row_values(row.payload),
        )
        for name, row, each in verdicts_of(store, key, build)
        if step in (None, name)
    )
    return list(islice(judged, limit))


def read_accounts(store: Store, key: int, build: Build) -> tuple[QuestionAccount, ...]:
    """What was made of each question of a build, and of each judge on it; none where no verdict
    is kept. Verdicts are read one by one."""
    tallies: dict[tuple[str, str], QuestionTally] = {}
    for step, _row, each in verdicts_of(store, key, build):
        tallies.setdefault((step, each.question), QuestionTally()).add(each.verdict)
    return tuple(tally.account(*place) for place, tally in tallies.items())


def verdict_fields(store: Store, found: Found) -> Iterator[dict[str, Any]]:
    """Every ballot of every verdict of a build, for a file."""
    key, build = store.builds.build(found.id)
    for step, row, each in verdicts_of(store, key, build):
        verdict = each.verdict
        for ballot in verdict.ballots:
            yield {
                "row": row.id.hex(),
                "step": step,
                "question": each.question,
                "state": verdict.state,
                "label": verdict.label,
                "by_rule": verdict.by_rule,
                "judge": ballot.judge,
                "ballot": ballot.state,
                "vote": ballot.label,
                "reason": ballot.reason,
                "trouble": ballot.trouble,
            }


def verdicts_of(
    store: Store, key: int, build: Build
) -> Iterator[tuple[str, PipelineRow, RowVerdict]]:
    """Each verdict of a build with its step's name and its row, step by step for each page of rows;
    a row that comes to a step several times was judged once."""
    reached = store.builds.stages(key)
    steps = store.builds.step_keys(reached)
    judged = store.outcomes.judged(list(steps.values()))
    if not judged:
        return
    journal = StoreJournal(store.outcomes)
    journal.know(steps)
    names = [step.name for step in build.steps]
    seen: set[tuple[int, bytes]] = set()
    page: list[tuple[str, PipelineRow, RowVerdict]] = []

    def visit(at: Visit) -> None:
        identity = reached[at.place]
        if steps[identity] not in judged:
            return
        found = journal.verdicts(identity, [row.id for row in at.rows])
        for row in at.rows:
            if row.id in found and (at.place, row.id) not in seen:
                seen.add((at.place, row.id))
                page.extend((names[at.place], row, each) for each in found[row.id])

    for _left in walk(reached, store.builds.pages(key), journal, visit):
        yield from page
        page.clear()


def _check(build: Build, step: str | None) -> None:
    names = [each.name for each in build.steps]
    if step is not None and step not in names:
        raise BadUsage(f"this build has no step {step!r}", hint=f"it has: {', '.join(names)}")
