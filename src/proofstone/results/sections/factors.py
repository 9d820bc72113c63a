"""Effects of prompting method, thinking, chat training and retrieval on scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    Section,
    Table,
    column,
    estimate_mark,
    points,
    signed_points,
    table_of,
)
from proofstone.records.ids import canonical_json
from proofstone.records.items import (
    CONTEXT_SETTINGS,
    context_of,
    search_label,
    searches,
    shows_document,
)
from proofstone.records.runs import Estimate
from proofstone.results.board import BoardRow
from proofstone.results.cards import is_base, stem_of
from proofstone.results.measured_scores import linear_values
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    chance_levels,
    ranked_values,
)
from proofstone.results.sections.lengths import mean_lengths
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    count_resolved,
    left_out,
    make_analysis,
    mark_of,
    median_points,
    method_alone,
    without_constant,
)
from proofstone.stats.estimates import measure_spread
from proofstone.stats.factors import (
    Apart,
    AverageEffect,
    Factor,
    SpreadApart,
    analyse_factor,
    spread_apart,
)
from proofstone.stats.intervals import equal_weights
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, say_of, word


@dataclass(frozen=True, slots=True)
class Levels:
    """Models and levels of a factor (the reference first).

    ``values`` has one matrix (units, models) per level, NaN if a model is not at that level.
    """

    models: list[str]
    levels: list[str]
    values: list[NDArray[np.float64]]


def factors_section(evidence: Evidence) -> Section | None:
    """Return each model's change from the most common prompting method, and a test of interaction.

    None if no model has two prompting methods.
    """
    ranked = ranked_values(evidence)
    levels = None if ranked is None else _prompt_methods(ranked)
    if ranked is None or levels is None:
        return None
    return describe_factor(
        ranked,
        levels,
        name="factors",
        title=say("Effect of the prompting method"),
        matters=say("How one asks matters"),
        otherwise=say("The prompting method has no statistically significant effect."),
    )


def describe_factor(
    ranked: RankedValues,
    found: Levels,
    *,
    name: str,
    title: str,
    matters: str,
    otherwise: str,
) -> Section:
    """Return the section of a factor; ``matters`` or ``otherwise`` is its finding."""
    factor = analyse_factor(
        found.values, ranked.keys, population=ranked.population, confidence=ranked.confidence
    )
    models, levels = found.models, found.levels
    changes = [each.change for each in factor.average]
    has_effect = factor.interaction.p < 0.05 or any(not c.low <= 0 <= c.high for c in changes)
    return Section(
        name=name,
        title=title,
        finding=_finding(factor, levels),
        plain=_plain(factor, models, levels, matters) or ("" if has_effect else otherwise),
        cannot=_cannot(factor, models, levels),
        how=say(
            "Each model is compared with itself on the same items, with clustered standard "
            "errors. Changes are from {level} and Holm-adjusted. The model × factor "
            "interaction is tested with a Wald test and Hotelling's distribution.",
            level=levels[0],
        ),
        tables=(_table(factor, models, levels),),
        figures=(_dumbbells(ranked, found, name, title),),
    )


def _dumbbells(ranked: RankedValues, found: Levels, name: str, title: str) -> Figure:
    """Return a figure with one row per model and a mark per level, over its items at that level."""
    shown = found.models[:_MOST_DRAWN]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(found.models))
    return Figure(
        name=name,
        kind="dumbbells",
        title=title,
        subtitle=say("scores at each level, with intervals; the same items where they are shared")
        + (cut if len(shown) < len(found.models) else ""),
        marks=tuple(
            estimate_mark(mean, row=model, column=level)
            for place, model in enumerate(shown)
            for level, values in zip(found.levels, found.values, strict=True)
            if (mean := ranked.known_mean(values[:, place])) is not None
        ),
        levels=chance_levels(ranked.group),
        row_axis=word("model"),
        value_axis=say("score (%)"),
    )


def levels_of(ranked: RankedValues, by_model: Mapping[str, Mapping[str, int]]) -> Levels | None:
    """Return the levels of models that have two or more, from the column of each model and level.

    The most common level is the reference (the first if equally common). None without any.
    """
    several = {model: own for model, own in by_model.items() if len(own) > 1}
    met = [level for own in several.values() for level in own]
    levels = sorted(dict.fromkeys(met), key=lambda level: -met.count(level))
    # A model without the reference level cannot be compared here.
    models = [model for model, own in several.items() if levels[0] in own]
    if not models:
        return None
    values = [np.full((len(ranked.units), len(models)), np.nan) for _ in levels]
    for matrix, level in zip(values, levels, strict=True):
        for place, model in enumerate(models):
            if level in several[model]:
                matrix[:, place] = ranked.values[:, several[model][level]]
    return Levels(models, levels, values)


def _prompt_methods(ranked: RankedValues) -> Levels | None:
    by_model: dict[str, dict[str, int]] = {}
    # In the order of the file, so that the first of equally common methods is the reference.
    order = sorted(range(len(ranked.respondents)), key=lambda place: ranked.respondents[place])
    for place in order:
        row = ranked.group.ranked[place]
        prompt_method = " ".join(part for part in (row.prompt_method, row.settings) if part) or say(
            "as it is"
        )
        by_model.setdefault(row.name, {})[prompt_method] = place
    return levels_of(ranked, by_model)


def _finding(found: Factor, levels: list[str]) -> str:
    said = [_change(each, levels) for each in found.average[:3]]
    text = say("{places}.", places=say("; ").join(said))
    return paragraph(f"{text[:1].upper()}{text[1:]}", _alike(found))


def _change(each: AverageEffect, levels: list[str]) -> str:
    mean = without_constant(each.change)
    if math.isnan(mean.low):
        return say(
            "from {base} to {level} accuracy changes by {points} points on average over {models}, "
            "the same on every item",
            base=levels[0],
            level=levels[each.level],
            points=signed_points(mean.value),
            models=counted(each.n_models, "model"),
        )
    return say(
        "from {base} to {level} accuracy changes by {points} points on average over {models} "
        "[{low}, {high}]",
        base=levels[0],
        level=levels[each.level],
        points=signed_points(mean.value),
        models=counted(each.n_models, "model"),
        low=signed_points(mean.low),
        high=signed_points(mean.high),
    )


def _alike(found: Factor) -> str:
    p = found.interaction.p
    if math.isnan(p):
        return ""
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return say(
        "The change differs significantly between models ({p})."
        if p < 0.05
        else "The changes do not differ significantly between models ({p}).",
        p=shown,
    )


def _plain(found: Factor, names: list[str], levels: list[str], matters: str) -> str:
    sure = [effect for effect in found.effects if effect.p_holm < 0.05]
    if not sure:
        return ""
    most = max(sure, key=lambda effect: abs(effect.change.value))
    return say(
        "{matters}: {model} gets about {n:.0f} more questions in a hundred right with {level}."
        if most.change.value > 0
        else "{matters}: {model} gets about {n:.0f} fewer questions in a hundred right with "
        "{level}.",
        matters=matters,
        model=names[most.model],
        n=100 * abs(most.change.value),
        level=levels[most.level],
    )


def _cannot(found: Factor, names: list[str], levels: list[str]) -> str:
    unsure = [effect for effect in found.effects if effect.p_holm >= 0.05]
    if not unsure or len(unsure) == len(found.effects):
        return ""
    named = [
        say("{name} ({why})", name=names[effect.model], why=levels[effect.level])
        for effect in unsure
    ]
    shown = listed(named, 4)
    return say("No significant change for {shown} (Holm-adjusted).", shown=shown)


def _table(found: Factor, names: list[str], levels: list[str]) -> Table:
    return table_of(
        say("Change from {level}", level=levels[0]),
        found.effects,
        column("model", say("model"), lambda effect: names[effect.model]),
        column("level", say("asked"), lambda effect: levels[effect.level]),
        column("change", say("change"), lambda effect: without_constant(effect.change),
               unit="points"),
        column("p", say("p"), unit="probability"),
        column("p_holm", say("p (Holm)"), unit="probability", help=say("adjusted for all changes")),
        column("beyond", say("beyond the others"),
               lambda effect: effect.beyond and without_constant(effect.beyond), unit="points",
               help=say("how much more it changes than the mean of the other models")),
        column("p_beyond", say("p (Holm)"), unit="probability"),
    )  # fmt: skip


# Hybrid models with and without thinking (Encyclo-K 5.1, Figure 3 right; lengths: Figure 7).

_OF_THINKING = ("thinking", "max_tokens")


def analyze_thinking(parts: Sequence[Part]) -> Analysis:
    """Compare models with and without thinking, one row per model, smallest first.

    Other settings are equal. Columns are accuracy without and with thinking, the paired difference,
    and tokens of responses and reasoning. Raises BadUsage if no model has both.
    """
    (part,) = parts

    def size_and_name(pair: tuple[HowAsked, str, str]) -> tuple[float, str]:
        size = pair[0].parameters_b
        return math.inf if size is None else size, pair[0].model

    pairs = sorted(_pairs(part), key=size_and_name)
    if not pairs:
        raise BadUsage(
            "no model here was asked both with thinking and without",
            hint="proofstone run TARGET -m MODEL --thinking on,off",
        )
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    changes: list[Estimate] = []
    for asked, off, on in pairs:
        found = part.estimates([off, on])
        changes.append(part.change(off, on))
        name, size = f"{asked.model} {asked.prompt_method}", asked.parameters_b
        lengths = (_tokens(part, off), _tokens(part, on), _tokens(part, on, reasoning=True))
        shown = None if size is None else f"{size:g}"
        rows.append((name, shown, found[off], found[on], changes[-1], *lengths))
        at = name if size is None else size
        marks += [
            mark_of("without thinking", at, found[off]), mark_of("with thinking", at, found[on])
        ]  # fmt: skip
    return make_analysis(
        "thinking",
        say("Accuracy with thinking and without"),
        say(
            "Thinking changes accuracy by {points:+z.1f} points in the median of {n} models. "
            "The interval excludes 0 for {rises} that rise and {falls} that fall.",
            points=median_points(changes),
            n=len(changes),
            **count_resolved(changes),
        ),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="parameters_b", name="B", unit="mixed"),
            Column(key="without", name=say("without"), unit="points"),
            Column(key="with", name=say("with"), unit="points"),
            Column(key="difference", name=say("difference"), unit="change"),
            Column(key="tokens_without", name=say("tokens without"), digits=0),
            Column(key="tokens_with", name=say("tokens with"), digits=0),
            Column(key="reasoning", name=say("reasoning"), digits=0),
        ),
        rows=rows,
        axes=("parameters, billions", "accuracy"),
        marks=marks,
        notes=(
            say(
                "difference: with thinking minus without, on the same questions. tokens: mean "
                "per response, including reasoning if the endpoint counts it."
            ),
        ),
    )


_Asked = tuple[HowAsked, str]  # request settings of a model, and its label


def _pairs(part: Part) -> list[tuple[HowAsked, str, str]]:
    """Return (settings, label without, label with) of complete models with and without thinking.

    Thinking needs room, so the maximum response length may differ, and nothing else. If there are
    several runs, one with the same maximum length is preferred.
    """
    alike: dict[bytes, dict[str, list[_Asked]]] = {}
    for label, place in part.complete.items():
        asked = part.asked[place]
        word = str(asked.settings.get("thinking", ""))
        others = {n: value for n, value in asked.settings.items() if n not in _OF_THINKING}
        key = canonical_json([asked.model, asked.prompt_method, others])
        alike.setdefault(key, {}).setdefault(word, []).append((asked, label))
    found = []
    for by_word in alike.values():
        for asked, label in by_word.get("on", []) if "off" in by_word else []:
            most = asked.settings.get("max_tokens")
            same = [each for each in by_word["off"] if each[0].settings.get("max_tokens") == most]
            found.append((*(same or by_word["off"])[0], label))
    return found


def _tokens(part: Part, label: str, *, reasoning: bool = False) -> float | None:
    lengths = mean_lengths(part, label, reasoning=reasoning)
    return None if lengths is None else float(np.nanmean(lengths))


# Chat training: base models compared with the chat models made from them.


def alignment_section(evidence: Evidence) -> Section | None:
    """Return each chat model's score minus that of its base model.

    Pairs are matched by the card's kind, otherwise by the name's ending (``-Base``, ``-Instruct``,
    ``-Chat``; if one name ends in base, the model without ending is the chat model). None without a
    pair.
    """
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    by_model: dict[str, dict[str, int]] = {}
    rows = list(enumerate(ranked.group.ranked))
    # Base models first, so that they are the reference.
    for place, row in sorted(rows, key=lambda pair: not _is_base(pair[1])):
        by_model.setdefault(stem_of(row.name), {}).setdefault(
            "base" if _is_base(row) else "chat", place
        )
    levels = levels_of(ranked, by_model)
    if levels is None:
        return None
    return describe_factor(
        ranked,
        levels,
        name="alignment",
        title=say("Base and chat models"),
        matters=say("Training to chat matters"),
        otherwise=say("Chat training has no statistically significant effect."),
    )


def _is_base(row: BoardRow) -> bool:
    return is_base(row.name, "" if row.card is None else row.card.kind)


# Effect of chat training on knowledge (Chinese SimpleQA 4.5, Figure 7).


class _Pair(Struct, frozen=True):
    """Labels of a base model and the chat model made from it."""

    base: str
    chat: str


def read_pairs(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Parse ``BASE=CHAT`` pairs of model names. Raises BadUsage for any other text."""
    found = []
    for text in texts:
        base, equals, chat = (part.strip() for part in text.partition("="))
        if not (base and equals and chat):
            raise BadUsage(f"{text!r} is not a pair", hint="--base-models BASE=CHAT,BASE=CHAT")
        found.append((base, chat))
    return tuple(found)


