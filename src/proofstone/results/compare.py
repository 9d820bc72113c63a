"""Two sides become a comparison, pair by pair on common items: one pure function."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import MISSING, points, shown_estimate, shown_interval
from proofstone.page.text import aligned, labelled_lines, printable
from proofstone.records.runs import ANSWER_FORMAT, OUTCOMES, Estimate, Measure, Scale, values_kind
from proofstone.records.scores import ScoreTable
from proofstone.results.board_text import SIMULATED_BANNER
from proofstone.results.measured_scores import Sheet
from proofstone.results.request import Ask
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import McNemar, SignFlip, compare_pair, mcnemar, sign_flip
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.flags import estimand_name
from proofstone.stats.intervals import equal_weights, holm
from proofstone.stats.power import Resolution, resolution_after
from proofstone.stats.resampling import disjoint_clusters
from proofstone.wording.messages import counted, joined

# What a comparison of two sets of results holds: terminal, JSON and files all show the same.

Factor = Literal[
    "model", "served", "endpoint", "items", "way", "context", "template", "settings", "samples",
    "replicate", "scorer", "judge", "corrections", "measure", "source",
]  # fmt: skip


# What a side holds that is no row of a workspace.
FILE = "a file of results"


class Party(Struct, frozen=True, kw_only=True):
    """One respondent of one side, and what ``made`` its scores, as text by factor; what is not
    known has no entry. ``asked`` are the settings that it was asked with."""

    name: str
    way: str = ""
    settings: str = ""
    simulated: bool = False
    runs: tuple[str, ...] = ()
    made: dict[str, str] = {}
    asked: dict[str, str] = {}
    n_replies: int = 0
    missing: int = 0
    failed: int = 0

    @property
    def label(self) -> str:
        """The respondent as a sentence names it."""
        return " ".join(part for part in (self.name, self.way, self.settings) if part)

    @property
    def is_complete(self) -> bool:
        """Whether every reply that was expected came."""
        return not self.missing and bool(self.n_replies)


class SideShown(Struct, frozen=True, kw_only=True):
    """One side as it was named, what it is, and how many items it has."""

    name: str
    holds: str
    n_items: int
    n_retired: int = 0


class Change(Struct, frozen=True, kw_only=True):
    """Something that differs between the two, and what follows for the comparison."""

    factor: Factor
    before: str
    after: str
    consequence: str


class Moved(Struct, frozen=True, kw_only=True):
    """An item that one of the two scores higher on; ``text`` is its first words, where known.
    ``before_ended`` and ``after_ended`` say how the responses ended: right, wrong, answered (a
    score between), refused, unparsed, truncated; empty where the results do not tell."""

    item: str
    before: float
    after: float
    text: str = ""
    before_ended: str = ""
    after_ended: str = ""


class Difference(Struct, frozen=True, kw_only=True):
    """B minus A on the items that both have scores of.

    ``before`` and ``after`` are the two means there. ``p`` is that of the clustered t-test,
    ``p_holm`` the same corrected for all pairs of this comparison. ``permutation`` is None where
    clusters overlap, so that nothing can be swapped apart. ``resolves`` says what a difference
    these items find.
    """

    before: Estimate
    after: Estimate
    estimate: Estimate
    p: float
    p_holm: float
    mcnemar: McNemar
    permutation: SignFlip | None
    resolves: Resolution
    rises: int
    falls: int
    level: int


class PairCompared(Struct, frozen=True, kw_only=True):
    """One respondent of A against one of B.

    ``cannot`` says what could not be compared and why; without ``difference`` nothing could.
    ``only_before`` and ``only_after`` count items of one side alone, ``renewed`` those of B that
    are new versions of items of A, ``unscored`` common ones without a score on either side.
    ``won`` and ``lost`` are the items on which B scores higher and lower.
    """

    before: Party
    after: Party
    changes: tuple[Change, ...]
    means: str
    cannot: tuple[str, ...]
    n_common: int
    only_before: int
    only_after: int
    renewed: int
    unscored: int
    difference: Difference | None = None
    won: tuple[Moved, ...] = ()
    lost: tuple[Moved, ...] = ()


class RateCompared(Struct, frozen=True, kw_only=True):
    """B minus A in one figure of verified triples; ``p`` is that of the clustered t-test."""

    name: str
    before: Estimate
    after: Estimate
    estimate: Estimate
    p: float


class TriplesCompared(Struct, frozen=True, kw_only=True):
    """F1, precision and recall of two runs whose triples were verified alike, entities drawn for
    both at once. ``unparsed`` are the shares of verdicts of precision and of recall, A's and B's,
    that could not be parsed. ``cannot`` says why there are none."""

    rates: tuple[RateCompared, ...] = ()
    judges: str = ""
    reference: str = ""
    sampling: str = ""
    entities: int = 0
    unparsed: tuple[tuple[float, float], ...] = ()
    cannot: str = ""


class Compared(Struct, frozen=True, kw_only=True):
    """A and B under one measure. ``unpaired`` respondents stand on one side alone. ``rescore`` says
    whether some replies were scored by an older version than today's. ``triples`` are those of two
    runs, where they were verified."""

    before: SideShown
    after: SideShown
    measure: str
    denominator: str
    estimand: str
    confidence: float
    pairs: tuple[PairCompared, ...]
    unpaired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rescore: str = ""
    seed: int = 0
    triples: TriplesCompared | None = None

    def __str__(self) -> str:
        return render_compared(self).rstrip("\n")


# A comparison as plain text: what differs first, then by how much, then the items.

_LABEL = 10


_TEXT = 60


def render_compared(compared: Compared, *, most: int = 5, width: int = 100) -> str:
    """All of it as text that ends in a newline. At most ``most`` items won, and as many lost, are
    listed a pair. Lines are broken at ``width`` cells, those of tables excepted."""
    lines = [_banner(compared)] if _banner(compared) else []
    for name, side in (("A", compared.before), ("B", compared.after)):
        lines += labelled(name, _side(compared, name, side), width)
    several = len(compared.pairs) > 1
    if several:
        lines += ["", *_overview(compared)]
    for pair in compared.pairs:
        if several:
            lines += ["", f"{printable(pair.before.label)}"]
        lines += _pair(compared, pair, most, width, several=several)
    if compared.triples is not None:
        lines += _triples(compared.triples, width)
    for text in compared.unpaired:
        lines += labelled("unpaired", text, width)
    for text in compared.notes:
        lines += labelled("note", text, width)
    if compared.rescore:
        lines += labelled("rescore", compared.rescore, width)
    share = f"{100 * compared.confidence:g}%"
    ends = f"{share} intervals for {compared.estimand}; paired on common items"
    counts = f"each item counts the same ({compared.denominator})"
    lines += textwrap.wrap(f"{ends}; {counts}", max(width, 40))
    return "".join(f"{line}\n" for line in lines)


def labelled(label: str, text: str, width: int) -> list[str]:
    """The text beside its label, broken at words."""
    return labelled_lines(label, text, width, _LABEL)


def shown_difference(estimate: Estimate) -> str:
    """A difference in points with its sign, and its interval."""
    value = estimate.value
    sign = f"+{points(value)}" if value > 0 else points(value + 0.0)
    return f"{sign} {shown_interval(estimate.low, estimate.high)}"


def shown_item(moved: Moved) -> str:
    """An item as commands take it, where it is one of ours."""
    return f"item:{moved.item[:8]}" if is_item_id(moved.item) else moved.item


def is_item_id(text: str) -> bool:
    """Whether a name of an item is an id of ours, and no name that a file gives."""
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def change_sentence(change: Change) -> str:
    """``way: direct -> cot; another way of asking ...``."""
    return f"{change.factor}: {change.before} -> {change.after}; {change.consequence}"


def _banner(compared: Compared) -> str:
    parties = [party for pair in compared.pairs for party in (pair.before, pair.after)]
    return SIMULATED_BANNER if any(party.simulated for party in parties) else ""


def _side(compared: Compared, name: str, side: SideShown) -> str:
    of = "" if side.name == side.holds else f" on {side.holds}"
    of = f", {side.holds}" if side.holds == FILE else of
    said = f"{side.name}{of}, {counted(side.n_items, 'item')}"
    if side.n_retired:
        said += f", {side.n_retired:,} retired left out"
    if len(compared.pairs) == 1:
        (pair,) = compared.pairs
        party = pair.before if name == "A" else pair.after
        said = f"{party.label}; {said}" + _short(party)
    return said


def _short(party: Party) -> str:
    if party.is_complete:
        return ""
    return f"; INCOMPLETE, {counted(party.missing, 'reply', 'replies')} missing"


def _overview(compared: Compared) -> list[str]:
    """One line a pair, as far as they could be compared."""
    rows = [["", "n", "A", "B", "B - A", "p", "p Holm", "won", "lost"]]
    for pair in compared.pairs:
        found = pair.difference
        if found is None:
            rows.append([printable(pair.before.label), "0", *[MISSING] * 7])
            continue
        rows.append(
            [
                printable(pair.before.label),
                f"{found.estimate.n:,}",
                points(found.before.value),
                points(found.after.value),
                shown_difference(found.estimate),
                p_value(found.p),
                p_value(found.p_holm),
                f"{found.rises:,}",
                f"{found.falls:,}",
            ]
        )
    return aligned(rows, left=[0])


def _pair(
    compared: Compared, pair: PairCompared, most: int, width: int, *, several: bool
) -> Iterator[str]:
    for change in pair.changes:
        yield from labelled("differs", change_sentence(change), width)
    if pair.means:
        yield from labelled("so", pair.means, width)
    for reason in pair.cannot:
        yield from labelled("cannot", reason, width)
    if pair.unscored:
        noun = counted(pair.unscored, "common item")
        yield from labelled("left out", f"{noun} without a score on both sides", width)
    if pair.difference is not None and not several:
        yield from _numbers(compared, pair.difference, width)
    yield from _items("won", pair.won, most)
    yield from _items("lost", pair.lost, most)


def _numbers(compared: Compared, found: Difference, width: int) -> Iterator[str]:
    n = counted(found.estimate.n, "common item")
    said = f"{compared.measure} on {n}: A {shown_estimate(found.before)}, "
    yield from labelled("scores", said + f"B {shown_estimate(found.after)}", width)
    yield from labelled(
        "B - A", f"{shown_difference(found.estimate)} points; {_said(found)}", width
    )
    yield from labelled("tests", _tests(found), width)
    yield from labelled("resolves", _resolves(found), width)
    yield from labelled(
        "items",
        f"won {found.rises:,} (B scores higher), lost {found.falls:,}, level {found.level:,}",
        width,
    )


def _triples(found: TriplesCompared, width: int) -> Iterator[str]:
    """What of verified triples differs; entities are drawn for both runs at once."""
    if found.cannot:
        yield from labelled("verified", f"not compared: {found.cannot}", width)
        return
    n = counted(found.entities, "entity", "entities")
    said = f"by {found.judges} against {found.reference}, over {n}; {found.sampling}"
    yield from labelled("verified", said, width)
    for each in found.rates:
        said = (
            f"A {shown_estimate(each.before)}, B {shown_estimate(each.after)}; B - A "
            f"{shown_difference(each.estimate)} points, p {p_value(each.p)}"
        )
        yield from labelled(each.name, said, width)
    shares = [
        f"{name} {100 * precision:.1f}% of precision, {100 * recall:.1f}% of recall"
        for name, (precision, recall) in zip("AB", found.unparsed, strict=True)
    ]
    yield from labelled("unparsed", "; ".join(shares), width)


def _said(found: Difference) -> str:
    """What the interval says, in words."""
    if found.estimate.low > 0:
        return "B is significantly better"
    if found.estimate.high < 0:
        return "B is significantly worse"
    return "the difference is not significant"


def _tests(found: Difference) -> str:
    exact = f"exact McNemar p {p_value(found.mcnemar.p)} (items as independent)"
    said = f"clustered t p {p_value(found.p)}; {exact}"
    if found.mcnemar.left_out:
        said += f" (without {counted(found.mcnemar.left_out, 'item')} of a share between)"
    flips = found.permutation
    if flips is None:
        return f"{said}; sign flips do not apply, because items share facts in overlapping sets"
    how = "all" if flips.is_exact else f"seed {flips.seed},"
    patterns = f"{how} {flips.n_patterns:,} patterns over {flips.n_flipped:,} {flips.resampled}"
    return f"{said}; sign flips p {p_value(flips.p)} ({patterns})"


def _resolves(found: Difference) -> str:
    if math.isnan(found.resolves.difference):
        return "nothing: fewer than two independent groups of items"
    power = f"{100 * found.resolves.power:g}%"
    if found.resolves.standard_error == 0.0:
        return "nothing varies between the two, so no smallest difference can be computed"
    if found.resolves.difference >= 1.0:
        return f"with {power} power, no difference at all: too few independent groups of items"
    return f"with {power} power, a true difference of {points(found.resolves.difference)} points"


def _items(word: str, items: Sequence[Moved], most: int) -> Iterator[str]:
    if not items or not most:
        return
    rows = [
        [word if not at else "", shown_item(each), _scores(each), _cut(each.text)]
        for at, each in enumerate(items[:most])
    ]
    rows[0][0] = f"{word:<{_LABEL - 2}}"
    yield from aligned(rows, left=[0, 1, 2, 3])
    if len(items) > most:
        yield f"{'':<{_LABEL}}and {len(items) - most:,} more (-n {len(items)}, or -o FILE for all)"


def _scores(moved: Moved) -> str:
    before, after = f"A {moved.before:.3g}", f"B {moved.after:.3g}"
    return f"{before} {moved.before_ended}".rstrip() + f"  {after} {moved.after_ended}".rstrip()


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "\u2026"


def p_value(p: float) -> str:
    """A probability with two significant digits; very small ones as a bound."""
    if math.isnan(p):
        return MISSING
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


# One side of a comparison, and which items it has in common with the other.


@dataclass(frozen=True)
class Side:
    """Scores under a measure, with what made those of each respondent (``parties``, parallel).

    ``method`` is empty for a file. ``former`` names, by item, the one it is a new version of.
    """

    shown: SideShown
    table: ScoreTable
    measure: Measure
    parties: tuple[Party, ...]
    method: str = ""
    former: dict[str, str] | None = None

    @cached_property
    def sheet(self) -> Sheet:
        """The scores as the measure values them."""
        return Sheet.of(self.table, self.measure)

    @cached_property
    def places(self) -> dict[tuple[str, int], int]:
        """Each unit's place by its item and its number among that item's units."""
        seen: dict[str, int] = {}
        found = {}
        for place, name in enumerate(self.item_names):
            number = seen.get(name, 0)
            found[name, number] = place
            seen[name] = number + 1
        return found

    @cached_property
    def item_names(self) -> tuple[str, ...]:
        """Each unit's item as both sides may know it: a file's own name, or the item's id."""
        return self.table.item_names or tuple(item.hex() for item in self.table.items)

    @cached_property
    def rows(self) -> dict[tuple[int, int], list[int]]:
        """The rows of the table by unit and respondent."""
        found: dict[tuple[int, int], list[int]] = {}
        pairs = zip(self.table.unit.tolist(), self.table.respondent.tolist(), strict=True)
        for row, pair in enumerate(pairs):
            found.setdefault(pair, []).append(row)
        return found

    def ended(self, unit: int, respondent: int) -> str:
        """How a respondent's responses on a unit ended, each ending once with its count where there
        are several; empty where the results do not tell."""
        table = self.table
        if not table.tells_outcomes:
            return ""
        rows = self.rows.get((unit, respondent), [])
        worth = {1.0: "right", 0.0: "wrong"}
        ends = Counter(
            worth.get(float(table.value[row]), "answered")
            if OUTCOMES[int(table.outcome[row])] == "answered"
            else OUTCOMES[int(table.outcome[row])]
            for row in rows
        )
        if len(ends) == 1:
            return next(iter(ends))
        return ", ".join(f"{n} {ended}" for ended, n in ends.most_common())

    def scale(self, respondent: int) -> Scale | None:
        """The scale of a respondent's scores, where it is one of its own."""
        return self.table.respondents[respondent].scale


