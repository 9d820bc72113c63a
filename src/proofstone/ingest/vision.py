"""Read pages with a vision model: simple Markdown transcripts, converted to blocks.

Positions of words on the page are unknown, so every block has the whole page as its box. Confidence
is unknown as well.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from proofstone.documents.passages import Block, BlockLine, Cutter, garbled, lay_out
from proofstone.documents.reader import (
    Draw,
    Drawn,
    GuardedReader,
    Job,
    Refused,
    page_read,
)
from proofstone.errors import BadInput, BadUsage, EgressRefused, NotAsked, ProofstoneError
from proofstone.ingest.ingest import NotScanned, ScanPart, TakeScanned
from proofstone.ingest.pages import DPI
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget, Spending
from proofstone.models.registry import leaves_to
from proofstone.records.calls import (
    CallRecord,
    CallStore,
    ImagePart,
    Message,
    Model,
    ModelRequest,
    TextPart,
    image_part,
)
from proofstone.records.ids import canonical_json, digest
from proofstone.records.pages import Box, MarkKind, naming_request, vision_reader
from proofstone.records.runs import Response, Spent
from proofstone.session.askers import check_responses_end, on_record, open_askers
from proofstone.session.egress import Load, let_out
from proofstone.session.permits import Outgoing
from proofstone.session.progress import Background, RunProgress, start_spending
from proofstone.session.session import Session
from proofstone.store.provenance import Origin
from proofstone.store.store import Store
from proofstone.texts.languages import guess_language

_HEADING = re.compile(r"(#{1,6})\s+(\S.*?)\s*#*\s*$")


_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


_DISPLAY = "$$"


_BETWEEN_CELLS = " | "


_RULE = re.compile(r"\|?[\s:|-]*--[\s:|-]*$")


_POINT = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+\S")


_FIGURE = re.compile(r"\[figure\]$", re.IGNORECASE)


def blocks_of(text: str) -> list[Block]:
    """Return headings, tables, lists, displayed formulas, code, figures and paragraphs, in order.

    Markup is removed. Text without markup is a paragraph.
    """
    return [block for lines in _stretches(text) for block in _blocks(lines)]


def _stretches(text: str) -> Iterator[list[str]]:
    """Yield lines between empty ones; a fence or a displayed formula is one group."""
    stretch: list[str] = []
    closing = ""
    for line in text.splitlines():
        if closing:
            stretch.append(line)
            if line.strip().endswith(closing):
                yield stretch
                stretch, closing = [], ""
        elif opened := _opening(line):
            yield stretch
            stretch, closing = [line], opened
        elif line.strip():
            stretch.append(line.rstrip())
        else:
            yield stretch
            stretch = []
    yield stretch


def _opening(line: str) -> str:
    """Return what closes the group that a line begins; empty if it begins none."""
    if fence := _FENCE.match(line):
        return fence[1]
    bare = line.strip()
    is_whole = len(bare) > len(_DISPLAY) and bare.endswith(_DISPLAY)
    return _DISPLAY if bare.startswith(_DISPLAY) and not is_whole else ""


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of one group; headings within it are separate blocks."""
    begun: list[str] = []
    for line in lines:
        heading = _HEADING.match(line) if not (begun and _FENCE.match(begun[0])) else None
        if heading is None:
            begun.append(line)
            continue
        yield from _block(begun)
        begun = []
        yield Block("heading", heading[2], level=len(heading[1]))
    yield from _block(begun)


def _block(lines: Sequence[str]) -> Iterator[Block]:
    if not lines:
        return
    text = "\n".join(lines).strip()
    kind: MarkKind = "text"
    if _FENCE.match(lines[0]):
        body = lines[1:-1] if len(lines) > 1 and _FENCE.match(lines[-1]) else lines[1:]
        kind, text = "code", "\n".join(body).strip("\n")
    elif text.startswith(_DISPLAY):
        kind, text = "equation", text.strip("$").strip()
    elif all(line.lstrip().startswith("|") for line in lines):
        kind, text = "table", "\n".join(_rows(lines))
    elif _FIGURE.match(text):
        yield Block("figure", "")
        return
    elif _POINT.match(lines[0]):
        kind = "list"
    if text.strip():
        yield Block(kind, text)


