"""Signs that LaTeX writes as commands, accents, and its ways of writing dashes and quotes."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["ACCENTS", "SIGNS", "accented", "typeset", "units"]

SIGNS = {
    "%": "%", "&": "&", "#": "#", "_": "_", "$": "$", "{": "{", "}": "}", " ": " ", "\n": " ",
    "\t": " ", ",": " ", ";": " ", ":": " ", "!": "", "-": "", "/": "", "@": "", "": "", ">": " ",
    "ldots": "…", "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—",
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textunderscore": "_",
    "textgreater": ">", "textless": "<", "textbar": "|", "textquotesingle": "'", "textmu": "µ",
    "textquoteright": "’", "textquoteleft": "‘", "textquotedblleft": "“",
    "textquotedblright": "”", "lq": "‘", "rq": "’", "textdegree": "°", "degree": "°",
    "celsius": "°C", "texttimes": "×", "textpm": "±", "textbullet": "•", "textperiodcentered": "·",
    "texttrademark": "™", "textregistered": "®", "textcopyright": "©", "copyright": "©",
    "texteuro": "€", "euro": "€", "pounds": "£", "textsterling": "£", "S": "§", "P": "¶",
    "dag": "†", "ddag": "‡", "ss": "ß", "SS": "SS", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð",
    "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "guillemotleft": "«",
    "guillemotright": "»", "glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»", "quotedblbase": "„",
    "TeX": "TeX", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "slash": "/",
    "quad": " ", "qquad": " ", "space": " ", "enspace": " ", "thinspace": " ", "nobreakspace": " ",
    "textvisiblespace": "␣", "lbrace": "{", "rbrace": "}", "par": "\n\n", "newline": " ",
    "linebreak": " ", "and": "; ", "textnormal": "", "textquotedbl": '"',
}  # fmt: skip
ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "H": "\u030b", "u": "\u0306", "d": "\u0323",
    "b": "\u0331", "k": "\u0328", "r": "\u030a", "t": "\u0361",
}  # fmt: skip
_WRITTEN = (
    ("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’"), ("?‘", "¿"),
    ("!‘", "¡"),
)  # fmt: skip
_UNIT = re.compile(r"\\([A-Za-z]+)\s*")
_UNITS = {
    "per": "/", "squared": "²", "square": "²", "cubed": "³", "cubic": "³", "degreeCelsius": "°C",
    "celsius": "°C", "percent": "%", "degree": "°", "micro": "micro", "ohm": "Ω",
}  # fmt: skip


def accented(accent: str, letter: str) -> str:
    """A letter under an accent, as one character where there is one."""
    plain = letter.strip().translate({ord("ı"): "i", ord("ȷ"): "j"})
    return unicodedata.normalize("NFC", plain[:1] + ACCENTS[accent]) + plain[1:] if plain else ""


def typeset(text: str) -> str:
    """Text with the dashes and quotation marks that LaTeX sets for what is typed."""
    if "-" in text or "`" in text or "'" in text:
        for typed, shown in _WRITTEN:
            text = text.replace(typed, shown)
    return text


def units(text: str) -> str:
    """A unit of measurement by the names of its parts: kilometre/second."""
    return _UNIT.sub(lambda found: _UNITS.get(found[1], found[1]), text).replace("~", " ").strip()
