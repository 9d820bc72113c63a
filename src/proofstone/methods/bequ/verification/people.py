"""People's verdicts on some of the triples, as they come in the file of verdicts.

Who labels fills two columns of that file: ``people``, what the passages say by a person's reading,
and ``is_true``, whether the triple is true by any source at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from proofstone.engines.ingest import Fields
from proofstone.errors import BadInput, Problem
from proofstone.ports import Row
from proofstone.records.triples import Direction, Verified

__all__ = ["LABELS", "Checked", "PeopleSaid", "checked_of", "read_people"]

LABELS = {
    "precision": ("entailment", "contradiction", "neutral"),
    "recall": ("entailment", "contradiction", "neutral", "covered", "not covered"),
}


class PeopleSaid(Struct, frozen=True, gc=False):
    """What a person said of a triple; an empty label, or None, where nothing."""

    label: str
    is_true: bool | None


class Checked(Struct, frozen=True, kw_only=True):
    """A triple that was judged, its number in the order of drawing (0: all were taken), and what a
    person said of it (None: nobody looked)."""

    direction: Direction
    group: int
    entity: int
    label: str
    said: PeopleSaid | None
    drawn: int = 0


def read_people(rows: Iterable[Row]) -> dict[str, PeopleSaid]:
    """What people said, by the id of the triple; rows on which nobody said anything are passed
    over. Raises BadInput with every problem."""
    problems: list[Problem] = []
    found: dict[str, PeopleSaid] = {}
    columns: set[str] = set()
    for row in rows:
        columns |= row.values.keys()
        fields = Fields(row, problems)
        label = fields.text("people").strip().casefold()
        is_true = fields.truth("is_true")
        identity = fields.key("id")
        if not label and is_true is None:
            continue
        if not identity:
            fields.wrong("id", "is missing: it is that of the file of verdicts")
        wanted = LABELS.get(fields.text("direction") or "precision")
        if wanted is None:
            fields.wrong("direction", f"expected one of {', '.join(LABELS)}")
        elif label and label not in wanted:
            fields.wrong("people", f"expected one of {', '.join(wanted)}")
        said = PeopleSaid(label, is_true)
        if found.setdefault(identity, said) != said:
            fields.wrong("id", "comes twice, with two verdicts")
    if problems:
        raise BadInput("people's verdicts cannot be read", problems)
    if not found:
        raise BadInput(
            f"the file holds no verdict of people; its columns are {', '.join(sorted(columns))}",
            hint="expected id, and people or is_true filled in: the file that --output wrote",
        )
    return found


def checked_of(found: Verified, people: Mapping[str, PeopleSaid]) -> Checked | None:
    """What of a verified triple a correction needs; None for one that waits."""
    if found.verdict.basis == "waiting":
        return None
    label = found.verdict.label or "unparsed"
    return Checked(
        direction=found.direction,
        group=found.group,
        entity=found.entity,
        label=label,
        said=people.get(found.id),
        drawn=found.drawn,
    )
