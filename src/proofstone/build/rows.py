"""The rows of builds as they are listed: how far they are, those dropped, what judges said."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.build.build import funnel_of
from proofstone.build.funnel import Ended, ended_rows, funnel_section, funnel_sentence
from proofstone.build.journal import Visit, walk
from proofstone.errors import BadUsage
from proofstone.judging.question import QuestionAccount, QuestionTally
from proofstone.page.section import Section
from proofstone.records.builds import Build, BuildFunnel
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.steps import PipelineRow
from proofstone.records.tables import Audience
from proofstone.records.verdicts import PanelVerdict, RowVerdict
from proofstone.session.description import Description
from proofstone.store.builds import StoreJournal
from proofstone.store.lookup import KINDS, Found
from proofstone.store.store import Store


class BuildState(Struct, frozen=True, kw_only=True):
    """A build in a listing; ``bank`` is the newest that came of it."""

    id: bytes
    kind: str
    name: str
    n_inputs: int
    funnel: BuildFunnel | None
    bank: bytes | None


class EndedRow(Struct, frozen=True, kw_only=True):
    """A row that a step dropped, for the ``reason`` that ``found`` gave, or that is held up before
    it (``error``); with its content, None where that was purged."""

    step: str
    reason: str = ""
    found: str = ""
    error: str = ""
    row: str
    values: dict[str, Any] | None


def build_states(store: Store) -> list[BuildState]:
    """All builds, newest first; the funnel is of those that are whole."""
    states = []
    for key, build in store.builds.every():
        banks = store.builds.banks(key)
        states.append(
            BuildState(
                id=build.id,
                kind=build.kind,
                name=build.name,
                n_inputs=build.n_inputs,
                funnel=store.builds.funnel(key),
                bank=banks[-1] if banks else None,
            )
        )
    return states


def describe_build(store: Store, found: Found) -> tuple[Description, BuildFunnel]:
    """A build as ``show`` prints it, and its funnel as far as it came."""
    key, build = store.builds.build(found.id)
    funnel = store.builds.funnel(key) or funnel_of(store, key, build)
    lines = [
        ("build", build.id.hex()),
        ("kind", f"{build.kind} ({build.method})"),
        ("rows", funnel_sentence(funnel)),
        *((f"model, {role}", model) for role, model in build.models.items()),
        *((name, str(value)) for name, value in build.params.items()),
        ("seed", str(build.seed)),
        *(("bank", f"bank:{short(bank)}") for bank in store.builds.banks(key)),
    ]
    return Description(title=f"build:{short(build.id)}", lines=tuple(lines)), funnel


def list_ended(
    store: Store,
    found: Found,
    *,
    pending: bool = False,
    step: str | None = None,
    reason: str | None = None,
    limit: int | None = None,
) -> list[EndedRow]:
    """The rows that steps dropped (``pending``: those that are held up), of one step or reason
    where it is named, in the order of those that entered.

    Raises BadUsage for a step or a reason that this build does not have.
    """
    key, build = store.builds.build(found.id)
    _check(build, step, reason)
    ended = (
        each
        for each in _ended(store, key, build)
        if each.is_dropped != pending
        and step in (None, each.step)
        and reason in (None, each.reason)
    )
    return [_shown(each) for each in islice(ended, limit)]


def ended_fields(store: Store, found: Found) -> Iterator[dict[str, Any]]:
    """Every row that was dropped or is held up, for a file: why in columns of their own, then the
    row's own values."""
    key, build = store.builds.build(found.id)
    for each in map(_shown, _ended(store, key, build)):
        yield {
            "build_step": each.step,
            "build_reason": each.reason,
            "build_found": each.found,
            "build_error": each.error,
            **(each.values or {}),
        }


def _ended(store: Store, key: int, build: Build) -> Iterator[Ended]:
    reached = store.builds.stages(key)
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys(reached))
    return ended_rows(build.steps, reached, lambda: store.builds.pages(key), journal, journal)


def _check(build: Build, step: str | None, reason: str | None) -> None:
    names = [each.name for each in build.steps]
    if step is not None and step not in names:
        raise BadUsage(f"this build has no step {step!r}", hint=f"it has: {', '.join(names)}")
    of_step = [each for each in build.steps if step in (None, each.name)]
    reasons = [known for each in of_step for known in each.reasons]
    if reason is not None and reason not in reasons:
        raise BadUsage(
            f"no step drops a row as {reason!r}", hint=f"reasons are: {', '.join(reasons)}"
        )


def _shown(ended: Ended) -> EndedRow:
    return EndedRow(
        step=ended.step,
        reason=ended.reason,
        found=ended.found,
        error=ended.error,
        row=short(ended.row.id),
        values=row_values(ended.row.payload),
    )


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
    _check(build, step, None)
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


def bank_sections(
    store: Store, item_sets: Sequence[ItemSet], _audience: Audience
) -> Iterator[Section]:
    """How the banks of item sets were built: each build that was whole, once."""
    banks = dict.fromkeys(item_set.bank for item_set in item_sets if item_set.bank is not None)
    builds = {build.id: (key, build) for bank in banks for key, build in store.builds.of_bank(bank)}
    for key, build in builds.values():
        funnel = store.builds.funnel(key)
        if funnel is not None:
            yield funnel_section(build, funnel, read_accounts(store, key, build))
