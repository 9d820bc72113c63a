"""Entities and verdicts as a page holds them: rows in pieces, each read when it is first asked for.

A piece is JSON: it stands in the page where all are small, else in a file beside it. Every text in
it is made visible before it is written, so that whoever shows it need only show it as text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from markupsafe import Markup
from msgspec import Struct

from proofstone import __version__
from proofstone.methods.bequ.verification.records import (
    DIRECTIONS,
    EntityFacts,
    Verified,
    VerifiedRuns,
)
from proofstone.page.text import visible
from proofstone.records.ids import digest
from proofstone.session.written_files import HELD, check_folder, files_into, take_away
from proofstone.wording.messages import word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# What a triple came to; the place is the code in rows.
VERDICTS = (
    "entailment", "contradiction", "neutral", "no reference", "covered", "not covered", "unparsed",
    "waiting",
)  # fmt: skip


MOST_TRIPLES = 100_000


MOST_ENTITIES = 20_000


FEWEST_OF_A_SAMPLE = 50


TRIPLES_A_PIECE, EVIDENCE_A_PIECE, ENTITIES_A_PIECE = 5_000, 250, 5_000


SHOWN_FIRST = 50  # rows that stand in the page as they are, for readers without scripts


_LONGEST = 300  # characters of a part of a triple in its row; all of it stands with the evidence


_FICTIONS = ("plausible", "absurd")


_WIKIDATA = re.compile(r"Q[1-9]\d{0,11}\Z")


_WEB = re.compile(r"https?://[^\s\"'<>\\]+\Z", re.IGNORECASE)


class VerdictShown(Struct, frozen=True, gc=False, kw_only=True):
    """A verified triple as a reader sees it: ``verdict`` is one of ``VERDICTS``; texts are visible,
    addresses empty where they are no address of the web. ``passage`` is what the verdict rests on,
    ``known`` that which the reference has a triple of recall from."""

    group: int
    direction: str
    verdict: str
    basis: str
    entity: int
    subject: str
    predicate: str
    object: str
    family: str
    reason: str
    trouble: str
    passage: str
    title: str
    url: str
    source: str
    known: str
    known_title: str
    known_url: str
    response: str
    drawn: int


class EntityShown(Struct, frozen=True, gc=False, kw_only=True):
    """An entity with the addresses of its article and of its Wikidata entry, or empty ones.
    ``fiction`` says of what kind one is that does not exist, where its list does."""

    name: str
    domain: str
    popularity: str
    is_fictional: bool
    fiction: str
    page: str
    wikidata: str


class Piece(Struct, frozen=True):
    """Rows under the name of their file, as JSON without any ``<``."""

    name: str
    json: str


class Held(Struct, frozen=True, kw_only=True):
    """What a page holds of verdicts and entities, of how many there are; ``pieces`` are those that
    stand in the page, the others in ``folder`` beside it. ``verdicts`` and ``first_entities`` are
    the first of them, for readers without scripts. ``stamp`` says which page a piece belongs to."""

    stamp: str
    folder: str
    triples: int
    all_triples: int
    entities: int
    all_entities: int
    names: Mapping[str, tuple[str, ...]]
    pieces: tuple[Piece, ...]
    groups: tuple[tuple[str, str], ...]
    verdicts: tuple[VerdictShown, ...]
    first_entities: tuple[EntityShown, ...]

    @property
    def is_beside(self) -> bool:
        """Whether the page needs its folder."""
        return not self.pieces and any(self.names.values())


def web_address(text: str) -> str:
    """``text`` where it is an address of the web that a link may lead to, else nothing."""
    return text if _WEB.match(text) and text.isprintable() else ""


def wikidata_address(identity: str) -> str:
    """The address of a Q number; nothing for any other identity."""
    return f"https://www.wikidata.org/wiki/{identity}" if _WIKIDATA.match(identity) else ""


def entity_shown(facts: EntityFacts) -> EntityShown:
    """An entity as a reader sees it."""
    return EntityShown(
        name=visible(facts.name),
        domain=visible(facts.domain),
        popularity=visible(facts.popularity),
        is_fictional=facts.is_fictional,
        fiction=word(facts.fiction) if facts.fiction in _FICTIONS else "",
        page=web_address(facts.page),
        wikidata=wikidata_address(facts.identity),
    )


def verdict_shown(found: Verified) -> VerdictShown:
    """A verified triple as a reader sees it."""
    verdict = found.verdict
    basis, passage = verdict.basis, verdict.passage
    return VerdictShown(
        group=found.group,
        direction=found.direction,
        verdict=basis if basis == "no reference" else verdict.label or basis,
        basis=basis,
        entity=found.entity,
        subject=visible(found.subject),
        predicate=visible(found.predicate),
        object=visible(found.object),
        family=visible(found.family),
        reason=visible(verdict.reason),
        trouble=visible(verdict.trouble),
        passage=visible(passage.text),
        title=visible(passage.title),
        url=web_address(passage.url),
        source=visible(passage.source or found.source),
        known=visible(found.known.text),
        known_title=visible(found.known.title),
        known_url=web_address(found.known.url),
        response=visible(found.response),
        drawn=found.drawn,
    )


class Holding:
    """The rows of verified runs in pieces; what stands beside them is known once all were given.

    Of each group and direction those drawn first are held, a random sample of the sample, so that
    there are no more than ``most`` in all; where none was drawn and all were taken, the first.
    """

    def __init__(self, verified: VerifiedRuns, most: int = MOST_TRIPLES) -> None:
        self._verified = verified
        self._last = last_drawn(verified, most)
        self._taken: Counter[tuple[int, str]] = Counter()
        self.triples = self.all_triples = 0
        self.verdicts: list[VerdictShown] = []
        self.first_entities: list[EntityShown] = []
        self.names: dict[str, list[str]] = {"triples": [], "evidence": [], "entities": []}

    def _is_held(self, shown: VerdictShown) -> bool:
        self._taken[shown.group, shown.direction] += 1
        number = shown.drawn or self._taken[shown.group, shown.direction]
        return number <= self._last

    def pieces(self) -> Iterator[Piece]:
        """Triples and their evidence while they are read once, then entities with what became of
        their triples."""
        for kind, piece in self._pieces():
            self.names[kind].append(piece.name)
            yield piece

    def _pieces(self) -> Iterator[tuple[str, Piece]]:
        verified = self._verified
        counts = _Counts(len(verified.groups), min(len(verified.entities), MOST_ENTITIES))
        index, evidence = _Rows("triples", TRIPLES_A_PIECE), _Rows("evidence", EVIDENCE_A_PIECE)
        for found in verified.read():
            shown = verdict_shown(found)
            counts.add(shown)
            self.all_triples += 1
            if not self._is_held(shown):
                continue
            self.triples += 1
            if len(self.verdicts) < SHOWN_FIRST:
                self.verdicts.append(shown)
            yield from index.add(_triple_row(shown))
            yield from evidence.add(_evidence_row(shown))
        yield from index.rest()
        yield from evidence.rest()
        entities = _Rows("entities", ENTITIES_A_PIECE)
        for place, facts in enumerate(verified.entities[:MOST_ENTITIES]):
            entity = entity_shown(facts)
            if place < SHOWN_FIRST:
                self.first_entities.append(entity)
            yield from entities.add(_entity_row(entity, counts.of(place)))
        yield from entities.rest()


def last_drawn(verified: VerifiedRuns, most: int) -> int:
    """The last draw of a group and direction that is held, of ``most`` triples in all."""
    samples = len(verified.groups) * len(DIRECTIONS)
    return max(most // max(samples, 1), FEWEST_OF_A_SAMPLE)


def _triple_row(shown: VerdictShown) -> list[Any]:
    return [
        shown.group,
        DIRECTIONS.index(shown.direction),
        VERDICTS.index(shown.verdict),
        shown.entity,
        *(_cut(text) for text in (shown.subject, shown.predicate, shown.object, shown.family)),
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\u2026"


def _evidence_row(shown: VerdictShown) -> list[Any]:
    """What is said beside the row; the triple again where its row has it cut."""
    triple = (shown.subject, shown.predicate, shown.object)
    basis = "" if shown.basis in ("judge", shown.verdict) else word(shown.basis)
    return [
        basis, shown.reason, shown.trouble, shown.passage, shown.title, shown.url, shown.source,
        shown.response, list(triple) if any(len(text) > _LONGEST for text in triple) else None,
        shown.known, shown.known_title, shown.known_url,
    ]  # fmt: skip


def _entity_row(shown: EntityShown, counts: Sequence[Sequence[int]]) -> list[Any]:
    return [
        shown.name, shown.domain, shown.popularity, int(shown.is_fictional), shown.page,
        shown.wikidata, counts, shown.fiction,
    ]  # fmt: skip


class _Counts:
    """How many verdicts of each kind every entity got from each group; entities beyond ``n`` are
    not held."""

    def __init__(self, groups: int, n: int) -> None:
        import numpy as np  # noqa: PLC0415

        self._cells: NDArray[np.int32] = np.zeros((n, groups, len(VERDICTS)), dtype=np.int32)

    def add(self, shown: VerdictShown) -> None:
        if shown.entity < len(self._cells):
            self._cells[shown.entity, shown.group, VERDICTS.index(shown.verdict)] += 1

    def of(self, entity: int) -> list[list[int]]:
        """A list for each group that has any: its number, then its counts by verdict."""
        own = self._cells[entity]
        return [[group, *cells] for group, cells in enumerate(own.tolist()) if any(cells)]


class _Rows:
    """Rows of one kind, given out a piece at a time."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind, self._most = kind, most
        self._rows: list[Any] = []
        self._given = 0

    def add(self, row: list[Any]) -> Iterator[tuple[str, Piece]]:
        self._rows.append(row)
        if len(self._rows) == self._most:
            yield self._kind, self._piece()

    def rest(self) -> Iterator[tuple[str, Piece]]:
        if self._rows:
            yield self._kind, self._piece()

    def _piece(self) -> Piece:
        self._given += 1
        text = msgspec.json.encode(self._rows).decode().replace("<", "\\u003c")
        self._rows = []
        return Piece(f"{self._kind}-{self._given}", text)


