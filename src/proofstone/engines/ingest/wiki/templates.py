"""What stands for the templates of a wiki where the wiki itself is not there to expand them."""

from __future__ import annotations

__all__ = ["DASHES", "TEXT_IN", "is_box"]

# Templates whose text is one of their arguments, by its name.
TEXT_IN = {
    "lang": "2", "langx": "2", "nowrap": "1", "nobr": "1", "small": "1", "big": "1", "abbr": "1",
    "mono": "1", "code": "1", "em": "1", "strong": "1", "ce": "1", "chem2": "1", "math": "1",
    "mvar": "1", "val": "1", "quote": "1", "blockquote": "1", "cquote": "1", "term": "1",
    "defn": "1", "sub": "1", "sup": "1", "color": "2", "font color": "2", "transl": "2",
    "lang-en": "1", "ill": "1", "interlanguage link": "1", "visible anchor": "1", "vanchor": "1",
    "le": "1", "link-en": "1", "tsl": "3", "ruby": "1", "number": "1",
    "formatnum": "1", "nihongo": "1",
    "as of": "1", "circa": "1", "c.": "1", "not a typo": "1", "sic": "1", "keypress": "1",
}  # fmt: skip
DASHES = {
    "snd": " – ", "spaced ndash": " – ", "spnd": " – ", "ndash": "–", "mdash": "—", "emdash": "—",
    "spaced en dash": " – ", "dash": " – ", "·": " · ", "•": " • ", "nbsp": " ", "!": "|",
    "minus": "−", "times": "×", "degree": "°", "deg": "°", "pi": "π",
}  # fmt: skip
_BOXES = ("infobox", "taxobox", "speciesbox", "automatic taxobox", "chembox", "drugbox", "geobox")


def is_box(name: str) -> bool:
    """Whether a template is a box of facts (an infobox), by its name."""
    return name.startswith(_BOXES) or name.endswith(" infobox") or "信息框" in name
