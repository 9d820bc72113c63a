"""Image files as documents: PNG, JPEG and WebP with one page, TIFF with as many as it holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proofstone.engines.ingest.lines import read_whole_file
from proofstone.engines.ingest.scan.installed import INSTALL
from proofstone.errors import BadInput, ExtraMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ImageFile", "ImageTooLarge"]

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")
_SCREEN_DPI = 96.0
_LEAST_DPI, _MOST_DPI = 60.0, 2400.0
_MOST_PIXELS = 120_000_000
_MOST_PAGES = 5_000


class ImageTooLarge(Exception):
    """A page has more pixels than are read; the argument is how many."""


class ImageFile:
    """An open image file. Close it; or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Raises ExtraMissing without Pillow, BadInput for what is none of these images."""
        try:
            from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - in an extra
        except ImportError as missing:
            raise ExtraMissing(
                f"{path.name} is an image, and what reads those is not installed.", hint=INSTALL
            ) from missing
        Image.MAX_IMAGE_PIXELS = None  # told by the size, before a pixel is unpacked
        content = _content(path)
        try:
            self._image: Any = Image.open(content, formats=_FORMATS)
            self.n_pages = int(getattr(self._image, "n_frames", 1))
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as cause:
            raise BadInput(
                f"{path.name} is damaged, or no PNG, JPEG, TIFF or WebP image.",
                hint="Open it in a viewer; if it opens, save it anew.",
            ) from cause
        if self.n_pages > _MOST_PAGES:
            raise BadInput(f"{path.name} has {self.n_pages:,} images; {_MOST_PAGES:,} are read.")
        if self._image.format == "WEBP":
            self.n_pages = 1  # an animation is no document

    def __enter__(self) -> ImageFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the file back."""
        self._image.close()

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of a page in points, by the resolution that the file states; 96 dots an
        inch where it states none that can be."""
        self._image.seek(index)
        width, height = self._image.size
        stated = self._image.info.get("dpi")
        dpi = float(stated[0]) if isinstance(stated, tuple) and stated else 0.0
        dpi = dpi if _LEAST_DPI <= dpi <= _MOST_DPI else _SCREEN_DPI
        if self._is_turned():
            width, height = height, width
        return 72 * width / dpi, 72 * height / dpi

    def pixels(self, index: int) -> NDArray[np.uint8]:
        """A page as it is displayed: rows, columns, RGB. Raises ImageTooLarge, and BadInput where
        it is damaged."""
        from PIL import Image, ImageOps  # noqa: PLC0415 - in an extra

        try:
            self._image.seek(index)
            width, height = self._image.size
            if width * height > _MOST_PIXELS:
                raise ImageTooLarge(width * height)
            upright = ImageOps.exif_transpose(self._image)
            if upright.mode in {"RGBA", "LA", "P", "PA"}:  # what is clear is paper
                upright = upright.convert("RGBA")
                paper = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(paper, upright)
            elif upright.mode.startswith("I"):
                upright = upright.point(lambda value: value / 256).convert("L")
            return np.asarray(upright.convert("RGB"))
        except (OSError, ValueError, SyntaxError, EOFError) as cause:
            raise BadInput(f"image {index + 1} is damaged: {cause}") from cause

    def _is_turned(self) -> bool:
        """Whether the camera lay on its side, so that the image is displayed turned."""
        return int(self._image.getexif().get(0x0112, 1)) >= 5


def _content(path: Path) -> Any:
    if path.suffix.lower() != ".gz":
        return path
    from io import BytesIO  # noqa: PLC0415

    return BytesIO(read_whole_file(path))