def analyze_alignment(parts: Sequence[Part], *, pairs: Sequence[str] = ()) -> Analysis:
    """Compare base and chat models on the same items, one row per pair and measure.

    ``pairs`` are names; the default is to match cards and names. Raises BadUsage if a named model
    is missing, or without any pair.
    """
    (part,) = parts
    chosen = _alignment_named(part, read_pairs(pairs)) if pairs else _told(part)
    if not chosen and len({how.judge for how in part.asked}) > 1:
        raise BadUsage(
            "no base model and its chat model were graded by one judge",
            hint="score both with the same: proofstone grade RUN --judge PROVIDER/NAME",
        )
    if not chosen:
        raise BadUsage(
            "no base model is here together with a chat model made from it",
            hint="run both on the same questions, the base model with --shots, and name them: "
            "--base-models BASE=CHAT",
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
        say("Base and chat models"),
        _alignment_finding(*next(iter(by_measure.items()))),
        columns=(
            Column(key="pair", name=say("base > chat")),
            Column(key="measure", name=say("measure")),
            Column(key="n", name=say("questions")),
            Column(key="base", name=say("base"), unit="points"),
            Column(key="chat", name=say("chat"), unit="points"),
            Column(key="change", name=say("chat - base"), unit="change"),
        ),
        rows=rows,
        axes=("pair", "chat less base"),
        marks=marks,
        notes=_notes(part, chosen),
    )


