"""What a reply amounts to: answered, refused, unparsed or truncated. ``failed`` never comes here.

The one place that decides it, from how the reply ended, what it says and what was extracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from proofstone.engines.choices.extract import UNPARSED, Extraction, extract_choice
from proofstone.engines.choices.refusals import opens_with_refusal
from proofstone.engines.choices.several import extract_choices
from proofstone.engines.choices.verdict_lists import VerdictList, extract_verdicts
from proofstone.engines.choices.verdicts import extract_verdict
from proofstone.records import Reply

__all__ = [
    "Reading",
    "VerdictReadings",
    "not_read",
    "read_choice",
    "read_choices",
    "read_verdict",
    "read_verdicts",
]

ReadOutcome: TypeAlias = Literal["answered", "refused", "unparsed", "truncated"]


class Reading(Struct, frozen=True):
    """A reply's outcome with what it rests on. ``flags`` add what the outcome does not say:
    ``truncated`` (an answer was stated before the reply was cut off), ``by endpoint`` (a content
    filter refused, not the model), ``thinking unclosed``, ``several answers``, ``no option``."""

    outcome: ReadOutcome
    extraction: Extraction
    flags: tuple[str, ...] = ()


class VerdictReadings(Struct, frozen=True):
    """The outcome of a reply with several verdicts, and the reading of each statement's. A flag
    ``missing verdicts``: some statements have none."""

    outcome: ReadOutcome
    readings: tuple[Reading, ...]
    flags: tuple[str, ...] = ()


_SEVERAL = ("several answers",)


def read_choice(reply: Reply, letters: str, options: Sequence[str] = ()) -> Reading:
    """The outcome of ``reply`` to a question with these options, and the choice it rests on.

    In this order: a content filter refused; an unclosed ``<think>`` block is truncated and never
    read; a refusal in the endpoint's own field; a choice answers, unless the reply was cut off
    before it was stated in words; cut off; a text that opens with a refusal and chooses nothing;
    unparsed.
    """
    unread = not_read(reply)
    return unread or _decide(reply, extract_choice(reply.text, letters, options))


def read_choices(reply: Reply, letters: str) -> Reading:
    """The same where all right options are asked for: the choice is a set, ``"A, C"``."""
    return not_read(reply) or _decide(reply, extract_choices(reply.text, letters))


def read_verdict(reply: Reply) -> Reading:
    """The same for one statement to be called ``true`` or ``false``."""
    return not_read(reply) or _decide(reply, extract_verdict(reply.text))


def read_verdicts(reply: Reply, n: int) -> VerdictReadings:
    """The same for ``n`` statements to be called true or false, each with an outcome of its own.

    The reply is answered where any statement has a verdict. One without is truncated where the
    reply was cut off, refused where it holds no verdict and opens with a refusal, else unparsed.
    """
    unread = not_read(reply)
    if unread is not None:
        return VerdictReadings(unread.outcome, (unread,) * n, unread.flags)
    found = extract_verdicts(reply.text, n)
    cut_off = reply.finish == "length"
    readings = tuple([_of_place(found, place, cut_off=cut_off) for place in range(n)])
    n_answered = sum(reading.outcome == "answered" for reading in readings)
    if not n_answered and not cut_off and not found.both and opens_with_refusal(reply.text):
        return VerdictReadings("refused", (Reading("refused", UNPARSED),) * n)
    if not n_answered:
        return VerdictReadings("truncated" if cut_off else "unparsed", readings)
    flags = [("truncated", cut_off), ("missing verdicts", n_answered < n)]
    return VerdictReadings("answered", readings, tuple([flag for flag, is_so in flags if is_so]))


def _of_place(found: VerdictList, place: int, *, cut_off: bool) -> Reading:
    said, inferred = found.said[place], place in found.inferred
    if said and not (cut_off and inferred):
        extraction = Extraction(said, "bare" if inferred else "marked", "whole text", True)
        return Reading("answered", extraction, ("truncated",) if cut_off else ())
    if cut_off:
        return Reading("truncated", UNPARSED)
    if place in found.both:
        return Reading("unparsed", Extraction("", "marked", "whole text", False), _SEVERAL)
    return Reading("unparsed", UNPARSED, ("missing verdict",))


def not_read(reply: Reply) -> Reading | None:
    """The outcome of a reply whose text is no answer whatever it says, else None."""
    if reply.finish == "content_filter":
        return Reading("refused", UNPARSED, ("by endpoint",))
    if reply.thinking_unclosed:
        return Reading("truncated", UNPARSED, ("thinking unclosed",))
    if reply.refusal.strip():
        return Reading("refused", UNPARSED)
    return None


def _decide(reply: Reply, found: Extraction) -> Reading:
    """The outcome of a reply that was read."""
    cut_off = reply.finish == "length"
    if found.is_option and not cut_off:
        return Reading("answered", found)
    if found.is_option and found.tier == "marked":
        return Reading("answered", found, ("truncated",))
    if cut_off:
        return Reading("truncated", found)
    if found.letter:
        return Reading("unparsed", found, ("no option",))
    if found.tier:
        return Reading("unparsed", found, _SEVERAL)
    refused = opens_with_refusal(reply.text)
    return Reading("refused" if refused else "unparsed", found)
