"""What is on its way from a passage to a bank: a drafted statement, then a claim, true or false."""

from __future__ import annotations

from msgspec import Struct, structs

from proofstone.records import PageRegion, SourcedPassage, Stratum

__all__ = ["Claim", "Draft", "Falsehood", "Ground"]


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
