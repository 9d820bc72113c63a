"""One row at a time through the cleaner and the filters, in the paper's order (3.1.1, appendix C);
then what no row shows by itself; and the funnel, in which each row counts at its first reason.

The paper's own funnel: 25,563 raw = 21,525 kept + 3,269 + 642 + 127.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.engines.ingest import Fields
from proofstone.methods.encyclo_k.filters.ambiguity import find_ambiguity
from proofstone.methods.encyclo_k.filters.brevity import find_brevity
from proofstone.methods.encyclo_k.filters.cleaner import clean
from proofstone.methods.encyclo_k.filters.figures import find_figure
from proofstone.methods.encyclo_k.filters.references import find_reference
from proofstone.methods.encyclo_k.statement_drafts import read_stratum
from proofstone.ports import Row
from proofstone.records import Funnel, FunnelStep, SiftedRow, SiftedRows, Stratum

__all__ = ["FILTERS", "FILTERS_VERSION", "REASONS", "Filter", "sift", "sift_row"]

# Raise it whenever a rule changes: a bank's funnel says by which rules it was made.
FILTERS_VERSION = 2

_GROUPS = ("correct", "falsified")
_TEXTS = ("text", "statement", "content")


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
# What only shows among all rows, once the filters are through.
_REPEATED, _ORPHANED = "same once cleaned", "origin dropped"
REASONS = (*(one.reason for one in FILTERS), _REPEATED, _ORPHANED)


def sift_row(row: Row) -> Row | SiftedRow:
    """The row as it is, or cleaned, or with the first reason to drop it.

    A row whose text or truth cannot be read is left as it is: reading it names the problem.
    """
    column, text = Fields(row, []).find(*_TEXTS)
    if not isinstance(text, str) or not text.strip():
        return row
    cleaned = clean(text)
    if cleaned.removed:
        row = Row(row.place, {**row.values, column: cleaned.text})
    is_falsified = _is_falsified(row)
    for one in FILTERS:
        if is_falsified or not one.falsified_only:
            found = one.find(cleaned.text)
            if found:
                return SiftedRow(row=row, before=text, reason=one.reason, found=found)
    if cleaned.removed:
        return SiftedRow(row=row, before=text, found=" | ".join(cleaned.removed))
    return row


def sift(rows: Iterable[Row]) -> SiftedRows:
    """All rows, sifted one by one; then those that cleaning made the same as another, and the
    falsified ones whose true statement was dropped."""
    sifted = [sift_row(row) for row in rows]
    sifted = _without_repeats(sifted)
    sifted = _without_orphans(sifted)
    return SiftedRows(
        kept=tuple(_row(one) for one in sifted if not _reason(one)),
        touched=tuple(one for one in sifted if isinstance(one, SiftedRow)),
        funnel=_funnel(sifted),
    )


def _row(one: Row | SiftedRow) -> Row:
    return one.row if isinstance(one, SiftedRow) else one


def _reason(one: Row | SiftedRow) -> str:
    return one.reason if isinstance(one, SiftedRow) else ""


def _text(row: Row) -> str:
    return " ".join(str(Fields(row, []).find(*_TEXTS)[1]).split())


def _is_falsified(row: Row) -> bool:
    return Fields(row, []).truth("correct", "is_correct", "label") is False


def _without_repeats(sifted: Sequence[Row | SiftedRow]) -> list[Row | SiftedRow]:
    """Without cleaned rows whose text is now another's, and falsified ones that are now true.

    Rows that were the same as they came are left: reading them names the problem.
    """
    rows = [_row(one) for one in sifted if not _reason(one)]
    cleaned = {_text(one.row) for one in sifted if isinstance(one, SiftedRow) and not one.reason}
    true = cleaned & {_text(row) for row in rows if not _is_falsified(row)}
    taken = {_place(one) for one in sifted if isinstance(one, Row) and _text(one) in cleaned}
    left: list[Row | SiftedRow] = []
    for one in sifted:
        row, text = _row(one), _text(_row(one))
        if _reason(one) or text not in cleaned:
            left.append(one)
        elif (_is_falsified(row) and text in true) or (
            isinstance(one, SiftedRow) and _place(row) in taken
        ):
            left.append(_dropped(one, _REPEATED, text))
        else:
            taken.add(_place(row))
            left.append(one)
    return left


def _place(row: Row) -> tuple[str, bool, Stratum]:
    """What may stand in a bank once: a text, true or false, in its place of the taxonomy."""
    return _text(row), _is_falsified(row), read_stratum(Fields(row, []))


def _without_orphans(sifted: Sequence[Row | SiftedRow]) -> list[Row | SiftedRow]:
    """Without falsified rows whose origin, in this file, was dropped. A row that corrects a
    dropped one stands by itself."""
    keys: dict[str, bool] = {}
    for one in sifted:
        if key := Fields(_row(one), []).key("id"):
            keys[key] = keys.get(key, False) or not _reason(one)
    gone = {key for key, is_left in keys.items() if not is_left}
    return [one if _reason(one) else _without(one, gone) for one in sifted]


def _without(one: Row | SiftedRow, gone: set[str]) -> Row | SiftedRow:
    """A row that is left, where rows with these keys are gone."""
    fields = Fields(_row(one), [])
    if (origin := fields.key("origin")) in gone:
        return _dropped(one, _ORPHANED, f"origin {origin}")
    return _uncorrecting(one) if fields.key("corrects") in gone else one


def _dropped(one: Row | SiftedRow, reason: str, found: str) -> SiftedRow:
    if isinstance(one, SiftedRow):
        return structs.replace(one, reason=reason, found=found)
    return SiftedRow(row=one, before=_text(one), reason=reason, found=found)


def _uncorrecting(one: Row | SiftedRow) -> Row | SiftedRow:
    row = _row(one)
    alone = Row(row.place, {k: v for k, v in row.values.items() if k != "corrects"})
    return structs.replace(one, row=alone) if isinstance(one, SiftedRow) else alone


def _funnel(sifted: Sequence[Row | SiftedRow]) -> Funnel:
    counts: Mapping[str, list[int]] = {reason: [0, 0] for reason in REASONS}
    entered, changed = [0, 0], [0, 0]
    for one in sifted:
        group = int(_is_falsified(_row(one)))
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