def _alignment_named(part: Part, pairs: Sequence[tuple[str, str]]) -> list[_Pair]:
    """Return the named pairs, each with the most similar settings."""
    by_model = _by_model(part)
    missing = [name for pair in pairs for name in pair if name not in by_model]
    if missing:
        raise BadUsage(
            f"{', '.join(dict.fromkeys(missing))}: not complete here",
            hint=f"complete here: {', '.join(by_model) or 'nobody'}",
        )
    return [
        pair
        for base, chat in pairs
        for pair in _alignment_alike(part, by_model[base], by_model[chat])
    ]


def _told(part: Part) -> list[_Pair]:
    """Return pairs with the same stem, then unique pairs with the same family and size on their
    cards."""
    by_model = _by_model(part)
    asked = {model: part.asked[part.complete[labels[0]]] for model, labels in by_model.items()}
    bases = [model for model, how in asked.items() if is_base(model, how.kind)]
    chats = [model for model in asked if model not in bases]
    found: list[_Pair] = []
    for base in bases:
        made = [chat for chat in chats if stem_of(chat) == stem_of(base)]
        own = asked[base]
        if not made and own.family and own.parameters_b:
            self_evaluation = (own.family, own.parameters_b)
            made = [c for c in chats if (asked[c].family, asked[c].parameters_b) == self_evaluation]
        if len(made) == 1:
            found += _alignment_alike(part, by_model[base], by_model[made[0]])
    return found


