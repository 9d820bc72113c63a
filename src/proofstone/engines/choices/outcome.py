"""What a reply amounts to: answered, refused, unparsed or truncated. ``failed`` never comes here.

The one place that decides it, from how the reply ended, what it says and what was extracted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from proofstone.engines.choices.extract import UNPARSED, Extraction, extract_choice
from proofstone.engines.choices.several import extract_choices
from proofstone.engines.choices.verdict_lists import VerdictList, extract_verdicts
from proofstone.engines.choices.verdicts import extract_verdict
from proofstone.records import Reply

__all__ = [
    "Reading",
    "VerdictReadings",
    "not_read",
    "opens_with_refusal",
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

# A refusal opens the reply, in the first person; one in mid-text is part of the reasoning.
_SORRY = (
    r"(?:(?:i['’]?m|i am|we are) (?:really |very |so |truly )?(?:sorry|afraid)\b|sorry\b|"
    r"i apologi[sz]e\b|my apologies\b|unfortunately\b)[,.:;]?\s{0,4}(?:but\s|that\s)?"
)
_CANNOT = (
    r"(?:(?: |['’]m | am )(?:really |just |simply )?(?:cannot|can['’]?t|can not|"
    r"could not|couldn['’]?t|won['’]?t|will not|unable to|not able to|"
    r"(?:must |have to )?(?:decline|refuse) to|not comfortable))"
)
_ENGLISH = re.compile(
    rf"[\s*_#>\"'“]{{0,12}}+(?:{_SORRY})?"
    r"(?:as an? (?:ai|language model|assistant)\b[^.,\n]{0,60},\s)?"
    rf"(?:i|we){_CANNOT}\s"
    r"(?:answer|help|assist|comply|provide|fulfil+|respond|discuss|engage|participate|continue|"
    r"generate|share|support|offer|complete|give|do (?:that|this))(?:ing)?\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"[\s*_#>“]{0,12}+"
    r"(?:(?:非常|很|十分|真的)?(?:抱歉|对不起|不好意思|遗憾)[，,。！! ]{0,3})?(?:但是?)?"
    r"(?:作为[^，,。\n]{0,20}[，,])?(?:我|本模型|本助手)?(?:现在|目前|暂时)?"
    r"(?:无法|不能|没办法|没有办法|不便|不会|拒绝|不予)"
    r"(?:为您|为你|向您|向你|对此|直接|就此)?"
    r"(?:回答|提供|协助|帮助|满足|完成|讨论|给出|处理|继续|回应|作答|解答)"
)


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


def opens_with_refusal(text: str) -> bool:
    """Whether ``text`` begins by refusing to answer, in English or Chinese."""
    opening = text[:400].lstrip()
    return _ENGLISH.match(opening) is not None or _CHINESE.match(opening) is not None
