"""Build the leaderboard of verified triples."""

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
    """Hold the effect of human labels on a row: ``n`` labels by direction.

    ``estimates`` holds precision, recall and F1 corrected for judge errors, the judge's agreement
    and kappa, the recall of the corpus, and true_share, if available. In ``scattered`` directions
    the labeled triples are not the first sampled ones.
    """

    n: Mapping[str, int]
    estimates: Mapping[str, Estimate]
    scattered: tuple[str, ...] = ()


class TripleRow(Struct, frozen=True, kw_only=True):
    """Hold a model in one setting.

    ``measured`` holds F1, precision, recall and related measures. ``abstention`` is the share of
    entities that the model stated no knowledge of. ``nonexistent_given`` is the share of
    non-existent entities with triples (None without any). ``rank`` is None if one direction has no
    verdict, triples are ``waiting`` for a judge, or the row has ``other_entities`` than most rows.
    Simulated rows are ranked separately. ``ties`` are the numbers of its ties on the leaderboard;
    ``config`` is the hash of its settings. An ``experiment`` has settings other than the ranked
    one: it is unranked and listed below.
    """

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
        """Return its measures by name."""
        return self.measured.estimates

    @property
    def has_both(self) -> bool:
        """Return True if it has precision and recall."""
        return {"precision", "recall"} <= self.estimates.keys()

    @property
    def stands_apart(self) -> bool:
        """Return True if it has no place among the rows of its kind, ranked or not."""
        is_whole = not (self.waiting or self.other_entities or self.experiment)
        return not is_whole or "f1" not in self.estimates

    @property
    def label(self) -> str:
        """Return the row's label for sentences."""
        return self.group.label


class TripleBoard(Struct, frozen=True, kw_only=True):
    """Hold all rows in descending order of F1, over the sampled ``entities``.

    Models come first, then simulated rows, then unranked ones. ``parts`` are the measures of each
    group by domain, popularity, source and predicate family. ``ties`` are runs [first, last] of
    places in ``rows`` without significant differences. ``counts`` are of all verified triples, by
    outcome. If ``is_common`` is false, no two rows have the same entities, and none is ranked.
    ``group_by``, ``where``, ``left_out`` and ``notes`` come from the model cards.
    ``people_elsewhere`` counts human labels on triples outside all rows.
    """

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
        """Return the setting common to all rows; empty if they differ."""
        (setting, *others) = {row.group.setting for row in self.rows} or {""}
        return "" if others else setting

    def row_of(self, group: Group) -> TripleRow | None:
        """Return the row of a group."""
        return next((row for row in self.rows if row.group == group), None)


def without_shared_setting(board: TripleBoard) -> TripleBoard:
    """Return the leaderboard with rows named by model alone, if all rows have the same setting."""
    if not board.setting:
        return board
    return structs.replace(
        board,
        rows=tuple(structs.replace(row, group=Group(row.group.model)) for row in board.rows),
        parts=tuple(structs.replace(part, group=Group(part.group.model)) for part in board.parts),
    )


# Verified triples to leaderboard: measures, simultaneous rank ranges, and ties.


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
    """Build the leaderboard of verified runs, with breakdowns by ``by``.

    Groups outside ``ranked`` are experiments; without ``ranked``, none is. Every triple is read
    once and counted, without keeping it in memory. Models and simulated models are ranked
    separately, each with a simultaneous ``confidence``. Human labels in ``people``, by triple id,
    correct the estimates of their groups; the triples of these groups are read again into memory.
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
        """Return a share of entities, with one prompt per entity."""
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
    """Count all verified triples as columns."""
    counted = Counted()
    for each in verified.read():
        counted.add(each)
    return counted


class _Order(NamedTuple):
    """Hold all groups in row order, ranks, ties, and the number of differing entities."""

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
    """Order all groups: models, then simulated ones, each by rank; then unranked ones by F1 and
    name.
    """
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
    """Return the effect of human labels on each group, and the number of labels outside all
    groups."""
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
    """Hold a leaderboard of verified triples, its data, and its runs."""

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
    """Build the leaderboard of a selection, with breakdowns by ``by``; None if nothing is verified.

    Model cards are used for filters and columns as on other leaderboards. ``people`` is a file of
    verdicts with human labels.

    Raises BadUsage for an unknown field or runs verified by different judges, NotFound if the
    filter leaves no row, BadInput for invalid human labels.
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
    """Build the leaderboard of a selection's verified runs; None if nothing is verified."""
    made = make_verified_board(session.store, lambda: session.config, selection, **options)
    return None if made is None else made.board


# Compare two runs with the same verification settings in F1, precision and recall.

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
    """Compare the run ``after`` with the run ``before``, both of ``selection``.

    None if neither is verified, or if responses hold no triples. If they cannot be compared, the
    result gives the reason.
    """
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
        return TriplesCompared(cannot="both have the same model and settings")
    counted = count_verified(verified)
    able = rankable(counted, len(verified.groups))
    lacking = [name for name, place in zip("AB", places, strict=True) if place not in able]
    if lacking:
        return TriplesCompared(cannot=f"{' and '.join(lacking)}: not verified in both directions")
    differ = held_elsewhere(counted, places)
    if differ:
        n = max(differ.values())
        return TriplesCompared(cannot=f"they were verified on different entities: {n:,} differ")
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
