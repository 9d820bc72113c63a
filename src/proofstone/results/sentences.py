"""Sentences computed from results, on model cards, and on self-evaluation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from proofstone.page.section import (
    points,
    shown_estimate,
    shown_interval,
    shown_rank,
    shown_share,
)
from proofstone.page.text import printable
from proofstone.records.runs import Estimate, FormPart
from proofstone.results.board import (
    Board,
    BoardRow,
    LeftOut,
    RowGroup,
    SelfEvaluation,
    SelfEvaluationRole,
    Standings,
)
from proofstone.stats.intervals import Against, interval_against
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, say_of, word

_MOST_NAMED = 3  # more leaders of one score are counted rather than named


_GRADED = noted("Wilson-type t interval")  # of graded scores


def intervals_mixed(group: Standings) -> str:
    """Return a sentence on how many ranked models have which kind of interval.

    Empty if all have one kind; degrees of freedom make none.
    """
    kinds = Counter(
        _GRADED if row.estimate.made_by.startswith(_GRADED) else row.estimate.made_by.split(", ")[0]
        for row in group.ranked
        if row.estimate.low == row.estimate.low
    )
    if len(kinds) < 2:
        return ""
    told = [
        say("{kind} for {models}", kind=word(kind), models=counted(n, "model"))
        for kind, n in kinds.items()
    ]
    return say("Intervals are made in {n} ways: {kinds}.", n=len(kinds), kinds=joined(told))


# For one interval, for two, for more.
_ALL_IN_ONE_PLACE: Mapping[Against, tuple[str, str, str]] = {
    "inside": (
        noted("Chance lies inside the interval: this result does not show knowledge."),
        noted("Chance lies inside both intervals: these results do not show knowledge."),
        noted("Chance lies inside all {n} intervals: these results do not show knowledge."),
    ),
    "above": (
        noted("The interval lies above chance."),
        noted("Both intervals lie above chance."),
        noted("All {n} intervals lie above chance."),
    ),
    "below": (
        noted("The interval lies below chance."),
        noted("Both intervals lie below chance."),
        noted("All {n} intervals lie below chance."),
    ),
}


# At the start of a sentence, singular and plural; then within it.
_MIXED: Mapping[Against, tuple[str, str, str]] = {
    "above": (
        noted("{n} of {all} intervals lies above chance"),
        noted("{n} of {all} intervals lie above chance"),
        noted("{n} above chance"),
    ),
    "inside": (
        noted("{n} of {all} intervals lies around chance"),
        noted("{n} of {all} intervals lie around chance"),
        noted("{n} around chance"),
    ),
    "below": (
        noted("{n} of {all} intervals lies below chance"),
        noted("{n} of {all} intervals lie below chance"),
        noted("{n} below chance"),
    ),
}


def chance_sentence(
    chance: float, estimates: Sequence[Estimate], *, unread_are_wrong: bool = False
) -> str:
    """Return a sentence on the chance level and the intervals; empty without either.

    ``unread_are_wrong``: some responses have no answer, and they count 0. Guessing always gives an
    answer, so this is stated if an interval lies below chance.
    """
    places = Counter(interval_against(chance, estimate) for estimate in estimates)
    said = _chance_places(places, len(estimates))
    if not (said and places["below"] and unread_are_wrong):
        return said
    return paragraph(said, say("Unparsed, truncated and refused responses count as wrong."))


def _chance_places(places: Counter[Against], n: int) -> str:
    if not n or places["unknown"]:
        return ""
    for place, sentences in _ALL_IN_ONE_PLACE.items():
        if places[place] == n:
            return say(sentences[min(n, 3) - 1], n=n)
    return _mixed(places, n)


def answer_sentences(board: Board, *, with_scale: bool = True) -> tuple[str, ...]:
    """Return one sentence per standing: which model leads, by how much, and which are tied.

    ``with_scale``: a standing that is ranked separately is named at the start of its sentence.
    """
    if board.is_of_labels:
        return (say("The files hold labels without scores, so no model is ranked."),)
    if not board.standings:
        return (say("No scores yet."),)
    return tuple(
        f"{scale_head(group) if with_scale else ''}{standing_answer(group)}"
        for group in board.standings
    )


def shared_name(board: Board) -> str:
    """Return the name of the only scale of all standings; empty if they differ otherwise."""
    names = {apart_name(group) for group in board.standings}
    scales = {group.scale.name if group.scale else "" for group in board.standings}
    if len(names) == 1 and names == {word(name) for name in scales}:
        return names.pop()
    return ""


def scale_head(group: Standings) -> str:
    """Return the beginning of a sentence on a standing that is ranked separately."""
    name = apart_name(group)
    return say("{scale}: ", scale=name) if name else ""


def apart_name(group: Standings) -> str:
    """Return what separates a standing from others: experiment, scale, judge or part; or ""."""
    names = [say("experiments with other settings")] if group.experiment else []
    names += [word(group.scale.name)] if group.scale is not None else []
    if group.judge is not None:
        graded = say("graded by {judge}", judge=group.judge)
        names.append(graded if group.judge else say("graded by no judge"))
    if group.part is not None:
        names.append(part_name(group.part))
    return listed(names)


def part_name(part: FormPart) -> str:
    """Describe the part of a form: ``the first 5 of 8 items (--limit)``."""
    return say(
        "the first {n:,} of {items} (--limit)", n=part.n_asked, items=counted(part.n_items, "item")
    )


def apart_reason(group: Standings) -> str:
    """Return the reason why a standing is ranked separately or not at all."""
    if group.experiment:
        return say("one setting of each model is ranked")
    reasons = [word(group.scale.what)] if group.scale is not None else []
    if group.judge is not None:
        reasons.append(say("judges differ, so the scores are not comparable"))
    if group.part is not None:
        reasons.append(say("scores on different parts of the items are not comparable"))
    return say("; ").join(reasons)


def standing_answer(group: Standings) -> str:
    """Return the sentence on one standing."""
    n = len(group.incomplete)
    if not group.ranked:
        return say_of(
            n,
            "No model is ranked: {n} model is incomplete.",
            "No model is ranked: {n} models are incomplete.",
            n=n,
        )
    if group.experiment:
        return say("{models}, not ranked.", models=counted(len(group.ranked), "model"))
    return _ranked_answer(group)


def _ranked_answer(group: Standings) -> str:
    first = group.ranked[0]
    best = first.estimate.value
    if len(group.ranked) == 1:
        return say(
            "{first} scores {score} on {items}. It is the only ranked model.",
            first=first.label,
            score=_share_with_interval(first.estimate),
            items=counted(first.estimate.n, "item"),
        )
    if not group.is_common:
        return say(
            "The {models} share no item, so they are not ranked.",
            models=counted(len(group.ranked), "model"),
        )
    if not group.has_ranks:
        return say(
            "{first} has the highest score ({score}). The number of items is unknown, so its "
            "significance is unknown too.",
            first=first.label,
            score=shown_share(best),
        )
    level = [row for row in group.ranked if math.isclose(row.estimate.value, best)]
    if len(level) > 1:
        return _shared_lead(group.ranked, level)
    return _lead(group.ranked)


def _share_with_interval(estimate: Estimate) -> str:
    """Return ``53.2% [49.9, 56.4]``, or the value only without an interval."""
    score = shown_share(estimate.value)
    if math.isnan(estimate.low):
        return score
    return f"{score} {shown_interval(estimate.low, estimate.high)}"


def _leaders(level: Sequence[BoardRow]) -> str:
    """Return the names of models with the same score, or their number."""
    if len(level) <= _MOST_NAMED:
        return joined([row.label for row in level])
    return counted(len(level), "model")


def _shared_lead(ranked: Sequence[BoardRow], level: Sequence[BoardRow]) -> str:
    """Return a sentence on a shared first place and the number of models tied with it."""
    shared = {"leaders": _leaders(level), "score": shown_share(level[0].estimate.value)}
    n_tied = _n_tied(ranked) - (len(level) - 1)
    if len(level) == len(ranked):
        return say("{leaders} have the same score ({score}).", **shared)
    if n_tied <= 0:
        return say("{leaders} share the highest score ({score}).", **shared)
    return say_of(
        n_tied,
        "{leaders} share the highest score ({score}); {n} other model is statistically tied with "
        "{first}.",
        "{leaders} share the highest score ({score}); {n} other models are statistically tied with "
        "{first}.",
        n=n_tied,
        first=level[0].label,
        **shared,
    )


def _n_tied(ranked: Sequence[BoardRow]) -> int:
    """Return the number of models not significantly worse than the first."""
    return ranked[0].rank.high - 1 if ranked[0].rank else 0


def _lead(ranked: Sequence[BoardRow]) -> str:
    """Return a sentence on the highest score, the margin and ties.

    It says "leads" only if the lead over every other model is significant.
    """
    first, second = ranked[:2]
    told = {
        "first": first.label,
        "second": second.label,
        "score": shown_share(first.estimate.value),
        "gap": points(first.estimate.value - second.estimate.value),
    }
    n_tied = _n_tied(ranked)
    if not n_tied:
        return say(
            "{first} leads with {score}, {gap} points ahead of {second}; its lead over every other "
            "model is statistically significant."
            if len(ranked) > 2
            else "{first} leads with {score}, {gap} points ahead of {second}; the difference is "
            "statistically significant.",
            **told,
        )
    if n_tied == len(ranked) - 1 > 1:
        return say(
            "{first} has the highest score ({score}, {gap} points above {second}); all other "
            "models are statistically tied with it.",
            **told,
        )
    return say_of(
        n_tied,
        "{first} has the highest score ({score}, {gap} points above {second}); {n} model is "
        "statistically tied with it.",
        "{first} has the highest score ({score}, {gap} points above {second}); {n} models are "
        "statistically tied with it.",
        n=n_tied,
        **told,
    )


def _mixed(places: Counter[Against], n: int) -> str:
    """Return a sentence on each position that occurs, above first."""
    found = [(place, places[place]) for place in _MIXED if places[place]]
    (first, count), *rest = found
    one, many, _next = _MIXED[first]
    said = [say_of(count, one, many, n=count, all=n)]
    said += [say(_MIXED[place][2], n=number) for place, number in rest]
    if places["inside"]:
        return say(
            "{places}: what lies around chance does not show knowledge.", places=joined(said)
        )
    return say("{places}.", places=joined(said))


def group_heading(field: str, group: RowGroup) -> str:
    """Return a heading such as ``kind: reasoning (2 models, mean 61.2 [58.0, 64.3])``."""
    said = counted(len(group.ranked), "configuration")
    if group.mean is not None and len(group.ranked) > 1:
        mean = shown_estimate(group.mean)
        said = say("{respondents}, mean {mean}", respondents=said, mean=mean)
    name = printable(word(group.name))
    return say("{field}: {name} ({said})", field=word(field), name=name, said=said)


def where_lines(where: str, left_out: Sequence[LeftOut], notes: Sequence[str]) -> Iterator[str]:
    """Yield the filter, the models that it excluded, and notes on models and cards."""
    if where:
        n = len(left_out)
        names = [say("{name} ({why})", name=entry.name, why=word(entry.why)) for entry in left_out]
        said = (
            say(
                "only {where}; left out {models}: {names}",
                where=where,
                models=counted(n, "model"),
                names=listed(names),
            )
            if n
            else say("only {where}; no model is left out", where=where)
        )
        yield printable(said)
    yield from (printable(note) for note in notes)


# Follows the name of a model that helped produce its items, or whose family did.
SELF_EVALUATION_MARK = "*"


def marked(row: BoardRow) -> str:
    """Return the model's name, with a mark for self-evaluation."""
    return row.name if row.self_evaluation is None else f"{row.name}{SELF_EVALUATION_MARK}"