# What the script of a page is told of the entities and verdicts that the page holds.


def held_json(held: Held) -> Markup:
    """The names of pieces in their order, and the words for codes in rows; safe in a page."""
    told = {
        "stamp": held.stamp,
        "folder": held.folder if held.is_beside else "",
        "triples": {"n": held.triples, "pieces": held.names["triples"]},
        "evidence": {"each": EVIDENCE_A_PIECE, "pieces": held.names["evidence"]},
        "entities": {"n": held.entities, "pieces": held.names["entities"]},
        "groups": [[visible(model), visible(setting)] for model, setting in held.groups],
        "verdicts": [word(verdict) for verdict in VERDICTS],
        "directions": [word(direction) for direction in DIRECTIONS],
    }
    text = msgspec.json.encode(told).decode().replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - no tag can begin in it


# Entities and verdicts of a page: within it where they are few, else in a folder beside it.

# Characters of all pieces that a page holds itself; more lie beside it, so that it opens at once.
MOST_IN_PAGE = 1_500_000


def folder_beside(page: Path) -> Path:
    """The folder of what lies beside a page: ``report.html`` has ``report_files``."""
    return page.with_name(f"{page.stem}_files")


def hold(
    verified: VerifiedRuns,
    page: Path,
    *,
    most: int = MOST_TRIPLES,
    most_in_page: int = MOST_IN_PAGE,
) -> Held:
    """What the page holds, at ``most`` so many triples; what is too much for it is written beside
    it, a piece at a time, all of it or nothing. Raises what ``files_into`` does: files there that
    are not ours stay."""
    folder, stamp = folder_beside(page), _stamp(verified)
    holding = Holding(verified, most)
    pieces = holding.pieces()
    first = _first(pieces, most_in_page)
    if sum(len(piece.json) for piece in first) <= most_in_page:
        take_away(folder, HELD)
        return _held(holding, verified, stamp, folder, tuple(first))
    check_folder(folder, [], HELD)
    with files_into(folder, f"proofstone {__version__}", HELD) as (stage, about):
        for piece in chain(first, pieces):
            name = f"{piece.name}.js"
            _write(stage / name, piece, stamp)
            about[name] = f"rows of the page {page.name}"
    return _held(holding, verified, stamp, folder, ())


