"""Seeing pages: the part of a workspace that finds their documents and draws them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proofstone.engines.store import Store
from proofstone.records import Source
from proofstone.wiring.documents import find_document, note_documents

__all__ = ["Seeing"]


class Seeing:
    """An open workspace's folder and store, with the documents behind its pages."""

    folder: Path
    store: Store

    def note_documents(self, found: Mapping[bytes, Path]) -> None:
        """Notes where files with these digests lie on this machine."""
        note_documents(self.folder, found)

    def document_of(self, source: bytes, named: Path | None = None) -> Path:
        """The file that a source was read from; see ``find_document`` for what it raises."""
        return find_document(self.folder, self._source(source), named)

    def draw(
        self, name: str, *, dpi: float = 150, crop: bool = False, document: Path | str | None = None
    ) -> bytes:
        """A page (``page:SOURCE/NUMBER``) or the page of a passage as PNG, the passage marked; with
        ``crop`` the passage alone, all else masked."""
        from proofstone.stages.page_images import (  # noqa: PLC0415
            Seen,
            draw_seen,
            find_page,
            seen_of,
        )

        kind, _colon, rest = name.partition(":")
        if kind == "page":
            seen = Seen(find_page(self.store, rest))
        else:
            seen = seen_of(self.store, self.store.lookup.find(name))
        path = self.document_of(seen.page.source, None if document is None else Path(document))
        return draw_seen(seen, path, dpi=dpi, crop=crop)

    def _source(self, identity: bytes) -> Source:
        return self.store.knowledge.sources([identity])[identity]
