"""Split entities and verdicts of a page into pieces of rows, each loaded on first use.

A piece is JSON: embedded in the page if all are small, otherwise a file in the same directory.
Control characters in texts are escaped before writing, so pages can show them as plain text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from msgspec import Struct, structs

from proofstone.methods.bequ.records import (
    DIRECTIONS,
    EntityFacts,
    Verified,
    VerifiedRuns,
)
from proofstone.methods.bequ.verification.measures import outcome_of
from proofstone.page.text import visible
from proofstone.records.ids import digest
from proofstone.records.verdicts import Passage
from proofstone.results.page_pieces import (
    MOST_IN_PAGE,
    Piece,
    PiecedRows,
    folder_beside,
    safe_json,
    write_beside,
)
from proofstone.wording.messages import word

# Outcomes of a triple; the position is the code in rows.
VERDICTS = (
    "entailment", "contradiction", "neutral", "no reference", "covered", "not covered", "unparsed",
    "waiting",
)  # fmt: skip


MOST_TRIPLES = 100_000


MOST_ENTITIES = 20_000


FEWEST_OF_A_SAMPLE = 50


TRIPLES_A_PIECE, EVIDENCE_A_PIECE, ENTITIES_A_PIECE = 5_000, 250, 5_000


SHOWN_FIRST = 50  # rows embedded in the page for use without JavaScript


_LONGEST = 300  # characters of a part of a triple in its row; the evidence has the full text


_FICTIONS = ("plausible", "absurd")


_WIKIDATA = re.compile(r"Q[1-9]\d{0,11}\Z")


_WEB = re.compile(r"https?://[^\s\"'<>\\]+\Z", re.IGNORECASE)


class Held(Struct, frozen=True, kw_only=True):
    """Hold the verdicts and entities of a page, and their total number.

    ``pieces`` are embedded in the page, or stored in ``folder`` in the same directory. ``verdicts``
    and ``first_entities`` are shown without JavaScript. ``stamp`` identifies the page of a piece.
    """

    stamp: str
    folder: str
    triples: int
    all_triples: int
    entities: int
    all_entities: int
    names: Mapping[str, tuple[str, ...]]
    pieces: tuple[Piece, ...]
    groups: tuple[tuple[str, str], ...]
    verdicts: tuple[Verified, ...]
    first_entities: tuple[EntityFacts, ...]

    @property
    def is_beside(self) -> bool:
        """Return True if the page needs its folder."""
        return not self.pieces and any(self.names.values())


def web_address(text: str) -> str:
    """Return ``text`` if it is a safe web address for links, otherwise the empty text."""
    return text if _WEB.match(text) and text.isprintable() else ""


def wikidata_address(identity: str) -> str:
    """Return the address of a Q number; empty for any other identity."""
    return f"https://www.wikidata.org/wiki/{identity}" if _WIKIDATA.match(identity) else ""


def entity_shown(facts: EntityFacts) -> EntityFacts:
    """Return an entity for display: its page and its identity are addresses, or empty."""
    return structs.replace(
        facts,
        name=visible(facts.name),
        identity=wikidata_address(facts.identity),
        domain=visible(facts.domain),
        popularity=visible(facts.popularity),
        page=web_address(facts.page),
        fiction=word(facts.fiction) if facts.fiction in _FICTIONS else "",
    )


def verdict_shown(found: Verified) -> Verified:
    """Return a verified triple for display.

    Control characters are escaped and unsafe addresses removed. The source is that of the evidence
    passage.
    """
    verdict = found.verdict
    return structs.replace(
        found,
        subject=visible(found.subject),
        predicate=visible(found.predicate),
        object=visible(found.object),
        family=visible(found.family),
        source=visible(verdict.passage.source or found.source),
        verdict=structs.replace(
            verdict,
            reason=visible(verdict.reason),
            trouble=visible(verdict.trouble),
            passage=_passage_shown(verdict.passage),
        ),
        response=visible(found.response),
        known=_passage_shown(found.known),
    )


def _passage_shown(passage: Passage) -> Passage:
    return Passage(
        visible(passage.text),
        visible(passage.source),
        visible(passage.title),
        web_address(passage.url),
    )


class _Holding:
    """Split the rows of verified runs into pieces; summary data is known after all were emitted.

    Of each group and direction, the first sampled triples are kept: a random subsample, at most
    ``most`` in total. Without sampling, the first ones are kept.
    """

    def __init__(self, verified: VerifiedRuns, most: int) -> None:
        self._verified = verified
        samples = len(verified.groups) * len(DIRECTIONS)
        self._last = max(most // max(samples, 1), FEWEST_OF_A_SAMPLE)
        self.triples = self.all_triples = 0
        self.verdicts: list[Verified] = []
        self.first_entities: list[EntityFacts] = []
        self.rows = {
            kind: PiecedRows(kind, each)
            for kind, each in (
                ("triples", TRIPLES_A_PIECE),
                ("evidence", EVIDENCE_A_PIECE),
                ("entities", ENTITIES_A_PIECE),
            )
        }

    def pieces(self) -> Iterator[Piece]:
        """Yield triples and their evidence in one pass, then entities with counts of outcomes."""
        triples, evidence, entities = self.rows.values()
        held = self._verified.entities[:MOST_ENTITIES]
        n_groups = len(self._verified.groups)
        counts = np.zeros((len(held), n_groups, len(VERDICTS)), dtype=np.int32)
        taken: Counter[tuple[int, str]] = Counter()
        for found in self._verified.read():
            shown = verdict_shown(found)
            if shown.entity < len(held):
                counts[shown.entity, shown.group, VERDICTS.index(outcome_of(shown.verdict))] += 1
            self.all_triples += 1
            taken[shown.group, shown.direction] += 1
            if (shown.drawn or taken[shown.group, shown.direction]) > self._last:
                continue
            self.triples += 1
            if len(self.verdicts) < SHOWN_FIRST:
                self.verdicts.append(shown)
            yield from triples.add(_triple_row(shown))
            yield from evidence.add(_evidence_row(shown))
        yield from triples.rest()
        yield from evidence.rest()
        for facts, own in zip(held, counts, strict=True):
            entity = entity_shown(facts)
            if len(self.first_entities) < SHOWN_FIRST:
                self.first_entities.append(entity)
            by_group = [[group, *cells] for group, cells in enumerate(own.tolist()) if any(cells)]
            yield from entities.add(
                [
                    entity.name, entity.domain, entity.popularity, int(entity.is_nonexistent),
                    entity.page, entity.identity, by_group, entity.fiction,
                ]
            )  # fmt: skip
        yield from entities.rest()


def _triple_row(shown: Verified) -> list[Any]:
    texts = (shown.subject, shown.predicate, shown.object, shown.family)
    return [
        shown.group,
        DIRECTIONS.index(shown.direction),
        VERDICTS.index(outcome_of(shown.verdict)),
        shown.entity,
        *(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\u2026" for text in texts),
    ]


def _evidence_row(shown: Verified) -> list[Any]:
    """Return the evidence of a row, with the full triple if its row has it shortened."""
    triple = [shown.subject, shown.predicate, shown.object]
    verdict, rests_on, known = shown.verdict, shown.verdict.passage, shown.known
    basis = "" if verdict.basis in ("judge", outcome_of(verdict)) else word(verdict.basis)
    return [
        basis, verdict.reason, verdict.trouble, rests_on.text, rests_on.title, rests_on.url,
        shown.source, shown.response,
        triple if any(len(text) > _LONGEST for text in triple) else None,
        known.text, known.title, known.url,
    ]  # fmt: skip


def held_json(held: Held) -> Markup:
    """Return the data for the page's script: names of pieces, and words for codes; safe in HTML."""
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
    return Markup(safe_json(told))  # noqa: S704 - no tag can begin in it


