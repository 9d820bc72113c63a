"""The values of one row as typed fields: what is wrong is noted by line and field, not raised."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from proofstone.errors import Problem
from proofstone.records.tables import Row
from proofstone.texts.languages import read_language_code

_TRUTH = {"true": True, "correct": True, "1": True, "false": False, "incorrect": False, "0": False}


_SHOWN = 40


def came(value: object) -> str:
    """A value as a message quotes it: short, and never a whole nested one."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if not isinstance(value, str):
        return orjson.dumps(value).decode()
    return f'"{value}"' if len(value) <= _SHOWN else f'"{value[:_SHOWN]}..."'


class Fields:
    """Reads fields of one row by name, the first of several names that has a value.

    A missing field, null and an empty text are the same; each method says what it then gives. A
    value of the wrong kind is added to ``problems`` and reads as missing; ``is_sound`` tells
    afterwards whether that happened.
    """

    __slots__ = ("_problems", "is_sound", "place", "values")

    def __init__(self, row: Row, problems: list[Problem]) -> None:
        self.place = row.place
        self.values = row.values
        self.is_sound = True
        self._problems = problems

    def wrong(self, name: str, what: str) -> None:
        """Notes a problem with the field ``name`` of this row."""
        self.is_sound = False
        self._problems.append(Problem(f"{self.place}, field {name}", what))

    def find(self, *names: str) -> tuple[str, Any]:
        """The first name that has a value, and the value; the first name and None without one."""
        for name in names:
            value = self.values.get(name)
            if value is not None and value != "":
                return name, value
        return names[0], None

    def has(self, *names: str) -> bool:
        """Whether any of the names has a value."""
        return self.find(*names)[1] is not None

    def text(self, *names: str) -> str:
        """The text as it stands, or the empty text."""
        for name in names:
            value = self.values.get(name)
            if value is None or value == "":
                continue
            if type(value) is str:
                return value
            self.wrong(name, f"expected text, came {came(value)}")
            break
        return ""

    def required_text(self, *names: str) -> str:
        """The text, which must hold more than white space."""
        text = self.text(*names)
        if not text or text.isspace():
            name, value = self.find(*names)
            if value is None:
                self.wrong(name, "is missing or empty")
            elif text:
                self.wrong(name, "holds only white space")
        return text

    def label(self, *names: str) -> str:
        """A text as it stands, or a whole number as text; the empty text where missing."""
        for name in names:
            value = self.values.get(name)
            if value is None or value == "":
                continue
            if type(value) is str:
                return value
            if type(value) is int:
                return str(value)
            self.wrong(name, f"expected text or a whole number, came {came(value)}")
            break
        return ""

    def key(self, *names: str) -> str:
        """A label by which rows refer to each other, without white space around it."""
        return self.label(*names).strip()

    def number(self, name: str) -> int | None:
        """A whole number of 0 or more, also as its digits in text; None where missing."""
        value = self.find(name)[1]
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if value is None or (type(value) is int and value >= 0):
            return value
        self.wrong(name, f"expected a whole number of 0 or more, came {came(value)}")
        return None

    def truth(self, *names: str) -> bool | None:
        """True for true, correct or 1, False for false, incorrect or 0; None where missing."""
        name, value = self.find(*names)
        if value is None or type(value) is bool:
            return value
        known = None
        if type(value) is int:
            known = {0: False, 1: True}.get(value)
        elif isinstance(value, str):
            known = _TRUTH.get(value.strip().lower())
        if known is None:
            self.wrong(
                name, f"expected true or false (correct, incorrect, 1, 0), came {came(value)}"
            )
        return known

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts, as a list, as the JSON text of one, or as one text with commas between
        them (then without white space around each and without empty ones)."""
        name, value = self.find(*names)
        if value is None:
            return ()
        parts = _texts_in(value) if isinstance(value, str) else _all_texts(value)
        if parts is None:
            self.wrong(name, f"expected a list of texts, came {came(value)}")
        return parts or ()

    def identity(self, name: str) -> bytes | None:
        """32 bytes written as 64 hexadecimal digits; None where missing."""
        value = self.find(name)[1]
        if value is None:
            return None
        found = read_identity(value) if isinstance(value, str) else None
        if found is None:
            self.wrong(name, f"expected 64 hexadecimal digits, came {came(value)}")
        return found

    def language(self, name: str = "language") -> str | None:
        """A language code such as ``en``; the empty text for ``und``; None where missing."""
        text = self.text(name)
        if not text:
            return None
        code = read_language_code(text)
        if code is None:
            self.wrong(name, f"expected a language code such as en or zh, came {came(text)}")
        return code


def read_identity(text: str) -> bytes | None:
    """The 32 bytes that 64 hexadecimal digits spell, or None."""
    text = text.strip()
    if len(text) != 64 or not text.isascii() or not text.isalnum():
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def read_json(text: str) -> Any:
    """The value that a cell spells as JSON, or None where it is no JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


@lru_cache(maxsize=1024)
def _texts_in(text: str) -> tuple[str, ...] | None:
    if text.lstrip().startswith("["):
        return _all_texts(read_json(text))
    return tuple(part for piece in text.split(",") if (part := piece.strip()))


def _all_texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    return None
