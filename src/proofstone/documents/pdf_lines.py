"""Build lines from the characters of a PDF page: text, equation, code, contents or table."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct, toml

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Characters of TeX's mathematical fonts, if a PDF does not name them. The fonts come without a map
# to Unicode. Glyphs with unlisted names appear as their number in the font: a prime as 0, a real
# part as <. The numbers are those of TeX's encodings OML (mathematical italic), OMS (symbols) and
# OMX (extensions).

_FAMILIES = (
    (re.compile(r"(CMMI|CMMIB|LMMathItalic|MTMI)[B\d]", re.IGNORECASE), "italic"),
    (re.compile(r"(CMSY|CMBSY|LMMathSymbols|MTSY)\d", re.IGNORECASE), "symbols"),
    (re.compile(r"(CMEX|LMMathExtension|MTEX)\d", re.IGNORECASE), "extension"),
)


class _TexFonts(Struct, frozen=True):
    """``tex_fonts.toml``: signs by their numbers."""

    symbols: str
    italic: dict[str, list[int]]
    extension: dict[str, list[int]]


@cache
def _tex_signs(name: str) -> Mapping[int, int]:
    found = (files("proofstone.documents") / "tex_fonts.toml").read_bytes()
    fonts = toml.decode(found, type=_TexFonts)
    if name == "symbols":
        return dict(enumerate(map(ord, fonts.symbols), start=0x18))
    table = fonts.italic if name == "italic" else fonts.extension
    return {code: ord(sign) for sign, codes in table.items() for code in codes}


# Pieces of large brackets are in the private-use area, as in Adobe's symbol font.
BRACKET_PIECES: Mapping[int, int] = dict(zip(
    range(0xF8EB, 0xF8FF), map(ord, "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭"), strict=True
))  # fmt: skip


@lru_cache(maxsize=1024)
def tex_signs(font: str) -> Mapping[int, int]:
    """Return the characters of a TeX font by their numbers; empty for other fonts."""
    for pattern, name in _FAMILIES:
        if pattern.match(font):
            return _tex_signs(name)
    return {}


# Calls into pdfium with plain argument types, which take a third of the time of checked ones.


def plain_call(function: Any, result: Any, *arguments: Any) -> Any:
    """Return a function of ``pypdfium2.raw`` that takes plain addresses and numbers.

    The interpreter lock is kept, which costs less than releasing it for calls under a microsecond.
    """
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


# Lines from segments on one baseline, with their superscripts and subscripts.

# The characters of a PDF page with their boxes from pdfium, as displayed.
#
# Coordinates are points from the top left corner of the displayed page, y downwards. A character's
# box spans its advance and its font's ascent and descent. Characters are in the order of the file.

MAX_CHARACTERS = 200_000  # a dense page of print holds 10,000


_HYPHENS = (0x02, 0xFFFE, 0xAD)  # pdfium's mark for a hyphen at a line end


_HYPHEN = ord("-")


_NAME_BYTES = 128


_HAIR = 0.02  # of the height


_PIECES = tuple(BRACKET_PIECES)


class TooManyCharacters(Exception):
    """A page holds more than ``MAX_CHARACTERS``."""


class Run(NamedTuple):
    """Characters [start, end) in one font and size on one baseline."""

    start: int
    end: int
    baseline: float
    size: float
    angle: int
    font: str
    weight: int


class Glyphs(NamedTuple):
    """The visible characters of a page.

    ``codes`` are their code points, ``boxes`` (n, 4) left, top, right, bottom. ``spaced`` is True
    if white space precedes a character, in the file or as pdfium found it.
    """

    codes: NDArray[np.uint32]
    boxes: NDArray[np.float64]
    spaced: NDArray[np.bool_]
    runs: list[Run]
    unmapped: int


class _Calls:
    def __init__(self) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 - in an extra

        pointer, index, long = ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong
        one = (pointer, index)
        self.box = plain_call(raw.FPDFText_GetLooseCharBox, index, *one, pointer)
        self.code = plain_call(raw.FPDFText_GetUnicode, index, *one)
        self.origin = plain_call(raw.FPDFText_GetCharOrigin, index, *one, pointer, pointer)
        self.matrix = plain_call(raw.FPDFText_GetMatrix, index, *one, pointer)
        self.weight = plain_call(raw.FPDFText_GetFontWeight, index, *one)
        self.unmapped = plain_call(raw.FPDFText_HasUnicodeMapError, index, *one)
        self.size = plain_call(raw.FPDFText_GetFontSize, ctypes.c_double, *one)
        self.font = plain_call(raw.FPDFText_GetFontInfo, long, *one, pointer, long, pointer)
        self.name = ctypes.create_string_buffer(_NAME_BYTES)
        self.name_at = ctypes.addressof(self.name)


@cache
def _calls() -> _Calls:
    return _Calls()


def read_glyphs(text_page: Any, to_display: NDArray[np.float64], turn: int) -> Glyphs:
    """Return the characters of pdfium's ``text_page``.

    ``to_display`` (2, 3) maps the page's coordinates to displayed ones; ``turn`` is the page's
    rotation in degrees. Raises TooManyCharacters.
    """
    from pypdfium2 import raw  # noqa: PLC0415 - in an extra

    n = raw.FPDFText_CountChars(text_page)
    if n > MAX_CHARACTERS:
        raise TooManyCharacters(n)
    if n <= 0:
        empty = np.zeros(0)
        return Glyphs(empty.astype(np.uint32), empty.reshape(0, 4), empty.astype(bool), [], 0)
    handle = ctypes.cast(text_page.raw, ctypes.c_void_p).value
    codes = _codes(raw, text_page, handle, n)
    corners = _boxes(handle, n)
    hyphens = (codes == _HYPHENS[0]) | (codes == _HYPHENS[1]) | (codes == _HYPHENS[2])
    codes = np.where(hyphens, _HYPHEN, codes).astype(np.uint32)
    _map_controls(handle, codes)
    shown = (codes > 0x20) & (codes != 0xA0) & (codes != 0x3000) & (codes != 0xFEFF)
    kept = np.flatnonzero(shown)
    spaced = np.diff(kept, prepend=-1) > 1
    runs, unmapped = _runs(handle, codes, kept, corners, to_display, turn)
    return Glyphs(codes[kept], _displayed(corners[kept], to_display), spaced, runs, unmapped)


def _codes(raw: Any, text_page: Any, handle: int | None, n: int) -> NDArray[np.uint32]:
    """Return the code point of each character; lone surrogates become U+FFFD."""
    buffer = (ctypes.c_ushort * (n + 2))()
    if raw.FPDFText_GetText(text_page, 0, n + 1, buffer) - 1 == n:
        units = np.ctypeslib.as_array(buffer)[:n].astype(np.uint32)
    else:  # characters without a code point are not in the text, and those beyond 0xFFFF are two
        code = _calls().code
        units = np.array([code(handle, k) & 0xFFFFFFFF for k in range(n)], dtype=np.uint32)
    strange = ((units >= 0xD800) & (units < 0xE000)) | (units > 0x10FFFF)
    return np.where(strange, 0xFFFD, units).astype(np.uint32)


def _boxes(handle: int | None, n: int) -> NDArray[np.float64]:
    """Return left, top, right, bottom of each character in the page's coordinates."""
    buffer = (ctypes.c_float * (4 * n))()
    address, box = ctypes.addressof(buffer), _calls().box
    # One call per character: the loop itself must be cheap.
    calls = map(box, repeat(handle), range(n), range(address, address + 16 * n, 16))
    deque(calls, maxlen=0)
    boxes: NDArray[np.float64] = np.ctypeslib.as_array(buffer).reshape(n, 4).astype(np.float64)
    return np.nan_to_num(boxes, nan=0.0, posinf=0.0, neginf=0.0)


