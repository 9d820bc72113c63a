"""Pages that are read from their pictures, after the documents were read as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from proofstone.engines.ingest import (
    INSTALL_OCR,
    OCR_LIMITS,
    OCR_READER,
    GuardedReader,
    PageRead,
    Refused,
    is_ocr_installed,
)
from proofstone.stages.ingest_report import Watch
from proofstone.stages.scan_parts import NotScanned, ScanEvent, ScanPart, TakeScanned
from proofstone.stages.taking import Taking

__all__ = ["OcrScanner", "Scanner", "scan_pages"]

_PART = 16  # pages that one process reads before another one may go on


class Scanner(Protocol):
    """Reads pages from their pictures. ``reader`` is its name on the pages that it read; ``needs``
    what must be installed first, if anything."""

    reader: str
    needs: str

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """Hands each page of each part to ``take``, with the part's place, in order."""


class OcrScanner:
    """Reads by OCR, in processes of their own."""

    reader = OCR_READER

    def __init__(self) -> None:
        self.needs = "" if is_ocr_installed() else INSTALL_OCR

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """The pages, each in the language of its letters where none is stated."""
        with GuardedReader(OCR_LIMITS) as reader:
            for place, event in reader.read([part.job for part in parts]):
                if isinstance(event, PageRead | Refused):
                    take(place, event)


def scan_pages(taking: Sequence[Taking], scanner: Scanner, watch: Watch | None = None) -> None:
    """Reads the pages that each file wants read; each is stored as soon as it is read, so that what
    is stopped goes on behind it."""
    parts: list[ScanPart] = []
    owners: list[Taking] = []
    for each in taking:
        wanted = each.to_scan(scanner.reader)
        for at in range(0, len(wanted), _PART):
            parts.append(each.part(wanted[at : at + _PART]))
            owners.append(each)
    n_pages = sum(len(part.job.scan) for part in parts)
    n_done = 0

    def take(place: int, event: ScanEvent) -> None:
        nonlocal n_done
        owners[place].take_scanned(event)
        n_done += isinstance(event, PageRead | NotScanned)
        if watch is not None:
            file = owners[place].file.inside
            watch(file, place + 1, len(parts), n_done, n_pages, doing="read from its image")

    scanner.scan(parts, take)
