"""What only shows among all statements of a file: the same text twice, an origin that is gone."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from proofstone.methods.encyclo_k.filters.candidate import Candidate, plain
from proofstone.ports import BatchRows, Drop, Kept, StepContext
from proofstone.records import Stratum

__all__ = ["ORPHANED", "REPEATED", "drop_orphans", "drop_repeats"]

REPEATED, ORPHANED = "same once cleaned", "origin dropped"


def drop_repeats(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drops cleaned rows whose text is now another's, and falsified ones that are now true.

    Rows that were the same as they came are left: reading them names the problem.
    """
    every: list[Candidate] = list(rows)
    cleaned = {plain(one) for one in every if one.removed}
    true = cleaned & {plain(one) for one in every if not one.is_falsified}
    taken = {_place(one) for one in every if not one.removed and plain(one) in cleaned}
    made: dict[int, Kept] = {}
    for number, one in enumerate(every):
        text = plain(one)
        if text not in cleaned:
            continue
        is_now_true = one.is_falsified and text in true
        if is_now_true or (one.removed and _place(one) in taken):
            made[number] = Drop(REPEATED, text)
        else:
            taken.add(_place(one))
    return made


def drop_orphans(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drops falsified rows whose origin, in this file, was dropped. A row that corrects a dropped
    one stands by itself."""
    every: list[Candidate] = list(rows)
    left = {one.key for one in every}
    made: dict[int, Kept] = {}
    for number, one in enumerate(every):
        if one.origin and one.origin not in left:
            made[number] = Drop(ORPHANED, f"origin {one.origin}")
        elif one.corrects and one.corrects not in left:
            made[number] = structs.replace(one, stands_alone=True)
    return made


def _place(one: Candidate) -> tuple[str, bool, Stratum]:
    """What may stand in a bank once: a text, true or false, in its place of the taxonomy."""
    return plain(one), one.is_falsified, one.stratum