def _displayed(
    corners: NDArray[np.float64], to_display: NDArray[np.float64]
) -> NDArray[np.float64]:
    linear, shift = to_display[:, :2], to_display[:, 2]
    one = corners[:, 0:2] @ linear.T + shift
    two = corners[:, 2:4] @ linear.T + shift
    return np.hstack([np.minimum(one, two), np.maximum(one, two)])


def _font(handle: int | None, k: int) -> str:
    """Return the name of a character's font, without the subset prefix before a +."""
    calls = _calls()
    length = calls.font(handle, k, calls.name_at, _NAME_BYTES, None)
    found = calls.name.raw[: length - 1] if 0 < length <= _NAME_BYTES else b""
    return found.decode("utf-8", "replace").rpartition("+")[2]


def _map_controls(handle: int | None, codes: NDArray[np.uint32]) -> None:
    """Replace control characters of TeX's fonts by the signs that they represent."""
    pieces = np.flatnonzero((codes >= _PIECES[0]) & (codes <= _PIECES[-1]))
    for k in pieces.tolist():
        codes[k] = BRACKET_PIECES[int(codes[k])]
    controls = (codes < 0x20) & (codes != 0x09) & (codes != 0x0A) & (codes != 0x0D)
    for k in np.flatnonzero(controls).tolist():
        codes[k] = tex_signs(_font(handle, k)).get(int(codes[k]), int(codes[k]))


