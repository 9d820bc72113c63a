"""What Encyclo-K stores: a statement, questions composed of statements or about a single one, a
question made elsewhere, and a verdict found in a reply."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.methods.encyclo_k.wordings import is_chinese


class Statement(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.statement"):
    """A knowledge statement. A falsified one names the true fact it came from (``origin``), what
    kind of error was put in, and why it is false. ``title`` names the knowledge point."""

    text: str
    correct: bool
    title: str = ""
    origin: bytes | None = None
    error_type: str = ""
    reason: str = ""


class ComposedQuestion(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.composed"):
    """A question over the item's facts, shown in their order as statements i, ii, iii, ...

    ``asks_correct``: whether the correct or the incorrect ones are asked for. Each option is a
    tuple of places (0-based, ascending) among the facts; option ``gold`` is exactly the set of all
    facts of the asked polarity. ``template`` and ``wording`` number the phrasing in the language's
    lists.
    """

    asks_correct: bool
    template: int
    wording: int
    options: tuple[tuple[int, ...], ...]
    gold: int


class ChoiceQuestion(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="encyclo_k.choice"
):
    """A multiple-choice question made elsewhere, with its texts.

    ``also`` are the places of further right options behind ``gold``, ascending: then all right ones
    are asked for, and an answer is right where it names exactly these. ``answer_format`` is how
    answers look where the row states it (``regex:...`` or ``json:...``).
    """

    question: str
    options: tuple[str, ...]
    gold: int
    also: tuple[int, ...] = ()
    answer_format: str = ""

    @property
    def golds(self) -> tuple[int, ...]:
        """The places of all right options."""
        return (self.gold, *self.also)


class SingleStatement(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.single"):
    """Whether the item's one fact is true; all there is to say stands in the fact."""


class JudgedStatement(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.judged"):
    """A unit: the verdict on the statement at ``place`` (from 0) of a composed question."""

    place: int


# The defaults of ``defaults.toml``, read once.


@cache
def _defaults() -> dict[str, Any]:
    text = files(__package__).joinpath("defaults.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def default_recipe() -> dict[str, Any]:
    """The default of each composition parameter that has one."""
    return dict(_defaults()["recipe"])


def default_settings(way: str) -> dict[str, Any]:
    """The default settings of a way of asking; KeyError where there is no such way."""
    return dict(_defaults()["settings"][way])


# The words in which statements are judged, by language.


class Judging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The phrases of one language: the question about one ``statement`` and about ``each`` of
    several, both verdicts, and the lines that state them."""

    statement: str
    each: str
    true: str
    false: str
    answer: str
    verdict: str

    def word(self, *, correct: bool) -> str:
        """The verdict that a statement deserves."""
        return self.true if correct else self.false

    def line(self, numeral: str, verdict: str) -> str:
        """The line that states the verdict on a numbered statement: ``ii: False``."""
        return self.verdict.replace("{numeral}", numeral).replace("{verdict}", verdict)


def judging(language: str) -> Judging:
    """The phrases for statements in this language."""
    return _read("zh" if is_chinese(language) else "en")


@cache
def _read(name: str) -> Judging:
    file = files(__package__) / "prompts" / f"judging.{name}.toml"
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Judging)
