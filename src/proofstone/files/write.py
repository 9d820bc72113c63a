"""Write rows to a file atomically, in a form that ``read_rows`` reads back."""

from __future__ import annotations

import gzip
import io
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from proofstone.errors import BadUsage, StoreFailed
from proofstone.files.csv import neutralised
from proofstone.files.parquet import write_parquet
from proofstone.files.tables import table_suffix
from proofstone.files.xlsx import write_xlsx

Values = Mapping[str, Any]


def write_rows(
    path: Path | str, rows: Iterable[Values], *, columns: Sequence[str] | None = None
) -> int:
    """Write rows by the suffix of ``path`` (JSONL, CSV, TSV, each also ``.gz``; Parquet; Excel).

    UTF-8, lines end in LF on every system, and equal rows give equal bytes. The file appears under
    its name only when complete, replacing an older one. Returns the number of rows. Raises BadUsage
    for a missing folder, StoreFailed if the disk is full or the folder is not writable.

    Formats with columns have ``columns``, also without rows (default: all names in order of first
    appearance). In CSV and TSV a missing value, None and an empty text are all an empty cell,
    read back as missing. True, false and numbers are written as JSON, lists and objects as JSON in
    one cell. Formula-like texts are escaped (``neutralised``). Reading restores texts.
    """
    path = Path(path)
    suffix = check_target(path)
    with _put_in_place(path) as part:
        if suffix in _WHOLE:
            held = list(rows)
            _WHOLE[suffix](part, _columns(held, columns), held)
            return len(held)
        with _packed(part, is_packed=path.suffix.lower() == ".gz") as file:
            if suffix in _SEPARATORS:
                return _write_separated(file, rows, _SEPARATORS[suffix], columns)
            return _write_lines(file, rows)


def csv_bytes(rows: Iterable[Values], columns: Sequence[str]) -> bytes:
    """Return the bytes that ``write_rows`` writes to a CSV file."""
    file = io.BytesIO()
    _write_separated(file, rows, ",", columns)
    return file.getvalue()


def check_target(path: Path) -> str:
    """Return the suffix by which rows are written to ``path``.

    Raises BadUsage for an unsupported one, and for a missing folder.
    """
    suffix = table_suffix(path, unpacked=tuple(_WHOLE))
    if suffix == ".json":
        raise BadUsage(f"{path.name}: write rows as .jsonl, one object per line")
    if not path.parent.is_dir():
        raise BadUsage(
            f"{path}: folder {path.parent} does not exist", hint="create it, or use another"
        )
    return suffix


@contextmanager
def _put_in_place(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to ``path`` that takes its name on success and is deleted
    otherwise.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        os.replace(part, path)  # noqa: PTH105
    except OSError as cause:
        raise StoreFailed(
            f"cannot write {path}: {cause.strerror or cause}",
            hint="check the folder, its permissions and the free space; an existing file was not "
            "changed",
        ) from cause
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _packed(part: Path, *, is_packed: bool) -> Iterator[BinaryIO]:
    with part.open("wb") as file:
        if not is_packed:
            yield file
            return
        # Without name and time, so that equal rows give equal bytes.
        with gzip.GzipFile(
            filename="", fileobj=file, mode="wb", mtime=0, compresslevel=6
        ) as packed:
            yield cast("BinaryIO", packed)


def _write_lines(file: BinaryIO, rows: Iterable[Values]) -> int:
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007
        file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    return count


def _columns(rows: Iterable[Values], named: Sequence[str] | None) -> list[str]:
    return (
        list(named)
        if named is not None
        else list(dict.fromkeys(name for row in rows for name in row))
    )


def _write_separated(
    file: BinaryIO, rows: Iterable[Values], separator: str, named: Sequence[str] | None
) -> int:
    held: Sequence[Values] = list(rows)
    columns = _columns(held, named)
    if columns:
        file.write(_record([neutralised(name) for name in columns], separator))
    cells = ([_cell(row.get(name)) for name in columns] for row in held)
    file.writelines(_record(record, separator) for record in cells)
    return len(held)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return neutralised(value) if isinstance(value, str) else orjson.dumps(value).decode()


def _record(cells: Sequence[str], separator: str) -> bytes:
    """Return one record.

    The csv module's writer leaves a lone carriage return unquoted when lines end in LF, and its
    reader then rejects it.
    """
    # Quotes semicolons and tabs too: in a header without a comma, ``separator_of`` would take them
    # as separators.
    signs = (separator, '"', "\n", "\r", ";", "\t")
    quoted = (
        '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in signs) else cell
        for cell in cells
    )
    line = separator.join(quoted) or '""'
    return (line + "\n").encode("utf-8")


_WHOLE: Mapping[str, Callable[[Path, Sequence[str], Sequence[Values]], None]] = {
    ".parquet": write_parquet,
    ".xlsx": write_xlsx,
}


_SEPARATORS = {".csv": ",", ".tsv": "\t"}
