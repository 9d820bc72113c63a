"""Read documents in separate processes, so that a bad file cannot harm the caller.

A long PDF is read in parts by several processes; pages are returned in order. A page that ends its
process, by time, memory or a crash, is reported as unread, and reading continues after it.
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

# Messages between a workspace's process and its reading process.
#
# A frame is four bytes of length, then MessagePack. A ``Job`` is answered by ``Opened`` before the
# pages of each document, ``PageRead`` for each page in order, and ``Finished`` or ``Refused`` at
# the end.

MAX_FRAME = 256 * 2**20


_LENGTH = struct.Struct(">I")


class Draw(Struct, frozen=True, kw_only=True):
    """A request to draw ``page`` (from 1) at ``dpi``.

    With ``keep``, the rest is blank; ``marks`` are tinted. ``crop`` is the part to return, scaled
    down until no side has more than ``longest`` pixels (0: unchanged). Boxes are points as
    displayed.
    """

    page: int
    dpi: float
    marks: tuple[Box, ...] = ()
    keep: tuple[Box, ...] = ()
    crop: Box | None = None
    longest: int = 0


class Job(Struct, frozen=True, kw_only=True, tag="job"):
    """A request to read the document ``path``, pages ``first`` to ``last`` (0: to the end).

    ``title``, ``language`` and ``license`` are given values, or empty. Pages to ``skip`` are not
    read. With pages to ``scan``, only those are read, by OCR. With a page to ``draw``, only that is
    rendered. ``root`` is the folder of a document's other files; empty for its own. Of a wiki, the
    first ``limit`` pages (0: all) with ``titles`` (empty: any) in ``namespaces`` (empty: articles)
    are read.
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
    """A page is about to be read: if the process ends now, this page was the cause."""

    number: int


class Opened(Said, frozen=True, kw_only=True, tag="opened"):
    """A document and its metadata; ``n_pages`` is 0 for a document without pages.

    ``language`` is empty if there are too few letters to detect it. ``content`` is the digest of
    its files, if there are several. ``origin`` is its address, if it has one.
    """

    n_pages: int = 0
    content: bytes = b""
    kind: Literal["document", "dump", "web"] = "document"
    origin: str = ""


class PageRead(Struct, frozen=True, kw_only=True, tag="page"):
    """A page, or a whole document without pages (number None).

    Passages are (start, end, headings with levels, language). ``layout`` is packed.
    """

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
    """Return a page with its passages under the headings of ``cutter``; ``size`` is in points.

    Each passage has the language detected from its letters, or ``language``.
    """
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
    """The drawn page, as PNG."""

    png: bytes


class Finished(Struct, frozen=True, tag="finished"):
    """The whole request was read."""


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The document cannot be read: cause, remedy, error code, and all problems by place."""

    message: str
    hint: str = ""
    code: str = BadInput.code
    problems: tuple[tuple[str, str], ...] = ()


Answer = Opened | Reading | PageRead | Drawn | Finished | Refused


_encode = msgspec.msgpack.Encoder().encode


_decode_job = msgspec.msgpack.Decoder(Job).decode


# A path may hold bytes that are not UTF-8. They are sent as two digits after NUL, which no path
# contains.
_BYTE, _ESCAPED = re.compile("[\udc80-\udcff]"), re.compile("\0([0-9a-f]{2})")


def send(stream: BinaryIO, message: Job | Answer) -> None:
    """Write one message. Raises OSError if the other process is gone."""
    if isinstance(message, Job):
        message = structs.replace(
            message, path=_with_escapes(message.path), root=_with_escapes(message.root)
        )
    body = _encode(message)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def decode_job(body: bytes) -> Job:
    """Decode the job of a message, with its paths as the file system has them."""
    job = _decode_job(body)
    return structs.replace(job, path=_without_escapes(job.path), root=_without_escapes(job.root))


def _with_escapes(path: str) -> str:
    return _BYTE.sub(lambda found: f"\0{ord(found[0]) - 0xDC00:02x}", path)


def _without_escapes(path: str) -> str:
    return _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)


def receive(stream: BinaryIO) -> bytes | None:
    """Return the body of the next message; None at the stream's end or for an invalid frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME:
        return None
    body = stream.read(length)
    return body if len(body) == length else None


# The reading process from its parent's side: jobs, answers, and how it ended.

_COMMAND = "proofstone.documents.worker"


_TAIL = 2000


_KILLED = -9  # by the system, short of memory


_answer = msgspec.msgpack.Decoder(Answer)


