"""Documents read in processes of their own: what a file does to its reader is an answer here.

A long PDF goes to the processes in parts, and its pages come back in order. A page that ends its
reader, by time, memory or a crash, is an unread page, and reading goes on behind it.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from ctypes import wintypes
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from queue import Queue
from typing import IO, BinaryIO, Literal, cast

import msgspec
from msgspec import Struct, structs

from proofstone.documents.passages import Cutter, HeadingPath, LaidOut, Said, follow
from proofstone.documents.sources import kind_of, readable_name
from proofstone.errors import BadInput
from proofstone.records.pages import Box, pack_layout
from proofstone.texts.languages import passage_language

# What goes between a workspace's process and the one that reads documents.
#
# Frames: four bytes of length, then MessagePack. A ``Job`` is answered by ``Opened`` before the
# pages of each document, ``PageRead`` for each page in order, and ``Finished`` or ``Refused`` at
# the end.

MAX_FRAME = 256 * 2**20


_LENGTH = struct.Struct(">I")


class Draw(Struct, frozen=True, kw_only=True):
    """Draw ``page`` (from 1) at ``dpi``: only what is to ``keep``, if anything is, the rest as
    blank paper; with ``marks`` tinted; of that the part ``crop``, made smaller until no side has
    more than ``longest`` pixels (0: as it is). Boxes are points as displayed."""

    page: int
    dpi: float
    marks: tuple[Box, ...] = ()
    keep: tuple[Box, ...] = ()
    crop: Box | None = None
    longest: int = 0


class Job(Struct, frozen=True, kw_only=True, tag="job"):
    """Read the document ``path``, of pages those from ``first`` to ``last`` (0: to the end).

    ``title``, ``language`` and ``license`` are what was given for it, else empty. Pages to ``skip``
    are not touched. Where there are pages to ``scan``, those are read from their pictures and
    nothing else is; where there is one to ``draw``, it is drawn. ``root`` is the folder in which a
    document's other files may stand; empty for its own. Of a wiki's pages those with ``titles``
    (all where none) in ``namespaces`` (the articles where none), the first ``limit`` of them (0:
    all).
    """

    path: str
    root: str = ""
    first: int = 1
    last: int = 0
    title: str = ""
    language: str = ""
    license: str = ""
    skip: tuple[int, ...] = ()
    scan: tuple[int, ...] = ()
    draw: Draw | None = None
    titles: tuple[str, ...] = ()
    namespaces: tuple[int, ...] = ()
    limit: int = 0


class Reading(Struct, frozen=True, tag="reading"):
    """A page that is about to be read: should the process end now, it was by this page."""

    number: int


class Opened(Said, frozen=True, kw_only=True, tag="opened"):
    """A document and what it says of itself; ``n_pages`` is 0 where it has none, ``language`` is
    empty where it has no letters that could tell. ``content`` is the digest of what it came from,
    where that is more than its file, ``origin`` its address where it has one."""

    n_pages: int = 0
    content: bytes = b""
    kind: Literal["document", "dump", "web"] = "document"
    origin: str = ""


class PageRead(Struct, frozen=True, kw_only=True, tag="page"):
    """A page, or a whole document without pages (number None), with its passages as
    (start, end, headings with levels, language). ``layout`` is packed."""

    number: int | None
    text: str
    reader: str
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    reason: str = ""
    detail: str = ""
    layout: bytes = b""
    cuts: tuple[tuple[int, int, tuple[tuple[int, str], ...], str], ...] = ()
    path: tuple[tuple[int, str], ...] = ()


def page_read(
    laid_out: LaidOut,
    cutter: Cutter,
    language: str,
    *,
    number: int | None,
    reader: str,
    size: tuple[float, float] = (0.0, 0.0),
    label: str = "",
    reason: str = "",
    detail: str = "",
) -> PageRead:
    """A page with its passages, cut under the headings of ``cutter``, each in the language of its
    own letters where they tell another than ``language``; ``size`` is in points."""
    cuts = tuple(
        (start, end, path, passage_language(laid_out.text[start:end], language))
        for start, end, path in cutter.cut(laid_out.blocks, laid_out.starts)
    )
    return PageRead(
        number=number, text=laid_out.text, reader=reader, label=label, width=size[0],
        height=size[1], reason=reason, detail=detail, layout=pack_layout(laid_out.layout, *size),
        cuts=cuts, path=cutter.path,
    )  # fmt: skip


class Drawn(Struct, frozen=True, tag="drawn"):
    """The page that was to be drawn, as PNG."""

    png: bytes


class Finished(Struct, frozen=True, tag="finished"):
    """All was read that was asked for."""


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The document cannot be read: why, what to do, the error's code, and each place that
    is wrong."""

    message: str
    hint: str = ""
    code: str = BadInput.code
    problems: tuple[tuple[str, str], ...] = ()


