"""The statements of a file through the cleaner and the filters, in the paper's order (3.1.1,
appendix C), then through what no row shows by itself: steps of a pipeline, performed in memory, for
only the counts of what was dropped are kept. Each row counts at its first reason.

The paper's own funnel: 25,563 raw = 21,525 kept + 3,269 + 642 + 127.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.build.flow import PlainStep, make_row, perform_plain, read_row
from proofstone.methods.encyclo_k.filters.cleaner import (
    ORPHANED,
    REPEATED,
    Candidate,
    candidates,
    clean,
    drop_orphans,
    drop_repeats,
    file_row,
    plain,
)
from proofstone.methods.encyclo_k.filters.rules import (
    find_ambiguity,
    find_brevity,
    find_figure,
    find_reference,
)
from proofstone.records.builds import BatchStep, Drop, Kept, Step, StepContext
from proofstone.records.tables import Funnel, FunnelStep, Row, SiftedRow, SiftedRows

# Raise it whenever a rule changes: a bank's funnel says by which rules it was made.
FILTERS_VERSION = 2


_GROUPS = ("correct", "falsified")


class Filter(Struct, frozen=True, gc=False):
    """A reason to drop a statement: ``find`` quotes what gives it, or returns the empty text."""

    reason: str
    find: Callable[[str], str]
    falsified_only: bool = False


FILTERS = (
    Filter("figure", find_figure),
    Filter("reference", find_reference),
    Filter("ambiguous", find_ambiguity),
    Filter("too short", find_brevity, falsified_only=True),
)


# What may drop a true statement that stands by itself, without the others of its file.
REASONS_OF_TRUE = tuple(one.reason for one in FILTERS if not one.falsified_only)


REASONS = (*(one.reason for one in FILTERS), REPEATED, ORPHANED)


def _clean(one: Candidate, _context: StepContext) -> Kept:
    cleaned = clean(one.text) if one.is_readable else None
    if cleaned is None or not cleaned.removed:
        return one
    return structs.replace(one, text=cleaned.text, removed=cleaned.removed)


def _filter(one: Candidate, _context: StepContext) -> Kept:
    for rule in FILTERS if one.is_readable else ():
        if (one.is_falsified or not rule.falsified_only) and (found := rule.find(one.text)):
            return Drop(rule.reason, found)
    return one


_ALONE = (
    Step(name="clean", version=FILTERS_VERSION, takes=Candidate, work=_clean),
    Step(
        name="filter", version=FILTERS_VERSION, takes=Candidate, work=_filter,
        reasons=tuple(one.reason for one in FILTERS),
    ),
)  # fmt: skip


STEPS: tuple[Step | BatchStep, ...] = (
    *_ALONE,
    BatchStep(
        name="repeats", version=FILTERS_VERSION, takes=Candidate, work=drop_repeats,
        reasons=(REPEATED,),
    ),
    BatchStep(
        name="origins", version=FILTERS_VERSION, takes=Candidate, work=drop_orphans,
        reasons=(ORPHANED,),
    ),
)  # fmt: skip


def sift_row(row: Row) -> Row | SiftedRow:
    """The row as it is, or cleaned, or with the first reason to drop it.

    A row whose text or truth cannot be read is left as it is: reading it names the problem.
    """
    (one,) = _sift([row], _ALONE)
    return one


def sift(rows: Iterable[Row]) -> SiftedRows:
    """All rows, sifted one by one; then those that cleaning made the same as another, and the
    falsified ones whose true statement was dropped."""
    every = list(rows)
    sifted = _sift(every, STEPS)
    return SiftedRows(
        kept=tuple(
            one.row if isinstance(one, SiftedRow) else one for one in sifted if not _reason(one)
        ),
        touched=tuple(one for one in sifted if isinstance(one, SiftedRow)),
        funnel=_funnel(sifted, [one.is_falsified for one in candidates(every)]),
    )


def _sift(rows: Sequence[Row], steps: Sequence[Step | BatchStep]) -> list[Row | SiftedRow]:
    """What the steps make of each row."""
    done = perform_plain(steps, [make_row(one) for one in candidates(rows)])
    last: dict[int, Candidate] = {
        one.number: one for one in (read_row(row, Candidate) for row in done[-1].kept)
    }
    dropped = dict(_dropped(done))
    return [_became(rows[n], last.get(n), dropped.get(n)) for n in range(len(rows))]


def _dropped(done: Sequence[PlainStep]) -> Iterable[tuple[int, tuple[Candidate, Drop]]]:
    for step in done:
        for row, outcome in zip(step.rows, step.outcomes, strict=True):
            if outcome.reason:
                one: Candidate = read_row(row, Candidate)
                yield one.number, (one, Drop(outcome.reason, outcome.found))


def _became(
    row: Row, left: Candidate | None, dropped: tuple[Candidate, Drop] | None
) -> Row | SiftedRow:
    """A row of the file with what became of it."""
    if left is not None:
        stands = file_row(left, row)
        if not left.removed:
            return stands
        return SiftedRow(row=stands, before=left.before, found=" | ".join(left.removed))
    if dropped is None:
        raise AssertionError(f"{row.place} is neither left nor dropped")
    one, drop = dropped
    # What was dropped beside others is quoted as it was compared, unless it had been cleaned.
    is_compared = drop.reason in (REPEATED, ORPHANED) and not one.removed
    before = plain(one) if is_compared else one.before
    return SiftedRow(row=file_row(one, row), before=before, reason=drop.reason, found=drop.found)


def _reason(one: Row | SiftedRow) -> str:
    return one.reason if isinstance(one, SiftedRow) else ""


def _funnel(sifted: Sequence[Row | SiftedRow], falsified: Sequence[bool]) -> Funnel:
    counts: Mapping[str, list[int]] = {reason: [0, 0] for reason in REASONS}
    entered, changed = [0, 0], [0, 0]
    for one, is_falsified in zip(sifted, falsified, strict=True):
        group = int(is_falsified)
        entered[group] += 1
        if reason := _reason(one):
            counts[reason][group] += 1
        elif isinstance(one, SiftedRow):
            changed[group] += 1
    return Funnel(
        filters=f"encyclo_k filters {FILTERS_VERSION}",
        groups=_GROUPS,
        entered=tuple(entered),
        steps=tuple(FunnelStep(reason, tuple(n)) for reason, n in counts.items()),
        changed=tuple(changed),
    )
