"""Entities and verdicts of a page: within it where they are few, else in a folder beside it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from proofstone import __version__
from proofstone.identity import digest
from proofstone.records.triples import VerifiedRuns
from proofstone.report.triples.held import MOST_ENTITIES, MOST_TRIPLES, Held, Holding, Piece
from proofstone.stages.own_files import HELD, check_folder, files_into, take_away

__all__ = ["MOST_IN_PAGE", "folder_beside", "hold"]

# Characters of all pieces that a page holds itself; more lie beside it, so that it opens at once.
MOST_IN_PAGE = 1_500_000


def folder_beside(page: Path) -> Path:
    """The folder of what lies beside a page: ``report.html`` has ``report_files``."""
    return page.with_name(f"{page.stem}_files")


def hold(
    verified: VerifiedRuns,
    page: Path,
    *,
    most: int = MOST_TRIPLES,
    most_in_page: int = MOST_IN_PAGE,
) -> Held:
    """What the page holds, at ``most`` so many triples; what is too much for it is written beside
    it, a piece at a time, all of it or nothing. Raises what ``files_into`` does: files there that
    are not ours stay."""
    folder, stamp = folder_beside(page), _stamp(verified)
    holding = Holding(verified, most)
    pieces = holding.pieces()
    first = _first(pieces, most_in_page)
    if sum(len(piece.json) for piece in first) <= most_in_page:
        take_away(folder, HELD)
        return _held(holding, verified, stamp, folder, tuple(first))
    check_folder(folder, [], HELD)
    with files_into(folder, f"proofstone {__version__}", HELD) as (stage, about):
        for piece in chain(first, pieces):
            name = f"{piece.name}.js"
            _write(stage / name, piece, stamp)
            about[name] = f"rows of the page {page.name}"
    return _held(holding, verified, stamp, folder, ())


def _first(pieces: Iterator[Piece], most: int) -> list[Piece]:
    """The first pieces: all of them, or just more than ``most`` characters."""
    first: list[Piece] = []
    n = 0
    for piece in pieces:
        first.append(piece)
        n += len(piece.json)
        if n > most:
            break
    return first


def _write(path: Path, piece: Piece, stamp: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'proofstoneHeld("{stamp}","{piece.name}",')
        file.write(piece.json)
        file.write(");\n")


def _held(
    holding: Holding,
    verified: VerifiedRuns,
    stamp: str,
    folder: Path,
    pieces: tuple[Piece, ...],
) -> Held:
    return Held(
        stamp=stamp,
        folder=folder.name,
        triples=holding.triples,
        all_triples=holding.all_triples,
        entities=min(len(verified.entities), MOST_ENTITIES),
        all_entities=len(verified.entities),
        names={kind: tuple(names) for kind, names in holding.names.items()},
        pieces=pieces,
        groups=tuple((group.model, group.setting) for group in verified.groups),
        verdicts=tuple(holding.verdicts),
        first_entities=tuple(holding.first_entities),
    )


def _stamp(verified: VerifiedRuns) -> str:
    """What pieces and their page share: which runs they are of, held against what."""
    said = [run for runs in verified.runs for run in runs]
    told = f"{verified.judges}|{verified.reference}|{verified.sampling}"
    return digest(b"".join(said) + told.encode("utf-8", "backslashreplace")).hex()[:16]
