"""Messages: English texts with named placeholders; other languages translate them in files."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

# The current language: English unless the caller of a page or text sets another.

Language = Literal["en", "zh"]


LANGUAGES: tuple[Language, ...] = get_args(Language)


_TAGS = {"en": "en", "zh": "zh-Hans"}


_in_force: ContextVar[Language] = ContextVar("language", default="en")


def language() -> Language:
    """Return the current language of texts."""
    return _in_force.get()


def language_tag() -> str:
    """Return the current language as an HTML tag."""
    return _TAGS[language()]


@contextmanager
def speaking(wanted: Language) -> Iterator[None]:
    """Set the language of texts made within, for this thread or task only."""
    before = _in_force.set(wanted)
    try:
        yield
    finally:
        _in_force.reset(before)


# Fills placeholders; in Chinese with the space around Latin text.

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


_LATIN = re.compile(r"[A-Za-z0-9+\-%$~<*.]")


def with_unsigned_zeros(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values, with negative floats formatted without a minus if they round to zero."""
    return {
        name: _Unsigned(value) if isinstance(value, float) and -math.inf < value <= 0 else value
        for name, value in values.items()
    }


class _Unsigned(float):
    """A number that is never rounded to ``-0.0``."""

    def __format__(self, spec: str) -> str:
        written = format(float(self), spec)
        return written if any(digit in written for digit in "123456789") else format(0.0, spec)


def filled(
    template: str, values: Mapping[str, object], shown: Callable[[object, str], str] = format
) -> str:
    """Fill a Chinese ``template`` with ``values``, each formatted by ``shown``.

    Between a value and a Chinese character there is a space if the value is Latin text or a number
    there, and none if it is Chinese, whatever the template has. Text inside the template or a value
    is not changed.
    """
    pieces: list[str] = []
    for text, name, spec, _conversion in Formatter().parse(template):
        pieces.append(text)
        pieces.append("" if name is None else shown(values[name], spec or ""))
    filled_in = pieces[0] if pieces else ""
    for piece in pieces[1:]:
        if piece:
            filled_in = _joined(filled_in, piece)
    return filled_in


def _joined(left: str, right: str) -> str:
    """Join two pieces with one space, none, or what they have between them."""
    before, after = left.rstrip(" "), right.lstrip(" ")
    ends = before[-1:], after[:1]
    kinds = [("chinese" if _CHINESE.match(end) else _LATIN.match(end) and "latin") for end in ends]
    if kinds == ["chinese", "chinese"]:
        return before + after
    if set(kinds) == {"chinese", "latin"}:
        return f"{before} {after}"
    return left + right


def say(message: str, /, **values: object) -> str:
    """Return ``message`` in the current language, with placeholders filled as by ``str.format``.

    In Chinese there is a space between Chinese characters and a value of Latin text or a number. A
    number that rounds to zero has no sign. A message without a translation is returned in English;
    a test checks that there is none.
    """
    spoken = word(message)
    values = with_unsigned_zeros(values)
    return spoken.format(**values) if language() == "en" else filled(spoken, values)


def say_of(n: float, one: str, many: str, /, **values: object) -> str:
    """Return the message for ``n`` things: ``one`` if there is exactly one, otherwise ``many``."""
    return say(one if n == 1 else many, **values)


def word(name: str) -> str:
    """Return a fixed name (an outcome, a measure) or message in the current language.

    Unknown names, such as names in data, are returned unchanged.
    """
    spoken = language()
    return name if spoken == "en" else catalogue(spoken).get(name, name)


def noted(message: str) -> str:
    """Return ``message`` itself: marks a constant that ``word`` or ``say`` translates later."""
    return message


@cache
def catalogue(spoken: Language) -> Mapping[str, str]:
    """Return every message and name of a language by its English text; empty for English."""
    return {
        english: said
        for file, entries in _files(spoken)
        if file != _NOUNS
        for english, said in entries.items()
        if isinstance(said, str)
    }


@cache
def nouns(spoken: Language) -> Mapping[str, str]:
    """Return a language's counted nouns by English singular, each with a placeholder ``n``.

    They include a measure word. A method's own are in the table ``nouns`` of its file.
    """
    tables = (
        entries if file == _NOUNS else entries.get("nouns", {}) for file, entries in _files(spoken)
    )
    return {noun: said for table in tables for noun, said in table.items()}


_NOUNS = "nouns.toml"


@cache
def _files(spoken: Language) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return the files of a language with their entries: these, then those of each method."""
    here = files("proofstone.wording") / spoken
    found = sorted(here.iterdir(), key=lambda file: file.name) if here.is_dir() else []
    found += [folder / f"{spoken}.toml" for folder in _methods()] if spoken != "en" else []
    return [
        (file.name, tomllib.loads(file.read_text(encoding="utf-8")))
        for file in found
        if file.name.endswith(".toml") and file.is_file()
    ]


def _methods() -> Iterator[Traversable]:
    """Yield the folders of methods: those of this package, then those of others."""
    yield from (folder for folder in files("proofstone.methods").iterdir() if folder.is_dir())
    for point in entry_points(group="proofstone.methods"):
        yield files(import_module(point.module).__package__ or point.module)


# Counted things, lists and sequences of sentences, by language.


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return ``1 item``, ``2 items``, ``5,038 items``; ``plural`` for irregular plurals.

    Chinese uses the noun's own measure word.
    """
    spoken = language()
    if spoken == "en":
        return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
    return filled(nouns(spoken).get(noun, "{n:,} 个{noun}"), {"n": n, "noun": word(noun)})


def joined(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; empty for no words.

    With more than ``most`` words, the first ones and the number of others.
    """
    if not words:
        return ""
    if most is not None and len(words) > most:
        return listed(words, most)
    *first, last = words
    if not first:
        return last
    before = listed(first)
    if language() == "en":
        return f"{before} and {last}"
    return filled("{before}和{last}", {"before": before, "last": last})


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a, b, c``; with ``most``, no more than that: ``a, b and 3 more``."""
    shown = ("、" if language() == "zh" else ", ").join(words[:most])
    left = 0 if most is None else len(words) - most
    return say("{words} and {n:,} more", words=shown, n=left) if left > 0 else shown


def paragraph(*sentences: str) -> str:
    """Join sentences, without empty ones."""
    return ("" if language() == "zh" else " ").join(filter(None, sentences))
