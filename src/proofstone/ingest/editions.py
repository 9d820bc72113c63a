"""Compare editions: which sentences are unchanged, changed, or missing."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct, structs

from proofstone.documents.passages import sentence_spans, terms
from proofstone.errors import BadInput, BadUsage
from proofstone.method import find_method
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact, Passage, Source
from proofstone.session.session import Session, Target, find_target
from proofstone.session.written_files import write_flagged_items_file
from proofstone.store.lookup import Found
from proofstone.store.store import Store

EditionStatus = Literal["stands", "changed", "vanished"]


_ALIKE = 0.4


_ADDS = 0.3


_RARE = 6


_SPACE = re.compile(r"\s+")


_WIDE_GAP = re.compile(r"(?<=[\u2e80-\u9fff\uff00-\uffef]) | (?=[\u2e80-\u9fff\uff00-\uffef])")


class _Sentence(NamedTuple):
    start: int
    end: int
    page: str
    terms: frozenset[str]


class Near(NamedTuple):
    """A sentence of an edition, with its similarity ``alike`` (Jaccard of terms, 0 to 1)."""

    text: str
    page: str
    alike: float


class Held(NamedTuple):
    """The fate of sentences: ``before`` are missing ones, ``after`` their replacements.

    ``pages`` are where the remaining ones are now.
    """

    status: EditionStatus
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


class Edition:
    """The pages of an edition (label and text, in order), prepared for search.

    White space and character forms (NFKC) are ignored; case and punctuation are not.
    """

    def __init__(self, pages: Iterable[tuple[str, str]]) -> None:
        self._sentences: list[_Sentence] = []
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        parts: list[str] = []
        at = 0
        for label, text in pages:
            for gap, sentence in _sentences(text):
                at += len(gap)
                held = terms(sentence)
                for term in held:
                    self._holders[term].append(len(self._sentences))
                self._sentences.append(_Sentence(at, at + len(sentence), label, held))
                parts += [gap, sentence]
                at += len(sentence)
            parts.append(" ")
            at += 1
        self._whole = "".join(parts)

    def find(self, text: str) -> str | None:
        """Return the label of the first page with ``text`` verbatim, in whole words, or None."""
        wanted = _plain(text)
        found = (self._within(wanted, *window) for window in self._windows(wanted))
        at = next((at for at in found if at >= 0), -1)
        return None if at < 0 else self._page_at(at)

    def _windows(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Yield where a text can be: around sentences with its rarest term.

        Anywhere if it has no term, nowhere if it is empty.
        """
        held = terms(wanted)
        if not held:
            yield 0, len(self._whole) if wanted else 0
            return
        for place in self._holders.get(min(held, key=self._rarity), ()):
            sentence = self._sentences[place]
            yield max(0, sentence.start - len(wanted)), sentence.end + len(wanted)

    def _within(self, wanted: str, start: int, end: int) -> int:
        at = self._whole.find(wanted, start, end) if wanted else -1
        while at >= 0 and not self._is_whole(at, at + len(wanted)):
            at = self._whole.find(wanted, at + 1, end)
        return at

    def nearest(self, text: str, former: Edition) -> Near | None:
        """Return the sentence most similar to ``text`` that is not in ``former``.

        None if no similarity is 0.4 or more.
        """
        wanted = terms(text)
        known = sorted((term for term in wanted if term in self._holders), key=self._rarity)
        places = {place for term in known[:_RARE] for place in self._holders[term]}
        alike = ((self._alike(wanted, place), place) for place in places)
        near = [each for each in alike if each[0] >= _ALIKE]
        for likeness, place in sorted(near, key=lambda each: (-each[0], each[1])):
            sentence = self._sentences[place]
            found = self._whole[sentence.start : sentence.end]
            if former.find(found) is None:
                return Near(found, sentence.page, likeness)
        return None

    def _rarity(self, term: str) -> tuple[int, str]:
        return len(self._holders.get(term, ())), term

    def _page_at(self, at: int) -> str:
        place = bisect_right(self._sentences, at, key=lambda sentence: sentence.start)
        return self._sentences[max(place - 1, 0)].page

    def _alike(self, wanted: frozenset[str], place: int) -> float:
        held = self._sentences[place].terms
        shared = len(wanted & held)
        return shared / (len(wanted) + len(held) - shared)

    def _is_whole(self, start: int, end: int) -> bool:
        """Return True if [start, end) does not split a word or number."""
        whole = self._whole
        if start and whole[start].isalnum() and whole[start - 1].isalnum():
            return False
        tail = whole[end : end + 1]
        return not (tail.isdigit() or (tail.isalnum() and whole[end - 1].isalnum()))