def _map_signs(
    handle: int | None, codes: NDArray[np.uint32], places: NDArray[np.intp], font: str
) -> int:
    """Map characters without a code point by their TeX font; return the number still unmapped."""
    signs, unmapped = tex_signs(font), _calls().unmapped
    n = 0
    for k in places.tolist():
        if unmapped(handle, k) == 1 and codes[k] < 0x80:
            sign = signs.get(int(codes[k]))
            n += sign is None
            codes[k] = codes[k] if sign is None else sign
    return n


def _runs(
    handle: int | None,
    codes: NDArray[np.uint32],
    kept: NDArray[np.intp],
    corners: NDArray[np.float64],
    to_display: NDArray[np.float64],
    turn: int,
) -> tuple[list[Run], int]:
    """Return runs, split where the vertical extent of boxes changes; one font query per run."""
    if not len(kept):
        return [], 0
    extents = corners[kept][:, (1, 3)]
    # Boxes of one slanted font differ slightly.
    limit = _HAIR * np.abs(extents[1:, 0] - extents[1:, 1])
    changes = np.flatnonzero(np.abs(np.diff(extents, axis=0)).max(axis=1) > limit) + 1
    starts = [0, *changes.tolist()]
    calls = _calls()
    x, y = ctypes.c_double(), ctypes.c_double()
    across, down, shift = to_display[1].tolist()
    matrix = (ctypes.c_float * 6)()
    places = [ctypes.addressof(each) for each in (x, y, matrix)]
    runs, n_unmapped = [], 0
    for start, end in zip(starts, [*starts[1:], len(kept)], strict=True):
        k = int(kept[start])
        calls.origin(handle, k, places[0], places[1])
        calls.matrix(handle, k, places[2])
        a, b, c, d = matrix[0], matrix[1], matrix[2], matrix[3]
        angle = round(math.degrees(math.atan2(b, a)) / 90) * 90 - turn
        baseline = across * x.value + down * y.value + shift
        size = calls.size(handle, k) * math.hypot(c, d)
        font = _font(handle, k)
        if tex_signs(font):
            n_unmapped += _map_signs(handle, codes, kept[start:end], font)
        elif calls.unmapped(handle, k) == 1:
            n_unmapped += end - start
        weight = calls.weight(handle, k)
        runs.append(Run(start, end, baseline, abs(size), angle % 360, font, weight))
    return runs, n_unmapped


# Segments: runs of characters without a wide gap, as text with a box, from which lines are built.

_WIDE = 1.0  # ems: a wider gap is not a space between words


