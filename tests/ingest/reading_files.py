"""What a reading process answers about files, and that its passages stand where they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proofstone.documents.reader import GuardedReader, Job, Opened, PageRead, ReadEvent, ReadLimits
from proofstone.documents.worker import OpenFiles, read_job
from proofstone.records.pages import unpack_layout

__all__ = ["blocks_of", "check_cuts", "read_all", "read_here", "read_one"]


def read_all(jobs: Sequence[Job], limits: ReadLimits | None = None) -> list[list[ReadEvent]]:
    """The answers to each job."""
    found: list[list[ReadEvent]] = [[] for _ in jobs]
    with GuardedReader(limits, 1) as reader:
        for place, event in reader.read(jobs):
            found[place].append(event)
    return found


def read_one(path: Path, **job: object) -> tuple[Opened, list[PageRead]]:
    """What a document says of itself, and its pages, with every passage checked."""
    ((opened, *pages),) = read_all([Job(path=str(path), **job)])  # type: ignore[arg-type]
    assert isinstance(opened, Opened), opened
    read = [page for page in pages if isinstance(page, PageRead)]
    assert len(read) == len(pages)
    for page in read:
        check_cuts(page)
    return opened, read


def read_here(path: Path, **job: object) -> list[PageRead]:
    """The pages of a document, read in this process: for many small ones, one after the other."""
    with OpenFiles() as files:
        answers = list(read_job(Job(path=str(path), **job), files, lambda _number: None))  # type: ignore[arg-type]
    pages = [answer for answer in answers if isinstance(answer, PageRead)]
    for page in pages:
        check_cuts(page)
    return pages


def check_cuts(page: PageRead) -> None:
    """Passages are stretches of the page's text in order, with words at both ends."""
    behind = 0
    for start, end, _path, language in page.cuts:
        assert behind <= start < end <= len(page.text)
        assert page.text[start:end] == page.text[start:end].strip()
        assert language
        behind = end


def blocks_of(page: PageRead) -> list[tuple[str, str]]:
    """The page's text block by block, each with its kind."""
    kinds = {mark.start: mark.kind for mark in unpack_layout(page.layout, 0.0, 0.0).marks}
    found, at = [], 0
    for text in page.text.split("\n\n"):
        found.append((kinds.get(at, "text"), text))
        at += len(text) + 2
    return found
