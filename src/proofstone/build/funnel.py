"""Compute and describe the funnel of a build: rows that entered, left and were dropped at each
step, with reasons and cost."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.build.flow import Pages, Visit, read_row, walk
from proofstone.errors import BadUsage
from proofstone.judging.question import QuestionAccount, QuestionTally
from proofstone.method import find_method
from proofstone.page.section import Cell, Column, Section, Table
from proofstone.page.text import aligned, without_empty
from proofstone.records.builds import (
    Build,
    BuildFunnel,
    Costs,
    Journal,
    Outcome,
    PipelineRow,
    StepFunnel,
    StepName,
)
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.runs import Spent
from proofstone.records.tables import Audience, Tabulation
from proofstone.records.verdicts import PanelVerdict, RowVerdict
from proofstone.session.terminal import Description
from proofstone.store.builds import StoreJournal
from proofstone.store.lookup import KINDS, Found
from proofstone.store.store import Store
from proofstone.wording.messages import counted, listed, paragraph, say, word


def build_tables(store: Store, key: int, build: Build) -> Sequence[Tabulation]:
    """The tables of a build on the rows that it kept; none before it is complete."""
    tables = find_method(build.method).pipelines[build.kind].tables
    if tables is None or store.builds.funnel(key) is None:
        return ()
    reached, journal = build_journal(store, key)
    pages = walk(reached, store.builds.pages(key), journal)
    return tables.of([read_row(row, tables.takes) for page in pages for row in page])


def tables_of_bank(store: Store, bank: bytes) -> Sequence[Tabulation]:
    """The tables of the builds of a bank."""
    builds = store.builds.of_bank(bank)
    return [table for key, build in builds for table in build_tables(store, key, build)]


class Ended(Struct, frozen=True, gc=False):
    """A row that did not come through a step: dropped for a ``reason``, or held up by a failure
    (``error``, empty where it was not worked on yet)."""

    step: str
    row: PipelineRow
    reason: str = ""
    found: str = ""
    error: str = ""

    @property
    def is_dropped(self) -> bool:
        """Whether it was dropped, rather than held up."""
        return bool(self.reason)


@dataclass(slots=True)
class _Tally:
    """Count the rows of one step during the walk."""

    entered: int = 0
    kept: int = 0
    pending: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    spent: Spent = field(default_factory=Spent)

    def add(self, outcomes: Sequence[Outcome | None]) -> None:
        self.entered += len(outcomes)
        for outcome in outcomes:
            if outcome is None:
                self.pending += 1
            elif outcome.reason:
                self.dropped[outcome.reason] += 1
            else:
                self.kept += 1 if outcome.kept is None else len(outcome.kept)

    def told(self, step: StepName) -> StepFunnel:
        """What the step did, its reasons first; behind them the engine's own."""
        reasons = [*step.reasons, *sorted(set(self.dropped) - set(step.reasons))]
        return StepFunnel(
            name=step.name, version=step.version, entered=self.entered, kept=self.kept,
            dropped={reason: self.dropped[reason] for reason in reasons}, pending=self.pending,
            failed=dict(self.failed), spent=self.spent,
        )  # fmt: skip


def read_funnel(
    steps: Sequence[StepName],
    keys: Sequence[bytes],
    pages: Pages,
    journal: Journal,
    costs: Costs | None = None,
) -> BuildFunnel:
    """The funnel as far as the steps were reached (``keys``). Every reason that a step declares is
    in it, in its order, also where it took none.

    A row that came several ways counts each time; what its calls took counts once a page.
    """
    tallies = [_Tally() for _ in keys]
    entered = 0

    def visit(seen: Visit) -> None:
        tally = tallies[seen.place]
        tally.add(seen.outcomes)
        if costs is not None:
            key = keys[seen.place]
            tally.spent += costs.spent(key, [row.id for row in seen.rows])
            held = [row.id for row, o in zip(seen.rows, seen.outcomes, strict=True) if o is None]
            tally.failed.update(costs.errors(key, held).values() if held else ())

    def counted() -> Iterator[Sequence[PipelineRow]]:
        nonlocal entered
        for page in pages():
            entered += len(page)
            yield page

    for _left in walk(keys, counted(), journal, visit):
        pass
    if costs is not None:
        for key, step, tally in zip(keys, steps, tallies, strict=False):
            if step.is_batch:
                tally.spent += costs.spent(key, [key])  # its calls are those of no single row
    told = tuple(tally.told(step) for step, tally in zip(steps, tallies, strict=False))
    return BuildFunnel(entered, told, len(steps))


