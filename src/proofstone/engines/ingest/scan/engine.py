"""Lines of print read from an image, each with its corners and how sure the reading is.

The models are inside the package of rapidocr: one that finds lines and one that reads them, both
for English and Chinese. Nothing is fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from proofstone.engines.ingest.scan.installed import INSTALL, is_ocr_installed
from proofstone.errors import ExtraMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OcrEngine", "OcrLine"]

_LEAST_SURE = 0.5  # lines that are read with less are specks and rules
_DOUBTFUL = 0.75  # a page read with less may stand on its head
_TALL = 1.5
_LONGEST_SIDE = 6000  # pixels; what is larger is made smaller


class OcrLine(NamedTuple):
    """A line of print: its corners in pixels (x, y), clockwise from the top left."""

    text: str
    confidence: float
    corners: NDArray[np.float64]


class OcrEngine:
    """Reads images with one thread; the models are loaded once. Raises ExtraMissing."""

    def __init__(self) -> None:
        if not is_ocr_installed():
            raise ExtraMissing("What reads images of pages is not installed.", hint=INSTALL)
        from rapidocr import RapidOCR  # noqa: PLC0415 - in an extra, and slow to import

        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.text_score": 0.0,
                "Global.use_cls": False,
                "Global.max_side_len": _LONGEST_SIDE,
                "Det.limit_type": "max",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, image: NDArray[np.uint8], find_in: int) -> tuple[list[OcrLine], int]:
        """The lines of an image (rows, columns, RGB), and by how many quarters anticlockwise it was
        turned to read them; corners are those of the turned image.

        Lines are looked for in a copy whose longer side has ``find_in`` pixels, and read in the
        image itself. An image that lies on its side, or that reads badly, is tried turned.
        """
        best = self._lines(image, find_in)
        turns = 0
        for candidate in _other_turns(best):
            lines = self._lines(np.ascontiguousarray(np.rot90(image, candidate)), find_in)
            if _weight(lines) > 1.1 * _weight(best):
                best, turns = lines, candidate
        return [line for line in best if line.confidence >= _LEAST_SURE], turns

    def _lines(self, image: NDArray[np.uint8], find_in: int) -> list[OcrLine]:
        engine = self._engine
        engine._load_det_model().limit_side_len = find_in  # noqa: SLF001 - set at its making only
        found = engine(np.ascontiguousarray(image[:, :, ::-1]))  # as OpenCV has colours
        boxes, texts, scores = found.boxes, found.txts, found.scores
        if boxes is None or texts is None or scores is None:
            return []
        return [
            OcrLine(" ".join(text.split()), float(score), np.asarray(corners, dtype=np.float64))
            for corners, text, score in zip(boxes, texts, scores, strict=True)
            if text.strip()
        ]


def _other_turns(lines: list[OcrLine]) -> tuple[int, ...]:
    """The turns, in quarters, that may read better than none."""
    n = sum(len(line.text) for line in lines)
    if n < 20:
        return ()
    tall = sum(len(line.text) for line in lines if _is_tall(line.corners))
    if tall > 0.5 * n:
        return 1, 3
    sure = sum(line.confidence * len(line.text) for line in lines) / n
    return (2,) if sure < _DOUBTFUL else ()


def _is_tall(corners: NDArray[np.float64]) -> bool:
    across, down = corners[1] - corners[0], corners[3] - corners[0]
    return bool(np.hypot(*down) > _TALL * np.hypot(*across))


def _weight(lines: list[OcrLine]) -> float:
    """How much is read how surely, lines that stand on their side not counted."""
    return sum(
        line.confidence**2 * len(line.text)
        for line in lines
        if line.confidence >= _LEAST_SURE and not _is_tall(line.corners)
    )