def _first(pieces: Iterator[Piece], most: int) -> list[Piece]:
    """The first pieces: all of them, or just more than ``most`` characters."""
    first: list[Piece] = []
    n = 0
    for piece in pieces:
        first.append(piece)
        n += len(piece.json)
        if n > most:
            break
    return first


def _write(path: Path, piece: Piece, stamp: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'proofstoneHeld("{stamp}","{piece.name}",')
        file.write(piece.json)
        file.write(");\n")


def _held(
    holding: Holding,
    verified: VerifiedRuns,
    stamp: str,
    folder: Path,
    pieces: tuple[Piece, ...],
) -> Held:
    return Held(
        stamp=stamp,
        folder=folder.name,
        triples=holding.triples,
        all_triples=holding.all_triples,
        entities=min(len(verified.entities), MOST_ENTITIES),
        all_entities=len(verified.entities),
        names={kind: tuple(names) for kind, names in holding.names.items()},
        pieces=pieces,
        groups=tuple((group.model, group.setting) for group in verified.groups),
        verdicts=tuple(holding.verdicts),
        first_entities=tuple(holding.first_entities),
    )


def _stamp(verified: VerifiedRuns) -> str:
    """What pieces and their page share: which runs they are of, held against what."""
    said = [run for runs in verified.runs for run in runs]
    told = f"{verified.judges}|{verified.reference}|{verified.sampling}"
    return digest(b"".join(said) + told.encode("utf-8", "backslashreplace")).hex()[:16]
