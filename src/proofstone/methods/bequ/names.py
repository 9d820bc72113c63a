"""Names that mean one thing: how they are compared, and which rows of a list are one entity."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from proofstone.errors import Problem

__all__ = ["NamedRow", "is_named", "plain_name", "same_entities"]

# Digits, and the letters of Latin, Greek, Cyrillic, Armenian and Georgian, between whose words
# spaces stand and to which nothing is joined, as it is in Arabic, Hebrew and Korean.
_OF_WORDS = (
    "[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u03ff\u0400-\u052f"
    "\u0531-\u0556\u0561-\u0587\u10a0-\u10fa\u1e00-\u1fff]"
)


class NamedRow(Struct, frozen=True):
    """What tells which entity a row means; ``place`` is where it stands."""

    place: str
    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    wikidata: str = ""


@lru_cache(maxsize=65_536)
def plain_name(name: str) -> str:
    """A name as it is compared: without regard to case, width, underscores and direction marks."""
    return _plain(name)


def _plain(text: str) -> str:
    """``plain_name`` of texts of any length, of which none is kept."""
    if not text.isascii():
        wide = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in wide if unicodedata.category(sign) != "Cf")
    return " ".join(text.replace("_", " ").casefold().split())


def is_named(text: str, names: Sequence[str]) -> bool:
    """Whether a text holds one of the names as whole words; in scripts that join others to a word,
    or set no spaces between words, wherever it stands."""
    plain = _plain(text)
    return any(_pattern(plain_name(name)).search(plain) for name in names)


@lru_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    before = rf"(?<!{_OF_WORDS})" if re.match(_OF_WORDS, name) else ""
    after = rf"(?!{_OF_WORDS})" if re.match(_OF_WORDS, name[-1:]) else ""
    return re.compile(before + re.escape(name) + after)


def same_entities(rows: Sequence[NamedRow], problems: list[Problem]) -> list[list[int]]:
    """The places of rows that mean one entity, in groups, in the order of their first rows.

    Two rows mean one where they have the same Wikidata number; or the same name and description, or
    one's name, which no other entity has, among the other's aliases, and not two numbers. The same
    name and description with two numbers is a problem: the question would not tell which of them is
    meant.
    """
    joined = _Joined(rows)
    joined.by_number()
    joined.by_name(problems)
    joined.by_alias()
    return joined.groups()


class _Joined:
    """Rows joined into groups, each named by its first row's place."""

    def __init__(self, rows: Sequence[NamedRow]) -> None:
        self._rows = rows
        self._first = list(range(len(rows)))
        self._number = [row.wikidata for row in rows]

    def by_number(self) -> None:
        seen: dict[str, int] = {}
        for place, row in enumerate(self._rows):
            if row.wikidata:
                self._join(seen.setdefault(row.wikidata, place), place)

    def by_name(self, problems: list[Problem]) -> None:
        seen: dict[tuple[str, str], int] = {}
        for place, row in enumerate(self._rows):
            other = seen.setdefault((plain_name(row.name), row.description.strip()), place)
            if other != place and not self._join(other, place):
                problems.append(_two_of_one_name(self._rows[other], row))

    def by_alias(self) -> None:
        named: dict[str, set[int]] = {}  # groups that were one before any alias was looked at
        for place, row in enumerate(self._rows):
            named.setdefault(plain_name(row.name), set()).add(self._root(place))
        for place, row in enumerate(self._rows):
            for alias in row.aliases:
                of = named.get(plain_name(alias), set())
                if len(of) == 1:
                    self._join(min(of), place)

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for place in range(len(self._rows)):
            found.setdefault(self._root(place), []).append(place)
        return list(found.values())

    def _root(self, place: int) -> int:
        while self._first[place] != place:
            self._first[place] = self._first[self._first[place]]
            place = self._first[place]
        return place

    def _join(self, one: int, other: int) -> bool:
        """Joins the groups of two rows, unless they have two numbers."""
        first, second = sorted((self._root(one), self._root(other)))
        numbers = {self._number[first], self._number[second]} - {""}
        if len(numbers) > 1:
            return False
        self._first[second] = first
        self._number[first] = next(iter(numbers), "")
        return True


def _two_of_one_name(first: NamedRow, row: NamedRow) -> Problem:
    return Problem(
        f"{row.place}, field name",
        f'"{row.name}" is {row.wikidata} here and {first.wikidata} in {first.place}: a model could '
        "not tell which is meant; give each a description, or a name such as NAME (what it is)",
    )