@dataclass(frozen=True)
class Common:
    """The units that both sides have: their places on each (parallel), in B's order; how many
    stand on one side alone, and how many of B's are new versions of items of A."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    only_before: int
    only_after: int
    renewed: int
    keys: SharedKeys


def common_items(before: Side, after: Side) -> Common:
    """The units of the same items. Which of them share knowledge is taken from the side that knows
    more of it."""
    shared = [key for key in after.places if key in before.places]
    first = np.array([before.places[key] for key in shared], dtype=np.int64)
    second = np.array([after.places[key] for key in shared], dtype=np.int64)
    only_after = [key for key in after.places if key not in before.places]
    old = {name for name, _number in before.places}
    former = after.former or {}
    keys = max(
        (before.sheet.keys.among(first), after.sheet.keys.among(second)),
        key=lambda each: len(each.unit),
    )
    return Common(
        before=first,
        after=second,
        only_before=len(before.places) - len(shared),
        only_after=len(only_after),
        renewed=sum(former.get(name) in old for name, _number in only_after),
        keys=keys,
    )


# What differs between two respondents, factor by factor, and what that means for the difference.
#
# The factors are kept apart so that a difference is put down to what made it: the model, the items,
# the way of asking, the settings, the scorer, the judge, or what people ruled.

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


def changes_between(before: Party, after: Party, common: Common) -> Iterator[Change]:
    """Every factor in which the two differ, in the order of ``FACTORS``."""
    told: set[str] = set()
    is_file = "source" in before.made or "source" in after.made
    for factor in FACTORS:
        if factor == "items":
            yield from _changes_items(before, after, common)
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


def _changes_items(before: Party, after: Party, common: Common) -> Iterator[Change]:
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


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Paired:
    """The two columns of values on the common units that both have scores of, what these units
    share, and their places among B's units."""

    first: Floats
    second: Floats
    keys: SharedKeys
    units: NDArray[np.int64]
    unscored: int