def _rows(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        bare = line.strip()
        if not _RULE.match(bare):
            yield _BETWEEN_CELLS.join(cell.strip() for cell in bare.strip("|").split("|"))


# Ask a vision model for page transcripts.

VERSION = 1


NOTHING = "[nothing printed]"


PROMPT = (files("proofstone.ingest") / "page_prompt.txt").read_text(encoding="utf-8").strip("\n")


_FRAME = re.compile(r"<page>(.*)</page>", re.DOTALL)


_MARK = re.compile(r"</?page>")


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")


def read_transcript(response: str) -> str | None:
    """Return the text between the marks; empty if nothing is printed.

    None if a response lacks exactly one pair of marks, or text between them. Control characters are
    removed.
    """
    found = _FRAME.search(response)
    if found is None or _MARK.search(found[1]) or len(_MARK.findall(response)) != 2:
        return None
    text = _CONTROL.sub("", found[1]).strip()
    return ("" if text == NOTHING else text) if text else None


# Images that are sent and not stored: they can be drawn again at any time.


class ShownPictures:
    """A ``CallStore`` with additional images while they are sent."""

    def __init__(self, calls: CallStore) -> None:
        self._calls = calls
        self._shown: dict[bytes, bytes] = {}
        self.find_calls, self.known_hashes = calls.find_calls, calls.known_hashes
        self.newest_reported = calls.newest_reported

    def show(self, data: bytes, where: str) -> ImagePart:
        """Return the message part of an image. Raises BadInput for an unsupported one."""
        part = image_part(data, where)
        self._shown[part.digest] = data
        return part

    def put_away(self, part: ImagePart) -> None:
        """Remove an image."""
        self._shown.pop(part.digest, None)

    def image(self, digest: bytes) -> bytes:
        """Return a current image, or an image of the store. Raises NotFound."""
        shown = self._shown.get(digest)
        return self._calls.image(digest) if shown is None else shown


# Tokens for a full page of small type; longer transcripts are truncated and reported.
READING_SETTINGS: Mapping[str, Any] = MappingProxyType({"temperature": 0.0, "max_tokens": 8192})


_LONGEST = 2600  # pixels of a side: endpoints scale larger images down


_REASKS = 2


_AT_ONCE = 16


Keep = Callable[[CallRecord], Awaitable[None]]


class PagesAsked(Struct, frozen=True, kw_only=True):
    """Hold the result of reading pages: ``pages`` were sent, of which ``cached`` were known.

    ``spent`` is what this command's calls took.
    """

    model: str
    pages: int = 0
    cached: int = 0
    spent: Spent = Spent()


def page_reader_name(model: str) -> str:
    """Return the name of a model on the pages that it reads."""
    return vision_reader(model, VERSION)


def pages_would_leave(parts: Sequence[ScanPart]) -> Outgoing:
    """Return what reading these pages sends: one request per page, with its source's text."""
    by_source: dict[tuple[tuple[str, ...], str], int] = {}
    for part in parts:
        key = (part.names, part.license)
        by_source[key] = by_source.get(key, 0) + len(part.job.scan)
    origins = [
        Origin(names[0] if names else "", license, n, names)
        for (names, license), n in by_source.items()
    ]
    n_pages = sum(by_source.values())
    return Outgoing(
        items=n_pages, noun="page image", requests=n_pages, origins=tuple(sorted(origins)),
        passages=n_pages,
    )  # fmt: skip


async def read_pages(
    store: Store,
    parts: Sequence[ScanPart],
    asker: Asker,
    pictures: ShownPictures,
    take: TakeScanned,
    *,
    stop: asyncio.Event,
    kept: Callable[[CallRecord], None] | None = None,
) -> PagesAsked:
    """Pass every page to ``take``, in order, until stopped or until the model fails.

    See ``asker.stopped``; pages that were not asked by then are left out.
    """
    async with store.writer(kept) as writer:
        reading = _Reading(parts, asker, pictures, take, writer.write, stop)
        await reading.all_pages()
    asked = reading.progress
    return PagesAsked(
        model=asker.model.name, pages=asked.done, cached=asked.cached, spent=asked.spent()
    )


_Written = tuple[str, str]  # a page's transcript, and its requests


@dataclass
class _Reading:
    """Some pages of documents, the model that reads them, and its costs."""

    parts: Sequence[ScanPart]
    asker: Asker
    pictures: ShownPictures
    take: TakeScanned
    keep: Keep
    stop: asyncio.Event
    progress: RunProgress = field(default_factory=lambda: RunProgress(label="pages", total=0))
    _last: tuple[str, int] = ("", 0)
    _cutter: Cutter = field(default_factory=Cutter)

    async def all_pages(self) -> None:
        """Read all pages, some concurrently, and pass them on in order."""
        waiting: deque[tuple[int, int, asyncio.Task[_Written | NotScanned | None]]] = deque()
        pages = [(place, n) for place, part in enumerate(self.parts) for n in part.job.scan]
        draws = [
            Job(path=self.parts[place].job.path, draw=Draw(page=n, dpi=DPI, longest=_LONGEST))
            for place, n in pages
        ]
        try:
            with GuardedReader(n_processes=1) as drawer:  # a model takes longer
                answers = (event for _place, event in drawer.read(draws))
                drawn = (each for each in answers if isinstance(each, Drawn | Refused))
                for place, number in pages:
                    picture = await asyncio.to_thread(next, drawn, None)
                    if picture is None or self.stop.is_set() or self.asker.stopped is not None:
                        break
                    work = asyncio.create_task(self._read(number, picture))
                    waiting.append((place, number, work))
                    if len(waiting) >= _AT_ONCE:
                        await self._hand_on(*waiting.popleft())
            while waiting:
                await self._hand_on(*waiting.popleft())
        finally:
            for _place, _number, work in waiting:
                work.cancel()

    async def _hand_on(
        self, place: int, number: int, work: asyncio.Task[_Written | NotScanned | None]
    ) -> None:
        """Wait for a page's transcript and pass it on.

        Headings continue on the next page of the same file. Pages that were not asked are left out.
        """
        written = await work
        if written is None:
            return
        if isinstance(written, NotScanned):
            self.take(place, written)
            return
        text, detail = written
        part = self.parts[place]
        if self._last != (part.job.path, number - 1):
            self._cutter = Cutter()
        self._last = (part.job.path, number)
        why, size = garbled(text), part.sizes[number]
        whole = Box(0.0, 0.0, *size)
        blocks = [] if why else [
            replace(each, lines=(BlockLine(0, whole),) if each.text else (), box=whole)
            for each in blocks_of(text)
        ]  # fmt: skip
        laid_out = lay_out(blocks)
        page = page_read(
            laid_out, self._cutter, part.job.language or guess_language([laid_out.text]),
            number=number, reader=page_reader_name(self.asker.model.name), size=size,
            reason="garbled" if why else "", detail=f"{why}; {detail}" if why else detail,
        )  # fmt: skip
        self.take(place, page)

    async def _read(self, number: int, picture: Drawn | Refused) -> _Written | NotScanned | None:
        """Return the model's transcript of an image; None if it was not asked."""
        if isinstance(picture, Refused):
            return NotScanned(number=number, what=f"cannot be drawn: {picture.message}")
        try:
            image = self.pictures.show(picture.png, f"page {number}")
        except BadInput as cause:
            return NotScanned(number=number, what=cause.message)
        try:
            written = await self._ask(number, image)
        except NotAsked:
            return None
        finally:
            self.pictures.put_away(image)
        self.progress.done += written is not None
        return written

    async def _ask(self, number: int, image: ImagePart) -> _Written | NotScanned | None:
        messages = (Message("user", (image, TextPart(PROMPT))),)
        prompt = canonical_json(messages)
        what, requests = "", []
        for reask in range(_REASKS + 1):
            request = ModelRequest(
                messages=messages, prompt=prompt, prompt_hash=digest(prompt),
                settings=dict(READING_SETTINGS), reask=reask, purpose="build",
            )  # fmt: skip
            asked = await self.asker.ask(request, self._count)
            record, response = asked.record, asked.response
            if asked.key is None:
                await self._count(record)
            else:
                self.progress.cached += reask == 0
            if response is None and self.asker.stopped is not None:
                return None  # a failure unrelated to this page
            requests.append(naming_request(record.request_hash))
            if response is None:
                what = f"the call failed: {record.error}"
                break
            text = read_transcript(response.text) if _is_whole(response) else None
            if text is not None:
                return text, "; ".join(requests)
            what, is_final = _fault(response)
            if is_final:
                break
        detail = "; ".join([f"{self.asker.model.name}: {what}", *requests])
        return NotScanned(number=number, what=what, detail=detail)

    async def _count(self, call: CallRecord) -> None:
        self.progress.count(call)
        await self.keep(call)


def _is_whole(response: Response) -> bool:
    return response.finish not in {"length", "content_filter"} and not (
        response.refusal or response.thinking_unclosed
    )


def _fault(response: Response) -> tuple[str, bool]:
    """Return what is wrong with a response, and whether it would happen again."""
    if response.finish == "length" or response.thinking_unclosed:
        return f"the response was truncated at {READING_SETTINGS['max_tokens']:,} tokens", True
    if response.refusal or response.finish == "content_filter":
        return "the model refused", True
    if not response.text.strip():
        return "the response was empty", False
    return "the response had no page between <page> and </page>", False


# Open a vision model for reading pages, and check what is sent.


def page_scanner(
    session: Session,
    model: str,
    *,
    budget: Budget | str | None = None,
    max_connections: int | None = None,
) -> VisionScanner:
    """Return a scanner that reads pages by ``model``, for ``ingest_paths``.

    Raises BadUsage for a model not known to accept images, and what opening it raises, before a
    document is read.
    """
    scanner = VisionScanner(session, model, start_spending(session, budget), max_connections)
    scanner.check()
    return scanner


class VisionScanner:
    """A ``Scanner`` that uses a model.

    ``stopped`` says why it ended early, ``is_interrupted`` that the user stopped it. ``account`` is
    what it took.
    """

    needs = ""

    def __init__(
        self,
        session: Session,
        model: str,
        spending: Spending | None,
        max_connections: int | None,
    ) -> None:

        self.model = model
        self.reader = page_reader_name(model)
        self.account: PagesAsked = PagesAsked(model=model)
        self.stopped: ProofstoneError | None = None
        self.is_interrupted = False
        self._session = session
        self._spending = spending
        self._max_connections = max_connections
        self._pictures = ShownPictures(session.store.calls)

    def check(self) -> None:
        """Raise what prevents the model from being asked."""

        async def work(stop: asyncio.Event) -> None:
            async with self._askers(stop) as askers:
                check_sees(askers[self.model].model)
                check_responses_end([(askers[self.model], READING_SETTINGS)])

        Background(work).wait()

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """Read the pages, in order; none if they may not be sent."""

        session = self._session
        try:
            to = leaves_to(self.model, session.config)
            if to is not None and not to.is_local and parts:
                load = Load().with_run(self.model, b"pages", pages_would_leave(parts))
                let_out(session, {to: load})
        except EgressRefused as refused:
            self.stopped = refused
            return

        async def work(stop: asyncio.Event) -> None:
            async with self._askers(stop) as askers:
                asker = askers[self.model]
                record = on_record(session.store, [asker], session.clock, runs=["ingest"])
                async with record as kept:
                    self.account = await read_pages(
                        session.store, parts, asker, self._pictures, take, stop=stop, kept=kept
                    )
                self.stopped = asker.stopped

        def interrupted() -> None:
            self.is_interrupted = True

        Background(work).wait_stoppable(None, interrupted)

    def _askers(self, stop: asyncio.Event) -> Any:
        return open_askers(
            [self.model], self._session.config, store=self._pictures,
            clock=self._session.clock, stop=stop, max_connections=self._max_connections,
            spending=self._spending,
        )  # fmt: skip


def check_sees(model: Model) -> None:
    """Raise BadUsage for a model that is not known to accept images."""
    if model.limits.images is not True:
        raise BadUsage(
            f"{model.name} is not known to accept images, and pages are sent as images",
            hint=(
                "use another model; if this one does, set in proofstone.toml: images = true "
                f'under [models."{model.name}"]'
            ),
        )