# Entities and verdicts of a page: embedded if they are few, otherwise in a separate folder.


def hold(
    verified: VerifiedRuns,
    page: Path,
    *,
    most: int = MOST_TRIPLES,
    most_in_page: int = MOST_IN_PAGE,
) -> Held:
    """Build the page's data with at most ``most`` triples; data too large is written to its folder.

    Writing is all or nothing. Raises as ``files_into``: files of others are not overwritten.
    """
    runs = b"".join(run for runs in verified.runs for run in runs)
    against = f"{verified.judges}|{verified.reference}|{verified.sampling}"
    stamp = digest(runs + against.encode("utf-8", "backslashreplace")).hex()[:16]
    holding = _Holding(verified, most)
    first = write_beside(page, stamp, holding.pieces(), most_in_page=most_in_page)
    return Held(
        stamp=stamp,
        folder=folder_beside(page).name,
        triples=holding.triples,
        all_triples=holding.all_triples,
        entities=min(len(verified.entities), MOST_ENTITIES),
        all_entities=len(verified.entities),
        names={kind: tuple(rows.names) for kind, rows in holding.rows.items()},
        pieces=first,
        groups=tuple((group.model, group.setting) for group in verified.groups),
        verdicts=tuple(holding.verdicts),
        first_entities=tuple(holding.first_entities),
    )