def compare_sides(before: Side, after: Side, ask: Ask) -> Compared:
    """Every pair of respondents that belong together: the only one of each side, else those of one
    name, way and settings.

    Raises BadUsage where no two belong together, or all that do are the same runs.
    """
    common = common_items(before, after)
    places, alone = _pairs(before, after)
    pairs = [_comparing_pair(before, after, a, b, common, ask) for a, b in places]
    if all(is_same_run(pair.before, pair.after, pair.changes) for pair in pairs):
        raise BadUsage(
            f"A and B are the same: {after.shown.name}; no difference is possible",
            hint="name another run, form or bank as one of the two",
        )
    return Compared(
        before=before.shown,
        after=after.shown,
        measure=after.measure.name,
        denominator=after.measure.denominator,
        estimand=estimand_name(ask.estimand),
        confidence=ask.confidence,
        pairs=tuple(_corrected(pairs)),
        unpaired=alone,
        seed=ask.seed,
    )


def pair_values(before: Side, after: Side, a: int, b: int, common: Common) -> Paired:
    """The values of two respondents on the common units, those without a score left out."""
    first, second = before.sheet.values[common.before, a], after.sheet.values[common.after, b]
    kept = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    return Paired(
        first=first[kept],
        second=second[kept],
        keys=common.keys.among(kept),
        units=common.after[kept],
        unscored=len(first) - len(kept),
    )


