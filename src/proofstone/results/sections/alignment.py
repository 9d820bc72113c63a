"""What training to chat changes: base models beside the chat models made from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.page.numbers import shown_estimate
from proofstone.page.section import Section
from proofstone.results.board import BoardRow
from proofstone.results.measured_scores import linear_values, measure_estimates
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sections.factors import describe_factor, levels_of
from proofstone.results.sections.pairs import Change, pair_change
from proofstone.results.sections.parts import HowAsked, Part, Point, Study
from proofstone.results.ties import is_base, stem_of
from proofstone.stats.flags import Estimand
from proofstone.wording.messages import say


def alignment_section(evidence: Evidence) -> Section | None:
    """Each chat model less its base model, known by the card's kind, else by the name's ending
    (``-Base``, ``-Instruct``, ``-Chat``; where one is called base, its namesake is the other). None
    without such a pair."""
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    by_model: dict[str, dict[str, int]] = {}
    rows = list(enumerate(ranked.group.ranked))
    # Base models first, so that they are the reference.
    for column, row in sorted(rows, key=lambda pair: not _is_base(pair[1])):
        by_model.setdefault(stem_of(row.name), {}).setdefault(
            "base" if _is_base(row) else "chat", column
        )
    levels = levels_of(ranked, by_model)
    if levels is None:
        return None
    return describe_factor(
        evidence,
        ranked,
        levels,
        name="alignment",
        title=say("What training to chat changes"),
        matters=say("Training to chat matters"),
        otherwise=say("Chat training has no statistically significant effect."),
    )


def _is_base(row: BoardRow) -> bool:
    return is_base(row.name, "" if row.card is None else row.card.kind)


# What training to chat does to knowledge: base models beside the chat models made from them
# (Chinese SimpleQA 4.5, Figure 7).


class _Pair(Struct, frozen=True):
    """The labels of a base model and of the chat model made from it."""

    base: str
    chat: str


def read_pairs(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """``BASE=CHAT`` each, names of models. Raises BadUsage for any other text."""
    found = []
    for text in texts:
        base, equals, chat = (part.strip() for part in text.partition("="))
        if not (base and equals and chat):
            raise BadUsage(f"{text!r} is no pair", hint="--pairs BASE=CHAT,BASE=CHAT")
        found.append((base, chat))
    return tuple(found)


def study_alignment(
    parts: Sequence[Part],
    *,
    estimand: Estimand,
    confidence: float,
    pairs: Sequence[str] = (),
) -> Study:
    """A row a pair and measure: the base model, the chat model, and the chat model less the base on
    the same items. Pairs are those that are named, else those that cards and names tell.

    Raises BadUsage where a named model is not here, and where there is no pair.
    """
    (part,) = parts
    chosen = _named(part, read_pairs(pairs)) if pairs else _told(part)
    if not chosen and len({how.judge for how in part.asked}) > 1:
        raise BadUsage(
            "no base model and its chat model were graded by one judge",
            hint="score both with the same: proofstone score RUN --judge PROVIDER/NAME",
        )
    if not chosen:
        raise BadUsage(
            "no base model stands here beside a chat model made from it",
            hint="run both on the same questions, the base model with --shots, and name them: "
            "--pairs BASE=CHAT",
        )
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    by_measure: dict[str, list[Change]] = {name: [] for name in part.sheets}
    for pair in chosen:
        units, _values = part.block([pair.base, pair.chat])
        places = [part.complete[pair.base], part.complete[pair.chat]]
        keys = part.sheet.keys.among(units)
        for name, sheet in part.sheets.items():
            found = measure_estimates(
                sheet, units, places, estimand=estimand, confidence=confidence
            )
            values = linear_values(sheet, units, places)
            change = pair_change(
                values[:, 0], values[:, 1], keys, estimand=estimand, confidence=confidence
            )
            shown = (shown_estimate(found[0]), shown_estimate(found[1]))
            rows.append((_name(pair), name, str(len(units)), *shown, change.shown))
            marks.append(_mark(name, _name(pair), change, len(units)))
            by_measure[name].append(change)
    return Study(
        name="alignment",
        title="What training to chat changes",
        finding=_finding(*next(iter(by_measure.items()))),
        columns=("base > chat", "measure", "n", "base", "chat", "chat - base"),
        rows=tuple(rows),
        x_axis="pair",
        y_axis="chat less base",
        points=tuple(marks),
        notes=tuple(_notes(part, chosen)),
    )


def _name(pair: _Pair) -> str:
    return f"{pair.base} > {pair.chat}"


def _mark(measure: str, pair: str, change: Change, n: int) -> Point:
    return Point(series=measure, x=pair, y=change.value, n=n, low=change.low, high=change.high)


def _named(part: Part, pairs: Sequence[tuple[str, str]]) -> list[_Pair]:
    """The pairs that a person named, each by the respondents that were asked most alike."""
    by_model = _by_model(part)
    missing = [name for pair in pairs for name in pair if name not in by_model]
    if missing:
        raise BadUsage(
            f"{', '.join(dict.fromkeys(missing))}: not complete here",
            hint=f"complete here: {', '.join(by_model) or 'nobody'}",
        )
    return [pair for base, chat in pairs for pair in _alike(part, by_model[base], by_model[chat])]


def _told(part: Part) -> list[_Pair]:
    """The pairs of one stem, then those that alone are of one family and size by their cards."""
    by_model = _by_model(part)
    asked = {model: part.asked[part.complete[labels[0]]] for model, labels in by_model.items()}
    bases = [model for model, how in asked.items() if is_base(model, how.kind)]
    chats = [model for model in asked if model not in bases]
    found: list[_Pair] = []
    for base in bases:
        made = [chat for chat in chats if stem_of(chat) == stem_of(base)]
        made = made or [chat for chat in chats if _are_kin(asked[base], asked[chat])]
        if len(made) == 1:
            found += _alike(part, by_model[base], by_model[made[0]])
    return found


def _are_kin(base: HowAsked, chat: HowAsked) -> bool:
    known = bool(base.family and base.parameters_b)
    return known and (base.family, base.parameters_b) == (chat.family, chat.parameters_b)


def _alike(part: Part, bases: Sequence[str], chats: Sequence[str]) -> Iterator[_Pair]:
    """Each respondent of the base model with the chat model's of the same way, else its first;
    never with one that another judge graded."""
    for base in bases:
        asked = _asked(part, base)
        graded = [chat for chat in chats if _asked(part, chat).judge == asked.judge]
        same = [chat for chat in graded if _asked(part, chat).way == asked.way]
        if graded:
            yield _Pair(base, (same or graded)[0])


def _asked(part: Part, label: str) -> HowAsked:
    return part.asked[part.complete[label]]


def _shots(asked: Iterable[HowAsked]) -> str:
    """With how many few-shot examples: ``0-shot``, ``5-shot``, ``0-shot and 5-shot``."""
    found = sorted({int(how.settings.get("shots") or 0) for how in asked})
    return " and ".join(f"{n}-shot" for n in found)


def _by_model(part: Part) -> dict[str, list[str]]:
    """The labels of the complete respondents of each model."""
    found: dict[str, list[str]] = {}
    for label, place in part.complete.items():
        found.setdefault(part.asked[place].model, []).append(label)
    return found


def _finding(measure: str, changes: Sequence[Change]) -> str:
    middle = 100 * float(np.nanmedian([change.value for change in changes]))
    n, falls, rises = (
        len(changes),
        sum(change.is_drop for change in changes),
        sum(change.is_rise for change in changes),
    )
    pairs = "the one pair" if n == 1 else f"the median of {n} pairs"
    return (
        f"Training to chat changes {measure} by {middle:+z.1f} points in {pairs}; it falls in "
        f"{falls} and rises in {rises} of them resolvably."
    )


def _notes(part: Part, chosen: Sequence[_Pair]) -> Iterator[str]:
    bases = _shots(_asked(part, pair.base) for pair in chosen)
    chats = _shots(_asked(part, pair.chat) for pair in chosen)
    yield (
        "chat - base: points, on the same questions, each interval for itself. Base models "
        f"completed one text ({bases}), chat models answered by their template ({chats}), so a "
        "difference includes the effect of the prompting method."
    )
    judges = dict.fromkeys(_asked(part, pair.base).judge for pair in chosen)
    if any(judges):
        yield f"Graded by {', '.join(judge or 'no judge' for judge in judges)}."
    paired = {label for pair in chosen for label in (pair.base, pair.chat)}
    alone = [label for label in part.complete if label not in paired]
    if alone:
        yield f"In no pair: {', '.join(alone)}."
