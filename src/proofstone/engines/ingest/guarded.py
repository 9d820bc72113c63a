"""Documents read in processes of their own: what a file does to its reader is an answer here.

A long PDF goes to the processes in parts, and its pages come back in order. A page that ends its
reader, by time, memory or a crash, is an unread page, and reading goes on behind it.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from msgspec import Struct, structs

from proofstone.engines.ingest.cutting import HeadingPath, follow
from proofstone.engines.ingest.documents import readable_name
from proofstone.engines.ingest.kinds_of_file import kind_of
from proofstone.engines.ingest.messages import (
    Drawn,
    Finished,
    Job,
    Opened,
    PageRead,
    Reading,
    Refused,
)
from proofstone.engines.ingest.reader_process import ReaderProcess

__all__ = ["OCR_LIMITS", "PART", "GuardedReader", "ReadEvent", "ReadLimits"]

PART = 96  # pages that one process reads before another one may go on
_ENDS_OF_WIKI = 64  # pages of one wiki that may do so
_ENDS = 4  # readers that one part may end before the rest of it is given up
_TICK_S = 0.25
_WIKIS = ("wikidump", "zim")


class ReadLimits(Struct, frozen=True, kw_only=True):
    """What the reading of a document may take: memory of a process, and seconds for opening it
    (for what is no PDF: for reading it) and for each page."""

    memory_bytes: int = 2 * 2**30
    open_s: float = 120.0
    page_s: float = 30.0


# The models take about 1 GB, and a page of 6,000 by 6,000 pixels as much again.
OCR_LIMITS = ReadLimits(memory_bytes=6 * 2**30, page_s=180.0)


ReadEvent = Opened | PageRead | Drawn | Refused


@dataclass
class _Part:
    """A job and its answers, in order; None, or what kept it from being read, is the last.
    ``next_page`` is the first page without an answer, ``failed`` those that ended a reader, and
    how."""

    job: Job
    answers: Queue[ReadEvent | BaseException | None] = field(default_factory=Queue)
    failed: dict[int, str] = field(default_factory=dict)
    next_page: int = 1
    last: int = 0
    is_open: bool = False

    def put(self, event: ReadEvent) -> None:
        """Hands on an answer, once: a part that is begun again is not opened again."""
        if isinstance(event, Opened) and self.is_open and goes_on(self.job):
            return
        if isinstance(event, Opened):
            self.is_open = True
            self.last = min(self.job.last, event.n_pages)
        if isinstance(event, PageRead) and event.number is not None:
            self.next_page = event.number + 1
            if event.number in self.failed:
                event = _unread(event.number, self.failed[event.number])
        self.answers.put(event)

    def numbers_left(self) -> list[int]:
        """The pages that have no answer yet."""
        numbers = self.job.scan or range(self.next_page, self.last + 1)
        return [number for number in numbers if number >= self.next_page]


@dataclass
class _Attempt:
    """How far one reader came: the page that it touched last, and how it ended, if it did."""

    touched: int | None = None
    ending: str | None = None


class GuardedReader:
    """Reads documents in ``n_processes`` children. Close it; or use it as a context manager."""

    def __init__(self, limits: ReadLimits | None = None, n_processes: int | None = None) -> None:
        self._limits = limits or ReadLimits()
        self._n = n_processes or max(1, min(4, os.cpu_count() or 1))
        self._parts: Queue[_Part | None] = Queue()
        self._children: dict[int, ReaderProcess] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> GuardedReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all readers."""
        self._closed.set()
        with self._lock:
            for child in self._children.values():
                child.close()
            self._children.clear()
        for _ in self._threads:
            self._parts.put(None)
        for thread in self._threads:
            thread.join(timeout=5)
        self._threads.clear()

    def read(self, jobs: Sequence[Job]) -> Iterator[tuple[int, ReadEvent]]:
        """The answers to each job, with its place, all of one job before those of the next.

        An ``Opened`` stands before the pages of each document, but not before pages that are
        scanned; a ``Refused`` ends a job.
        """
        waiting = deque(enumerate(jobs))
        ahead: deque[tuple[int, _Part]] = deque()
        while waiting or ahead:
            while waiting and len(ahead) < 2 * self._n:
                place, job = waiting.popleft()
                ahead.append((place, self._begin(structs.replace(job, first=1, last=PART))))
            place, part = ahead.popleft()
            for event in self._all_of(part):
                yield place, event

    def _all_of(self, first: _Part) -> Iterator[ReadEvent]:
        """The answers to a job: its first part says how many pages follow."""
        parts: deque[_Part] = deque([first])
        path: HeadingPath = ()
        unasked = n_pages = 0
        while parts:
            part = parts.popleft()
            before = path
            while (event := part.answers.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                if isinstance(event, Opened):
                    n_pages, unasked = event.n_pages, PART + 1
                if isinstance(event, PageRead):
                    before = before if event.reader else path  # a new reader knows no headings
                    event = _following(event, before)
                    path = event.path
                while (
                    unasked
                    and unasked <= n_pages
                    and len(parts) < self._n
                    and is_in_parts(part.job)
                ):
                    last = min(unasked + PART - 1, n_pages)
                    parts.append(self._begin(structs.replace(part.job, first=unasked, last=last)))
                    unasked = last + 1
                yield event

    def _begin(self, job: Job) -> _Part:
        is_later = job.first > 1
        part = _Part(job, next_page=job.first, last=job.last if is_later else 0, is_open=is_later)
        self._parts.put(part)
        if len(self._threads) < self._n:
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()
            if len(self._threads) == 1:
                threading.Thread(target=self._watch, daemon=True).start()
        return part

    def _watch(self) -> None:
        while not self._closed.wait(_TICK_S):
            with self._lock:
                children = list(self._children.values())
            for child in children:
                child.check_clock(time.monotonic())

    def _serve(self) -> None:
        """Runs parts one after the other, in a child that is started anew where one ended."""
        while (part := self._parts.get()) is not None and not self._closed.is_set():
            try:
                self._run(part)
                part.answers.put(None)
            except BaseException as error:  # noqa: BLE001 - raised where the answers are read
                part.answers.put(error)

    def _run(self, part: _Part) -> None:
        """Reads a part; what ends its reader is a page that the next reader skips."""
        for _ in range(_ENDS_OF_WIKI if kind_of(Path(part.job.path)) in _WIKIS else _ENDS):
            state = self._attempt(part)
            if state.ending is None or self._closed.is_set():
                return
            if state.touched is None:
                part.answers.put(_given_up(part.job, state.ending))
                return
            part.failed[state.touched] = state.ending
        if kind_of(Path(part.job.path)) in _WIKIS:
            part.answers.put(_given_up(part.job, f"ended its reader {len(part.failed)} times"))
        for number in part.numbers_left():
            why = part.failed.get(number, "left unread after pages that ended their readers")
            part.put(_unread(number, why))

    def _attempt(self, part: _Part) -> _Attempt:
        child = self._child()
        job = structs.replace(part.job, first=part.next_page, skip=tuple(part.failed))
        state = _Attempt()
        allowed = self._limits.open_s
        is_asked = child.ask(job)
        while is_asked and (answer := child.answer(allowed)) is not None:
            if isinstance(answer, Reading):
                state.touched = answer.number
                allowed = self._limits.page_s
                continue
            if isinstance(answer, Finished):
                return state
            part.put(answer)
            if isinstance(answer, Refused):
                return state
        state.ending = self._end_of(child)
        return state

    def _child(self) -> ReaderProcess:
        mine = threading.get_ident()
        with self._lock:
            if mine not in self._children:
                self._children[mine] = ReaderProcess(self._limits.memory_bytes)
            return self._children[mine]

    def _end_of(self, child: ReaderProcess) -> str:
        ending = "" if self._closed.is_set() else child.ending()
        with self._lock:
            self._children.pop(threading.get_ident(), None)
        child.close()
        return ending or "was stopped"


def is_in_parts(job: Job) -> bool:
    """Whether a job's file is read in parts."""
    return kind_of(Path(job.path)) == "pdf" and not job.scan and job.draw is None


def goes_on(job: Job) -> bool:
    """Whether a job that ended its reader goes on behind the page that did."""
    return is_in_parts(job) or kind_of(Path(job.path)) in _WIKIS


def _following(page: PageRead, before: HeadingPath) -> PageRead:
    """A page of a part with the headings of the part before it."""
    if not before:
        return page
    cuts = tuple((s, e, follow(before, path), lang) for s, e, path, lang in page.cuts)
    return structs.replace(page, cuts=cuts, path=follow(before, page.path))


def _unread(number: int, ended: str) -> PageRead:
    reason = (
        "too slow" if ended == "took too long" else "too large" if "memory" in ended else "broken"
    )
    return PageRead(number=number, text="", reader="", reason=reason, detail=ended)


def _given_up(job: Job, ended: str) -> Refused:
    name = readable_name(Path(job.path).name)
    return Refused(
        message=f"{name} {ended} and was given up.",
        hint="Every other file is read as if it were not there.",
    )
