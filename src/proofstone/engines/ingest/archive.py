"""The files within a zipped document, each and all of a size that is bounded before it is held."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

from proofstone.engines.ingest.lines import read_whole_file
from proofstone.errors import BadInput, ExtraMissing

__all__ = ["MAX_PART", "Archive"]

MAX_PART = 32 * 2**20  # bytes of one file within
_MAX_ALL = 256 * 2**20  # bytes that are read of all of them
_MOST_FILES = 50_000
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError,
    NotImplementedError,
)  # fmt: skip


class Archive:
    """A zipped document, packed once more (.gz) or not; ``what`` it should be, in words.

    Sizes are counted as bytes come out, whatever the archive says of them. Raises NotFound, and
    BadInput for what is no archive, damaged, encrypted or too large.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.name = path.name
        self._what = what
        self._left = _MAX_ALL
        try:
            self._zip = zipfile.ZipFile(BytesIO(read_whole_file(path)))
        except _DAMAGE as cause:
            raise self._no_such(cause) from cause
        self._names = set(self._zip.namelist())
        if len(self._names) > _MOST_FILES:
            raise BadInput(f"{self.name} holds more than {_MOST_FILES:,} files.", hint="Split it.")

    @property
    def names(self) -> list[str]:
        """The files within, in order of names."""
        return sorted(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes:
        """The bytes of one file within."""
        if name not in self._names:
            raise BadInput(f"{self.name} lacks {name}, and is {self._what} only with it.")
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise BadInput(f"{self.name} is encrypted and opens only with a password.")
        try:
            with self._zip.open(info) as stream:
                data = stream.read(MAX_PART + 1)
        except _DAMAGE as cause:
            raise self._no_such(cause) from cause
        self._left -= len(data)
        if len(data) > MAX_PART or self._left < 0:
            raise BadInput(
                f"{self.name} unpacks to more than is read: {MAX_PART:,} bytes of one file within "
                f"({name}), {_MAX_ALL:,} of all.",
                hint="Split it.",
            )
        return data

    def xml(self, name: str) -> Any:
        """The root element of one file within. No entity is expanded and nothing else is fetched.

        Raises ExtraMissing without lxml.
        """
        try:
            from lxml import etree  # noqa: PLC0415 - in an extra
        except ImportError as missing:
            raise ExtraMissing(
                f"{self.name} is {self._what}, and what reads that is not installed.",
                hint="pip install 'proofstone[html]'",
            ) from missing
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            return etree.fromstring(self.read(name), parser)
        except (etree.LxmlError, ValueError) as cause:
            raise BadInput(f"{self.name}: {name} is no XML ({cause}).") from cause

    def _no_such(self, cause: BaseException) -> BadInput:
        return BadInput(f"{self.name} is damaged or is no {self._what.split()[-1]} ({cause}).")
