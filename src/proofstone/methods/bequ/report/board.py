"""The leaderboard of verified triples: a record, and how it is made from verified runs."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, structs

from proofstone.errors import BadUsage, NotFound
from proofstone.files.tables import read_checked
from proofstone.method import Method, find_method
from proofstone.methods.bequ.records import (
    BREAKDOWNS,
    Breakdown,
    Elicited,
    Group,
    Measured,
    VerifiedRuns,
)
from proofstone.methods.bequ.verification.measures import (
    Counted,
    held_elsewhere,
    measure_all,
    measure_by,
    rank_by_f1,
    rankable,
    spreads_of,
)
from proofstone.methods.bequ.verification.people import (
    PeopleSaid,
    checked_of,
    correct_by_people,
    read_people,
)
from proofstone.methods.bequ.verification.stored_verdicts import ranked_settings, read_verified
from proofstone.models.config import ModelConfig
from proofstone.records.models import Card, shown_names
from proofstone.records.runs import Estimate
from proofstone.results.board import LeftOut
from proofstone.results.cards import read_columns, read_field, read_where
from proofstone.results.compare import RateCompared, TriplesCompared
from proofstone.results.report import left_out_with, notes_with
from proofstone.results.request import CURRENT, View
from proofstone.results.table import narrowed, open_book
from proofstone.run.forms import Selection
from proofstone.session.session import Session
from proofstone.stats.comparisons import compare_spread
from proofstone.stats.ranks import RankInterval, share_estimate
from proofstone.store.store import Store


class PeopleLooked(Struct, frozen=True, kw_only=True):
    """What people's labels make of a row: ``n`` of them by direction. ``estimates`` holds
    precision, recall and f1 corrected for the judge's errors, the judge's agreement with them and
    kappa, the recall of the corpus itself and true_share, as far as each could be made; those of
    a ``scattered`` direction rest on labels that are not on the triples drawn first."""

    n: Mapping[str, int]
    estimates: Mapping[str, Estimate]
    scattered: tuple[str, ...] = ()


class TripleRow(Struct, frozen=True, kw_only=True):
    """A model in one setting. ``measured`` holds F1, precision, recall and what stands beside them,
    ``abstention`` the share of entities of which it said that it knows nothing, and
    ``nonexistent_given`` the share of fictional entities that got triples (None where none was
    asked about). ``rank`` is None where it cannot be ranked: nothing of one direction was judged,
    some of its triples are ``waiting`` for a judge, or it was not held against the entities that
    most rows were held against, but against ``other_entities`` so many fewer or more. Simulated
    rows are ranked among themselves. ``ties`` are the numbers of those of the board that it is in;
    ``config`` is the hash of how it was asked. An ``experiment`` is asked otherwise than
    the setting that is ranked: it has no rank and stands below."""

    group: Group
    runs: tuple[str, ...]
    simulated: bool
    elicited: Elicited
    measured: Measured
    abstention: Estimate
    nonexistent_given: Estimate | None = None
    rank: RankInterval | None = None
    ties: tuple[int, ...] = ()
    waiting: int = 0
    other_entities: int = 0
    experiment: bool = False
    config: str = ""
    card: Card | None = None
    people: PeopleLooked | None = None

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """Its measures by their names."""
        return self.measured.estimates

    @property
    def has_both(self) -> bool:
        """Whether it has precision and recall."""
        return {"precision", "recall"} <= self.estimates.keys()

    @property
    def stands_apart(self) -> bool:
        """Whether it has no place among the rows of its kind, ranked or not."""
        is_whole = not (self.waiting or self.other_entities or self.experiment)
        return not is_whole or "f1" not in self.estimates

    @property
    def label(self) -> str:
        """The row as a sentence names it."""
        return self.group.label


class TripleBoard(Struct, frozen=True, kw_only=True):
    """All rows in falling order of F1, over ``entities`` in the samples: those of models, then
    simulated ones, then those that cannot be ranked. ``parts`` are the measures of each group by
    domain, popularity, source and predicate family. ``ties`` are runs [first, last] of places in
    ``rows`` that the data cannot tell apart. ``counts`` are of all verified triples, by outcome.
    Without ``is_common`` no two rows were held against the same entities, and nobody is ranked.
    ``group_by``, ``where``, ``left_out`` and ``notes`` are of the models' cards, as on other
    leaderboards; ``people_elsewhere`` counts people's labels on triples that are in no row."""

    rows: tuple[TripleRow, ...]
    parts: tuple[Measured, ...]
    ties: tuple[tuple[int, int], ...]
    entities: int
    judges: str
    reference: str
    sampling: str
    seed: int
    confidence: float = 0.95
    counts: Mapping[str, int] = {}
    is_common: bool = True
    group_by: str = ""
    where: str = ""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    people_elsewhere: int = 0

    @property
    def setting(self) -> str:
        """The setting that all rows share; empty where they differ."""
        (setting, *others) = {row.group.setting for row in self.rows} or {""}
        return "" if others else setting

    def row_of(self, group: Group) -> TripleRow | None:
        """The row of a group."""
        return next((row for row in self.rows if row.group == group), None)


