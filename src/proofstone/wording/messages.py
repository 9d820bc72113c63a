"""A message is its English text with named places; another language has it in its catalogue."""

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

# The language in force: English, unless whoever makes a page or a text says otherwise.

Language = Literal["en", "zh"]


LANGUAGES: tuple[Language, ...] = get_args(Language)


_TAGS = {"en": "en", "zh": "zh-Hans"}


_in_force: ContextVar[Language] = ContextVar("language", default="en")


def language() -> Language:
    """The language that texts are made in now."""
    return _in_force.get()


def language_tag() -> str:
    """The same as an HTML page names it."""
    return _TAGS[language()]


@contextmanager
def speaking(wanted: Language) -> Iterator[None]:
    """Texts made within are in ``wanted``, in this thread or task alone."""
    before = _in_force.set(wanted)
    try:
        yield
    finally:
        _in_force.reset(before)


# Places of a message are filled; in Chinese with the space that stands beside Latin text.

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


_LATIN = re.compile(r"[A-Za-z0-9+\-%$~<*.]")


def with_unsigned_zeros(values: Mapping[str, object]) -> dict[str, object]:
    """The values, negative floats such that what rounds to zero is written without a minus."""
    return {
        name: _Unsigned(value) if isinstance(value, float) and -math.inf < value <= 0 else value
        for name, value in values.items()
    }


class _Unsigned(float):
    """A number of which no rounding is ``-0.0``."""

    def __format__(self, spec: str) -> str:
        written = format(float(self), spec)
        return written if any(digit in written for digit in "123456789") else format(0.0, spec)


def filled(
    template: str, values: Mapping[str, object], shown: Callable[[object, str], str] = format
) -> str:
    """A Chinese ``template`` with ``values`` in its places, each as ``shown`` writes it.

    Where a value meets a Chinese character, a space stands between if the value is Latin text or a
    number there, and none if it is Chinese: whatever the template has. What the template or a value
    holds within stays as it is.
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
    """Two pieces with one space, none, or what they have between them."""
    before, after = left.rstrip(" "), right.lstrip(" ")
    ends = before[-1:], after[:1]
    kinds = [("chinese" if _CHINESE.match(end) else _LATIN.match(end) and "latin") for end in ends]
    if kinds == ["chinese", "chinese"]:
        return before + after
    if set(kinds) == {"chinese", "latin"}:
        return f"{before} {after}"
    return left + right


def say(message: str, /, **values: object) -> str:
    """``message`` in the language in force, its places filled as ``str.format`` does; in Chinese
    with a space where a value that is Latin text or a number meets a Chinese character. A number
    that rounds to zero has no sign.

    A message that the catalogue lacks is said in English; a test holds that there is none.
    """
    spoken = word(message)
    values = with_unsigned_zeros(values)
    return spoken.format(**values) if language() == "en" else filled(spoken, values)


def say_of(n: float, one: str, many: str, /, **values: object) -> str:
    """The message for ``n`` things: ``one`` where there is exactly one, else ``many``."""
    return say(one if n == 1 else many, **values)


def word(name: str) -> str:
    """A name out of a closed set (an outcome, a measure), or a message without places, in the
    language in force; a name that no catalogue knows, as names in data, stays as it is."""
    spoken = language()
    return name if spoken == "en" else catalogue(spoken).get(name, name)


def noted(message: str) -> str:
    """``message`` itself: marks a constant that ``word`` or ``say`` puts into words later."""
    return message


@cache
def catalogue(spoken: Language) -> Mapping[str, str]:
    """Every message and name of a language by its English text; empty for English."""
    return {
        english: said
        for file, entries in _files(spoken)
        if file != _NOUNS
        for english, said in entries.items()
        if isinstance(said, str)
    }


@cache
def nouns(spoken: Language) -> Mapping[str, str]:
    """Counted things of a language by their English singular, each with a place ``n``: they carry a
    measure word. A method's own stand in the table ``nouns`` of its file."""
    tables = (
        entries if file == _NOUNS else entries.get("nouns", {}) for file, entries in _files(spoken)
    )
    return {noun: said for table in tables for noun, said in table.items()}


_NOUNS = "nouns.toml"


@cache
def _files(spoken: Language) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The files of a language with their entries: those here, then what each method says alone."""
    here = files("proofstone.wording") / spoken
    found = sorted(here.iterdir(), key=lambda file: file.name) if here.is_dir() else []
    found += [folder / f"{spoken}.toml" for folder in _methods()] if spoken != "en" else []
    return [
        (file.name, tomllib.loads(file.read_text(encoding="utf-8")))
        for file in found
        if file.name.endswith(".toml") and file.is_file()
    ]


def _methods() -> Iterator[Traversable]:
    """The folders of methods: those of this package, then those of others."""
    yield from (folder for folder in files("proofstone.methods").iterdir() if folder.is_dir())
    for point in entry_points(group="proofstone.methods"):
        yield files(import_module(point.module).__package__ or point.module)


# Counted things, lists and runs of sentences, as each language writes them.


def counted(n: int, noun: str, plural: str = "") -> str:
    """``1 item``, ``2 items``, ``5,038 items``; ``plural`` where an s does not make one. Chinese
    has a measure word of the noun's own."""
    spoken = language()
    if spoken == "en":
        return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
    return filled(nouns(spoken).get(noun, "{n:,} 个{noun}"), {"n": n, "noun": word(noun)})


def joined(words: Sequence[str], most: int | None = None) -> str:
    """``a``, ``a and b``, ``a, b and c``; the empty text of no words. Of more than ``most`` the
    first ones, and how many others there are."""
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
    """``a, b, c``; with ``most``, no more than that: ``a, b and 3 more``."""
    shown = ("、" if language() == "zh" else ", ").join(words[:most])
    left = 0 if most is None else len(words) - most
    return say("{words} and {n:,} more", words=shown, n=left) if left > 0 else shown


def paragraph(*sentences: str) -> str:
    """The sentences one after the other, those that are empty left out."""
    return ("" if language() == "zh" else " ").join(filter(None, sentences))