def hold(sentences: Sequence[str], former: Edition, edition: Edition) -> Held:
    """Compare these sentences of ``former`` with ``edition``.

    They are unchanged if all are found verbatim, and changed if one is or a new one is similar.
    Otherwise they have vanished.
    """
    found = [edition.find(sentence) for sentence in sentences]
    gone = [s for s, page in zip(sentences, found, strict=True) if page is None]
    near = [near for sentence in gone if (near := edition.nearest(sentence, former)) is not None]
    pages = [page for page in found if page is not None] + [each.page for each in near]
    status: EditionStatus = "stands" if not gone and sentences else "changed"
    if not pages:
        status = "vanished"
    return Held(
        status,
        tuple(gone),
        tuple(dict.fromkeys(each.text for each in near)),
        tuple(dict.fromkeys(pages)),
    )


def resting_on(statement: str, passage: str) -> list[str]:
    """Return the sentences of a passage that support a statement.

    These are the one with most of its terms, and those that add three in ten of them or a number.
    The whole passage if none shares a term.
    """
    sentences = [passage[start:end] for start, end in sentence_spans(passage)]
    held = [terms(sentence) for sentence in sentences]
    wanted = set(terms(statement))
    n, chosen = len(wanted), set[int]()
    while held:
        gains = [wanted & each for each in held]
        best = max(range(len(held)), key=lambda place: (len(gains[place]), -place))
        if not gains[best] or (
            chosen
            and not (
                len(gains[best]) >= _ADDS * n or any(term[0].isdigit() for term in gains[best])
            )
        ):
            break
        chosen.add(best)
        wanted -= gains[best]
    return [sentences[place] for place in sorted(chosen)] or sentences


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield the normalized sentences of a page, each with the separator before it.

    Sentences are split before normalization, which removes signs needed for it: the white space
    before Chinese and the full width of its punctuation.
    """
    before, until = "", 0
    for start, end in sentence_spans(text):
        plain = _plain(text[start:end])
        is_apart = before and start > until
        is_shown = is_apart and not _WIDE_GAP.search(f"{before[-1]} {plain[:1]}")
        yield " " if is_shown else "", plain
        before, until = plain or before, end


def _plain(text: str) -> str:
    spaced = _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()
    return _WIDE_GAP.sub("", spaced)


# Compare two editions of a source: unchanged passages and statements, and those to exclude.

_WHY = {
    "stands": "",
    "changed": "its source has changed wording in the new edition",
    "vanished": "its source text is missing in the new edition",
}


class EditionCounts(Struct, frozen=True, kw_only=True):
    """How many of some texts are unchanged, changed, or have vanished."""

    stands: int = 0
    changed: int = 0
    vanished: int = 0


class EditionRow(Struct, frozen=True, kw_only=True):
    """A statement as a row of the flagged items.

    ``exclude --from`` excludes those marked; a reviewer may enter another ``decision``. ``before``
    are its missing source sentences, ``after`` their replacements; pages are counted from 1.
    """

    target: str
    text: str
    status: EditionStatus
    nature: str
    page: str
    page_now: str
    before: str
    after: str
    action: Literal["keep", "exclude"]
    decision: Literal["keep", "exclude"]
    why: str


class Editions(Struct, frozen=True, kw_only=True):
    """Compare what remains of an older edition.

    ``passages`` are the old ones, ``new_passages`` those with new content. ``statements`` are
    current ones from passages of the old edition. ``unplaced`` ones have no passage, so their state
    is unknown. ``forms`` contain items on statements to exclude, with their number.
    """

    old: str
    new: str
    titles: tuple[str, str]
    passages: EditionCounts
    new_passages: int
    statements: EditionCounts
    unplaced: int
    rows: tuple[EditionRow, ...]
    forms: tuple[tuple[str, int], ...]


def compare_editions(session: Session, old: Target, new: Target) -> Editions:
    """Compare a source with its new edition, and mark statements to exclude.

    Raises BadUsage if both are the same, BadInput for a source without text.
    """
    store = session.store
    before, after = (find_target(store, each, ("source",)) for each in (old, new))
    if before.id == after.id:
        raise BadUsage("both are the same source", hint="name the old edition and the new one")
    former, latter = (_text_of(store, found) for found in (before, after))
    passages = list(store.knowledge.passages_of(before.id))
    by_id = {passage.id: passage for passage in passages}
    facts = _in_force(store, before.id)
    placed = [(fact, by_id[fact.passage]) for fact in facts if fact.passage in by_id]
    rows = tuple(_rows(placed, former, latter))
    going = [
        fact.id for (fact, _), row in zip(placed, rows, strict=True) if row.decision == "exclude"
    ]
    sources = store.knowledge.sources([before.id, after.id])
    return Editions(
        old=_named(before),
        new=_named(after),
        titles=(_title(sources[before.id]), _title(sources[after.id])),
        passages=_counts(_held_whole(passage, former, latter).status for passage in passages),
        new_passages=sum(
            _held_whole(passage, latter, former).status == "vanished"
            for passage in store.knowledge.passages_of(after.id)
        ),
        statements=_counts(row.status for row in rows),
        unplaced=len(facts) - len(placed),
        rows=rows,
        forms=tuple(_forms(store, going)),
    )


def write_editions(session: Session, editions: Editions, path: Path) -> int:
    """Write the statements of an older edition as flagged items; return their number."""
    return write_flagged_items_file(path, [structs.asdict(row) for row in editions.rows])


def _text_of(store: Store, found: Found) -> Edition:
    pages = [(str(page.number or ""), page.text) for page in store.pages.pages(found.id)]
    if not any(text for _number, text in pages):
        passages = store.knowledge.passages_of(found.id)
        pages = [(str(each.page or ""), each.text) for each in passages]
    if not pages:
        raise BadInput(
            f"{_named(found)} has no text to compare",
            hint="was its text purged, or none of its pages read? see: proofstone show "
            + _named(found),
        )
    return Edition(pages)


def _in_force(store: Store, source: bytes) -> list[Fact]:
    """Return the current facts of a source, in their newest versions, without excluded ones."""
    facts = store.knowledge.facts_of_source(source)
    former = {fact.corrects for fact in facts}
    excluded = set(store.corrections.excluded_facts(fact.id for fact in facts))
    return [fact for fact in facts if fact.id not in former and fact.id not in excluded]


def _held_whole(passage: Passage, former: Edition, edition: Edition) -> Held:
    if (page := edition.find(passage.text)) is not None:
        return Held("stands", pages=(page,))
    text = passage.text
    return hold([text[start:end] for start, end in sentence_spans(text)], former, edition)


def _rows(
    placed: Sequence[tuple[Fact, Passage]],
    former: Edition,
    edition: Edition,
) -> Iterator[EditionRow]:
    for fact, passage in placed:
        text, nature = _statement(fact)
        held = hold(resting_on(text, passage.text), former, edition)
        action: Literal["keep", "exclude"] = "keep" if held.status == "stands" else "exclude"
        yield EditionRow(
            target=f"fact:{short(fact.id)}",
            text=text,
            status=held.status,
            nature=nature,
            page=fact.page,
            page_now=", ".join(held.pages),
            before=" ".join(held.before),
            after=" ".join(held.after),
            action=action,
            decision=action,
            why=_WHY[held.status],
        )


def _statement(fact: Fact) -> tuple[str, str]:
    """Return a fact's text and kind, as its method names them; empty if it names none."""
    contrasts = find_method(fact.kind.partition(".")[0]).contrasts
    contrast = None if contrasts is None else next(contrasts.of_facts([fact]), None)
    if contrasts is None or contrast is None:
        return "", ""
    return contrast.text, contrasts.kinds["fact"][contrast.is_second]


def _forms(store: Store, facts: Sequence[bytes]) -> Iterator[tuple[str, int]]:
    for identity, n in store.items.sets_resting_on(store.knowledge.fact_keys(facts)):
        yield f"{store.items.item_set(identity).name}-{short(identity, 4)}", n


def _counts(statuses: Iterator[EditionStatus]) -> EditionCounts:
    return EditionCounts(**Counter(map(str, statuses)))


def _named(found: Found) -> str:
    return f"source:{short(found.id)}"


def _title(source: Source) -> str:
    return f"{source.title}, {source.year}" if source.year else source.title