_BACK = -0.7  # ems: a step back begins a new segment, an accent's smaller one does not


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


# Accents set as separate characters, and the combining character for each.
ACCENTS = {
    "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304", "˙": "\u0307", "¨": "\u0308", "´": "\u0301",
    "`": "\u0300", "ˇ": "\u030c", "˘": "\u0306", "˚": "\u030a", "¸": "\u0327", "⃗": "\u20d7",
}  # fmt: skip


# Some of TeX's typewriter fonts name quotes like this; without a letter they are not accents.
_COMBINING = {"\u0300": "`", "\u0301": "´"}


_QUOTES = re.compile(r"(?:(?<=\s)|^)[\u0300\u0301]")


_BMP = 0xFFFF


_IS_ACCENT = np.zeros(_BMP + 1, dtype=bool)


_IS_ACCENT[[ord(accent) for accent in ACCENTS]] = True


class Font(NamedTuple):
    """Traits from a font's name and weight."""

    is_bold: bool
    is_math: bool
    is_mono: bool


class Segment(NamedTuple):
    """Adjacent characters of one run; ``spaced`` if white space precedes the first.

    ``confidence`` is below 1 for characters read from an image.
    """

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
    """Return the traits of a font; an unknown name is upright text."""
    is_math = bool(_MATH.search(name))
    # Without a stated weight, it is estimated from stem widths: a name is more reliable.
    is_heavy = weight >= _HEAVY and not _PLAIN.search(name)
    is_bold = not is_math and (is_heavy or bool(_BOLD.search(name)))
    return Font(is_bold, is_math, bool(_MONO.search(name)))


def upright(glyphs: Glyphs) -> int:
    """Return the angle (0, 90, 180, 270) of most characters of a page."""
    angles: dict[int, int] = {0: 0}
    for run in glyphs.runs:
        angles[run.angle] = angles.get(run.angle, 0) + run.end - run.start
    return max(angles, key=lambda angle: (angles[angle], -angle))


def segments_of(glyphs: Glyphs, angle: int = 0) -> list[Segment]:
    """Return the segments of the characters at ``angle``, in the order of the file."""
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
    """Mark the start of segments: at a wide gap, a step back, another font, size or baseline."""
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
    # The font's extent may be far too high (mathematical signs); type is about this high.
    top, bottom = run.baseline - 0.78 * run.size, run.baseline + 0.24 * run.size
    font = font_named(run.font, run.weight)
    return Segment(text, left, top, right, bottom, run.baseline, run.size, font, spaced)


_SAME = 0.22  # ems between baselines of one line


_SMALL = 0.87  # of the line's size: the size of superscripts and subscripts


_RAISED, _LOWERED = 0.75, 0.45  # ems of small type above or below the baseline


_NEAR = 0.6  # ems from the line's other segments


_CELL = 1.6  # ems: a gap of this width lies between cells


_GAP, _SPACED_GAP, _SIGN_GAP = 0.12, 0.05, 0.25  # ems between segments that make a space


_OVER = -0.1  # ems: an accent is set over its letter, an opening quote (`) only close to one


_FLOATING = 1.2  # ems of roots, large delimiters and accents from the baseline


_UP = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))


_DOWN = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


_ORDINALS = frozenset(
    ["st", "nd", "rd", "th", "e", "er", "re", "o", "a", "º", "ª", "°", "′", "″", "*", "†", "‡"]
)


_LARGE = {"√", "∑", "∏", "∫", "(", ")", "[", "]", "{", "}", "|"}