def _alignment_alike(part: Part, bases: Sequence[str], chats: Sequence[str]) -> Iterator[_Pair]:
    """Yield each base model with the chat model of the same prompting method, otherwise its first.

    Both are graded by the same judge.
    """
    for base in bases:
        asked = _asked(part, base)
        graded = [chat for chat in chats if _asked(part, chat).judge == asked.judge]
        same = [chat for chat in graded if _asked(part, chat).prompt_method == asked.prompt_method]
        if graded:
            yield _Pair(base, (same or graded)[0])


def _asked(part: Part, label: str) -> HowAsked:
    return part.asked[part.complete[label]]


def _shots(asked: Iterable[HowAsked]) -> str:
    """Return the numbers of few-shot examples: ``0-shot``, ``5-shot``, ``0-shot and 5-shot``."""
    found = sorted({int(how.settings.get("shots") or 0) for how in asked})
    return joined([say("{n}-shot", n=n) for n in found])


def _by_model(part: Part) -> dict[str, list[str]]:
    """Map each model to the labels of its complete rows."""
    found: dict[str, list[str]] = {}
    for label, place in part.complete.items():
        found.setdefault(part.asked[place].model, []).append(label)
    return found


def _alignment_finding(measure: str, changes: Sequence[Estimate]) -> str:
    n = len(changes)
    return say_of(
        n,
        "Chat training changes {measure} by {points:+z.1f} points in the one pair. The interval "
        "excludes 0 for {falls} that fall and {rises} that rise.",
        "Chat training changes {measure} by {points:+z.1f} points in the median of {n} pairs. "
        "The interval excludes 0 for {falls} that fall and {rises} that rise.",
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


# Effect of retrieval: each model without and with it, and the spread of models (Chinese
# SimpleQA 4.4 and F, Figure 6 and Table 4).


_RANGE = noted("highest less lowest")


class _RetrievalPair(NamedTuple):
    """One model and prompting method: settings, and labels without and with retrieval."""

    asked: HowAsked
    source: str
    without: str
    found: str

    @property
    def name(self) -> str:
        return f"{self.asked.model} {method_alone(self.asked)}"


def analyze_retrieval(parts: Sequence[Part]) -> Analysis:
    """Compare closed-book models with the same models and retrieval, other settings equal.

    Each measure is shown without and with retrieval, with the paired difference. For two or more
    models, their spread is compared as well: the range and the standard deviation. Raises BadUsage
    if no model has both.
    """
    (part,) = parts
    pairs = sorted(_retrieval_pairs(part), key=lambda pair: (pair.source, pair.asked.model))
    if not pairs:
        raise BadUsage(
            "no model here was asked both without a search and with what one found",
            hint="proofstone run TARGET -m MODEL --context none,retrieved; status lists what is "
            "not complete",
        )
    headline = next(iter(part.sheets))
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    findings: list[str] = []
    any_apart = False
    for source in dict.fromkeys(pair.source for pair in pairs):
        own = [pair for pair in pairs if pair.source == source]
        changes = []
        for pair in own:
            units, _values = part.block([pair.without, pair.found])
            for measure, sheet in part.sheets.items():
                before, after = part.measured(sheet, units, pair.without, pair.found)
                change = part.measured_change(sheet, units, pair.without, pair.found)
                rows.append((pair.name, source, word(measure), len(units), before, after, change))
                if measure == headline:
                    changes.append(change)
                    at = f"{pair.name}, {source}"
                    marks += [mark_of("without", at, before), mark_of("with", at, after)]
        apart = [] if len(own) < 2 else _apart(part, own)
        rows += [each.row for each in apart]
        any_apart |= bool(apart)
        findings.append(_retrieval_finding(source, changes, apart, headline))
    return make_analysis(
        "retrieval",
        say("Asked with what a search found, against the same without it"),
        paragraph(*findings),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="search", name=say("search")),
            Column(key="measure", name=say("measure")),
            Column(key="n", name="n"),
            Column(key="without", name=say("without"), unit="points"),
            Column(key="with", name=say("with"), unit="points"),
            Column(key="difference", name=say("difference"), unit="change"),
        ),
        rows=rows,
        axes=("model", headline),
        marks=marks,
        notes=(
            say(
                "difference: with retrieval minus without, on the same questions, with its "
                "interval. A measure may cover only part of the questions."
            ),
            *(
                [
                    say(
                        "between models: range and standard deviation on the common questions; "
                        "intervals from joint resamples of all means."
                    )
                ]
                if any_apart
                else []
            ),
            *left_out(parts, [label for pair in pairs for label in (pair.without, pair.found)]),
        ),
    )


