"""Ingesting: documents into sources, pages and passages, whatever single files do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.engines.ingest import (
    FoundFile,
    GuardedReader,
    Stated,
    document_advice,
    find_files,
    formats_hint,
    merged,
)
from proofstone.engines.store import Store
from proofstone.errors import BadInput, ExtraMissing
from proofstone.ports import Clock
from proofstone.stages.ingest_report import Ingested, IngestReport, NotRead, OcrUse, Watch
from proofstone.stages.scanning import OcrScanner, Scanner, scan_pages
from proofstone.stages.taking import Taking

__all__ = [
    "IngestReport",
    "Ingested",
    "NotRead",
    "OcrUse",
    "Watch",
    "WikiChoice",
    "ingest_paths",
]


class WikiChoice(Struct, frozen=True):
    """Which pages of a wiki's dump are read: those with ``titles`` (all where none) in
    ``namespaces`` (the articles where none), the first ``limit`` of them (0: all)."""

    titles: tuple[str, ...] = ()
    namespaces: tuple[int, ...] = ()
    limit: int = 0


EVERY_ARTICLE = WikiChoice()


def ingest_paths(
    store: Store,
    paths: Sequence[Path],
    *,
    clock: Clock,
    stated: Stated | None = None,
    stated_for: Mapping[str, Stated] | None = None,
    ocr: OcrUse = "auto",
    watch: Watch | None = None,
    choice: WikiChoice = EVERY_ARTICLE,
    open_reader: Callable[[], GuardedReader] = GuardedReader,
    scanner: Scanner | None = None,
    located: Callable[[Mapping[bytes, Path]], None] | None = None,
    keeps_sources: bool = False,
) -> IngestReport:
    """Reads the documents of files and folders and stores them, page by page.

    A file that cannot be read stands in the report and keeps no other from being read; a page that
    cannot is stored as unread, with the reason. Then the pages that are images, or whose characters
    are no words, are read by ``scanner`` (by OCR, where there is none): with ``ocr`` "always" all
    pages that can be seen, with "never" none. ``stated`` holds for all files, ``stated_for`` for
    those that it names, ``choice`` for dumps of wikis; ``located`` hears where the files of sources
    lie, by digest. The same files again change nothing. With ``keeps_sources`` a document that is
    here stays the source that it is, whatever was stated of it, unless it has another licence.
    Raises BadInput where there is no document at all, ExtraMissing where OCR was asked for and is
    not installed.
    """
    scanner = scanner or OcrScanner()
    if ocr == "always" and scanner.needs:
        raise ExtraMissing("What reads images of pages is not installed.", hint=scanner.needs)
    found = find_files(paths, figures=ocr == "always")
    if not found.files:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in found.others.items())
        raise BadInput(
            "There is no document to read." + (f" Found: {kinds}." if kinds else ""),
            hint=formats_hint(found.others),
        )
    about = [_stated(file, stated or Stated(), stated_for or {}) for file in found.files]
    taking = [
        Taking(store, file, each, clock, scans_all=ocr == "always", keeps_sources=keeps_sources)
        for file, each in zip(found.files, about, strict=True)
    ]
    with open_reader() as reader:
        now = taking[0]
        jobs = [
            structs.replace(
                each.job, titles=choice.titles, namespaces=choice.namespaces, limit=choice.limit
            )
            for each in taking
        ]
        for place, event in reader.read(jobs):
            if taking[place] is not now:
                now.pause()
                now = taking[place]
            now.take(event)
            if watch is not None:
                watch(now.file.inside, place + 1, len(taking), now.n_read, now.n_pages)
        now.pause()
    wanting = [each for each in taking if each.to_scan(scanner.reader)]
    if ocr != "never" and not scanner.needs and wanting:
        scan_pages(wanting, scanner, watch)
    for each in taking:
        each.close()
    if located is not None:
        located({content: each.file.path for each in taking for content in each.contents})
    named = {name for file in found.files for name in (file.inside, file.path.name)}
    return IngestReport(
        taken=tuple(entry for each in taking for entry in each.taken),
        not_read=tuple(each.refused for each in taking if each.refused is not None),
        others=found.others,
        advice=tuple(document_advice(found.others)),
        unused=tuple(name for name in stated_for or {} if name not in named),
        needs=scanner.needs if wanting and ocr != "never" else "",
    )


def _stated(file: FoundFile, of_all: Stated, by_file: Mapping[str, Stated]) -> Stated:
    own = by_file.get(file.inside) or by_file.get(file.path.name)
    return merged(own, of_all) if own else of_all