@dataclass(slots=True, eq=False)
class Line:
    """Segments on one baseline, from left to right."""

    baseline: float
    size: float
    segments: list[Segment] = field(default_factory=list)
    left: float = 0.0
    right: float = 0.0
    text: str = ""
    cells: tuple[tuple[float, str], ...] = ()

    @property
    def top(self) -> float:
        """Return the upper edge."""
        return min(segment.top for segment in self.segments)

    @property
    def bottom(self) -> float:
        """Return the lower edge."""
        return max(segment.bottom for segment in self.segments)

    @property
    def n_letters(self) -> int:
        """Return the number of characters other than white space."""
        return sum(map(len, self.text.split()))

    @property
    def confidence(self) -> float:
        """Return the mean reading confidence over its characters."""
        if all(segment.confidence == 1 for segment in self.segments):
            return 1.0
        n = sum(len(s.text) for s in self.segments)
        return sum(len(s.text) * s.confidence for s in self.segments) / n

    def share(self, trait: str) -> float:
        """Return the share of characters whose font has a trait (``is_bold``)."""
        n = sum(len(s.text) for s in self.segments)
        return sum(len(s.text) for s in self.segments if getattr(s.font, trait)) / n if n else 0.0


def lines_of(segments: Iterable[Segment]) -> list[Line]:
    """Return the lines of one column, from top to bottom.

    Larger type comes first. Small type near a line's baseline and its other segments is a
    superscript or subscript; elsewhere it is a separate line.
    """
    lines: list[Line] = []
    baselines: list[float] = []
    by_baseline: dict[float, Line] = {}
    for segment in sorted(
        segments, key=lambda s: (_floats(s), -round(s.size, 1), s.baseline, s.left)
    ):
        line = _line_for(segment, baselines, by_baseline)
        if line is None:
            line = Line(segment.baseline, segment.size)
            lines.append(line)
            while line.baseline in by_baseline:
                line.baseline += 1e-6
            by_baseline[line.baseline] = line
            insort(baselines, line.baseline)
        line.segments.append(segment)
    for line in lines:
        _finish(line)
    return sorted((line for line in lines if line.text), key=lambda line: line.baseline)


def _line_for(
    segment: Segment, baselines: Sequence[float], by_baseline: dict[float, Line]
) -> Line | None:
    # Larger type came first, so no line within reach is more than three times as large.
    reach = 3 * segment.size
    low = bisect_left(baselines, segment.baseline - reach)
    best, nearest = None, 2.0
    for k in range(low, len(baselines)):
        if baselines[k] > segment.baseline + reach:
            break
        line = by_baseline[baselines[k]]
        off = (line.baseline - segment.baseline) / line.size  # above is positive
        distance = abs(off)
        if distance > _SAME and not _hangs_on(segment, line, off):
            continue
        if distance < nearest:
            best, nearest = line, distance
    return best


def _floats(segment: Segment) -> bool:
    """Return True for a root, a large delimiter or an accent, which are off the baseline."""
    return segment.text in ACCENTS or (segment.font.is_math and segment.text in _LARGE)


def _hangs_on(segment: Segment, line: Line, off: float) -> bool:
    if _floats(segment):  # their baseline is at their top
        return -0.1 <= off <= _FLOATING and _is_beside(segment, line)
    is_small = segment.size <= _SMALL * line.size
    return is_small and -_LOWERED <= off <= _RAISED and _is_beside(segment, line)


def _is_beside(segment: Segment, line: Line) -> bool:
    reach = _NEAR * line.size
    return any(
        segment.left <= other.right + reach and segment.right >= other.left - reach
        for other in line.segments
    )


def _finish(line: Line) -> None:
    segments = line.segments
    segments.sort(key=lambda s: s.left)
    line.left = segments[0].left
    line.right = max(s.right for s in segments)
    widths: dict[float, float] = {}
    for s in segments:
        widths[s.size] = widths.get(s.size, 0.0) + len(s.text)
    line.size = max(widths, key=lambda size: widths[size])
    _join(line)


