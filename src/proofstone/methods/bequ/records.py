"""What is verified, and what it is verified against."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from msgspec import Struct

from proofstone.records.ids import canonical_json
from proofstone.records.options import Opt
from proofstone.records.verdicts import Passage


class GivenTriple(Struct, frozen=True, gc=False, array_like=True):
    """A triple that was elicited, as it was written. ``subject`` may be another than the entity."""

    subject: str
    predicate: str
    object: str


class ReferenceTriple(Struct, frozen=True, gc=False, array_like=True):
    """A triple that is known of an entity, with the passage that it was taken from (empty: none was
    kept)."""

    predicate: str
    object: str
    passage: Passage


class ReferenceRow(Struct, frozen=True, gc=False, array_like=True):
    """What one row of a reference says of an entity."""

    passages: tuple[Passage, ...]
    triples: tuple[ReferenceTriple, ...]


# How a triple reads as words: for a search, and for a judge.

_NAMESPACE = re.compile(r"\A[A-Za-z][A-Za-z0-9-]{0,15}:(?=[A-Za-z])(?!//)")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def spoken(predicate: str) -> str:
    """A predicate in words: ``rdf:birthPlace`` is "birth place"."""
    words = _HUMP.sub(" ", _NAMESPACE.sub("", predicate.strip())).split()
    return " ".join(word.lower() if word[1:].islower() else word for word in words)


def object_text(value: Any) -> str:
    """An object as one text: a list with semicolons, a number or truth value as JSON spells it,
    nothing as the empty text. A text is taken as it stands."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(object_text, value)))
    return canonical_json(value).decode()


def has_han(text: str) -> bool:
    """Whether Chinese characters stand in it."""
    return _HAN.search(text) is not None


# The family of a predicate: what kind of thing it says, by the words of its name.

OTHER = "other"


@lru_cache(maxsize=65_536)
def family_of(predicate: str) -> str:
    """The first family of families.toml of which a word stands in the predicate (Chinese: whose
    word is a part of it), else ``other``. Models make predicates up, so there is no closed list."""
    name = spoken(predicate).casefold()
    words = set(name.replace("-", " ").split())
    for family, marks in _families():
        if any(mark in words if mark.isascii() else mark in name for mark in marks):
            return family
    return OTHER


@cache
def _families() -> tuple[tuple[str, tuple[str, ...]], ...]:
    text = (files(__package__) / "families.toml").read_text(encoding="utf-8")
    return tuple((name, tuple(marks)) for name, marks in tomllib.loads(text).items())


# How a sample of triples is drawn and found.

SamplingWay = Literal["entities", "triples"]


class VerifySettings(Struct, frozen=True, kw_only=True):
    """How triples are drawn (``sample`` of each direction, and of each domain or popularity where
    ``sample_per`` says so; 0 is all) and found (``k`` passages a
    triple). Recall is ``over`` all entities of the reference, or those of which somebody gave a
    triple. It asks what all elicited triples of the entity ``together`` make of a known one, as the
    paper does, or whether a ``single`` one of the ``candidates`` nearest covers it, which is
    stricter."""

    sample: Annotated[
        int,
        Opt(
            "Triples of each model, and of the reference, that are judged; 0: all.",
            least=0,
            shows_default=True,
        ),
    ] = 500
    sampling: Annotated[
        SamplingWay,
        Opt(
            "Draw an entity and then one of its triples, or uniformly over triples.",
            shows_default=True,
        ),
    ] = "entities"
    sample_per: Annotated[
        Literal["all", "domain", "popularity"],
        Opt(
            "Draw --sample triples overall, or of each domain or popularity (as published).",
            shows_default=True,
        ),
    ] = "all"
    over: Annotated[
        Literal["reference", "elicited"],
        Opt(
            "Recall over all entities of the reference, or those that somebody gave a triple of.",
            flags=("--recall-over",),
            shows_default=True,
        ),
    ] = "reference"
    recall: Annotated[
        Literal["together", "single"],
        Opt(
            "Recall by what all elicited triples of an entity entail together (as published), or "
            "by whether a single triple covers the reference triple (stricter).",
            shows_default=True,
        ),
    ] = "together"
    way: Annotated[
        Literal["bm25", "dense", "hybrid"],
        Opt("Find passages and candidates by words, by meaning, or by both.", shows_default=True),
    ] = "bm25"
    k: Annotated[int, Opt("Passages a triple.", least=1, most=50, shows_default=True)] = 10
    candidates: Annotated[
        int,
        Opt(
            "With --recall single: elicited triples that are shown for one of the reference.",
            least=1,
            most=50,
            shows_default=True,
        ),
    ] = 10
    seed: Annotated[int, Opt("The seed of all draws.", least=0, shows_default=True)] = 0