def without_shared_setting(board: TripleBoard) -> TripleBoard:
    """The board with rows named by their models alone, where all were asked in one setting."""
    if not board.setting:
        return board
    return structs.replace(
        board,
        rows=tuple(structs.replace(row, group=Group(row.group.model)) for row in board.rows),
        parts=tuple(structs.replace(part, group=Group(part.group.model)) for part in board.parts),
    )


# From verified triples to their leaderboard: measures, ranks that hold together, and ties.


def triple_board(
    verified: VerifiedRuns,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    by: Sequence[Breakdown] = BREAKDOWNS,
    cards: Mapping[str, Card] | None = None,
    people: Mapping[str, PeopleSaid] | None = None,
    ranked: Container[int] | None = None,
) -> TripleBoard:
    """The leaderboard of verified runs, its parts those ``by`` which it is asked for. Groups that
    are not among the ``ranked`` are experiments; without it, none is.

    Every triple is read once and counted, none is held. Models are ranked with models and simulated
    respondents with each other, each at ``confidence`` for all ranks together. What ``people`` said
    of some triples, by their ids, corrects the figures of the groups in which there are such; these
    are read again and held.
    """
    counted = count_verified(verified)
    measured = measure_all(counted, verified.groups, seed=seed, confidence=confidence)
    parts = [
        part
        for name in by
        for part in measure_by(
            counted, verified.groups, verified.entities, name, seed=seed, confidence=confidence
        )
    ]
    groups = range(len(verified.groups))
    experiments = {n for n in groups if ranked is not None and n not in ranked}
    order = _ordered(verified, counted, measured, experiments, confidence=confidence, seed=seed)
    looked, elsewhere = _looked(verified, people or {}, seed)
    sides = [counts for each in measured for counts in each.counts.values()]
    names = sorted({name for counts in sides for name in counts})

    def share(count: int, of: int) -> Estimate:
        """A share of entities, each of which was asked about once."""
        value = count / of if of else float("nan")
        return share_estimate(value, of, confidence, of="entities")

    def row(place: int, group: int) -> TripleRow:
        who, said = verified.groups[group], verified.elicited[group]
        return TripleRow(
            group=who,
            runs=tuple(run.hex() for run in verified.runs[group]),
            simulated=_is_simulated(verified, group),
            elicited=said,
            measured=measured[group],
            abstention=share(said.abstained, said.entities),
            nonexistent_given=share(said.nonexistent_given, said.nonexistent)
            if said.nonexistent
            else None,
            rank=order.ranks.get(group),
            ties=tuple(n for n, (low, high) in enumerate(order.ties) if low <= place <= high),
            waiting=sum(n.get("waiting", 0) for n in measured[group].counts.values()),
            other_entities=order.elsewhere.get(group, 0),
            experiment=group in experiments,
            card=(cards or {}).get(who.model),
            people=looked.get(who),
        )

    return TripleBoard(
        rows=tuple(row(place, group) for place, group in enumerate(order.groups)),
        parts=tuple(parts),
        ties=order.ties,
        entities=len(set(counted.column("entity").tolist())),
        judges=verified.judges,
        reference=verified.reference,
        sampling=verified.sampling,
        seed=seed,
        confidence=confidence,
        counts={name: sum(counts.get(name, 0) for counts in sides) for name in names},
        is_common=order.is_common,
        people_elsewhere=elsewhere,
    )


def count_verified(verified: VerifiedRuns) -> Counted:
    """All its triples as columns."""
    counted = Counted()
    for each in verified.read():
        counted.add(each)
    return counted


