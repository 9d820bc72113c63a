"""Dumps of a wiki made for tests, by MediaWiki's schema."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from xml.sax.saxutils import escape

__all__ = ["SITE", "dump", "page"]

SITE = (
    "<siteinfo><sitename>Metal Wiki</sitename><base>https://m.example/wiki/Main</base></siteinfo>"
)


def page(title: str, *texts: str, ns: int = 0, redirect: str = "", number: int = 1) -> str:
    led = f'<redirect title="{redirect}"/>' if redirect else ""
    revisions = "".join(
        f"<revision><id>{number * 10 + k}</id><timestamp>202{k}-01-01T00:00:00Z</timestamp>"
        f"<model>wikitext</model><text>{escape(text)}</text></revision>"
        for k, text in enumerate(texts)
    )
    return f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{led}{revisions}</page>"


def dump(path: Path, *pages: str) -> Path:
    text = (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" '
        f'xml:lang="en">{SITE}{"".join(pages)}</mediawiki>'
    ).encode()
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(text))
    return path
