"""Work lists as files: written once, and never over what a person decided in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proofstone.engines.ingest import read_rows, write_rows
from proofstone.errors import BadUsage, ProofstoneError

__all__ = ["write_work_file"]


def write_work_file(
    path: Path, rows: Iterable[Mapping[str, Any]], *, columns: Sequence[str] | None = None
) -> int:
    """Writes the rows of a work list; returns how many.

    Raises BadUsage where the file is there with other decisions on what is listed than would be
    written now. Otherwise as ``write_rows``.
    """
    listed = list(rows)
    proposed = {str(row.get("target", "")): str(row.get("decision") or "") for row in listed}
    kept = _decisions(path).items()
    lost = sum(proposed.get(target, decision) != decision for target, decision in kept)
    if lost:
        raise BadUsage(
            f"{path} holds {lost} decisions that would be lost",
            hint="carry them out first ('retire --from', 'edit --from'), or name another file",
        )
    return write_rows(path, listed, columns=columns)


def _decisions(path: Path) -> dict[str, str]:
    """The decisions in a file by their targets; none where it is no work list."""
    if not path.is_file():
        return {}
    try:
        rows = [row.values for row in read_rows(path)]
    except ProofstoneError:
        return {}
    return {
        str(row["target"]): str(row["decision"]).strip()
        for row in rows
        if row.get("target") and str(row.get("decision") or "").strip()
    }