Answer = Opened | Reading | PageRead | Drawn | Finished | Refused


_encode = msgspec.msgpack.Encoder().encode


_decode_job = msgspec.msgpack.Decoder(Job).decode


# A path may hold bytes that are no UTF-8. They travel as two digits after NUL, which no path holds.
_BYTE, _ESCAPED = re.compile("[\udc80-\udcff]"), re.compile("\0([0-9a-f]{2})")


def send(stream: BinaryIO, message: Job | Answer) -> None:
    """Writes one message. Raises OSError where the other side is gone."""
    if isinstance(message, Job):
        message = structs.replace(
            message, path=_with_escapes(message.path), root=_with_escapes(message.root)
        )
    body = _encode(message)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def decode_job(body: bytes) -> Job:
    """The job of a message, its paths as the file system has them."""
    job = _decode_job(body)
    return structs.replace(job, path=_without_escapes(job.path), root=_without_escapes(job.root))


def _with_escapes(path: str) -> str:
    return _BYTE.sub(lambda found: f"\0{ord(found[0]) - 0xDC00:02x}", path)


def _without_escapes(path: str) -> str:
    return _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)


def receive(stream: BinaryIO) -> bytes | None:
    """The body of the next message; None where the stream has ended or holds no frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME:
        return None
    body = stream.read(length)
    return body if len(body) == length else None


# The reading process as its starter sees it: jobs in, answers out, and an end in words.

_COMMAND = "proofstone.documents.worker"


_TAIL = 2000


_KILLED = -9  # by the system, short of memory


_answer = msgspec.msgpack.Decoder(Answer)


class ReaderProcess:
    """A child that reads documents. ``overdue_at`` is when its silence counts as its end; whoever
    watches the clock calls ``kill``."""

    def __init__(self, memory_bytes: int) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = _started(memory_bytes, environment, self._words)
        self._input = cast("BinaryIO", self._process.stdin)
        self._output = cast("BinaryIO", self._process.stdout)
        self.overdue_at = float("inf")
        self.was_overdue = False

    def ask(self, job: Job) -> bool:
        """Hands in a job; whether the process still takes one."""
        try:
            send(self._input, job)
        except OSError:
            return False
        return True

    def answer(self, within_s: float) -> Answer | None:
        """The next answer; None where the process has ended, or was ended for its silence."""
        self.overdue_at = time.monotonic() + within_s
        try:
            body = receive(self._output)
        except (OSError, ValueError):
            body = None
        finally:
            self.overdue_at = float("inf")
        if body is None:
            return None
        try:
            answer: Answer = _answer.decode(body)
        except msgspec.DecodeError:
            return None
        return answer

    def check_clock(self, now: float) -> None:
        """Ends the process where its answer is overdue."""
        if now > self.overdue_at:
            self.was_overdue = True
            self._process.kill()

    def ending(self) -> str:
        """How the process ended, in words; waits for it."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if self.was_overdue:
            return "took too long"
        tail = self._tail()
        if "MemoryError" in tail or code == _KILLED:
            return "needed more memory than is allowed"
        if code < 0:
            return f"crashed its reader ({_signal(-code)})"
        lines = tail.strip().splitlines()
        return f"crashed its reader ({lines[-1][:200] if lines else f'exit code {code}'})"

    def _tail(self) -> str:
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _TAIL))
        return self._words.read().decode("utf-8", "replace")

    def close(self) -> None:
        """Ends the process, by force where need be, and takes leave of it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._input, self._output):
            try:
                stream.close()
            except OSError:
                continue  # what was left in the pipe has no reader any more
        self._words.close()


def _started(
    memory_bytes: int, environment: dict[str, str], words: IO[bytes]
) -> subprocess.Popen[bytes]:
    """The child, in a group of its own: a Ctrl-C for the parent is none for the child."""
    command = [sys.executable, "-m", _COMMAND, str(memory_bytes)]
    pipe = subprocess.PIPE
    if sys.platform == "win32":
        return subprocess.Popen(  # noqa: S603
            command, stdin=pipe, stdout=pipe, stderr=words, env=environment,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )  # fmt: skip
    return subprocess.Popen(  # noqa: S603
        command, stdin=pipe, stdout=pipe, stderr=words, env=environment, start_new_session=True
    )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


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


OCR_READER = "ocr 1"  # a number of its own for every change that can move a text


INSTALL_OCR = "pip install 'proofstone[ocr]'"


def is_ocr_installed() -> bool:
    """Whether images of pages can be read here, told without loading what reads them."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "pypdfium2"))


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
            touched, ending = self._attempt(part)
            if ending is None or self._closed.is_set():
                return
            if touched is None:
                part.answers.put(_given_up(part.job, ending))
                return
            part.failed[touched] = ending
        if kind_of(Path(part.job.path)) in _WIKIS:
            part.answers.put(_given_up(part.job, f"ended its reader {len(part.failed)} times"))
        for number in part.numbers_left():
            why = part.failed.get(number, "left unread after pages that ended their readers")
            part.put(_unread(number, why))

    def _attempt(self, part: _Part) -> tuple[int | None, str | None]:
        """How far one reader came: the page that it touched last, and how it ended, if it did."""
        child = self._child()
        job = structs.replace(part.job, first=part.next_page, skip=tuple(part.failed))
        touched: int | None = None
        allowed = self._limits.open_s
        is_asked = child.ask(job)
        while is_asked and (answer := child.answer(allowed)) is not None:
            if isinstance(answer, Reading):
                touched = answer.number
                allowed = self._limits.page_s
                continue
            if isinstance(answer, Finished):
                return touched, None
            part.put(answer)
            if isinstance(answer, Refused):
                return touched, None
        return touched, self._end_of(child)

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


