"""Draw pages as images on request; only the positions of boxes are stored."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from proofstone.documents.passages import box_around
from proofstone.documents.reader import Draw, Drawn, GuardedReader, Job, Refused
from proofstone.documents.sources import content_of, has_pictures, readable_name
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.files.csv import missing_file
from proofstone.records.ids import short
from proofstone.records.pages import Box, Page
from proofstone.session.folders import MARK
from proofstone.session.session import Session
from proofstone.store.lookup import Found
from proofstone.store.store import Store

DPI = 150.0


def find_page(store: Store, rest: str) -> Page:
    """Return the page ``SOURCE/NUMBER``, as read last. Raises BadUsage, NotFound."""
    name, slash, number = rest.rpartition("/")
    if not slash or not number.isdecimal():
        raise BadUsage(f"invalid page name page:{rest}", hint="expected page:SOURCE/NUMBER")
    source = store.lookup.find(name, ("source",))
    page = store.pages.page(source.id, int(number))
    if page is None:
        n_pages = store.pages.count(source.id).pages
        raise NotFound(f"source:{short(source.id)} has no page {number}; it has {n_pages:,}")
    return page


def draw(
    session: Session,
    name: str,
    *,
    dpi: float = 150,
    crop: bool = False,
    document: Path | str | None = None,
) -> bytes:
    """Render a page (``page:SOURCE/NUMBER``) or a passage's page as PNG, with the passage marked.

    ``crop`` renders only the passage and masks the rest. Raises BadUsage for other rows, for a
    passage of a document without pages, and for a crop without a passage. Raises BadInput for what
    cannot be drawn, and as ``document_of``.
    """
    store = session.store
    boxes: tuple[Box, ...] = ()
    kind, _colon, rest = name.partition(":")
    if kind == "page":
        page = find_page(store, rest)
    else:
        page, boxes = _page_of(store, store.lookup.find(name))
    path = document_of(session, page.source, None if document is None else Path(document))
    asked = Draw(page=page.number or 1, dpi=dpi)
    around = box_around(boxes)
    if not crop:
        asked = structs.replace(asked, marks=boxes)
    elif around is None:
        raise BadUsage("a whole page cannot be cropped: name a passage on it")
    else:
        asked = structs.replace(asked, keep=boxes, crop=around)
    (png,) = draw_all(path, [asked])
    return png


def _page_of(store: Store, found: Found) -> tuple[Page, tuple[Box, ...]]:
    """Return the page of a passage, and the boxes of its lines."""
    if found.kind != "passage":
        raise BadUsage(f"expected a passage or page:SOURCE/NUMBER to draw, got a {found.kind}")
    placed = store.pages.placed([found.id]).get(found.id)
    if placed is None or placed.page.number is None or not placed.page.width:
        raise BadUsage(f"passage:{short(found.id)} is in a document without page images")
    passage = placed.passage
    return placed.page, placed.page.places.boxes(passage.start, passage.end)


def draw_all(document: Path, draws: Sequence[Draw]) -> Iterator[bytes]:
    """Yield the requested images of a document's pages, in order, drawn in separate processes.

    Raises BadUsage for a document without page images, BadInput with the reason for one that cannot
    be drawn.
    """
    if not has_pictures(document):
        raise BadUsage(f"{document.name} has no page images: only PDF and image files do")
    jobs = [Job(path=str(document), draw=draw) for draw in draws]
    with GuardedReader() as reader:
        for place, event in reader.read(jobs):
            if isinstance(event, Drawn):
                yield event.png
            elif isinstance(event, Refused):
                page = f"{document.name}, page {draws[place].page}"
                raise BadInput(f"{page}: {event.message}", hint=event.hint)


# Paths of imported documents: the workspace stores their texts, not the files.
#
# They are stored on this machine alone, beside the database. Paths reveal personal data and mean
# nothing elsewhere, so they are in no row, export or merge. If lost, ``--document`` gives the path
# again.

_NAME = "documents.json"


def remember_documents(session: Session, found: Mapping[bytes, Path]) -> None:
    """Store the paths of files with these digests; a failure to write is ignored."""
    known = _notes(session.folder)
    fresh = {content.hex(): os.path.abspath(path) for content, path in found.items()}  # noqa: PTH100
    if not fresh.items() - known.items():
        return
    target = session.folder / MARK / _NAME
    part = target.with_name(f".{_NAME}.{secrets.token_hex(4)}")
    try:
        part.write_text(json.dumps({**known, **fresh}, indent=0), encoding="utf-8")
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)


def document_of(session: Session, source: bytes, named: Path | None = None) -> Path:
    """Return the file of a source: ``named``, in a folder of that name, or its original path.

    Raises BadUsage if the named file holds another document, NotFound if there is none.
    """
    read = session.store.knowledge.sources([source])[source]
    if named is not None and not named.is_dir():
        if not named.is_file():
            raise missing_file(named)
        if content_of(named) != read.content:
            raise BadUsage(
                f"{named} is not the file of {read.title}: its bytes differ",
                hint="another edition is a separate source: ingest it",
            )
        return named
    noted = _notes(session.folder).get(read.content.hex())
    places = [Path(noted)] if noted and named is None else []
    if named is not None:
        places = sorted(
            path
            for path in named.rglob("*")
            if readable_name(path.name) == read.origin and path.is_file()
        )
    for path in places:
        if path.is_file() and content_of(path) == read.content:
            return path
    where = f"in {named}" if named is not None else "where it was read"
    raise NotFound(
        f"{read.origin}, the file of {read.title}, is not {where}",
        hint="give its path: --document FILE, or a folder",
    )


def _notes(folder: Path) -> dict[str, str]:
    try:
        notes = json.loads((folder / MARK / _NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(notes, dict):
        return {}
    return {str(content): str(path) for content, path in notes.items()}
