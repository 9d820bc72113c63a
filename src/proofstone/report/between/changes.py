"""What differs between two respondents, factor by factor, and what that means for the difference.

The factors are kept apart so that a difference is put down to what made it: the model, the items,
the way of asking, the settings, the scorer, the judge, or what people ruled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from proofstone.records import ANSWER_FORMAT
from proofstone.report.between.compared import Change, Factor, Party
from proofstone.report.between.side import Common
from proofstone.wording import counted, joined

__all__ = ["NOT_KNOWN", "attribute", "changes_between", "is_same_run", "moves_scores"]

FACTORS: tuple[Factor, ...] = get_args(Factor)
NOT_KNOWN = "not known"
_METHODS = "the method's for "  # how a template is spelled that is nobody's own

_CONSEQUENCES: Mapping[Factor, str] = {
    "model": "the difference is between two models",
    "served": "another model answered under the name that was asked for",
    "endpoint": "the same name at another address may be another model or another serving of it",
    "way": "another way of asking, with its prompt, is part of the difference",
    "context": "asked with nothing a score measures memory, with the evidence reading",
    "template": "another prompt text, or other worked examples, are part of the difference",
    "settings": "what the settings do to replies is part of the difference",
    "samples": "both are means over their own samples: no bias, but unequal precision",
    "replicate": "the same questions asked afresh: what chance in the replies does is part of it",
    "scorer": "the same reply may be worth another score: score the old replies again (--rescore)",
    "judge": "another judge may score the same reply differently; its verdicts are not comparable",
    "corrections": "people ruled on replies of one more than of the other (--as-scored: before)",
    "measure": "other outcomes count, so the two numbers do not mean the same",
    "source": "what made the scores of a file is not told by it: anything may differ besides",
}
_READ_OTHERWISE = "answers are read from the replies in another format; the same is asked"
_ALSO_READ = "answers are also read from them in another format"
# These two change what is compared on, or how precisely; the difference itself is not theirs.
_NEUTRAL = frozenset({"items", "samples"})
# Where the first differs because the second does, only the second is told.
_FOLLOWS: Mapping[Factor, Factor] = {"served": "model", "endpoint": "model"}
_WORDS: Mapping[Factor, str] = {
    "served": "model that answered", "way": "way of asking",
    "context": "context", "template": "prompt",
    "replicate": "asking itself", "corrections": "rulings", "source": "source",
}  # fmt: skip


def changes_between(before: Party, after: Party, common: Common) -> tuple[Change, ...]:
    """Every factor in which the two differ, in the order of ``FACTORS``."""
    return tuple(_changes(before, after, common))


def moves_scores(changes: tuple[Change, ...]) -> tuple[Factor, ...]:
    """Those factors that may make a difference between the scores of the same items."""
    return tuple(change.factor for change in changes if change.factor not in _NEUTRAL)


def is_same_run(before: Party, after: Party, changes: tuple[Change, ...]) -> bool:
    """Return True if both are the same runs, and nothing differs in how these were scored."""
    return bool(before.runs) and before.runs == after.runs and not moves_scores(changes)


def attribute(before: Party, after: Party, changes: tuple[Change, ...]) -> str:
    """To what the difference may be put down, in a sentence."""
    moving = moves_scores(changes)
    words = [_WORDS.get(factor, factor) for factor in moving]
    if not moving:
        if is_same_run(before, after, changes):
            return "Both are the same run under the same scorer: no difference is possible."
        return "Nothing that makes a score differs between the two."
    if "source" in moving:
        return (
            "What made a file's scores is not known: the difference cannot be put down to one cause"
        ) + "."
    if moving == ("context",):
        return _memory_and_reading(before, after)
    if len(moving) == 1:
        return _one(words[0], moving[0])
    return f"The {joined(words)} differ at once: the difference cannot be put down to one of them."


def _one(word: str, factor: Factor) -> str:
    if factor == "replicate":
        return "Only the asking itself was repeated: the difference is chance in the replies."
    return f"A and B differ only in the {word}."


def _memory_and_reading(before: Party, after: Party) -> str:
    contexts = [before.made.get("context", ""), after.made.get("context", "")]
    searched = [context.startswith("retrieved") for context in contexts]
    if "none" not in contexts:
        if all(searched):
            return "Only what a search put before the questions differs, or where it searched."
        if any(searched):
            one, other = ("A", "B") if searched[0] else ("B", "A")
            return (
                f"Only the context differs: {one} had what a search found, {other} the passages "
                "that the questions rest on; the difference is what the search missed or added."
            )
        return "Only the most that is shown of the evidence differs; both measure reading."
    if any(searched):
        one, other = ("A", "B") if searched[0] else ("B", "A")
        return (
            f"Only the context differs: {one} had what a search found, {other} measures memory; "
            "the difference is what searching is worth."
        )
    one, other = ("B", "A") if after.made.get("context") == "none" else ("A", "B")
    return (
        f"Only the context differs: {one} measures memory, {other} reading; the difference is what "
        "having the passages before one is worth."
    )


def _changes(before: Party, after: Party, common: Common) -> Iterator[Change]:
    told: set[str] = set()
    is_file = "source" in before.made or "source" in after.made
    for factor in FACTORS:
        if factor == "items":
            yield from _items(before, after, common)
            continue
        old, new = before.made.get(factor, ""), after.made.get(factor, "")
        if is_file and factor not in ("source", "judge") and not (old and new):
            continue  # a file does not tell it, which is said once
        if factor == "settings":
            old, new = _unlike(before.asked, after.asked), _unlike(after.asked, before.asked)
        if (
            factor == "template"
            and told & {"way", "context"}
            and not _has_own_prompt(before, after)
        ):
            continue
        if old != new and _FOLLOWS.get(factor) not in told:
            told.add(factor)
            consequence = _CONSEQUENCES[factor]
            if factor == "settings" and ANSWER_FORMAT in _differing(before.asked, after.asked):
                is_all = len(_differing(before.asked, after.asked)) == 1
                consequence = _READ_OTHERWISE if is_all else f"{consequence}; {_ALSO_READ}"
            yield Change(
                factor=factor, before=old or _none(factor), after=new or _none(factor),
                consequence=consequence,
            )  # fmt: skip


def _has_own_prompt(before: Party, after: Party) -> bool:
    return any(_METHODS not in each.made.get("template", _METHODS) for each in (before, after))


def _unlike(own: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The settings that the other has not, or has with another value."""
    return " ".join(f"{n}={own.get(n, 'none')}" for n in _differing(own, other))


def _differing(own: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({*own, *other}) if own.get(name) != other.get(name)]


def _none(factor: Factor) -> str:
    return {"replicate": "the first asking", "source": "this workspace"}.get(factor, NOT_KNOWN)


def _items(before: Party, after: Party, common: Common) -> Iterator[Change]:
    if not (common.only_before or common.only_after):
        return
    n = len(common.after)
    said = f"compared on the {counted(n, 'item')} that both have" if n else "no item is in both"
    if common.renewed:
        noun = "is a new version of an item" if common.renewed == 1 else "are new versions of items"
        said += f"; {common.renewed:,} of B {noun} of A, which is another question"
    yield Change(
        factor="items",
        before=f"{before.made.get('items', 'A')}: {counted(common.only_before, 'item')} only there",
        after=f"{after.made.get('items', 'B')}: {counted(common.only_after, 'item')} only there",
        consequence=said,
    )
