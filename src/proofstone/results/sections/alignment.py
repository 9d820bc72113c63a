"""What training to chat changes: base models beside the chat models made from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.page.section import Cell, Column, Mark, Section
from proofstone.records.runs import Estimate
from proofstone.results.board import BoardRow
from proofstone.results.cards import is_base, stem_of
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sections.factors import describe_factor, levels_of
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    count_resolved,
    make_analysis,
    mark_of,
)
from proofstone.wording.messages import joined, listed, say, say_of, word


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


def study_alignment(parts: Sequence[Part], *, pairs: Sequence[str] = ()) -> Analysis:
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
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    by_measure: dict[str, list[Estimate]] = {name: [] for name in part.sheets}
    for pair in chosen:
        units, _values = part.block([pair.base, pair.chat])
        name = f"{pair.base} > {pair.chat}"
        for measure, sheet in part.sheets.items():
            change = part.measured_change(sheet, units, pair.base, pair.chat)
            both = part.measured(sheet, units, pair.base, pair.chat)
            rows.append((name, word(measure), len(units), *both, change))
            marks.append(mark_of(measure, name, structs.replace(change, n=len(units))))
            by_measure[measure].append(change)
    return make_analysis(
        "alignment",
        say("What training to chat changes"),
        _finding(*next(iter(by_measure.items()))),
        columns=(
            Column(key="pair", name=say("base > chat")),
            Column(key="measure", name=say("measure")),
            Column(key="n", name="n"),
            Column(key="base", name=say("base"), unit="points"),
            Column(key="chat", name=say("chat"), unit="points"),
            Column(key="change", name=say("chat - base"), unit="change"),
        ),
        rows=rows,
        axes=("pair", "chat less base"),
        marks=marks,
        notes=_notes(part, chosen),
    )


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
    return joined([say("{n}-shot", n=n) for n in found])


def _by_model(part: Part) -> dict[str, list[str]]:
    """The labels of the complete respondents of each model."""
    found: dict[str, list[str]] = {}
    for label, place in part.complete.items():
        found.setdefault(part.asked[place].model, []).append(label)
    return found


def _finding(measure: str, changes: Sequence[Estimate]) -> str:
    n = len(changes)
    return say_of(
        n,
        "Training to chat changes {measure} by {points:+z.1f} points in the one pair; it falls in "
        "{falls} and rises in {rises} of them resolvably.",
        "Training to chat changes {measure} by {points:+z.1f} points in the median of {n} pairs; "
        "it falls in {falls} and rises in {rises} of them resolvably.",
        measure=word(measure),
        points=100 * float(np.nanmedian([change.value for change in changes])),
        n=n,
        **count_resolved(changes),
    )


def _notes(part: Part, chosen: Sequence[_Pair]) -> Iterator[str]:
    yield say(
        "chat - base: points, on the same questions, each interval for itself. Base models "
        "completed one text ({bases}), chat models answered by their template ({chats}), so a "
        "difference includes the effect of the prompting method.",
        bases=_shots(_asked(part, pair.base) for pair in chosen),
        chats=_shots(_asked(part, pair.chat) for pair in chosen),
    )
    judges = dict.fromkeys(_asked(part, pair.base).judge for pair in chosen)
    if any(judges):
        named = [judge or say("no judge") for judge in judges]
        yield say("Graded by {judges}.", judges=listed(named))
    paired = {label for pair in chosen for label in (pair.base, pair.chat)}
    alone = [label for label in part.complete if label not in paired]
    if alone:
        yield say("In no pair: {models}.", models=listed(alone))