def _join(line: Line) -> None:
    """Set the text with its spaces, superscripts and accents, and the cells between wide gaps."""
    cells: list[tuple[float, str]] = []
    start, text, right = line.left, "", line.left
    for side, group in groupby(line.segments, key=lambda s: _side(s, line)):
        for segment, piece in _pieces(side, list(group), line):
            gap = (segment.left - right) / line.size
            if text and gap > _CELL:
                cells.append((start, text.strip()))
                start, text = segment.left, piece
            elif text and gap < _OVER and piece in ACCENTS:
                text = text.rstrip() + ACCENTS[piece]
            elif text and text[-1] in ACCENTS and gap < _OVER:
                text = text[:-1] + piece[:1] + ACCENTS[text[-1]] + piece[1:]
            else:
                bar = _SIGN_GAP if side else _SPACED_GAP if segment.spaced else _GAP
                text += " " + piece if text and gap > bar else piece
            right = max(right, segment.right)
    cells.append((start, text.strip()))
    line.cells = tuple((x, unicodedata.normalize("NFC", cell)) for x, cell in cells if cell)
    line.text = " ".join(cell for _x, cell in line.cells)


def _side(segment: Segment, line: Line) -> int:
    """Return 1 for a superscript, -1 for a subscript, 0 for text on the line."""
    off = (line.baseline - segment.baseline) / line.size
    if segment.size > _SMALL * line.size or abs(off) <= 0.08 or _floats(segment):
        return 0
    return 1 if off > 0 else -1


def _pieces(side: int, group: list[Segment], line: Line) -> list[tuple[Segment, str]]:
    """Return the texts of neighbors on one side of the baseline, joined to one sign."""
    if not side:
        return [(segment, segment.text) for segment in group]
    found: list[tuple[Segment, str]] = []
    for segment in group:
        if found and segment.left - found[-1][0].right < _SIGN_GAP * line.size:
            before, text = found[-1]
            joined = before._replace(right=max(before.right, segment.right))
            found[-1] = (joined, text + segment.text)
        else:
            found.append((segment, segment.text))
    return [(segment, _sign(side, text)) for segment, text in found]


def _sign(side: int, text: str) -> str:
    """Return superscript or subscript text as Unicode characters, or else after ^ or _."""
    table, mark = (_UP, "^") if side > 0 else (_DOWN, "_")
    if all(character in table for character in text):
        return "".join(table[character] for character in text)
    if side > 0 and text in _ORDINALS:
        return text
    return f"{mark}{text}" if len(text) == 1 else f"{mark}{{{text}}}"


# The kind of a line, by itself and from its neighbors.

_CAPTION = re.compile(
    r"(?:(?:Figure|Fig\.|Table|Tab\.|Abbildung|Abb\.|Tabelle|Tableau|Figura|Tabla|Listing)\s*"
    r"[\dIVXA-Z][\w.\-–]*\s*[:.|–—]?\s|(?:图|圖|表)\s*[\d一二三四五六七八九十])",
)


_LEADERS = re.compile(r"(?:\. ?){4,}.{0,12}$|(?:·\s?){4,}|…{2,}")


_INDEXED = re.compile(r",\s*[\dxvi]+(?:[-–]\d+)?(?:,\s*[\dxvi]+(?:[-–]\d+)?)*[.,]?$")


_ITEM = re.compile(
    r"(?:[•‣◦▪●○■–—∗*·]|[-+]|\(?[a-zA-Z\divx]{1,4}\)|\d{1,2}\.|[a-z]\.)\s+\S"
    r"|（[一二三四五六七八九十\d]+）"
)


_ALIGNED = 3.0  # points


_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+\s?\S|[*†‡§]\s?\w")


_NUMBERED = re.compile(r"\(?[A-Z]?\d+(?:[.\-]\d+)*[a-z]?\)$")


_WORD = re.compile(r"[^\W\d_]{3,}")


_FUNCTIONS = {"sin", "cos", "tan", "log", "exp", "lim", "max", "min", "arg", "det", "mod", "sup",
              "inf", "for", "and", "var", "cov", "sinh", "cosh", "arctan", "where"}  # fmt: skip


_SIGNS = re.compile(r"[=<>≤≥≈≡∝±×÷∑∏∫∂∇√∞∈∉⊂⊆∪∩→↔⇒⇔∀∃∼≠+−·∗|^_]")