def ended_rows(
    steps: Sequence[StepName],
    keys: Sequence[bytes],
    pages: Pages,
    journal: Journal,
    costs: Costs | None = None,
) -> Iterator[Ended]:
    """The rows that a step dropped or that are held up before it: page by page in the order of
    those that entered, within a page by step."""
    seen: list[Visit] = []
    for _left in walk(keys, pages(), journal, seen.append):
        for visit in seen:
            name, key = steps[visit.place].name, keys[visit.place]
            held = [r.id for r, o in zip(visit.rows, visit.outcomes, strict=True) if o is None]
            errors = costs.errors(key, held) if costs is not None and held else {}
            for row, outcome in zip(visit.rows, visit.outcomes, strict=True):
                if outcome is None:
                    yield Ended(name, row, error=errors.get(row.id, ""))
                elif outcome.reason:
                    yield Ended(name, row, outcome.reason, outcome.found)
        seen.clear()


def build_journal(store: Store, key: int) -> tuple[list[bytes], StoreJournal]:
    """The keys of the steps that a build reached, and its journal."""
    reached = store.builds.stages(key)
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys(reached))
    return reached, journal


def funnel_of(store: Store, key: int, build: Build) -> BuildFunnel:
    """The funnel of a build as far as it came."""
    reached, journal = build_journal(store, key)
    return read_funnel(build.steps, reached, lambda: store.builds.pages(key), journal, journal)


# How it is told: on a terminal, and on the page of its bank.


def funnel_lines(funnel: BuildFunnel) -> list[str]:
    """The funnel as a table: a line a step, under it a line for each of its reasons."""
    rows: list[tuple[str, ...]] = [("", "entered", "dropped", "pending", "passed", "kept", "USD")]
    for step in funnel.steps:
        numbers = (step.entered, step.n_dropped, step.pending)
        shown = (f"{n:,}" if n else "" for n in numbers)
        passed = f"{step.passed:.1%}" if step.passed is not None and step.dropped else ""
        kept = f"{step.kept:,}" if step.kept else ""
        rows.append((step.name, *shown, passed, kept, step.spent.cost_text))
        rows += [(f"  {why}", "", f"{n:,}", "", "", "", "") for why, n in step.dropped.items()]
        rows += [(f"  {kind}", "", "", f"{n:,}", "", "", "") for kind, n in step.failed.items()]
    rows.append(("left", "", "", "", "", f"{funnel.left:,}", funnel.spent.cost_text))
    return aligned(without_empty(rows), left=(0,))


def funnel_sentence(funnel: BuildFunnel) -> str:
    """``30 entered, 9 left``, and what is not through yet."""
    held = f", {funnel.pending:,} pending" if funnel.pending else ""
    reached = len(funnel.steps)
    short = "" if reached == funnel.n_steps else f", {reached} of {funnel.n_steps} steps reached"
    what = "left" if not held and not short else "came through so far"
    return f"{funnel.entered:,} entered, {funnel.left:,} {what}{held}{short}"


def pending_sentences(funnel: BuildFunnel) -> Iterator[str]:
    """For each step that holds rows up: how many, and why their calls failed."""
    for step in funnel.steps:
        if step.pending:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in step.failed.items())
            failed = f"; calls failed: {kinds}" if kinds else ""
            yield f"{step.name}: {counted(step.pending, 'row')} pending{failed}"


def funnel_section(
    build: Build,
    funnel: BuildFunnel,
    judged: Sequence[QuestionAccount] = (),
    found: Sequence[Tabulation] = (),
) -> Section:
    """How a bank was built, for its page, what its judges did on each question, and what the build
    states of the rows that it kept."""
    rows: list[tuple[Cell, ...]] = []
    for step in funnel.steps:
        calls, cost = step.spent.calls or None, step.spent.cost_text or None
        passed = None if step.passed is None else 100 * step.passed
        counts = (step.entered, step.n_dropped, step.pending, passed, step.kept)
        rows.append((step.name, None, *counts, calls, cost))
        rows += [
            (step.name, reason, None, n, None, None, None, None, None)
            for reason, n in step.dropped.items()
        ]
    columns = (
        Column(key="step", name=say("Step")),
        Column(key="reason", name=say("Why")),
        Column(key="entered", name=say("Entered"), digits=0),
        Column(key="dropped", name=say("Dropped"), digits=0),
        Column(key="pending", name=say("Pending"), digits=0),
        Column(
            key="passed", name=say("Passed, %"), digits=1,
            help=say("Share of the processed rows that were not dropped."),
        ),
        Column(
            key="kept", name=say("Kept"), digits=0,
            help=say("Rows that came out, of one row several too."),
        ),
        Column(key="calls", name=say("Calls"), digits=0),
        Column(key="usd", name="USD", help=say("What the calls took when they were asked.")),
    )  # fmt: skip
    said = {"entered": counted(funnel.entered, "row"), "left": f"{funnel.left:,}"}
    finding = say("Of {entered} that entered the build, {left} are left.", **said)
    if funnel.spent.cost_usd:
        cost = funnel.spent.cost_text
        finding = say(
            "Of {entered} that entered the build, {left} are left, for {cost} USD.",
            cost=cost, **said,
        )  # fmt: skip
    how = say("Counted from the journal of the build: each row once at each step that it reached.")
    models = listed([f"{role}: {model}" for role, model in build.models.items()])
    who = (
        say("Models by role: {models}.", models=models)
        if build.models
        else say("No model was used.")
    )
    return Section(
        name="build-funnel",
        title=say("How the {kind} were built", kind=word(build.kind)),
        finding=finding,
        plain=_most(funnel),
        cannot=say(
            "The counts do not show whether rows were dropped correctly. Review a sample for each "
            "reason."
        ),
        how=paragraph(how, who),
        tables=(
            Table(title=say("Funnel"), columns=columns, rows=tuple(rows), sorts=False),
            *([_judges(judged)] if judged else []),
            *map(_table, found),
        ),
    )