def _pairs(before: Side, after: Side) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    if len(before.parties) == len(after.parties) == 1:
        return [(0, 0)], ()
    places: dict[tuple[str, str, str], list[int]] = {}
    for at, party in enumerate(before.parties):
        places.setdefault((party.name, party.way, party.settings), []).append(at)
    keys = [(p.name, p.way, p.settings) for p in after.parties]
    found = [
        (_of_one_judge(before, places[key], after.parties[at]), at)
        for at, key in enumerate(keys)
        if key in places
    ]
    if not found:
        raise BadUsage(
            "no respondent of one stands on the other side, so there are no pairs",
            hint=f"name one run of each; {_listed('A', before)}; {_listed('B', after)}",
        )
    paired = {a for a, _b in found}
    alone = [f"{p.label} (only in A)" for at, p in enumerate(before.parties) if at not in paired]
    alone += [
        f"{p.label} (only in B)"
        for p, key in zip(after.parties, keys, strict=True)
        if key not in places
    ]
    return found, tuple(alone)


def _of_one_judge(before: Side, places: Sequence[int], party: Party) -> int:
    """Of several places of one respondent the one that the party's judge graded, else the first."""
    judge = party.made.get("judge", "")
    same = [at for at in places if before.parties[at].made.get("judge", "") == judge]
    return (same or places)[0]