def self_evaluation_sentence(row: BoardRow, self_evaluation: SelfEvaluation) -> str:
    """Return ``wrote 12 and perturbed 30 of the 60 items; on the other 26:

    61.5 [45.0, 75.8], rank 2``.
    """
    n_items = row.estimate.n
    did = {"did": deeds(self_evaluation), "items": counted(n_items, "item")}
    left = n_items - self_evaluation.n_self_evaluated
    if not left:
        return say("{did} of the {items}; no item is unaffected", **did)
    score = shown_estimate(self_evaluation.untouched)
    if self_evaluation.rank is None:
        return say("{did} of the {items}; on the other {n:,}: {score}", n=left, score=score, **did)
    return say(
        "{did} of the {items}; on the other {n:,}: {score}, rank {rank}",
        n=left,
        score=score,
        rank=shown_rank(self_evaluation.rank),
        **did,
    )


def deeds(self_evaluation: SelfEvaluation) -> str:
    """Return what the model did, then what others of its family did."""
    own = [role for role in self_evaluation.roles if role.is_itself]
    others: dict[str, list[SelfEvaluationRole]] = {}
    for role in self_evaluation.roles:
        if not role.is_itself:
            others.setdefault(role.model, []).append(role)
    said = [_listed(own)] if own else []
    said += [
        say("its family's {model} {did}", model=model, did=_listed(roles))
        for model, roles in others.items()
    ]
    return joined(said)


def _listed(roles: Sequence[SelfEvaluationRole]) -> str:
    return joined([say("{role} {n:,}", role=word(role.role), n=role.n_items) for role in roles])
