"""Worked examples for who writes pairs: carried ones, or a person's own from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone.draws import Draws
from proofstone.engines.ingest import Fields, read_checked
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.identity import canonical_json, digest
from proofstone.methods.chinese_simpleqa.prompting import is_chinese
from proofstone.ports import Row
from proofstone.records import Stratum

__all__ = ["PairExample", "Shots", "read_shots"]


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
    own = _read(Path(file)) if file else ()
    most = len(own) or min(len(_carried("en")), len(_carried("zh")))
    if n > most:
        raise BadUsage(f"there are {most} examples, and --shots asks for {n} a prompt")
    return Shots(n, own)


def _read(path: Path) -> tuple[PairExample, ...]:
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