def _retrieval_pairs(part: Part) -> list[_RetrievalPair]:
    """Return complete models without and with retrieval and equal settings."""
    without: dict[bytes, str] = {}
    found: list[tuple[bytes, HowAsked, str]] = []
    for label, place in part.complete.items():
        asked = part.asked[place]
        others = {n: v for n, v in asked.settings.items() if n not in CONTEXT_SETTINGS}
        context = context_of(asked.settings)
        beside = "document" if shows_document(context) else "none"
        key = canonical_json([asked.model, method_alone(asked), others, beside])
        if searches(context):
            found.append((key, asked, label))
        elif context == beside:
            without.setdefault(key, label)
    return [
        _RetrievalPair(asked, _searched(asked), without[key], label)
        for key, asked, label in found
        if key in without
    ]


def _searched(asked: HowAsked) -> str:
    """Return where was searched, and whether the document was shown in both runs of a pair."""
    search = search_label(asked.settings)
    if not shows_document(context_of(asked.settings)):
        return search
    return say("{search}, after the document", search=search)


class _ApartRow(NamedTuple):
    """Spread of models by a measure, of one kind: without, with, and the change."""

    measure: str
    kind: str
    row: tuple[Cell, ...]
    found: tuple[Apart, Apart, Apart]


def _apart(part: Part, pairs: Sequence[_RetrievalPair]) -> list[_ApartRow]:
    """Return the spread of models by the headline and by each measure that is a ratio."""
    labels = [*(pair.without for pair in pairs), *(pair.found for pair in pairs)]
    units, _values = part.block(labels)
    places = [part.complete[label] for label in labels]
    rows: list[_ApartRow] = []
    for measure, sheet in part.sheets.items():
        values = linear_values(sheet, units, places)
        if not len(units) or np.isnan(values).any():  # a ratio of nothing
            continue
        if sheet is part.sheet or sheet.weights:
            keys = sheet.keys.among(units)
            spread = measure_spread(values, equal_weights(len(units)), keys, part.population)
            apart = spread_apart(
                spread.means, spread.covariance(), degrees=spread.groups - 1.0,
                confidence=part.confidence,
            )  # fmt: skip
            name = say("between models ({n})", n=len(pairs))
            for kind, found in _kinds(apart).items():
                said = say("{measure}, {kind}", measure=word(measure), kind=word(kind))
                cells = (
                    Estimate(value=each.value, n=len(units), low=each.low, high=each.high)
                    for each in found
                )
                row: tuple[Cell, ...] = (name, pairs[0].source, said, len(units), *cells)
                rows.append(_ApartRow(measure, kind, row, found))
    return rows