def _table(found: Tabulation) -> Table:
    columns = tuple(
        Column(key=each.key, name=each.name, digits=each.digits) for each in found.columns
    )
    note = paragraph(*found.notes)
    return Table(title=found.title, columns=columns, rows=found.rows, note=note, sorts=False)


def _most(funnel: BuildFunnel) -> str:
    dropped = [
        (n, reason, step.name) for step in funnel.steps for reason, n in step.dropped.items() if n
    ]
    if not dropped:
        return say("No step dropped a row.")
    n, reason, step = max(dropped)
    return say("Most were dropped by {step}, as {reason}: {n:,}.", step=step, reason=reason, n=n)


def _judges(judged: Sequence[QuestionAccount]) -> Table:
    """What each judge did: a line a question and judge."""
    rows = tuple(
        (
            account.step, account.question, judge.judge, judge.n, judge.n - judge.voted,
            judge.against_panel, judge.otherwise,
        )
        for account in judged
        for judge in account.judges
    )  # fmt: skip
    columns = (
        Column(key="step", name=say("Step")),
        Column(key="question", name=say("Asked")),
        Column(key="judge", name=say("Judge")),
        Column(key="n", name=say("Verdicts"), digits=0),
        Column(
            key="silent", name=say("No vote"), digits=0,
            help=say("Failed, without a label, or split between its own votes or orders."),
        ),
        Column(key="against", name=say("Against the panel"), digits=0),
        Column(
            key="otherwise", name=say("Otherwise without it"), digits=0,
            help=say("Verdicts that the others alone would give otherwise, or not at all."),
        ),
    )  # fmt: skip
    return Table(title=say("Judges"), columns=columns, rows=rows, sorts=False)


# The rows of builds as they are listed: how far they are, those dropped, what judges said.


class BuildState(Struct, frozen=True, kw_only=True):
    """Hold a build in a listing; ``bank`` is the newest one made of it."""

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
    return [
        BuildState(
            id=build.id, kind=build.kind, name=build.name, n_inputs=build.n_inputs,
            funnel=store.builds.funnel(key), bank=next(iter(store.builds.banks(key)[-1:]), None),
        )
        for key, build in store.builds.every()
    ]  # fmt: skip


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
    """Yield every dropped or pending row for a file: columns with the reason, then the values of
    the row."""
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
    reached, journal = build_journal(store, key)
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
        step=ended.step, reason=ended.reason, found=ended.found, error=ended.error,
        row=short(ended.row.id), values=row_values(ended.row.payload),
    )  # fmt: skip


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
    """Yield every judge vote of a build for a file."""
    key, build = store.builds.build(found.id)
    for step, row, each in verdicts_of(store, key, build):
        verdict = each.verdict
        for judge_vote in verdict.judge_votes:
            yield {
                "row": row.id.hex(),
                "step": step,
                "question": each.question,
                "state": verdict.state,
                "label": verdict.label,
                "by_rule": verdict.by_rule,
                "judge": judge_vote.judge,
                "judge_vote": judge_vote.state,
                "vote": judge_vote.label,
                "reason": judge_vote.reason,
                "trouble": judge_vote.trouble,
            }


def verdicts_of(
    store: Store, key: int, build: Build
) -> Iterator[tuple[str, PipelineRow, RowVerdict]]:
    """Yield each verdict of a build with its step name and row, by step within each page of rows. A
    row that reaches a step several times was judged once."""
    reached, journal = build_journal(store, key)
    judged = store.outcomes.judged([journal.step(each) for each in reached])
    if not judged:
        return
    names = [step.name for step in build.steps]
    seen: set[tuple[int, bytes]] = set()
    page: list[tuple[str, PipelineRow, RowVerdict]] = []

    def visit(at: Visit) -> None:
        identity = reached[at.place]
        if journal.step(identity) not in judged:
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
            accounts = read_accounts(store, key, build)
            yield funnel_section(build, funnel, accounts, build_tables(store, key, build))
