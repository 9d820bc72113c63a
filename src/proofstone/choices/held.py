"""Find the answer held at each step of a reasoning text, and how much of the text checks again.

An answer is held from where it is stated ("so the answer is A and C"). Verdicts on options count
too: once every option has one, and after a statement, they change the set that is held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.choices.answer_sets import (
    CONCLUDES,
    OptionVerdict,
    Stated,
    option_verdicts,
    statements,
)
from proofstone.choices.answers import WINDOW, pattern_table
from proofstone.choices.options import labels

# The answers held.


class Held(Struct, frozen=True):
    """The options held as the answer from a statement at [start, end): their indexes, in order.

    Without indexes no option is held: the reasoning called those held wrong, or said that none
    fits.
    """

    start: int
    end: int
    letters: tuple[int, ...]


def answers_held(reasoning: str, options: Sequence[str], *, several: bool = True) -> list[Held]:
    """Return the answers held along ``reasoning``, in order.

    ``options`` are the options' texts (at most 26). ``several``: more than one may be right.
    Otherwise an option that is called right is the answer held. Hypothetical statements ("if the
    answer is A"), questions and open choices ("A or C") hold nothing.
    """
    letters = labels(len(options))
    found: list[Held] = []
    known: dict[str, bool] = {}
    for start, piece in _pieces(reasoning):
        for event in _events(piece, letters, options):
            held = _after(event, piece, known, letters, several=several)
            if held is None:
                continue
            places = tuple(letters.index(letter) for letter in held)
            is_same = bool(found) and found[-1].letters == places
            if not (is_same and isinstance(event, OptionVerdict)):
                found.append(Held(start + event.start, start + event.end, places))
    return found


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text in pieces of whole lines, with their starts: rules read a bounded length."""
    start = 0
    while start < len(text):
        end = start + WINDOW
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        yield start, text[start:end]
        start = end


def _events(text: str, letters: str, options: Sequence[str]) -> list[Stated | OptionVerdict]:
    """Return statements and verdicts by position; a verdict within a statement is left out."""
    stated = [each for each in statements(text, letters, options) if _is_held(text, each)]
    verdicts = [
        each
        for each in option_verdicts(text, letters, options)
        if not any(one.start <= each.start < one.end for one in stated)
        and not _asks(text, each.end)
    ]
    return sorted([*stated, *verdicts], key=lambda each: each.start)


_SUPPOSES = re.compile(
    r"(?:\b(?:if|whether|suppose|supposing|assum(?:e|ing)|unless)\b"
    r"(?: (?:that|the|my|correct|right))*|"
    r"如果|假如|假设|若|是否)\s?$",
    re.IGNORECASE,
)


_ASKS = re.compile(r"[^.!?。！？\n]{0,200}[?？]")


def _asks(text: str, end: int) -> bool:
    """Return True if the sentence is a question."""
    return _ASKS.match(text, end) is not None


# Right before the letters of a statement: "the answer cannot be B" holds nothing.
_NEGATES = re.compile(
    r"\b(?:cannot|can not|(?:ca|could|should|must|wo|is|are)n['’]t|"
    r"(?:could|should|must|will|may|might|is|are) not)\b[^A-Z]*(?P<letter>[A-Z])\b"
)


def _is_held(text: str, stated: Stated) -> bool:
    if stated.says == "open" or _asks(text, stated.end):
        return False
    denied = _NEGATES.search(text, stated.start, stated.end)
    if denied is not None and denied["letter"] in stated.letters:
        return False
    return _SUPPOSES.search(text, max(0, stated.start - 40), stated.start) is None


def _after(
    event: Stated | OptionVerdict, text: str, known: dict[str, bool], letters: str, *, several: bool
) -> Sequence[str] | None:
    """Return the letters held after a statement or a verdict; None if that is not known.

    ``known`` is what is held of each option; it is changed.
    """
    if isinstance(event, OptionVerdict):
        if _is_conclusion(event, text, several=several):
            known.update(dict.fromkeys(letters, False))
        known.update(dict.fromkeys(event.letters, event.is_right))
        return [each for each in letters if known[each]] if len(known) == len(letters) else None
    known.update({each: each in event.letters for each in letters})
    return [each for each in letters if known[each]]


def _is_conclusion(event: OptionVerdict, text: str, *, several: bool) -> bool:
    """Return True if a verdict states the whole answer: "so A and C are correct"."""
    if not event.is_right:
        return False
    if not several:
        return True
    before = text[max(0, event.start - 40) : event.start]
    return any(not before[match.end() :].strip(" ,*_(") for match in CONCLUDES.finditer(before))


# Verification.

_ROWS = pattern_table("verification.toml").values()


_VERIFIES = re.compile(
    "|".join("".join(row["anywhere"]) for row in _ROWS)
    + r"|^[\s*_>#\"“(-]{0,6}(?:"
    + "|".join("".join(row["opens"]) for row in _ROWS)
    + ")",
    re.IGNORECASE,
)


_SENTENCES = re.compile(
    r"\n+|[。！？]+|(?<![^\S ][A-Za-z])(?<!^[A-Za-z])"
    r"(?<!\b(?:Fig|Sec|Tab|e\.g|i\.e))(?<!\b(?:Eq|cf|al|vs))[.!?…]+[\"”’)\]]*(?=\s)"
)


def verification_share(reasoning: str) -> float | None:
    """Return the share of the sentences that check again or start again; None without sentences.

    A sentence has a letter or digit; a line break ends it.
    """
    said = [each for each in _SENTENCES.split(reasoning) if any(map(str.isalnum, each))]
    if not said:
        return None
    return sum(_VERIFIES.search(each) is not None for each in said) / len(said)
