"""The funnel of a build as people read it: a table for the terminal, and a section of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofstone.records import Build, BuildFunnel, Spent, StepFunnel
from proofstone.report.columns import aligned
from proofstone.report.sections.section import Cell, Column, Section, Table
from proofstone.wording import counted

__all__ = ["funnel_lines", "funnel_section", "funnel_sentence", "pending_sentences"]

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


_COLUMNS = (
    Column(key="step", name="Step"),
    Column(key="reason", name="Why"),
    Column(key="entered", name="Entered", digits=0),
    Column(key="dropped", name="Dropped", digits=0),
    Column(key="pending", name="Pending", digits=0),
    Column(key="kept", name="Kept", digits=0, help="Rows that came out, of one several too."),
    Column(key="calls", name="Calls", digits=0),
    Column(key="usd", name="USD", help="What the calls took when they were asked."),
)


def funnel_section(build: Build, funnel: BuildFunnel) -> Section:
    """How a bank was built, for its page."""
    rows: list[tuple[Cell, ...]] = []
    for step in funnel.steps:
        spent = step.spent
        rows.append(
            (
                step.name, "", step.entered, step.n_dropped, step.pending, step.kept,
                spent.calls or None, spent.cost_text or None,
            )
        )  # fmt: skip
        rows += [
            (step.name, reason, None, n, None, None, None, None)
            for reason, n in step.dropped.items()
        ]
    models = "; ".join(f"{role}: {model}" for role, model in build.models.items())
    cost = f" for {funnel.spent.cost_text} USD" if funnel.spent.cost_usd else ""
    entered = f"Of {counted(funnel.entered, 'row')} that entered"
    return Section(
        name="build-funnel",
        title=f"How the {build.kind} were built",
        finding=f"{entered}, {funnel.left:,} are left{cost}.",
        plain=_plain(funnel),
        cannot="Whether what was dropped deserved it: look at a sample of each reason.",
        how="Counted from the journal of the build: each row once at each step that it reached. "
        + (f"Models: {models}." if models else "No model had a hand in it."),
        tables=(Table(title="Funnel", columns=_COLUMNS, rows=tuple(rows), sorts=False),),
    )


def _plain(funnel: BuildFunnel) -> str:
    dropped = [
        (n, reason, step.name) for step in funnel.steps for reason, n in step.dropped.items() if n
    ]
    if not dropped:
        return "No step dropped a row."
    n, reason, step = max(dropped)
    return f"Most were dropped by {step}, as {reason}: {n:,}."
