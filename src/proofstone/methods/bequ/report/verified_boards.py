"""From runs whose triples were verified to their leaderboard, with the cards of their models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from proofstone.errors import BadUsage, NotFound
from proofstone.files.tables import read_checked
from proofstone.method import Method, find_method
from proofstone.methods.bequ.report.board import TripleBoard, count_verified, triple_board
from proofstone.methods.bequ.verification.measures import (
    held_elsewhere,
    measure_all,
    rankable,
    spreads_of,
)
from proofstone.methods.bequ.verification.people import read_people
from proofstone.methods.bequ.verification.records import BREAKDOWNS, Breakdown, Group, VerifiedRuns
from proofstone.methods.bequ.verification.stored_verdicts import ranked_settings, read_verified
from proofstone.models.config import ModelConfig
from proofstone.records.models import shown_names
from proofstone.results.cards import read_columns, read_field, read_where
from proofstone.results.compare import RateCompared, TriplesCompared
from proofstone.results.report import left_out_with, notes_with
from proofstone.results.table import CURRENT, View, narrowed, open_book
from proofstone.run.forms import Selection
from proofstone.session.session import Session
from proofstone.stats.comparisons import compare_spread
from proofstone.store.store import Store


class VerifiedBoard(NamedTuple):
    """A leaderboard of verified triples, what it was made from, and the runs on it."""

    board: TripleBoard
    verified: VerifiedRuns
    selection: Selection


def make_verified_board(
    store: Store,
    config: Callable[[], ModelConfig],
    selection: Selection,
    *,
    by: Sequence[Breakdown] = BREAKDOWNS,
    group_by: str = "",
    where: str | Sequence[str] = (),
    card_columns: Sequence[str] = (),
    people: Path | None = None,
    view: View = CURRENT,
    seed: int = 0,
    confidence: float = 0.95,
) -> VerifiedBoard | None:
    """The board of a selection, its parts those ``by`` which it is asked for; None where nothing of
    it is verified. Cards are asked for, filtered by and shown as on other leaderboards; ``people``
    is a file of verdicts that people filled in.

    Raises BadUsage for a field that is none or runs that were verified by different judges,
    NotFound where the filter leaves nobody, BadInput for labels of people that cannot be read.
    """
    texts = [where] if isinstance(where, str) else list(where)
    conditions = read_where(texts)
    read_columns(card_columns)
    asked = bool(conditions or card_columns or (group_by and read_field(group_by)))
    book = open_book(store, selection, config() if asked else None)
    chosen, left_out = narrowed(selection, book, conditions)
    try:
        verified = read_verified(store, find_method(chosen.method), chosen, view)
    except NotFound:
        return None
    by_id = {run.id: run for _key, run in selection.runs}
    first = [by_id[runs[0]] for runs in verified.runs]
    ranked = ranked_settings(first)
    names = shown_names(run.respondent for _key, run in selection.runs)
    verified = _shown(verified, names)
    board = triple_board(
        verified,
        ranked=ranked,
        seed=seed,
        confidence=confidence,
        by=by,
        cards={names[name]: card for name, card in book.cards.items()},
        people=None if people is None else read_checked(people, read_people),
    )
    board = structs.replace(
        board,
        group_by=group_by,
        where=",".join(text for text in texts if text),
        left_out=left_out_with(left_out, names),
        notes=notes_with((*book.retired, *(book.notes if asked else ())), names),
    )
    return VerifiedBoard(board, verified, chosen)


def verified_board(session: Session, selection: Selection, **options: Any) -> TripleBoard | None:
    """The leaderboard of what was verified of a selection; None where nothing is."""
    made = make_verified_board(session.store, lambda: session.config, selection, **options)
    return None if made is None else made.board


def _shown(verified: VerifiedRuns, names: Mapping[str, str]) -> VerifiedRuns:
    """The runs with models and judges by their shown names."""
    judges = shown_names(verified.judges.split(", "))
    return replace(
        verified,
        groups=tuple(Group(names[who.model], who.setting) for who in verified.groups),
        judges=", ".join(judges.values()),
    )


# Two runs whose triples were verified alike: by how much their F1, precision and recall differ.

_NAMES = {"f1": "F1", "precision": "precision", "recall": "recall"}


def compare_triples(
    store: Store,
    method: Method,
    selection: Selection,
    before: bytes,
    after: bytes,
    view: View,
    *,
    confidence: float,
    seed: int,
) -> TriplesCompared | None:
    """The run ``after`` against the run ``before``, both of ``selection``. None where neither is
    verified, or replies hold nothing to verify; where they cannot be compared it says why."""
    try:
        verified = read_verified(store, method, selection, view)
    except NotFound:
        return None
    except BadUsage as problem:
        return TriplesCompared(cannot=str(problem))
    places = [_group_of(verified, run) for run in (before, after)]
    if places[0] == places[1]:
        return TriplesCompared(cannot="both were asked of the same model in the same way")
    return _compared(verified, places, confidence, seed)


def _group_of(verified: VerifiedRuns, run: bytes) -> int:
    return next(place for place, runs in enumerate(verified.runs) if run in runs)


def _compared(
    verified: VerifiedRuns, places: list[int], confidence: float, seed: int
) -> TriplesCompared:
    counted = count_verified(verified)
    able = rankable(counted, len(verified.groups))
    lacking = [name for name, place in zip("AB", places, strict=True) if place not in able]
    if lacking:
        return TriplesCompared(cannot=f"{' and '.join(lacking)}: not verified both ways")
    differ = held_elsewhere(counted, places)
    if differ:
        n = max(differ.values())
        return TriplesCompared(cannot=f"they were held against other entities: {n:,} differ")
    spreads = spreads_of(counted, places)
    measured = measure_all(counted, verified.groups, seed=seed, confidence=confidence)
    found = []
    for name, label in _NAMES.items():
        sides = [measured[place].estimates[name] for place in places]
        estimate, p = compare_spread(spreads[name], clusters="entities", confidence=confidence)
        found.append(
            RateCompared(
                name=label,
                before=sides[0],
                after=sides[1],
                estimate=estimate,
                p=p,
            )
        )
    return TriplesCompared(
        rates=tuple(found),
        judges=verified.judges,
        reference=verified.reference,
        sampling=verified.sampling,
        entities=spreads["f1"].n_units,
        unparsed=tuple(
            (estimates["unparsed"].value, estimates["recall_unparsed"].value)
            for estimates in (measured[place].estimates for place in places)
        ),
    )
