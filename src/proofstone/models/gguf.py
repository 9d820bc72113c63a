"""A GGUF file as a model's identity: its content, never the place where it lies."""

from __future__ import annotations

from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

from msgspec import Struct

from proofstone.errors import EndpointUnusable, NotFound

_MAGIC = b"GGUF"


_DIGITS = 16


class GgufFile(Struct, frozen=True):
    """A model file. ``endpoint`` names its content and ``served_as`` its name: the same file has
    both on every machine, so stored replies of one machine serve as cache on another."""

    path: Path
    sha256: str

    @property
    def endpoint(self) -> str:
        """What enters the request hash in place of an address."""
        return f"gguf:{self.sha256[:_DIGITS]}"

    @property
    def served_as(self) -> str:
        """The file's name without its folders."""
        return self.path.name


def open_gguf(path: Path) -> GgufFile:
    """The file with the SHA-256 of its bytes, read once a process while size and time stay.

    Raises NotFound where there is no such file, EndpointUnusable where it is no GGUF model.
    """
    path = path.expanduser()
    if not path.is_file():
        raise NotFound(f"there is no model file {path}", hint=_near(path))
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
        stat = path.stat()
        digest = _sha256(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise EndpointUnusable(f"the model file {path} cannot be read: {error.strerror}") from error
    if start != _MAGIC:
        raise EndpointUnusable(
            f"{path} is no GGUF model: it starts with {start!r}, not {_MAGIC!r}",
            hint="a file that is still being downloaded, or a pointer to one (Git LFS), looks so",
        )
    return GgufFile(path, digest)


@lru_cache(maxsize=64)
def _sha256(path: Path, _size: int, _changed_ns: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _near(path: Path) -> str:
    """The model files that stand where this one was looked for."""
    folder = path.parent
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    names = sorted(file.name for file in folder.glob("*.gguf"))
    return f"in {folder}: {', '.join(names)}" if names else f"no .gguf file lies in {folder}"