_INDEX_ENDS = frozenset("0123456789xvi.,")


_IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")


class Style(NamedTuple):
    """The type of a document: its text size, larger sizes in descending order, and its outline.

    Bold type marks headings only if it is rare.
    """

    body: float
    headings: tuple[float, ...] = ()
    has_outline: bool = False
    is_bold_rare: bool = True


def style_of(letters: Counter[float], *, has_outline: bool, is_bold_rare: bool) -> Style:
    """Return the style of a document whose type has so many ``letters`` of each size."""
    if not letters:
        return Style(10.0, (), has_outline, is_bold_rare)
    body = letters.most_common(1)[0][0]
    larger = sorted((size for size in letters if size >= 1.13 * body), reverse=True)
    ranks: list[float] = []
    for size in larger:
        if not ranks or size < 0.96 * ranks[-1]:
            ranks.append(size)
    return Style(body, tuple(ranks[:5]), has_outline, is_bold_rare)


class Frame(NamedTuple):
    """The edges of a column, its usual line distance in ems, and its usual size."""

    left: float
    right: float
    leading: float
    size: float

    @property
    def width(self) -> float:
        """Return the distance between the edges."""
        return self.right - self.left


def frame_of(lines: Sequence[Line]) -> Frame:
    """Return the frame of a column: the edges that its longer lines share."""
    long = sorted(lines, key=lambda line: line.left - line.right)[: max(1, len(lines) // 2)]
    lefts, rights = sorted(line.left for line in long), sorted(line.right for line in long)
    steps = sorted(
        (b.baseline - a.baseline) / b.size
        for a, b in pairwise(lines)
        if 0.5 * b.size < b.baseline - a.baseline < 3 * b.size
    )
    leading = steps[len(steps) // 3] if steps else 1.2
    sizes = sorted(line.size for line in long)
    left, right = lefts[len(lefts) // 4], rights[3 * len(rights) // 4]
    return Frame(left, right, leading, sizes[len(sizes) // 2])


def line_kinds(lines: Sequence[Line], frame: Frame) -> list[str]:
    """Classify each line of a column: ``equation``, ``code``, ``contents``, ``table``, ``text``."""
    kinds = [_own_kind(line, frame) for line in lines]
    _spread_equations(lines, kinds)
    leaders = kinds.count("contents")
    for k, line in enumerate(lines):
        if leaders >= 4 and kinds[k] in {"text", "table"} and line.cells[-1][1].isdigit():
            kinds[k] = "contents"
    _keep_tables(lines, kinds, frame)
    _end_paragraphs(lines, kinds, frame)
    return kinds


def _own_kind(line: Line, frame: Frame) -> str:
    if is_contents(line.text):
        return "contents"
    if _is_equation(line, frame):
        return "equation"
    if line.share("is_mono") >= 0.8 and line.n_letters > 1:
        return "code"
    return "table" if len(line.cells) > 1 else "text"


def _n_words(line: Line) -> int:
    words = (
        word.lower()
        for segment in line.segments
        if not segment.font.is_math
        for word in _WORD.findall(segment.text)
    )
    return sum(word not in _FUNCTIONS for word in words)


def _is_equation(line: Line, frame: Frame) -> bool:
    """Return True for a line of signs that is indented, or has a number at its right edge."""
    if _IDEOGRAPH.search(line.text) or line.share("is_mono") > 0.5:
        return False
    signs = len(_SIGNS.findall(line.text))
    math = line.share("is_math") + signs / max(1, line.n_letters)
    indented = line.left > frame.left + 1.2 * line.size
    numbered = len(line.cells) > 1 and bool(_NUMBERED.match(line.cells[-1][1]))
    n_words = _n_words(line)
    if numbered and line.right > frame.right - 2 * line.size:
        return n_words <= 4 and math > 0.05
    goes_on = line.text[:1] in "=≤≥≈≡" and math >= 0.3
    return (indented or goes_on) and math >= 0.2 and n_words <= max(1, line.n_letters // 25)


def _spread_equations(lines: Sequence[Line], kinds: list[str]) -> None:
    """Mark wordless fragments near an equation (limits, numerators) as part of it."""
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        before: int | None = None
        for k in order:
            line = lines[k]
            near = (
                before is not None
                and kinds[before] == "equation"
                and abs(lines[before].baseline - line.baseline) < 2.2 * line.size
            )
            if near and kinds[k] in {"text", "table"} and _n_words(line) == 0:
                kinds[k] = "equation" if line.n_letters < 40 else kinds[k]
            before = k


def _end_paragraphs(lines: Sequence[Line], kinds: list[str], frame: Frame) -> None:
    """Mark a single line of code that ends a paragraph as text."""
    for k in range(1, len(lines)):
        line, above = lines[k], lines[k - 1]
        follows = kinds[k - 1] == "text" and above.right > frame.right - 0.12 * frame.width
        near = line.baseline - above.baseline < (frame.leading + 0.15) * line.size
        is_flush = abs(line.left - above.left) < 0.3 * line.size
        is_last = k + 1 == len(lines) or kinds[k + 1] != "code"
        if kinds[k] == "code" and follows and near and is_flush and is_last:
            kinds[k] = "text"


def _keep_tables(lines: Sequence[Line], kinds: list[str], frame: Frame) -> None:
    """Keep tables of three rows of cells or more, with at most one text line between two."""
    k = 0
    while k < len(lines):
        if kinds[k] != "table":
            k += 1
            continue
        end, rows = k, 0
        j = k
        while j < len(lines) and j - end <= 2 and _same_table(lines, kinds, j, end):
            if kinds[j] == "table":
                end, rows = j, rows + 1
            j += 1
        while end + 1 < len(lines) and _wraps(lines, kinds, end + 1, k):
            end += 1
        starts = [x for line in lines[k : end + 1] for x, _text in line.cells[1:]]
        for place in range(k, end + 1):
            is_cell_line = lines[place].right < frame.left + 0.6 * frame.width or _aligned(
                lines[place], starts
            )
            is_row = kinds[place] == "table" or is_cell_line
            kinds[place] = "table" if rows >= 3 and is_row else "text"
        k = end + 1


def _aligned(line: Line, starts: Sequence[float]) -> bool:
    """Return True if a line begins at a later column of the table, continuing its cell."""
    return any(abs(line.left - start) <= _ALIGNED for start in starts)


def _wraps(lines: Sequence[Line], kinds: Sequence[str], j: int, first: int) -> bool:
    """Return True if a line after a table's last row continues one of its cells."""
    starts = [x for line in lines[first:j] for x, _text in line.cells[1:]]
    near = lines[j].baseline - lines[j - 1].baseline < 1.6 * lines[j].size
    return kinds[j] == "text" and near and _aligned(lines[j], starts)


def _same_table(lines: Sequence[Line], kinds: Sequence[str], j: int, end: int) -> bool:
    if kinds[j] not in {"table", "text"}:
        return False
    return j == end or lines[j].baseline - lines[end].baseline < 4.5 * lines[j].size


def is_contents(text: str) -> bool:
    """Return True for a line of contents: dots before a number at its end."""
    has_leaders = ". ." in text or "..." in text or "\u2026" in text or "\u00b7" in text
    return has_leaders and bool(_LEADERS.search(text))


def is_indexed(text: str) -> bool:
    """Return True if a line ends in page numbers, as in an index."""
    return "," in text and text[-1:] in _INDEX_ENDS and bool(_INDEXED.search(text))


def is_caption(text: str) -> bool:
    """Return True if a text begins like the caption of a figure or table."""
    return bool(_CAPTION.match(text))


def is_note(text: str) -> bool:
    """Return True if a line begins with a superscript number, like a footnote."""
    return bool(_NOTE.match(text))


def is_item(text: str) -> bool:
    """Return True if a line begins a list item."""
    return bool(_ITEM.match(text))
