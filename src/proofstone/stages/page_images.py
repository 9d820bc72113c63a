"""Pages as images, drawn when they are asked for: nothing of them is kept but where boxes stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from proofstone.engines.ingest import Draw, Drawn, GuardedReader, Job, Refused, has_pictures
from proofstone.engines.store import Found, Store
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.identity import short
from proofstone.records import Box, Page

__all__ = ["DPI", "Seen", "around", "draw_all", "draw_seen", "find_page", "seen_of"]

DPI = 150.0


class Seen(Struct, frozen=True):
    """What is to be seen: a page, and the boxes of the passage on it; none for the page itself."""

    page: Page
    boxes: tuple[Box, ...] = ()


def find_page(store: Store, rest: str) -> Page:
    """The page that ``SOURCE/NUMBER`` names, as it was read last. Raises BadUsage, NotFound."""
    name, slash, number = rest.rpartition("/")
    if not slash or not number.isdecimal():
        raise BadUsage(f"page:{rest} is no page", hint="name it as page:SOURCE/NUMBER")
    source = store.lookup.find(name, ("source",))
    page = store.pages.page(source.id, int(number))
    if page is None:
        n_pages = store.pages.count(source.id).pages
        raise NotFound(f"source:{short(source.id)} has no page {number}; it has {n_pages:,}")
    return page


def seen_of(store: Store, found: Found) -> Seen:
    """The page of a passage with the boxes of its lines. Raises BadUsage for any other row, and
    for a passage of a document without pages."""
    if found.kind != "passage":
        raise BadUsage(f"a {found.kind} has no page to draw: name a passage, or page:SOURCE/NUMBER")
    placed = store.pages.placed([found.id]).get(found.id)
    if placed is None or placed.page.number is None or not placed.page.width:
        raise BadUsage(f"passage:{short(found.id)} stands in a document without pages to be seen")
    passage = placed.passage
    return Seen(placed.page, placed.page.places.boxes(passage.start, passage.end))


def draw_seen(seen: Seen, document: Path, *, dpi: float = DPI, crop: bool = False) -> bytes:
    """The page as PNG with the boxes marked; with ``crop`` only what is in them, all else masked.

    Raises BadUsage where there is nothing to crop to, BadInput for what cannot be drawn.
    """
    number = seen.page.number or 1
    if not crop:
        (png,) = draw_all(document, [Draw(page=number, dpi=dpi, marks=seen.boxes)])
        return png
    if not seen.boxes:
        raise BadUsage("a whole page is not cropped: name a passage on it")
    draw = Draw(page=number, dpi=dpi, keep=seen.boxes, crop=around(seen.boxes))
    (png,) = draw_all(document, [draw])
    return png


def draw_all(document: Path, draws: Sequence[Draw]) -> Iterator[bytes]:
    """What is asked for of a document's pages, in order, drawn in processes of their own.

    Raises BadUsage for a document that has no pages to be seen, BadInput for one that cannot be
    drawn, with the reason.
    """
    if not has_pictures(document):
        raise BadUsage(f"{document.name} has no pages that can be seen: PDF and image files do")
    jobs = [Job(path=str(document), draw=draw) for draw in draws]
    with GuardedReader() as reader:
        for place, event in reader.read(jobs):
            if isinstance(event, Drawn):
                yield event.png
            elif isinstance(event, Refused):
                page = f"{document.name}, page {draws[place].page}"
                raise BadInput(f"{page}: {event.message}", hint=event.hint)


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box that holds all of at least one."""
    return Box(
        min(box.left for box in boxes), min(box.top for box in boxes),
        max(box.right for box in boxes), max(box.bottom for box in boxes),
    )  # fmt: skip