def _listed(name: str, side: Side) -> str:
    labels = ", ".join(party.label for party in side.parties[:4])
    more = f" and {len(side.parties) - 4} more" if len(side.parties) > 4 else ""
    return f"{name} has {labels}{more}"


def _comparing_pair(
    before: Side, after: Side, a: int, b: int, common: Common, ask: Ask
) -> PairCompared:
    first, second = before.parties[a], after.parties[b]
    changes = tuple(changes_between(first, second, common))
    paired = pair_values(before, after, a, b, common)
    pair = PairCompared(
        before=first,
        after=second,
        changes=changes,
        means=attribute(first, second, changes),
        cannot=tuple(_cannot(before, after, a, b, common, paired)),
        n_common=len(common.after),
        only_before=common.only_before,
        only_after=common.only_after,
        renewed=common.renewed,
        unscored=paired.unscored,
    )
    if (
        not len(paired.first)
        or not _means_the_same(before, after, a, b)
        or _has_other_judge(first, second)
    ):
        return structs.replace(pair, means="")
    if is_same_run(first, second, changes):
        return structs.replace(pair, means="", cannot=(pair.means, *pair.cannot))
    won, lost = _moved(before, after, a, b, common, paired)
    return structs.replace(pair, difference=_comparing_difference(paired, ask), won=won, lost=lost)


