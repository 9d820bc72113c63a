"""Ways of asking: a set of prompts, and how many triples it asks for: ``wikidata@25-50``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage

__all__ = [
    "RANGES_SIGN",
    "TWO_STEP",
    "WAYS",
    "Range",
    "ReadWay",
    "default_range",
    "ranges",
    "read_way",
    "schema_predicates",
    "settings",
]

WAYS = {
    "direct": "triples about an entity, at once",
    "repeated-2": "the same with its instruction twice in one request",
    "repeated-3": "the same with its instruction three times; also repeated-4 to -9",
    "wikidata": "only predicates of a closed list of 50 Wikidata properties",
    "wikidata-open": "predicates of Wikidata or others",
    "schema-org": "only predicates of a closed list of 25 Schema.org properties",
    "schema-org-open": "predicates of Schema.org or others",
    "two-step": "first the predicates that apply, then one request for the objects of each",
}
TWO_STEP = "two-step"
RANGES_SIGN = "@"
_REPEATED = re.compile(r"repeated-([2-9])")


class Range(Struct, frozen=True, forbid_unknown_fields=True):
    """From how many to how many triples are asked for of an entity that is widely known and of one
    that is little known, and the tokens that this may take."""

    known: tuple[int, int]
    little_known: tuple[int, int]
    max_tokens: int

    @property
    def name(self) -> str:
        """The range of a widely known entity: ``50-100``."""
        return f"{self.known[0]}-{self.known[1]}"

    @property
    def known_text(self) -> str:
        """The number of triples of a widely known entity in words: ``50 to 100 triples``."""
        return _in_words(self.known)

    @property
    def little_known_text(self) -> str:
        """The number of triples of a little known entity in words."""
        return _in_words(self.little_known)


class ReadWay(Struct, frozen=True):
    """A way as its name says it: which prompts, how often the instruction stands in one, and how
    many triples it asks for."""

    prompts: str
    times: int
    range: Range

    @property
    def name(self) -> str:
        """The name, without the range that is the default."""
        prompts = self.prompts if self.times == 1 else f"repeated-{self.times}"
        is_default = self.range == default_range()
        return prompts if is_default else f"{prompts}{RANGES_SIGN}{self.range.name}"


def read_way(name: str) -> ReadWay:
    """The way of a name. Raises BadUsage with what there is."""
    prompts, sign, wanted = name.partition(RANGES_SIGN)
    repeated = _REPEATED.fullmatch(prompts)
    if prompts not in WAYS and repeated is None:
        raise BadUsage(f"no way of asking is named {name!r}; there is {', '.join(WAYS)}")
    if sign and wanted not in ranges():
        raise BadUsage(
            f"{wanted!r} is no range of triples; there is {', '.join(ranges())}",
            hint="each is that of a widely known entity; little known ones have a smaller one",
        )
    if sign and prompts == TWO_STEP:
        raise BadUsage(
            f"{TWO_STEP} asks for each predicate in a request of its own and for no number of "
            f"triples, so it takes no range, not {wanted!r}",
            hint=f"leave the range out for {TWO_STEP}",
        )
    asked = ranges()[wanted] if sign else default_range()
    return ReadWay("direct", int(repeated[1]), asked) if repeated else ReadWay(prompts, 1, asked)


def _in_words(numbers: tuple[int, int]) -> str:
    low, high = numbers
    if low == high:
        return f"{low} triple" if low == 1 else f"{low} triples"
    return f"{low} to {high} triples"


def settings(name: str) -> dict[str, Any]:
    """The default settings of a way. Raises BadUsage for an unknown one."""
    way = read_way(name)
    return {"max_tokens": way.range.max_tokens, "temperature": _defaults()["temperature"]}


@cache
def ranges() -> dict[str, Range]:
    """The ranges by their names, the default first."""
    found = msgspec.convert(_defaults()["range"], dict[str, Range])
    return {one.name: one for one in found.values()}


def default_range() -> Range:
    """The range where none is named."""
    return next(iter(ranges().values()))


@cache
def schema_predicates(prompts: str) -> tuple[str, ...]:
    """The predicates that a set of prompts allows; empty where it allows any."""
    text = files(__package__).joinpath("schemas.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text).get(prompts, ()))


@cache
def _defaults() -> dict[str, Any]:
    text = files(__package__).joinpath("defaults.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
