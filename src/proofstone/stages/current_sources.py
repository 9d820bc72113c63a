"""Which sources are searched where nobody names any: of a document read again, its newest edition.

A new edition is a source beside the old one, and both hold much the same sentences: side by side
each would crowd the other out, and the old would speak against the new.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from proofstone.engines.store import IndexedSource

__all__ = ["OF_THE_WEB", "WEB", "current_sources"]

WEB = "web"  # the kind of pages that a search of the web found; they are found by that search alone
OF_THE_WEB = "pages of the web"  # how all of them are called where it is said what goes where


def current_sources(present: Sequence[IndexedSource]) -> list[IndexedSource]:
    """Those that hold now, in their order; without pages of the web.

    Two are editions of one document where kind, title and language are the same, and besides their
    file's name or address, of which the one that came later holds; or their authors, with years
    that differ, of which the latest holds. All else are documents of their own.
    """
    own = [source for source in present if source.kind != WEB]
    newest: dict[Hashable, int] = {}
    latest: dict[Hashable, int] = {}
    for number, source in enumerate(own):
        newest[_place(source)] = number
        if source.year is not None:
            latest[_work(source)] = max(latest.get(_work(source), source.year), source.year)
    return [
        source
        for number, source in enumerate(own)
        if (not source.origin or newest[_place(source)] == number)
        and (source.year is None or latest[_work(source)] == source.year)
    ]


def _place(source: IndexedSource) -> Hashable:
    # A year that is stated decides: whoever reads the old edition again means no new one.
    return source.kind, source.title, source.language, source.origin, source.year


def _work(source: IndexedSource) -> Hashable:
    return source.kind, source.title, source.language, source.authors
