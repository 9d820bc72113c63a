"""Pages read from their pictures, in the order in which they are asked for."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator

from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.pdf.furniture import EdgeRow, furniture
from proofstone.engines.ingest.pdf.kinds import Style, style_of
from proofstone.engines.ingest.pdf.mending import Mender
from proofstone.engines.ingest.pdf.page import PrintedPage, blocks_on
from proofstone.engines.ingest.pdf.reader import PdfPage
from proofstone.engines.ingest.scan.engine import OcrEngine
from proofstone.engines.ingest.scan.image_file import ImageTooLarge
from proofstone.engines.ingest.scan.pictures import POINTS, Pictures
from proofstone.engines.ingest.scan.printed import printed_from
from proofstone.errors import BadInput

__all__ = ["scanned_pages"]

_DPI = 200.0
_FOUND_AT = 100.0  # dots an inch: enough to find lines, and half the time
_LEAST_FOUND, _MOST_FOUND = 736, 1600  # pixels of the longer side
_AHEAD = 3  # pages that are read before one is laid out, for what comes back on them
_BEHIND = 8


def scanned_pages(
    pictures: Pictures, numbers: Iterable[int], engine: OcrEngine, tell: Callable[[int], None]
) -> Iterator[PdfPage]:
    """The pages ``numbers`` (from 1, ascending), each laid out with those around it at hand.
    ``tell`` hears of a page before it is touched."""
    waiting: deque[int] = deque()
    printed: dict[int, PrintedPage | PdfPage] = {}
    edges: dict[int, list[EdgeRow]] = {}
    mender = Mender()
    for number in numbers:
        tell(number)
        found = _printed(pictures, number, engine)
        printed[number] = found
        if isinstance(found, PrintedPage):
            edges[number] = found.edges
            mender.learn(segment.text for segment in found.segments)
        waiting.append(number)
        if len(waiting) > _AHEAD:
            yield _laid_out(waiting.popleft(), printed, edges, mender)
    while waiting:
        yield _laid_out(waiting.popleft(), printed, edges, mender)


def _printed(pictures: Pictures, number: int, engine: OcrEngine) -> PrintedPage | PdfPage:
    try:
        width, height = pictures.size(number - 1)
        pixels = pictures.pixels(number - 1, _DPI)
    except BadInput as cause:
        return PdfPage(number, "", 0, 0, [], "broken", cause.message)
    except ImageTooLarge as cause:
        return PdfPage(number, "", 0, 0, [], "too large", f"{cause.args[0]:,} pixels")
    lines, turns = engine.read(pixels, _find_in(max(width, height), max(pixels.shape)))
    return printed_from(lines, turns, pixels.shape[:2], width, height)


def _find_in(points: float, pixels: int) -> int:
    """The pixels of the longer side in which lines are looked for."""
    wanted = min(max(_FOUND_AT * points / POINTS, _LEAST_FOUND), _MOST_FOUND)
    return int(min(wanted, pixels))


def _laid_out(
    number: int,
    printed: dict[int, PrintedPage | PdfPage],
    edges: dict[int, list[EdgeRow]],
    mender: Mender,
) -> PdfPage:
    page = printed[number]
    style = _style(printed.values())
    for old in [key for key in printed if key < number - _BEHIND]:
        del printed[old]
        edges.pop(old, None)
    if isinstance(page, PdfPage):
        return page
    left_out = furniture(number, edges, len(page.segments))
    blocks: list[Block] = blocks_on(page, left_out, style, {}, mender)
    return PdfPage(number, "", page.width, page.height, blocks)


def _style(pages: Iterable[PrintedPage | PdfPage]) -> Style:
    letters: Counter[float] = Counter()
    for page in pages:
        if isinstance(page, PrintedPage):
            for segment in page.segments:
                letters[round(segment.size, 1)] += len(segment.text)
    return style_of(letters, has_outline=False, is_bold_rare=True)
