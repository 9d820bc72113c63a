"""Find the documents of a file's questions: in the workspace, or in the folder of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from proofstone.errors import BadInput
from proofstone.ingest.ingest import ingest_paths
from proofstone.method import Method
from proofstone.models.tokens import load_cl100k
from proofstone.records.knowledge import BuiltFact, Source
from proofstone.records.tables import Library, Row
from proofstone.session.session import Session
from proofstone.store.knowledge import IndexedSource

_ID_DIGITS = 8  # of a source, so that they are not taken for a title


class StoredLibrary:
    """The documents of a workspace, and files in the folder of a file, which are then ingested."""

    def __init__(self, session: Session, folder: Path) -> None:
        self._session, self._folder = session, folder
        self._found: dict[str, Sequence[Source]] = {}

    def named(self, name: str) -> Sequence[Source]:
        """Return the documents of a title, file name or id, otherwise of the file of this name.

        Raises BadInput for a file that cannot be read.
        """
        if name not in self._found:
            self._found[name] = self._stored(name) or self._ingested(name)
        return self._found[name]

    def pages(self, source: bytes) -> Mapping[int | None, str]:
        """Return the texts of a document's pages in order, by page number."""
        pages = self._session.store.pages.pages(source)
        return {page.number: page.text for page in pages if page.text}

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return load_cl100k()(text)

    def _stored(self, name: str) -> Sequence[Source]:
        store = self._session.store
        plain = " ".join(name.split()).casefold()
        digits = name.removeprefix("source:")

        def is_named(source: IndexedSource) -> bool:
            is_title = " ".join(source.title.split()).casefold() == plain
            is_id = len(digits) >= _ID_DIGITS and source.id.hex().startswith(digits)
            return source.kind != "web" and (is_title or is_id or source.origin == name)

        found = [source.id for source in store.indexed.sources() if is_named(source)]
        return list(store.knowledge.sources(found).values())

    def _ingested(self, name: str) -> Sequence[Source]:
        path = self._folder / name
        if not path.is_file():
            return ()
        report = ingest_paths(self._session.store, [path], clock=self._session.clock)
        if report.not_read:
            raise BadInput(f"{path.name} cannot be read: {report.not_read[0].why}")
        store = self._session.store.knowledge
        return list(store.sources([each.id for each in report.taken]).values())


def read_placed(
    method: Method,
    rows: Iterable[Row],
    library: Library,
    tell: Callable[[str], None] | None,
) -> Sequence[BuiltFact]:
    """Return the facts of rows whose documents are looked up first; all problems at once."""
    if method.place_evidence is None:
        raise ValueError(f"{method.name} places no evidence")
    placed = method.place_evidence(rows, library)
    problems = list(placed.problems)
    built: Sequence[BuiltFact] = ()
    try:
        built = method.read_facts(placed.rows)
    except BadInput as error:
        problems += error.problems
    if problems:
        raise BadInput("cannot read the questions", problems)
    if tell is not None:
        for warning in placed.warnings:
            tell(warning)
    return built
