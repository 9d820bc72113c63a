"""A run's triples verified as a scoring of it: opened, filled, and complete once all are judged.

It holds what every scoring of the run holds, and beside it one score for each verified triple, with
what judges said and the text that it rests on. What waits for a judge has none.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, structs

from proofstone.engines.store import ScoreRow, Store
from proofstone.engines.store.scores import ScoringInfo
from proofstone.ports import Clock, Method
from proofstone.records import PanelVerdict, Run, Score, Unit
from proofstone.records.against import Against
from proofstone.records.triples import Direction, Verdict
from proofstone.stages.score import unit_row

__all__ = ["VerifiedTriple", "is_current", "open_verified", "verified_row"]

_RIGHT = ("entailment", "covered")


class VerifiedTriple(Struct, frozen=True, gc=False, kw_only=True):
    """A triple of the item with the key ``item``, as a unit, with its verdict. ``drawn`` is its
    number in the order of drawing, 0 where all are taken."""

    direction: Direction
    item: int
    unit: Unit
    drawn: int
    verdict: Verdict
    said: PanelVerdict | None


def open_verified(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    against: Against,
    clock: Clock,
    *,
    again: bool = False,
) -> int:
    """The scoring that the verdicts on a run go to: the newest of this label, or a new one, also
    where the run has more replies by now than were there when its triples were drawn."""
    newest = store.scores.newest(key, method.scorer_version, against.label)
    if newest is not None and not again and is_current(store, newest, key, run):
        return newest.key
    made = store.scores.begin(key, run, method.scorer_version, against.label, clock.now())
    base = store.scores.newest(key, method.scorer_version, "")
    if base is not None:  # what was read of the replies is there already: the rest is added
        store.scores.copy(base.key, made)
    return made


def is_current(store: Store, scoring: ScoringInfo, key: int, run: Run) -> bool:
    """Whether what a scoring holds is of the sample that would be drawn now."""
    if not store.verified.is_any([scoring.key]):
        return True
    return store.scores.n_scored(scoring.key) >= store.runs.count_done(key, run.last_step)


def verified_row(store: Store, method: Method, found: VerifiedTriple) -> ScoreRow:
    """The score of a verified triple as it is stored: 1 where it is entailed or covered, else 0;
    none where the judge's reply held no label."""
    verdict = found.verdict
    is_read = bool(verdict.label)
    score = Score(
        unit=0,
        measure=found.direction,
        outcome="answered" if is_read else "unparsed",
        value=float(verdict.label in _RIGHT) if is_read else None,
        answer=verdict.label,
        basis=verdict.basis,
        flags=(f"drawn {found.drawn}",) if found.drawn else (),
        verdict=_with_passage(found.said, verdict),
    )
    return ScoreRow(unit_row(store, method, found.item, found.unit), found.unit.sample, score)


def _with_passage(said: PanelVerdict | None, verdict: Verdict) -> PanelVerdict | None:
    """What judges said with the text that it rests on; of a rule that text alone, if any."""
    rests_on = verdict.passage if verdict.passage.text else UNSET
    if said is not None:
        return structs.replace(said, rests_on=rests_on)
    if rests_on is UNSET:
        return None
    return PanelVerdict(state="decided", label=verdict.label, rests_on=rests_on)
