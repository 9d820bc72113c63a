"""What is on its way from a passage to a bank: a drafted statement, then a claim, true or false."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from proofstone.records.builds import BatchRows, BatchStep, Drop, Kept, StepContext
from proofstone.records.knowledge import SourcedPassage, Stratum
from proofstone.records.pages import PageRegion
from proofstone.search.near_duplicates import near_duplicates


class Ground(Struct, frozen=True):
    """What a statement rests on: the passage's ``text``, and where it stands. ``passage`` is empty
    where it was taken from a picture of a page without passages."""

    text: str
    passage: bytes
    source: bytes
    book: str
    language: str
    page: str = ""
    heading: str = ""
    stratum: Stratum = Stratum()

    @classmethod
    def of(cls, row: SourcedPassage) -> Ground:
        """The ground that a passage is."""
        passage, source = row.passage, row.source
        return cls(
            text=passage.text,
            passage=passage.id,
            source=source.id,
            book=source.stratum.book or source.title,
            language=passage.language or source.language or "en",
            page="" if passage.page is None else str(passage.page),
            heading=passage.heading,
            stratum=structs.replace(source.stratum, book=source.stratum.book or source.title),
        )

    @classmethod
    def of_region(cls, row: PageRegion) -> Ground:
        """The ground that a region of a page is."""
        return cls(
            text=row.text,
            passage=row.passage.id if row.passage is not None else b"",
            source=row.source.id,
            book=row.source.stratum.book or row.source.title,
            language=row.language or row.source.language or "en",
            page=str(row.page),
            heading=row.heading,
            stratum=structs.replace(
                row.source.stratum, book=row.source.stratum.book or row.source.title
            ),
        )


class Draft(Struct, frozen=True):
    """A statement that a model took from its ``ground``, and the title of its knowledge point.
    ``rewritten``: its words were changed so that it stands alone."""

    text: str
    title: str
    ground: Ground
    rewritten: bool = False


class Falsehood(Struct, frozen=True):
    """What became of a true statement: its text, the type of error and why it is false."""

    text: str
    error_type: str
    reason: str


class Claim(Struct, frozen=True):
    """A statement for the bank: the draft itself, or with ``false`` what was made of it. ``turned``
    says that it is to be falsified, also where that is not done yet."""

    draft: Draft
    turned: bool = False
    false: Falsehood | None = None

    @property
    def text(self) -> str:
        """The words that a bank will hold."""
        return self.draft.text if self.false is None else self.false.text


# Statements that speak of the text they come from, where they should speak of its subject.

SPEAKING_VERSION = 1  # raise it whenever a pattern changes


_TEXT = r"(?:passage|excerpt|text|paragraph|paper|article|vignette|tutorial|authors?)"


_TELLS = (
    r"(?:discuss|describ|explain|mention|introduc|present|provid|giv|cover|deal|focus|aim|outlin|"
    r"propos|stat|suggest|show|argu|note|highlight|emphasi[sz]|say|talk|address|illustrat)\w*"
)


_ENGLISH = re.compile(
    rf"\b(?:the|this|our)\s+{_TEXT}\s+(?:also\s+|then\s+|only\s+)?{_TELLS}\b"
    rf"|\b(?:in|of|by|from|to|throughout)\s+(?:the\s+(?:passage|excerpt)|this\s+{_TEXT})\b"
    rf"|\b(?:is|are|was|were)\s+(?:discussed|described|mentioned|introduced|presented|explained|"
    rf"outlined)(?=\s*(?:[.;,]|here\b|$))"
    rf"|\bwe\s+(?:aim|set\s+out|discuss|propose|describe|introduce|present)\b",
    re.IGNORECASE,
)


_CHINESE = re.compile(
    r"(?:这|本|该|上述|以上)(?:段|篇)(?:文字|文本|话|内容|文章)|本文(?!件|档|本|字|化)|这篇文章|文中(?:介绍|讨论|提到|指出|说明)"
    r"|作者(?:还|也)?(?:认为|指出|介绍|提到|讨论|建议|说明|描述|强调)"
)


def speaks_of_passage(text: str) -> str:
    """What in ``text`` speaks of its passage, paper or authors; empty where nothing does."""
    found = _ENGLISH.search(text) or _CHINESE.search(text)
    return found[0] if found else ""


# Statements that say nearly the same in nearly the same words: the first of them stays.

_SAME = "same as another"


def alike_step(least: float) -> BatchStep:
    """Drops near-duplicates, the first in the order of the rows stays."""

    def check(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        texts: Sequence[str] = [row.text for row in rows]
        found = near_duplicates(texts, least)
        return {place: Drop(_SAME, texts[first]) for place, first in found.items()}

    return BatchStep(
        name="near-duplicates",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SAME,),
        config={"least": least},
    )