def _means_the_same(before: Side, after: Side, a: int, b: int) -> bool:
    kinds = {values_kind(side.scale(at)) for side, at in ((before, a), (after, b))}
    return len(kinds) == 1 and not _other_method(before, after)


def _has_other_judge(first: Party, second: Party) -> bool:
    """Return True if different judges graded the two. Of the same runs it is the judges that are
    compared, on the same responses."""
    judges = [party.made.get("judge", "") for party in (first, second)]
    is_same = bool(first.runs) and first.runs == second.runs
    return all(judges) and judges[0] != judges[1] and not is_same


def _other_method(before: Side, after: Side) -> bool:
    return bool(before.method and after.method) and before.method != after.method


def _cannot(
    before: Side, after: Side, a: int, b: int, common: Common, paired: Paired
) -> Iterator[str]:
    """What of the two cannot be compared, and why."""
    if _other_method(before, after):
        yield f"A was scored by {before.method}, B by {after.method}: their scores do not compare."
    elif not _means_the_same(before, after, a, b):
        names = [
            values_kind(side.scale(at)) or "the items' own scale"
            for side, at in ((before, a), (after, b))
        ]
        yield (
            f"Their scores are on different scales (A: {names[0]}; B: {names[1]}), so a difference "
            "has no meaning."
        )
    parties = before.parties[a], after.parties[b]
    if _has_other_judge(*parties):
        judges = [party.made["judge"] for party in parties]
        yield (
            f"Different judges graded them (A: {judges[0]}; B: {judges[1]}). Their verdicts are "
            "not comparable, so a difference in scores has no meaning: grade both with the same "
            "judge."
        )
    if not len(common.after):
        yield "They have no item in common, so nothing can be paired."
    elif not len(paired.first):
        yield "No item that both have has a score on both sides."
    for name, party in (("A", before.parties[a]), ("B", after.parties[b])):
        if not party.is_complete:
            short = counted(party.missing, "reply", "replies")
            yield (
                f"{name} is incomplete, {short} short: what is missing may be the hard part, so "
                "the difference holds only for the items that have scores."
            )