class _Order(NamedTuple):
    """All groups in the order of rows, the ranks of those that have one, tied places, and in how
    many entities those differ that stand apart."""

    groups: Sequence[int]
    ranks: Mapping[int, RankInterval]
    ties: tuple[tuple[int, int], ...]
    elsewhere: Mapping[int, int]
    is_common: bool


def _ordered(
    verified: VerifiedRuns,
    counted: Counted,
    measured: Sequence[Measured],
    experiments: Container[int],
    *,
    confidence: float,
    seed: int,
) -> _Order:
    """All groups: models and then simulated ones, each in the order of their ranks; then those
    without a rank, by F1 and name."""
    able = [n for n in rankable(counted, len(verified.groups)) if n not in experiments]
    groups: list[int] = []
    ranks: dict[int, RankInterval] = {}
    ties: list[tuple[int, int]] = []
    elsewhere: dict[int, int] = {}
    is_common = True
    for simulated in (False, True):
        pool = [group for group in able if _is_simulated(verified, group) == simulated]
        ranked = rank_by_f1(counted, pool, confidence=confidence, seed=seed)
        ties += [(len(groups) + first, len(groups) + last) for first, last in ranked.ties]
        ranks |= dict(zip(ranked.groups, ranked.intervals, strict=ranked.is_common))
        groups += ranked.groups
        elsewhere |= ranked.elsewhere
        is_common &= ranked.is_common

    def unranked(group: int) -> tuple[bool, float]:
        found = measured[group].estimates.get("f1")
        return _is_simulated(verified, group), 1.0 if found is None else -found.value

    rest = [group for group in range(len(verified.groups)) if group not in groups]
    rest.sort(key=unranked)
    return _Order([*groups, *rest], ranks, tuple(ties), elsewhere, is_common)


def _looked(
    verified: VerifiedRuns, people: Mapping[str, PeopleSaid], seed: int
) -> tuple[dict[Group, PeopleLooked], int]:
    """What people's labels make of each group of which they saw something, and how many of them are
    on triples that are in none."""
    if not people:
        return {}, 0
    of = {each.id: each.group for each in verified.read() if each.id in people}
    seen = {*of.values()}
    checked = (checked_of(each, people) for each in verified.read() if each.group in seen)
    corrected = correct_by_people(
        [each for each in checked if each is not None], verified.groups, seed=seed
    )
    found = {
        each.group: PeopleLooked(
            n=each.n_people, estimates=each.figures(), scattered=each.scattered
        )
        for each in corrected
    }
    return found, len(people) - len(of)


def _is_simulated(verified: VerifiedRuns, group: int) -> bool:
    return verified.groups[group].model.startswith("sim/")


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
    ranked = ranked_settings([by_id[runs[0]] for runs in verified.runs])
    names = shown_names(run.respondent for _key, run in selection.runs)
    verified = replace(
        verified,
        groups=tuple(Group(names[who.model], who.setting) for who in verified.groups),
        judges=", ".join(shown_names(verified.judges.split(", ")).values()),
    )
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
        where=",".join(filter(None, texts)),
        left_out=left_out_with(left_out, names),
        notes=notes_with((*book.excluded, *(book.notes if asked else ())), names),
    )
    return VerifiedBoard(board, verified, chosen)


def verified_board(session: Session, selection: Selection, **options: Any) -> TripleBoard | None:
    """The leaderboard of what was verified of a selection; None where nothing is."""
    made = make_verified_board(session.store, lambda: session.config, selection, **options)
    return None if made is None else made.board


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
    places = [
        next(place for place, runs in enumerate(verified.runs) if run in runs)
        for run in (before, after)
    ]
    if places[0] == places[1]:
        return TriplesCompared(cannot="both were asked of the same model in the same way")
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
    sides = [measured[place].estimates for place in places]
    rates = []
    for name, label in _NAMES.items():
        estimate, p = compare_spread(spreads[name], clusters="entities", confidence=confidence)
        rates.append(
            RateCompared(
                name=label, before=sides[0][name], after=sides[1][name], estimate=estimate, p=p
            )
        )
    return TriplesCompared(
        rates=tuple(rates),
        judges=verified.judges,
        reference=verified.reference,
        sampling=verified.sampling,
        entities=spreads["f1"].n_units,
        unparsed=tuple((each["unparsed"].value, each["recall_unparsed"].value) for each in sides),
    )
