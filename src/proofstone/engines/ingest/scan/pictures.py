"""The pages of a document as pictures, whatever file they come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from proofstone.engines.ingest.documents import plain_name
from proofstone.engines.ingest.kinds_of_file import kind_of
from proofstone.engines.ingest.lines import read_whole_file
from proofstone.engines.ingest.pdf.opening import open_pdf
from proofstone.engines.ingest.scan.image_file import ImageFile
from proofstone.errors import BadInput, BadUsage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["POINTS", "PdfPictures", "Pictures", "open_pictures"]

POINTS = 72.0  # an inch
_LONGEST_SIDE = 6000  # pixels of a picture that is made


class Pictures(Protocol):
    """Pages that can be seen; sizes are points as displayed."""

    n_pages: int

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of a page."""

    def pixels(self, index: int, dpi: float) -> NDArray[np.uint8]:
        """A page as rows, columns, RGB, at about ``dpi``; of an image file its own pixels."""

    def close(self) -> None:
        """Gives the file back."""


class PdfPictures:
    """The pages of a PDF, drawn."""

    def __init__(self, path: Path | bytes, name: str) -> None:
        """Raises as ``open_pdf`` does."""
        self._document, self.n_pages = open_pdf(path, name)
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - in an extra

        self._error = PdfiumError

    def close(self) -> None:
        """Gives the file back."""
        self._document.close()

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of a page in points. Raises BadInput where it cannot be loaded."""
        try:
            width, height = self._document.get_page_size(index)
        except self._error as cause:
            raise BadInput(f"page {index + 1} cannot be loaded: {cause}") from cause
        return float(width), float(height)

    def pixels(self, index: int, dpi: float) -> NDArray[np.uint8]:
        """A page as rows, columns, RGB; at less than ``dpi`` where it would be larger than can be
        held. Raises BadInput where it cannot be loaded."""
        try:
            page = self._document[index]
        except self._error as cause:
            raise BadInput(f"page {index + 1} cannot be loaded: {cause}") from cause
        try:
            width, height = page.get_size()
            scale = min(dpi / POINTS, _LONGEST_SIDE / max(width, height, 1.0))
            drawn = page.render(scale=scale, rev_byteorder=True)
            pixels: NDArray[np.uint8] = drawn.to_numpy().copy()
            drawn.close()
        finally:
            page.close()
        return pixels[:, :, :3]


class _ImagePictures:
    """The pages of an image file, as they are."""

    def __init__(self, path: Path) -> None:
        self._file = ImageFile(path)
        self.n_pages = self._file.n_pages

    def size(self, index: int) -> tuple[float, float]:
        return self._file.size(index)

    def pixels(self, index: int, dpi: float) -> NDArray[np.uint8]:
        del dpi
        return self._file.pixels(index)

    def close(self) -> None:
        self._file.close()


def open_pictures(path: Path) -> Pictures:
    """The pages of a PDF or an image file. Raises BadUsage for any other document, and what opening
    these raises."""
    kind = kind_of(path)
    if kind == "pdf":
        content = read_whole_file(path) if path.suffix.lower() == ".gz" else path
        return PdfPictures(content, plain_name(path))
    if kind == "image":
        return _ImagePictures(path)
    raise BadUsage(f"{path.name} has no pages that can be seen: only PDF and image files do")
