"""Worked examples for who writes pairs: carried ones, or a person's own from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.methods.chinese_simpleqa.templates import is_chinese
from proofstone.records.ids import Draws, canonical_json, digest
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Row

# What a pair must be, each criterion by its name: as authors are told and checkers are asked.

CRITERIA = ("objective", "single", "lasting", "demanding", "datable", "named")


_DATED = "lasting_dated"


class Scope(Struct, frozen=True, kw_only=True):
    """Which knowledge is asked for: what the world knew on the day ``as_of``, or what private
    documents say."""

    as_of: str = ""
    is_private: bool = False


def criteria_in(language: str, scope: Scope, valid_at: str = "") -> dict[str, str]:
    """The criteria in the words of a language, by name, in the order of ``CRITERIA``; ``valid_at``
    is the date at which a private document is valid, empty where nobody said."""
    words = _read("zh" if is_chinese(language) else "en", is_private=scope.is_private)
    if scope.is_private and valid_at:
        words = {**words, "lasting": words[_DATED]}
    return {
        name: words[name].replace("{as_of}", scope.as_of).replace("{valid_at}", valid_at)
        for name in CRITERIA
    }


def criteria_digest(scope: Scope) -> str:
    """What a step depends on that states them."""
    own = scope.is_private
    return digest(_bytes("en", is_private=own) + _bytes("zh", is_private=own)).hex()


@cache
def _read(kind: str, *, is_private: bool) -> dict[str, str]:
    return tomllib.loads(_bytes(kind, is_private=is_private).decode())


@cache
def _bytes(kind: str, *, is_private: bool) -> bytes:
    name = "private_criteria" if is_private else "criteria"
    return (files(__package__) / f"{name}.{kind}.toml").read_bytes()


class PairExample(Struct, frozen=True, forbid_unknown_fields=True):
    """A passage, and the pair that is to be written from it."""

    passage: str
    question: str
    answer: str
    category: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def reply(self) -> str:
        """The reply that it deserves, in the form that is asked for."""
        pair = {"question": self.question, "answer": self.answer, "aliases": list(self.aliases)}
        return msgspec.json.encode({"pairs": [pair]}).decode()


class Shots(Struct, frozen=True):
    """``n`` examples a prompt, from a person's ``own``, else from those that are carried."""

    n: int
    own: tuple[PairExample, ...] = ()

    def draw(self, draws: Draws, language: str, place: Stratum) -> list[PairExample]:
        """The examples for a passage in this language: those of its categories first, the finer one
        before the coarser, the others drawn."""
        known = self.own or _carried("zh" if is_chinese(language) else "en")
        shuffled = draws.shuffled(known)
        names = [name.casefold() for name in (place.field, place.discipline) if name]

        def rank(example: PairExample) -> int:
            name = example.category.casefold()
            return names.index(name) if name in names else len(names)

        return sorted(shuffled, key=rank)[: self.n]

    def key(self) -> str:
        """What a step depends on that shows them."""
        known = self.own or (_carried("en"), _carried("zh"))
        return digest(canonical_json([self.n, known])).hex()


def read_shots(n: int, file: str) -> Shots:
    """``n`` examples a prompt, of ``file`` where one is named: rows (JSONL, CSV, Parquet) with
    passage, question, answer and perhaps category and aliases. Raises BadUsage, or BadInput with
    every problem of the file."""
    if n < 0:
        raise BadUsage(f"--shots is 0 or more, not {n}")
    own = _examples_read(Path(file)) if file else ()
    most = len(own) or min(len(_carried("en")), len(_carried("zh")))
    if n > most:
        raise BadUsage(f"there are {most} examples, and --shots asks for {n} a prompt")
    return Shots(n, own)


def _examples_read(path: Path) -> tuple[PairExample, ...]:
    if not path.is_file():
        raise BadUsage(f"--examples {path}: there is no such file")
    return read_checked(path, _examples)


def _examples(rows: Iterable[Row]) -> tuple[PairExample, ...]:
    problems: list[Problem] = []
    found = tuple(_example(Fields(row, problems)) for row in rows)
    if problems:
        raise BadInput("The examples cannot be read.", problems)
    if not found:
        raise BadInput("There is no example in the file.")
    return found


def _example(fields: Fields) -> PairExample:
    return PairExample(
        passage=fields.required_text("passage"),
        question=fields.required_text("question"),
        answer=fields.required_text("answer"),
        category=fields.label("category", "primary_category").strip(),
        aliases=tuple(fields.texts("aliases")),
    )


@cache
def _carried(kind: str) -> tuple[PairExample, ...]:
    text = (files(__package__) / f"examples.{kind}.toml").read_text(encoding="utf-8")
    examples: Sequence[PairExample] = msgspec.convert(
        tomllib.loads(text)["example"], list[PairExample]
    )
    return tuple(examples)
