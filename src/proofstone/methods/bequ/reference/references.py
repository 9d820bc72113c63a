"""A reference that triples are verified against: a bank of the workspace, a file, or a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from proofstone.documents.sources import bare_name, read_documents
from proofstone.errors import BadUsage, NotFound
from proofstone.files.tables import read_checked
from proofstone.method import find_method
from proofstone.records.ids import short
from proofstone.records.knowledge import BuiltFact, Fact
from proofstone.records.tables import Row
from proofstone.session.session import Target, find_target
from proofstone.store.lookup import Found
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

TakeRows = Callable[[Iterable[Row]], None]


_TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown")


_KIND = "bequ.reference"


_PIECE = 2**20


class Reference(Struct, frozen=True):
    """Where a reference is read: its rows go to a function, as often as wanted. ``label`` is its
    name and the first digits of its ``id``; ``origins`` tells what its texts are from."""

    id: bytes
    name: str
    take: Callable[[TakeRows], None]
    origins: Callable[[], Sequence[Origin]]

    @property
    def label(self) -> str:
        """Its name with digits that tell it from others of that name."""
        return f"{self.name}-{short(self.id)}"


def find_reference(store: Store, reference: Target | Path, encoding: str = "") -> Reference:
    """The reference that is meant: a file or folder where there is one of this name, else a bank.
    Raises NotFound, and BadUsage for a bank of something else."""
    if isinstance(reference, str | Path) and Path(reference).exists():
        return _of_files(Path(reference), encoding)
    if isinstance(reference, Path):
        raise NotFound(f"there is no {reference}", hint="name a file, a folder or a bank")
    return _of_bank(store, find_target(store, reference, ("bank",)))


def reference_files(reference: Path) -> list[Path]:
    """The files of a reference: itself, or those of a folder by their names."""
    if not reference.is_dir():
        if not reference.exists():
            raise NotFound(f"there is no {reference}", hint="name a file or a folder")
        return [reference]
    files = sorted(each for each in reference.iterdir() if each.is_file())
    files = [each for each in files if not each.name.startswith(".")]
    if not files:
        raise BadUsage(f"{reference}: the folder holds no file")
    return files


def take_file(take: TakeRows, file: Path, encoding: str) -> None:
    """Reads one file of a reference: rows, or the text of the entity that it is named for."""
    if file.suffix.lower() in _TEXT_SUFFIXES:
        (document,) = read_documents(file)
        take([Row(file.name, {"entity": bare_name(file), "text": document.text})])
        return
    read_checked(file, take, encoding=encoding)


def _of_files(path: Path, encoding: str) -> Reference:
    files = reference_files(path)

    def take(rows: TakeRows) -> None:
        for file in files:
            take_file(rows, file, encoding)

    origin = Origin(path.name, "", len(files), (path.name,))
    return Reference(_content_of(files), path.name, take, lambda: [origin])


def _content_of(files: Sequence[Path]) -> bytes:
    """The digest of files with their names, which may mean an entity."""
    state = sha256()
    for file in files:
        name = file.name.encode()
        state.update(len(name).to_bytes(4, "big") + name)
        size = 0
        with file.open("rb") as body:
            while piece := body.read(_PIECE):
                state.update(piece)
                size += len(piece)
        state.update(size.to_bytes(8, "big"))
    return state.digest()


def _of_bank(store: Store, found: Found) -> Reference:
    bank = store.knowledge.bank(found.id)
    method = find_method(bank.method)
    first = next(store.knowledge.pages_of_bank(found.key, 1), [])
    if not first or first[0].kind != _KIND:
        raise BadUsage(
            f"bank {found.name} holds no reference",
            hint="make one: proofstone build reference ENTITIES --corpus ... -m PROVIDER/NAME",
        )

    def facts() -> Iterator[Fact]:
        for page in store.knowledge.pages_of_bank(found.key):
            yield from page

    def take(rows: TakeRows) -> None:
        rows(
            Row(f"fact:{short(fact.id)}", method.write_fact(BuiltFact(fact), {}))
            for fact in facts()
        )

    def origins() -> list[Origin]:
        return store.origins.of_facts([fact.id for fact in facts()], found.name)

    return Reference(found.id, found.name, take, origins)
