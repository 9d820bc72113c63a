"""Verified triples as people read them: of one reply each with its evidence, of a run counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofstone.engines.store import Store, VerifiedRow
from proofstone.engines.store.scores import ScoringInfo
from proofstone.identity import short
from proofstone.ports import Method, Verifies
from proofstone.records.against import Against, read_against
from proofstone.records.triples import DIRECTIONS, Passage, Verdict
from proofstone.stages.judged_replies import verdict_lines
from proofstone.stages.verified_runs import text_of, verdict_of

__all__ = ["counted_sentence", "verified_counts", "verified_of_reply"]

_SHOWN = 400  # characters of a passage; the whole of it is in the export
_RULED = {
    "no object": "nothing is said",
    "no reference": "no reference of the entity",
    "nothing elicited": "nothing was elicited of the entity",
    "same words": "in the same words",
}


def verified_of_reply(
    store: Store, method: Method, run: int, item: int, sample: int, name: str
) -> Iterator[str]:
    """The verified triples of a reply in each whole scoring that verified it, newest first: those
    that it says, then those of the reference that were looked for in it."""
    if not isinstance(method, Verifies):
        return
    for scoring in reversed(store.scores.of_run(run)):
        against = read_against(scoring.judge)
        if against is None:
            continue
        rows = [
            row
            for page in store.verified.pages(scoring.key, [item])
            for row in page
            if row.sample == sample
        ]
        if rows:
            yield "\n".join([_head(scoring, against), *_lines(store, method, rows, name)])


def verified_counts(store: Store, scoring: int) -> str:
    """What the triples of a scoring came to, as one line; empty where none was verified."""
    return counted_sentence(store.verified.counts(scoring))


def counted_sentence(counts: Mapping[str, Mapping[str, int]]) -> str:
    """``precision: entailment 36, neutral 12; recall: covered 36``."""
    return "; ".join(
        f"{name}: {', '.join(f'{label} {n:,}' for label, n in counts[name].items())}"
        for name in DIRECTIONS
        if name in counts
    )


def _head(scoring: ScoringInfo, against: Against) -> str:
    by = f"by {against.judges}, against {against.reference}"
    return f"--- verified in scoring:{short(scoring.id)} {by}"


def _lines(store: Store, method: Verifies, rows: list[VerifiedRow], name: str) -> Iterator[str]:
    for row in sorted(rows, key=lambda row: DIRECTIONS.index(row.measure)):
        text, verdict = text_of(store, method, row, name), verdict_of(row)
        said = f"{text.subject} | {text.predicate} | {text.object}"
        yield f"{row.measure}, {verdict.label or verdict.basis}: {said}"
        yield from (f"    {line}" for line in _evidence(row, verdict, text.passage))


def _evidence(row: VerifiedRow, verdict: Verdict, known: Passage) -> Iterator[str]:
    ballots = () if row.verdict is None else row.verdict.ballots
    if verdict.basis in _RULED:
        yield f"by rule: {_RULED[verdict.basis]}"
    elif len(ballots) == 1 and verdict.label:
        yield f"{ballots[0].judge}: {verdict.reason or 'no reason given'}"
    elif row.verdict is not None:
        yield from verdict_lines(row.verdict)
    if verdict.passage.text:
        yield f"rests on {_quoted(verdict.passage)}"
    if known.text or known.title or known.url:
        yield f"known from {_quoted(known)}"


def _quoted(passage: Passage) -> str:
    plain = " ".join(passage.text.split())
    text = plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."
    where = ", ".join(filter(None, (passage.title, passage.source, passage.url)))
    return " ".join(filter(None, (f'"{text}"' if text else "", f"({where})" if where else "")))
