"""A message is its English text with named places; another language has it in its catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from proofstone.wording.filling import filled, with_unsigned_zeros
from proofstone.wording.language import Language, language

__all__ = ["catalogue", "noted", "nouns", "say", "say_of", "word"]

# Counted things stand in a file of their own: they carry a measure word.
_NOUNS = "nouns.toml"


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
    found: dict[str, str] = {}
    for name, entries in _files(spoken).items():
        if name != _NOUNS:
            found.update(entries)
    return found


@cache
def nouns(spoken: Language) -> Mapping[str, str]:
    """Counted things of a language by their English singular, each with a place ``n``."""
    return _files(spoken).get(_NOUNS, {})


@cache
def _files(spoken: Language) -> Mapping[str, Mapping[str, str]]:
    import tomllib  # noqa: PLC0415 - English needs no catalogue

    folder = files("proofstone.wording") / spoken
    if not folder.is_dir():
        return {}
    return {
        file.name: tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }
