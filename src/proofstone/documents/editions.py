"""What of one edition still stands in another: sentences verbatim, changed, or gone."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from proofstone.documents.passages import sentence_spans, terms

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
    """A sentence of an edition that is ``alike`` another one (Jaccard of their terms, 0 to 1)."""

    text: str
    page: str
    alike: float


class Held(NamedTuple):
    """What became of some sentences: ``before`` are those that no longer stand, ``after`` what
    stands in their place, where something does; ``pages`` are where what is left now stands."""

    status: EditionStatus
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


class Edition:
    """The pages of an edition (label and text each, in order), ready to be searched.

    White space and the forms of characters (NFKC) do not count; case and signs do.
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
        """The label of the first page where ``text`` stands verbatim, words and numbers whole;
        None where it does nowhere."""
        wanted = _plain(text)
        found = (self._within(wanted, *window) for window in self._windows(wanted))
        at = next((at for at in found if at >= 0), -1)
        return None if at < 0 else self._page_at(at)

    def _windows(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Where a text can stand: about the sentences with its rarest term; anywhere where it has
        none, nowhere where it is empty."""
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
        """The sentence most like ``text`` of those that ``former`` does not have; None where none
        is at least 0.4 alike."""
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
        """Whether no word or number goes on before or behind [start, end)."""
        whole = self._whole
        if start and whole[start].isalnum() and whole[start - 1].isalnum():
            return False
        tail = whole[end : end + 1]
        return not (tail.isdigit() or (tail.isalnum() and whole[end - 1].isalnum()))


def hold(sentences: Sequence[str], former: Edition, edition: Edition) -> Held:
    """What became of these sentences of ``former`` in ``edition``: they stand where each does
    verbatim, are changed where one does or a new one is like one, else vanished."""
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
    """The sentences of a passage that a statement rests on: the one with most of its terms, and
    such as add three in ten of them or a number; the whole passage where none has any."""
    sentences = [passage[start:end] for start, end in sentence_spans(passage)]
    held = [terms(sentence) for sentence in sentences]
    wanted = set(terms(statement))
    n, chosen = len(wanted), set[int]()
    while held:
        gains = [wanted & each for each in held]
        best = max(range(len(held)), key=lambda place: (len(gains[place]), -place))
        if not gains[best] or (chosen and not _adds(gains[best], n)):
            break
        chosen.add(best)
        wanted -= gains[best]
    return [sentences[place] for place in sorted(chosen)] or sentences


def _adds(gained: set[str], n: int) -> bool:
    return len(gained) >= _ADDS * n or any(term[0].isdigit() for term in gained)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a page, plain, each with what parts it from the one before.

    They are cut before they are made plain: that takes away signs by which they are told, the white
    space before Chinese and the full width of its marks.
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