# What a process that reads strangers' files may use: memory, and no more than that.


def confine(memory_bytes: int) -> bool:
    """Limits this process's memory and forbids core dumps; whether the limit holds.

    Beyond it an allocation fails, which ends the process or the reading of one page. Where the
    system sets no such limits (macOS) only the limits of time protect.
    """
    if sys.platform == "win32":
        return _confine_windows(memory_bytes)
    import resource  # noqa: PLC0415 - not on Windows

    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        within = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (within, hard))
    except (ValueError, OSError):
        return False
    return True


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _PROCESS_MEMORY, _EXTENDED = 0x100, 9

    class _Basic(ctypes.Structure):
        _fields_ = (
            ("per_process_time", ctypes.c_int64),
            ("per_job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("least_working_set", ctypes.c_size_t),
            ("most_working_set", ctypes.c_size_t),
            ("active_processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD),
        )

    class _Limits(ctypes.Structure):
        _fields_ = (
            ("basic", _Basic),
            ("io", ctypes.c_uint64 * 6),
            ("process_memory", ctypes.c_size_t),
            ("job_memory", ctypes.c_size_t),
            ("peak_process_memory", ctypes.c_size_t),
            ("peak_job_memory", ctypes.c_size_t),
        )

    def _confine_windows(memory_bytes: int) -> bool:
        """Puts this process into a job object with a limit of memory for a process."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        kernel.SetInformationJobObject.argtypes = (
            wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD,
        )  # fmt: skip
        kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        job = kernel.CreateJobObjectW(None, None)
        limits = _Limits()
        limits.basic.flags = _PROCESS_MEMORY
        limits.process_memory = memory_bytes
        size = ctypes.sizeof(limits)
        if not job or not kernel.SetInformationJobObject(
            job, _EXTENDED, ctypes.byref(limits), size
        ):
            return False
        return bool(kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess()))

else:

    def _confine_windows(memory_bytes: int) -> bool:
        raise NotImplementedError(memory_bytes)
