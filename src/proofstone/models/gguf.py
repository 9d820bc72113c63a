"""Read GGUF model files: their identity, and the context window that a model was trained with.

The format: a magic number, version, counts of tensors and of fields, then the fields, each a name,
a type and a value, little-endian (specification: ggml, docs/gguf.md).
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from proofstone.errors import EndpointUnusable, NotFound

# A file's identity is its content, never its path.

_MAGIC = b"GGUF"
_DIGITS = 16

# Sizes in bytes of values with a fixed length, by their type in the file. 8 is a text, 9 a list.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_WHOLE = {4, 5, 10, 11}  # types of whole numbers of 4 or 8 bytes
_TEXT, _LIST = 8, 9
_LONGEST_NAME = 65_535  # bytes of a field's name


class GgufFile(Struct, frozen=True):
    """A model file.

    ``endpoint`` identifies its content and ``reported_as`` its name. Both are the same on every
    machine, so stored responses of one machine can be reused on another. ``trained_window`` is the
    number of tokens that the model was trained with, None if the file does not say.
    """

    path: Path
    sha256: str
    trained_window: int | None = None

    @property
    def endpoint(self) -> str:
        """Return the text that replaces an address in the request hash."""
        return f"gguf:{self.sha256[:_DIGITS]}"

    @property
    def reported_as(self) -> str:
        """Return the file's name without its folders."""
        return self.path.name


def open_gguf(path: Path) -> GgufFile:
    """Return the file with its SHA-256, read once per process while size and time stay the same.

    Raises NotFound if the file is missing, EndpointUnusable if it is not a GGUF model.
    """
    path = path.expanduser()
    if not path.is_file():
        raise NotFound(f"model file {path} not found", hint=_near(path))
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
            window = _trained_window(file) if start == _MAGIC else None
        stat = path.stat()
        digest = _sha256(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise EndpointUnusable(f"the model file {path} cannot be read: {error.strerror}") from error
    if start != _MAGIC:
        raise EndpointUnusable(
            f"{path} is not a GGUF model: expected {_MAGIC!r} at its start, got {start!r}",
            hint="the download may be incomplete, or the file may be a pointer (Git LFS)",
        )
    return GgufFile(path, digest, window)


@lru_cache(maxsize=64)
def _sha256(path: Path, _size: int, _changed_ns: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _near(path: Path) -> str:
    """Return the model files in the folder where this one was expected."""
    folder = path.parent
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    names = sorted(file.name for file in folder.glob("*.gguf"))
    return f"in {folder}: {', '.join(names)}" if names else f"{folder} holds no .gguf file"


def _trained_window(file: BinaryIO) -> int | None:
    """Return the field ARCHITECTURE.context_length of a file opened after its magic number.

    None if the file has no such field, or cannot be read up to it.
    """
    try:
        file.seek(4 + 8, 1)  # version and number of tensors
        for _ in range(_number(file, 8)):
            name = file.read(min(_number(file, 8), _LONGEST_NAME)).decode("utf-8", "replace")
            kind = _number(file, 4)
            if name.count(".") == 1 and name.endswith(".context_length") and kind in _WHOLE:
                return _number(file, _SIZES[kind]) or None
            _skip(file, kind)
    except (EOFError, KeyError, OSError, OverflowError, ValueError):
        return None
    return None


def _number(file: BinaryIO, size: int) -> int:
    """Return the next whole number. Raises EOFError at the end of the file."""
    found = file.read(size)
    if len(found) < size:
        raise EOFError
    return int.from_bytes(found, "little")


def _skip(file: BinaryIO, kind: int) -> None:
    """Move past a value. Raises KeyError for an unknown type, EOFError at the end of the file."""
    if kind == _TEXT:
        file.seek(_number(file, 8), 1)
    elif kind == _LIST:
        of, count = _number(file, 4), _number(file, 8)
        if of == _TEXT:
            for _ in range(count):
                _skip(file, of)
        else:
            file.seek(_SIZES[of] * count, 1)
    else:
        file.seek(_SIZES[kind], 1)