class ReaderProcess:
    """A child process that reads documents.

    After ``overdue_at`` its silence counts as a failure; the caller checks the clock and calls
    ``kill``.
    """

    def __init__(self, memory_bytes: int) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = _started(memory_bytes, environment, self._words)
        self._input = cast("BinaryIO", self._process.stdin)
        self._output = cast("BinaryIO", self._process.stdout)
        self.overdue_at = float("inf")
        self.was_overdue = False

    def ask(self, job: Job) -> bool:
        """Send a job; return True if the process still accepts one."""
        try:
            send(self._input, job)
        except OSError:
            return False
        return True

    def answer(self, within_s: float) -> Answer | None:
        """Return the next answer; None if the process has ended, or was ended after its timeout."""
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
        """End the process if its answer is overdue."""
        if now > self.overdue_at:
            self.was_overdue = True
            self._process.kill()

    def ending(self) -> str:
        """Wait for the process, and return how it ended."""
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
        """End the process, by force if necessary, and release it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._input, self._output):
            try:
                stream.close()
            except OSError:
                continue  # data left in the pipe has no reader any more
        self._words.close()


def _started(
    memory_bytes: int, environment: dict[str, str], words: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the child in a separate process group, so that Ctrl-C does not reach it."""
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


PART = 96  # pages that one process reads before another one may continue


_ENDS_OF_WIKI = 64  # the same, for pages of one wiki


_ENDS = 4  # processes that one part may end before the rest of it is given up


_TICK_S = 0.25


_WIKIS = ("wikidump", "zim")


class ReadLimits(Struct, frozen=True, kw_only=True):
    """Limits for reading a document: memory per process, and seconds.

    Seconds apply to opening it (for formats other than PDF: reading it) and to each page.
    """

    memory_bytes: int = 2 * 2**30
    open_s: float = 120.0
    page_s: float = 30.0


# The models take about 1 GB, and a page of 6,000 by 6,000 pixels as much again.
OCR_LIMITS = ReadLimits(memory_bytes=6 * 2**30, page_s=180.0)


OCR_READER = "ocr 1"  # change this with every change that can alter a text


INSTALL_OCR = "pip install 'proofstone[ocr]'"


def is_ocr_installed() -> bool:
    """Return True if OCR is installed, without loading it."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "pypdfium2"))


ReadEvent = Opened | PageRead | Drawn | Refused


@dataclass
class _Part:
    """A job and its answers in order; the last is None, or why it could not be read.

    ``next_page`` is the first page without an answer. ``failed`` are those that ended a process,
    and how.
    """

    job: Job
    answers: Queue[ReadEvent | BaseException | None] = field(default_factory=Queue)
    failed: dict[int, str] = field(default_factory=dict)
    next_page: int = 1
    last: int = 0
    is_open: bool = False

    def put(self, event: ReadEvent) -> None:
        """Pass on an answer, once: a restarted part is not opened again."""
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
        """Return the pages without an answer."""
        numbers = self.job.scan or range(self.next_page, self.last + 1)
        return [number for number in numbers if number >= self.next_page]


class GuardedReader:
    """Read documents in ``n_processes`` children. Close it, or use it as a context manager."""

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
        """End all processes."""
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
        """Yield the answers to each job with its index, all of one job before those of the next.

        An ``Opened`` precedes the pages of each document, except scanned pages. A ``Refused`` ends
        a job.
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
        """Yield the answers to a job; its first part says how many pages follow."""
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
                    before = before if event.reader else path  # a new process knows no headings
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
        """Run parts one after the other, in a child that is restarted after a failure."""
        while (part := self._parts.get()) is not None and not self._closed.is_set():
            try:
                self._run(part)
                part.answers.put(None)
            except BaseException as error:  # noqa: BLE001 - raised where the answers are read
                part.answers.put(error)

    def _run(self, part: _Part) -> None:
        """Read a part; a page that ends the process is skipped by the next process."""
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
        """Return the last page that one process began, and how the process ended, if it failed."""
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
    """Return True if a job's file is read in parts."""
    return kind_of(Path(job.path)) == "pdf" and not job.scan and job.draw is None


def goes_on(job: Job) -> bool:
    """Return True if a job continues after a page that ended the process."""
    return is_in_parts(job) or kind_of(Path(job.path)) in _WIKIS


def _following(page: PageRead, before: HeadingPath) -> PageRead:
    """Return a page of a part with the headings of the previous part."""
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
        message=f"{name} {ended} and was given up",
        hint="all other files are read normally",
    )


# Limit the memory of a process that reads untrusted files.


def confine(memory_bytes: int) -> bool:
    """Limit this process's memory and forbid core dumps; return True if the limit is in force.

    Beyond it an allocation fails, which ends the process or the reading of one page. On systems
    without such limits (macOS) only time limits protect.
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
        """Put this process into a job object with a memory limit per process."""
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
