"""The funnel of a build: what entered each step, left, why and at what cost, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from proofstone.build.journal import Pages, Visit, walk
from proofstone.judging.question import QuestionAccount
from proofstone.page.section import Cell, Column, Section, Table
from proofstone.page.text import aligned
from proofstone.records.builds import Build, BuildFunnel, StepFunnel, StepName
from proofstone.records.runs import Spent
from proofstone.records.steps import Costs, Journal, Outcome, PipelineRow
from proofstone.wording.messages import counted, listed, paragraph, say, word


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
    """The counts of one step, while the walk goes on."""

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
    told = tuple(_told(step, tally) for step, tally in zip(steps, tallies, strict=False))
    return BuildFunnel(entered, told, len(steps))


def _told(step: StepName, tally: _Tally) -> StepFunnel:
    undeclared = sorted(set(tally.dropped) - set(step.reasons))  # the engine's own
    return StepFunnel(
        name=step.name,
        version=step.version,
        entered=tally.entered,
        kept=tally.kept,
        dropped={reason: tally.dropped[reason] for reason in (*step.reasons, *undeclared)},
        pending=tally.pending,
        failed=dict(tally.failed),
        spent=tally.spent,
    )


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


_HEAD = ("", "entered", "dropped", "pending", "kept", "USD")


def funnel_lines(funnel: BuildFunnel) -> list[str]:
    """The funnel as a table: a line a step, under it a line for each of its reasons."""
    rows = [
        cells
        for step in funnel.steps
        for cells in (_step_row(step), *_reason_rows(step.dropped), *_failed_rows(step.failed))
    ]
    last = ("left", "", "", "", f"{funnel.left:,}", _money(funnel.spent))
    return aligned(_without_empty([_HEAD, *rows, last]), left=(0,))


def _step_row(step: StepFunnel) -> tuple[str, ...]:
    numbers = (step.entered, step.n_dropped, step.pending, step.kept)
    return (step.name, *(f"{n:,}" if n else "" for n in numbers), _money(step.spent))


def _reason_rows(dropped: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    for reason, n in dropped.items():
        yield (f"  {reason}", "", f"{n:,}", "", "", "")


def _failed_rows(failed: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    for kind, n in failed.items():
        yield (f"  {kind}", "", "", f"{n:,}", "", "")


def _money(spent: Spent) -> str:
    return spent.cost_text


def _without_empty(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Without the columns of which only the head says something."""
    kept = [
        place for place in range(len(_HEAD)) if not place or any(row[place] for row in rows[1:])
    ]
    return [tuple(row[place] for place in kept) for row in rows]


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
    build: Build, funnel: BuildFunnel, judged: Sequence[QuestionAccount] = ()
) -> Section:
    """How a bank was built, for its page, and what its judges did on each question."""
    rows: list[tuple[Cell, ...]] = []
    for step in funnel.steps:
        spent = step.spent
        rows.append(
            (
                step.name, None, step.entered, step.n_dropped, step.pending, step.kept,
                spent.calls or None, spent.cost_text or None,
            )
        )  # fmt: skip
        rows += [
            (step.name, reason, None, n, None, None, None, None)
            for reason, n in step.dropped.items()
        ]
    said = {"entered": counted(funnel.entered, "row"), "left": f"{funnel.left:,}"}
    finding = say("Of {entered} that entered the build, {left} are left.", **said)
    if funnel.spent.cost_usd:
        cost = funnel.spent.cost_text
        finding = say(
            "Of {entered} that entered the build, {left} are left, for {cost} USD.",
            cost=cost, **said,
        )  # fmt: skip
    return Section(
        name="build-funnel",
        title=say("How the {kind} were built", kind=word(build.kind)),
        finding=finding,
        plain=_most(funnel),
        cannot=say(
            "The counts do not show whether rows were dropped correctly. Review a sample for each "
            "reason."
        ),
        how=_how(build),
        tables=(
            Table(title=say("Funnel"), columns=_columns(), rows=tuple(rows), sorts=False),
            *_judges(judged),
        ),
    )


def _columns() -> tuple[Column, ...]:
    return (
        Column(key="step", name=say("Step")),
        Column(key="reason", name=say("Why")),
        Column(key="entered", name=say("Entered"), digits=0),
        Column(key="dropped", name=say("Dropped"), digits=0),
        Column(key="pending", name=say("Pending"), digits=0),
        Column(
            key="kept", name=say("Kept"), digits=0,
            help=say("Rows that came out, of one row several too."),
        ),
        Column(key="calls", name=say("Calls"), digits=0),
        Column(key="usd", name="USD", help=say("What the calls took when they were asked.")),
    )  # fmt: skip


def _judges(judged: Sequence[QuestionAccount]) -> Iterator[Table]:
    """What each judge did, where any verdict is kept: a line a question and judge."""
    if not judged:
        return
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
    yield Table(title=say("Judges"), columns=columns, rows=rows, sorts=False)


def _most(funnel: BuildFunnel) -> str:
    dropped = [
        (n, reason, step.name) for step in funnel.steps for reason, n in step.dropped.items() if n
    ]
    if not dropped:
        return say("No step dropped a row.")
    n, reason, step = max(dropped)
    return say("Most were dropped by {step}, as {reason}: {n:,}.", step=step, reason=reason, n=n)


def _how(build: Build) -> str:
    how = say("Counted from the journal of the build: each row once at each step that it reached.")
    if not build.models:
        return paragraph(how, say("No model had a hand in it."))
    models = listed([f"{role}: {model}" for role, model in build.models.items()])
    return paragraph(how, say("Models by role: {models}.", models=models))
