"""Runs of characters without a wide gap, as text with a box: what lines are put together from."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from proofstone.engines.ingest.pdf.glyphs import Glyphs, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ACCENTS", "Font", "Segment", "font_named", "segments_of", "upright"]

_WIDE = 1.0  # ems: a wider gap is no space between words
_BACK = -0.7  # ems: a step back starts anew, an accent's smaller one does not
_SPACE = 0.19  # ems: a gap that is a space although the file has none
_LEAST_SIZE = 0.5  # points: smaller type is not meant to be read
_BOLD = re.compile(r"bold|black|heavy|semibold|demi|CMB|CMSSBX|SFBX|BX\d|-Bd|Medi\b", re.IGNORECASE)
_MATH = re.compile(
    r"CM(MI|SY|EX|BSY|MIB)\d*|MS[AB]M|Math|Symbol|STIX|EU[FSR][MB]|rsfs|MT(MI|SY|EX)|LM(Math|MI|SY|EX)"
    r"|wasy|stmary|tx(sy|mi|ex)|px(sy|mi|ex)|esint|bbm|dsrom",
    re.IGNORECASE,
)
_MONO = re.compile(
    r"mono|courier|CMTT|SFTT|LMMono|consol|typewriter|fixed|menlo|ectt|t1xtt", re.IGNORECASE
)
_HEAVY = 700
_PLAIN = re.compile(r"regular|roman|book|light|slant|mono|CMR|CMSL|CMTI|SFRM", re.IGNORECASE)
# Accents set as characters of their own, and the sign that goes onto the letter.
ACCENTS = {
    "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304", "˙": "\u0307", "¨": "\u0308", "´": "\u0301",
    "`": "\u0300", "ˇ": "\u030c", "˘": "\u0306", "˚": "\u030a", "¸": "\u0327", "⃗": "\u20d7",
}  # fmt: skip
# Some of TeX's typewriter fonts call the quotes so; over nothing they are no accents.
_COMBINING = {"\u0300": "`", "\u0301": "´"}
_QUOTES = re.compile(r"(?:(?<=\s)|^)[\u0300\u0301]")
_BMP = 0xFFFF
_IS_ACCENT = np.zeros(_BMP + 1, dtype=bool)
_IS_ACCENT[[ord(accent) for accent in ACCENTS]] = True


class Font(NamedTuple):
    """What a font's name and weight say of it."""

    is_bold: bool
    is_math: bool
    is_mono: bool


class Segment(NamedTuple):
    """Characters of one run that follow each other closely; ``spaced`` where white space stands
    before the first. ``confidence`` is below 1 where they were read from an image."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    size: float
    font: Font
    spaced: bool
    confidence: float = 1.0


@lru_cache(maxsize=4096)
def font_named(name: str, weight: int) -> Font:
    """The traits of a font; a name that says nothing is upright text."""
    is_math = bool(_MATH.search(name))
    # The weight is made up from the stems' width where a font states none: a name goes before it.
    is_heavy = weight >= _HEAVY and not _PLAIN.search(name)
    is_bold = not is_math and (is_heavy or bool(_BOLD.search(name)))
    return Font(is_bold, is_math, bool(_MONO.search(name)))


def upright(glyphs: Glyphs) -> int:
    """The angle (0, 90, 180, 270) at which most characters of a page stand."""
    angles: dict[int, int] = {0: 0}
    for run in glyphs.runs:
        angles[run.angle] = angles.get(run.angle, 0) + run.end - run.start
    return max(angles, key=lambda angle: (angles[angle], -angle))


def segments_of(glyphs: Glyphs, angle: int = 0) -> list[Segment]:
    """The segments of the characters that stand at ``angle``, in the order of the file."""
    runs = [r for r in glyphs.runs if r.angle == angle and r.size >= _LEAST_SIZE]
    if not runs:
        return []
    sizes = np.zeros(len(glyphs.codes))
    marks = np.zeros(len(glyphs.codes), dtype=np.intp)
    for number, run in enumerate(runs, start=1):
        sizes[run.start : run.end] = run.size
        marks[run.start : run.end] = number
    gaps = np.zeros(len(glyphs.codes))
    gaps[1:] = glyphs.boxes[1:, 0] - glyphs.boxes[:-1, 2]
    baselines = np.array([0.0, *(run.baseline for run in runs)])
    breaks = _breaks(marks, gaps, sizes, baselines, runs)
    accents = _IS_ACCENT[np.minimum(glyphs.codes, _BMP)]
    breaks |= accents
    breaks[1:] |= accents[:-1]
    spaces = glyphs.spaced | (gaps > _SPACE * sizes)
    starts = np.flatnonzero(breaks)
    ends = np.append(starts[1:], len(breaks))
    inner = np.flatnonzero(spaces & ~breaks)
    text = np.insert(glyphs.codes, inner, 0x20).astype("<u4").tobytes().decode("utf-32-le")
    shift = np.searchsorted(inner, starts, side="left")
    shift_end = np.searchsorted(inner, ends, side="left")
    lefts = np.minimum.reduceat(glyphs.boxes[:, 0], starts)
    rights = np.maximum.reduceat(glyphs.boxes[:, 2], starts)
    rows = zip(
        (starts + shift).tolist(), (ends + shift_end).tolist(), lefts.tolist(), rights.tolist(),
        marks[starts].tolist(), spaces[starts].tolist(), strict=True,
    )  # fmt: skip
    return [
        _segment(text[start:end], left, right, runs[mark - 1], spaced)
        for start, end, left, right, mark, spaced in rows
        if mark
    ]


def _breaks(
    marks: NDArray[np.intp],
    gaps: NDArray[np.float64],
    sizes: NDArray[np.float64],
    baselines: NDArray[np.float64],
    runs: list[Run],
) -> NDArray[np.bool_]:
    """Where a segment begins: at a wide gap, a step back, another font, size or baseline."""
    styles: dict[tuple[float, str, int], int] = {}
    style = [0] + [
        styles.setdefault((round(r.size, 1), r.font, r.weight), len(styles) + 1) for r in runs
    ]
    kinds = np.array(style)[marks]
    lines = baselines[marks]
    breaks = np.ones(len(marks), dtype=bool)
    breaks[1:] = (
        (kinds[1:] != kinds[:-1])
        | (np.abs(lines[1:] - lines[:-1]) > 0.05 * sizes[1:])
        | (gaps[1:] > _WIDE * sizes[1:])
        | (gaps[1:] < _BACK * sizes[1:])
    )
    return breaks


def _segment(text: str, left: float, right: float, run: Run, spaced: bool) -> Segment:
    if text[:1] in _COMBINING or " \u0300" in text or " \u0301" in text:
        text = _QUOTES.sub(lambda found: _COMBINING[found[0]], text)
    # The font's own extent may be far too high (mathematical signs); type is about so high.
    top, bottom = run.baseline - 0.78 * run.size, run.baseline + 0.24 * run.size
    font = font_named(run.font, run.weight)
    return Segment(text, left, top, right, bottom, run.baseline, run.size, font, spaced)
