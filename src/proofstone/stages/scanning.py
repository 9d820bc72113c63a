"""Pages that are read from their pictures, after the documents were read as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from proofstone.engines.ingest import (
    INSTALL_OCR,
    OCR_LIMITS,
    OCR_READER,
    GuardedReader,
    Job,
    PageRead,
    ReadEvent,
    is_ocr_installed,
)
from proofstone.stages.ingest_report import Watch
from proofstone.stages.taking import Taking

__all__ = ["OcrScanner", "Scanner", "scan_pages"]

_PART = 16  # pages that one process reads before another one may go on


class Scanner(Protocol):
    """Reads pages from their pictures. ``reader`` is its name on the pages that it read; ``needs``
    what must be installed first, if anything."""

    reader: str
    needs: str

    def scan(self, jobs: Sequence[Job]) -> Iterator[tuple[int, ReadEvent]]:
        """The pages of each job, with the job's place, in order; as ``GuardedReader.read``."""


class OcrScanner:
    """Reads by OCR, in processes of their own."""

    reader = OCR_READER

    def __init__(self) -> None:
        self.needs = "" if is_ocr_installed() else INSTALL_OCR

    def scan(self, jobs: Sequence[Job]) -> Iterator[tuple[int, ReadEvent]]:
        """The pages, each in the language of its letters where none is stated."""
        with GuardedReader(OCR_LIMITS) as reader:
            yield from reader.read(jobs)


def scan_pages(taking: Sequence[Taking], scanner: Scanner, watch: Watch | None = None) -> None:
    """Reads the pages that each file wants read; each is stored as soon as it is read, so that what
    is stopped goes on behind it."""
    jobs: list[Job] = []
    owners: list[Taking] = []
    for each in taking:
        wanted = each.to_scan(scanner.reader)
        for at in range(0, len(wanted), _PART):
            jobs.append(_scan_job(each.job, wanted[at : at + _PART]))
            owners.append(each)
    n_pages = sum(len(job.scan) for job in jobs)
    n_done = 0
    for place, event in scanner.scan(jobs):
        owners[place].take_scanned(event)
        n_done += isinstance(event, PageRead)
        if watch is not None:
            file = owners[place].file.inside
            watch(file, place + 1, len(jobs), n_done, n_pages, doing="read from its image")


def _scan_job(job: Job, numbers: Sequence[int]) -> Job:
    return Job(path=job.path, language=job.language, scan=tuple(numbers))
