"""What came of ingesting: documents taken, files not read, pages to be scanned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from proofstone.documents.reader import Job, PageRead, Refused
from proofstone.errors import Problem
from proofstone.records.licences import permits_publication

# Passages by their language: folders may mix them, and what is built may be of some alone.


# A page whose characters were read with less confidence on average is told, to be looked at.
SURE = 0.9


OcrUse = Literal["auto", "never", "always"]


class PageNotRead(Struct, frozen=True):
    """A page that was to be read from its image and was not, and why."""

    page: int
    why: str


class Ingested(Struct, frozen=True, kw_only=True):
    """A document that was read: its source, and how many pages and passages it has.

    ``unread`` holds pages by why they were not read, ``doubtful`` those that were read from images
    with less than ``SURE``, ``not_scanned`` those that a model was asked for in vain. ``is_new`` is
    False where the very same was here before; ``stated_before``: the document was, and its source
    stays with what was stated of it then.
    """

    id: bytes
    title: str
    file: str
    language: str
    licence: str
    n_pages: int = 0
    n_passages: int = 0
    unread: dict[str, list[int]] = {}
    doubtful: list[int] = []
    n_scanned: int = 0
    not_scanned: tuple[PageNotRead, ...] = ()
    is_new: bool = True
    stated_before: bool = False

    @property
    def is_public(self) -> bool:
        """Whether the license that is stated permits publication."""
        return permits_publication(self.licence)


class NotRead(Struct, frozen=True, kw_only=True):
    """A file that was not taken: why, with the error's code, what to do, and each place that is
    wrong."""

    file: str
    why: str
    code: str
    hint: str = ""
    problems: tuple[Problem, ...] = ()


class IngestReport(Struct, frozen=True, kw_only=True):
    """What came of all files. ``others`` counts files of folders that are no documents, by their
    suffix, and ``advice`` says how such files become readable; ``unused`` are rows of the table of
    sources that name no file. ``needs`` says what to install so that unread pages can be read from
    their images. ``copies`` are files that are the same document as one of ``taken``, where these
    are counted once."""

    taken: tuple[Ingested, ...]
    not_read: tuple[NotRead, ...] = ()
    others: dict[str, int] = {}
    advice: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    needs: str = ""
    copies: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["all", "some", "none"]:
        """Whether all files were read, and of these all pages that were asked of a model; some, or
        none."""
        if not self.taken:
            return "none"
        is_all = not self.not_read and not any(entry.not_scanned for entry in self.taken)
        return "all" if is_all else "some"


class Watch(Protocol):
    """Hears which file is read, as the how-manieth of how many, and how many pages of it are; and
    what is being done with them, where that is not the first reading."""

    def __call__(
        self, file: str, number: int, n_files: int, pages: int, n_pages: int, *, doing: str = ""
    ) -> None:
        """Is told after each page."""


# Pages that wait to be read from their pictures, and what becomes of one.

PageSize = tuple[float, float]


class ScanPart(Struct, frozen=True, kw_only=True):
    """Some pages of one file: the ``job`` of who reads them here, and the ``sizes`` in points of
    all of them by number. ``names`` (its title, its book) and ``licence`` are those of its source:
    they decide where its pages may be sent."""

    job: Job
    names: tuple[str, ...]
    licence: str
    sizes: Mapping[int, PageSize]


class NotScanned(Struct, frozen=True, kw_only=True):
    """A page that stays as it was, and why: ``what`` for people, ``detail`` for the record."""

    number: int
    what: str
    detail: str = ""


# A Refused gives up the part that it answers.
ScanEvent = PageRead | NotScanned | Refused


TakeScanned = Callable[[int, ScanEvent], None]


# Where documents lie that a workspace has read: it keeps their texts, and not the files.
#
# A note of this machine alone, beside the database: paths say much about a person and nothing to
# another machine, so they are in no row, export or merge. A lost note costs a ``--document``.
