"""Why an item or a statement is to be looked at: the reasons in words, gravest first."""

from __future__ import annotations

from collections.abc import Iterable

from proofstone.engines.stats import ItemFlag, KeyFlag
from proofstone.wording import language, noted, word

__all__ = ["REASONS", "Reason", "gravity", "reasons_in_words"]

Reason = ItemFlag | KeyFlag

# Those that accuse come before those that only say that an item tells nobody apart.
REASONS: dict[Reason, str] = {
    "strong-distractor": noted("the strongest agree on one wrong answer: it may be the right one"),
    "probably-wrong": noted("its questions are missed more, and the strong gain nothing on them"),
    "weak-beat-strong": noted("the weak are right and the strong wrong: the key may be wrong"),
    "nearly-all-wrong": noted("nearly everybody is wrong: too hard, or the key is wrong"),
    "harder-than-the-rest": noted("questions that hold it are missed more than the others"),
    "nearly-all-right": noted("nearly everybody is right: it tells nobody apart"),
}
_OF_STATEMENTS: dict[Reason, str] = {
    "weak-beat-strong": noted("on questions that hold it the weak do better than the strong"),
}
_PLACES = {flag: place for place, flag in enumerate(REASONS)}


def gravity(flags: Iterable[Reason]) -> int:
    """The place of the gravest of ``flags``, from 0; after all where there is none."""
    return min((_PLACES[flag] for flag in flags), default=len(_PLACES))


def reasons_in_words(flags: Iterable[Reason], *, of_statement: bool = False) -> str:
    """The reasons, gravest first, in the language in force."""
    said = REASONS | (_OF_STATEMENTS if of_statement else {})
    words = [word(said[flag]) for flag in sorted(flags, key=_PLACES.__getitem__)]
    return ("；" if language() == "zh" else "; ").join(words)
