"""What the characters of TeX's mathematical fonts are, where a PDF does not say.

The fonts come without a map to Unicode, and glyphs whose names no list holds come out as their
number in the font: a prime as 0, a real part as <. The numbers are those of TeX's encodings OML
(mathematical italic), OMS (symbols) and OMX (extensions).
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_FAMILIES = (
    (re.compile(r"(CMMI|CMMIB|LMMathItalic|MTMI)[B\d]", re.IGNORECASE), "italic"),
    (re.compile(r"(CMSY|CMBSY|LMMathSymbols|MTSY)\d", re.IGNORECASE), "symbols"),
    (re.compile(r"(CMEX|LMMathExtension|MTEX)\d", re.IGNORECASE), "extension"),
)


_ITALIC = {0x0F: "ϵ", 0x25: "ϱ", 0x26: "ς", 0x3F: "⋆", 0x60: "ℓ", 0x7B: "ı", 0x7D: "℘"}


_SYMBOLS = dict(zip(
    range(0x18, 0x7F),
    "∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽\u0338↦∀∃¬∅ℜℑ⊤⊥ℵABCDEFGHIJKLMNOPQRSTUVWXYZ∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{}⟨⟩|‖↕⇕\\≀√⨿∇∫⊔⊓⊑⊒§†‡¶♣♢♡",
    strict=False,
))  # fmt: skip


_EXTENSION = {
    **dict.fromkeys((0x00, 0x10, 0x12, 0x20), "("), **dict.fromkeys((0x01, 0x11, 0x13, 0x21), ")"),
    **dict.fromkeys((0x02, 0x14, 0x22, 0x68), "["), **dict.fromkeys((0x03, 0x15, 0x23, 0x69), "]"),
    **dict.fromkeys((0x04, 0x16, 0x24, 0x6A), "⌊"), **dict.fromkeys((0x05, 0x17, 0x25, 0x6B), "⌋"),
    **dict.fromkeys((0x06, 0x18, 0x26, 0x6C), "⌈"), **dict.fromkeys((0x07, 0x19, 0x27, 0x6D), "⌉"),
    **dict.fromkeys((0x08, 0x1A, 0x28, 0x6E), "{"), **dict.fromkeys((0x09, 0x1B, 0x29, 0x6F), "}"),
    **dict.fromkeys((0x0A, 0x1C, 0x2A, 0x44), "⟨"), **dict.fromkeys((0x0B, 0x1D, 0x2B, 0x45), "⟩"),
    0x0C: "|", 0x0D: "‖", **dict.fromkeys((0x0E, 0x1E, 0x2C, 0x2E), "/"),
    **dict.fromkeys((0x0F, 0x1F, 0x2D, 0x2F), "\\"), 0x46: "⊔", 0x47: "⊔", 0x48: "∮", 0x49: "∮",
    0x4A: "⨀", 0x4B: "⨀", 0x4C: "⨁", 0x4D: "⨁", 0x4E: "⨂", 0x4F: "⨂", 0x50: "∑", 0x58: "∑",
    0x51: "∏", 0x59: "∏", 0x52: "∫", 0x5A: "∫", 0x53: "⋃", 0x5B: "⋃", 0x54: "⋂", 0x5C: "⋂",
    0x55: "⨄", 0x5D: "⨄", 0x56: "⋀", 0x5E: "⋀", 0x57: "⋁", 0x5F: "⋁", 0x60: "∐", 0x61: "∐",
    **dict.fromkeys((0x62, 0x63, 0x64), "ˆ"), **dict.fromkeys((0x65, 0x66, 0x67), "˜"),
    **dict.fromkeys((0x70, 0x71, 0x72, 0x73, 0x74), "√"),
}  # fmt: skip


_SIGNS: dict[str, Mapping[int, int]] = {
    name: {code: ord(sign) for code, sign in table.items()}
    for name, table in (("italic", _ITALIC), ("symbols", _SYMBOLS), ("extension", _EXTENSION))
}


# Pieces of large brackets stand in the private area, as Adobe's symbol font had them.
BRACKET_PIECES: Mapping[int, int] = dict(zip(
    range(0xF8EB, 0xF8FF), map(ord, "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭"), strict=True
))  # fmt: skip


@lru_cache(maxsize=1024)
def tex_signs(font: str) -> Mapping[int, int]:
    """The characters of a font by their numbers in it; empty where it is none of TeX's."""
    for pattern, name in _FAMILIES:
        if pattern.match(font):
            return _SIGNS[name]
    return {}


# Calls into pdfium with plain argument types: a third of the time of the checked ones.


def plain_call(function: Any, result: Any, *arguments: Any) -> Any:
    """A function of ``pypdfium2.raw`` that takes addresses and numbers as they are. The interpreter
    lock is kept, which for calls of less than a microsecond costs less than giving it up."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)
