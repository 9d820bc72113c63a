"""What the judges of a build said: every verdict with its reasons, and what each judge weighs."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.build.walking import Visit, walk
from proofstone.errors import BadUsage
from proofstone.judging.question import QuestionAccount, QuestionTally
from proofstone.records.building import PipelineRow
from proofstone.records.builds import Build
from proofstone.records.ids import short
from proofstone.records.verdicts import PanelVerdict, RowVerdict
from proofstone.store.builds import StoreJournal
from proofstone.store.lookup import KINDS, Found
from proofstone.store.store import Store

# The values of a build's rows as people read them: ids as ``show`` takes them, not as JSON has to
# hold bytes.

_ID = 32  # bytes; its base64 has 44 characters, the last of them an equals sign


_KINDS = {"origin": "fact", "corrects": "fact", **{kind: kind for kind in KINDS}}


_DIGESTS = {"content", "image"}  # of files, of which there is nothing to show


def row_values(payload: bytes) -> dict[str, Any] | None:
    """The values of a row by name, a passage's id as ``passage:9ab3c4d1``; None where its text was
    purged."""
    return _plain(msgspec.json.decode(payload), "", "") if payload else None


def _plain(value: Any, name: str, within: str) -> Any:
    """A value called ``name`` of a struct that is called ``within``."""
    if isinstance(value, dict):
        return {key: _plain(each, key, name) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, name, within) for each in value]
    kind = _KINDS.get(within if name == "id" else name, "")
    if not isinstance(value, str) or not (kind or name == "id" or name in _DIGESTS):
        return value
    identity = _bytes(value)
    if identity is None:
        return value
    if name in _DIGESTS:
        return identity.hex()
    return f"{kind}:{short(identity)}" if kind else short(identity)


def _bytes(text: str) -> bytes | None:
    """The id that a text holds, or None."""
    if len(text) != -(-_ID // 3) * 4 or not text.endswith("="):
        return None
    try:
        found = b64decode(text, validate=True)
    except ValueError:
        return None
    return found if len(found) == _ID else None


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