def _kinds(apart: SpreadApart) -> dict[str, tuple[Apart, Apart, Apart]]:
    return {
        _RANGE: (apart.range_before, apart.range_after, apart.range_change),
        noted("standard deviation"): (
            apart.deviation_before, apart.deviation_after, apart.deviation_change,
        ),
    }  # fmt: skip


def _retrieval_finding(
    source: str, changes: Sequence[Estimate], apart: Sequence[_ApartRow], headline: str
) -> str:
    said = say_of(
        len(changes),
        "With {source}, {measure} changes by {points:+z.1f} points in the median of {n} model; "
        "the interval excludes 0 for {rises} that rise and {falls} that fall",
        "With {source}, {measure} changes by {points:+z.1f} points in the median of {n} models; "
        "the interval excludes 0 for {rises} that rise and {falls} that fall",
        source=source,
        measure=word(headline),
        points=median_points(changes),
        n=len(changes),
        **count_resolved(changes),
    )
    ranges = [each.found for each in apart if (each.measure, each.kind) == (headline, _RANGE)]
    if not ranges:
        return say("{said}.", said=said)
    before, after, change = ranges[0]
    told = say("closer together") if change.high < 0.0 else say("interval includes 0")
    if change.low > 0.0:
        told = say("further apart")
    return say(
        "{said}; the range changes from {before} to {after} points ({change}).",
        said=said,
        before=points(before.value),
        after=points(after.value),
        change=told,
    )


_MOST_DRAWN = 40  # rows of a figure