def _comparing_difference(paired: Paired, ask: Ask) -> Difference:
    both = np.column_stack([paired.first, paired.second])
    weights, keys = equal_weights(len(both)), paired.keys
    found = compare_pair(
        paired.first, paired.second, keys, estimand=ask.estimand, confidence=ask.confidence
    )
    before, after = mean_estimates(
        both, weights, keys, estimand=ask.estimand, confidence=ask.confidence
    )
    spread = measure_spread(both, weights, keys, ask.estimand)
    return Difference(
        before=before,
        after=after,
        estimate=found.estimate,
        p=found.p,
        p_holm=found.p,
        mcnemar=mcnemar(paired.second, paired.first),
        permutation=_permutation(paired, ask),
        resolves=resolution_after(spread, confidence=ask.confidence),
        rises=found.rises,
        falls=found.falls,
        level=found.level,
    )


def _permutation(paired: Paired, ask: Ask) -> SignFlip | None:
    if ask.estimand == "bank" or not len(paired.keys.unit):
        return sign_flip(paired.second, paired.first, seed=ask.seed)
    clusters = disjoint_clusters(paired.keys)
    if clusters is None:
        return None
    return sign_flip(paired.second, paired.first, clusters, seed=ask.seed)


def _moved(
    before: Side, after: Side, a: int, b: int, common: Common, paired: Paired
) -> tuple[tuple[Moved, ...], tuple[Moved, ...]]:
    """The units that rose and those that fell, the largest moves first, then in B's order."""
    rise = paired.second - paired.first
    order = np.argsort(-np.abs(rise), kind="stable").tolist()
    was = dict(zip(common.after.tolist(), common.before.tolist(), strict=True))
    moved = [
        (
            rise[at] > 0,
            Moved(
                item=after.item_names[int(paired.units[at])],
                before=float(paired.first[at]),
                after=float(paired.second[at]),
                before_ended=before.ended(was[int(paired.units[at])], a),
                after_ended=after.ended(int(paired.units[at]), b),
            ),
        )
        for at in order
        if rise[at] != 0
    ]
    won = tuple(item for up, item in moved if up)
    return won, tuple(item for up, item in moved if not up)


def _corrected(pairs: Sequence[PairCompared]) -> Iterator[PairCompared]:
    """The pairs with their p-values corrected for all that could be compared (Holm)."""
    p = np.array([pair.difference.p for pair in pairs if pair.difference is not None])
    adjusted = iter(holm(p).tolist() if len(p) else [])
    for pair in pairs:
        if pair.difference is None:
            yield pair
            continue
        p_holm = next(adjusted, math.nan)
        yield structs.replace(pair, difference=structs.replace(pair.difference, p_holm=p_holm))


# The items won and lost as rows for a file.


def moved_rows(compared: Compared) -> Iterator[dict[str, Any]]:
    """One row an item and pair: won ones first, then lost ones, with both scores."""
    for pair in compared.pairs:
        for word, items in (("won", pair.won), ("lost", pair.lost)):
            for item in items:
                yield {
                    "moved": word,
                    "item": item.item,
                    "a": pair.before.label,
                    "b": pair.after.label,
                    "score_a": item.before,
                    "score_b": item.after,
                    "ended_a": item.before_ended,
                    "ended_b": item.after_ended,
                    "text": item.text,
                }
