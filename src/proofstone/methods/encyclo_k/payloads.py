"""What Encyclo-K stores: a statement, questions composed of statements or about a single one, a
question made elsewhere, and a verdict found in a reply."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "ChoiceQuestion",
    "ComposedQuestion",
    "JudgedStatement",
    "SingleStatement",
    "Statement",
]


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
