"""Compare two sets of results pair by pair on common items, without side effects."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import MISSING, points, shown_estimate, shown_interval
from proofstone.page.text import aligned, labelled_lines, printable
from proofstone.records.runs import (
    ANSWER_FORMAT,
    OUTCOMES,
    Estimate,
    Measure,
    population_name,
    values_kind,
)
from proofstone.records.scores import ScoreTable
from proofstone.results.board_text import SIMULATED_BANNER
from proofstone.results.measured_scores import Sheet
from proofstone.results.request import Ask
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import McNemar, SignFlip, compare_pair, mcnemar, sign_flip
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.multiple_comparisons import holm
from proofstone.stats.power import Resolution, resolution_after
from proofstone.stats.resampling import disjoint_clusters
from proofstone.wording.messages import counted, joined

# Records of a comparison, shared by the terminal, JSON and files.

Factor = Literal[
    "model", "reported", "endpoint", "items", "prompt_method", "context", "template", "settings",
    "samples",
    "replicate", "scorer", "judge", "corrections", "measure", "source",
]  # fmt: skip


# Description of a side that is not in a workspace.
FILE = "a file of results"


class Party(Struct, frozen=True, kw_only=True):
    """One model on one side.

    ``made`` maps each known factor to its value as text; unknown factors have no entry. ``asked``
    holds the settings of the requests.
    """

    name: str
    prompt_method: str = ""
    settings: str = ""
    simulated: bool = False
    runs: tuple[str, ...] = ()
    made: dict[str, str] = {}
    asked: dict[str, str] = {}
    n_responses: int = 0
    missing: int = 0
    failed: int = 0

    @property
    def label(self) -> str:
        """Return the name, prompting method and settings, separated by spaces."""
        return " ".join(part for part in (self.name, self.prompt_method, self.settings) if part)

    @property
    def is_complete(self) -> bool:
        """Return True if every expected response was received."""
        return not self.missing and bool(self.n_responses)


class SideShown(Struct, frozen=True, kw_only=True):
    """One side: its name, its contents and its number of items."""

    name: str
    holds: str
    n_items: int
    n_excluded: int = 0


class Change(Struct, frozen=True, kw_only=True):
    """A factor that differs between two models, and its consequence for the comparison."""

    factor: Factor
    before: str
    after: str
    consequence: str


class Moved(Struct, frozen=True, kw_only=True):
    """An item with different scores on the two sides; ``text`` is its beginning, if known.

    ``before_ended`` and ``after_ended`` are the outcomes: right, wrong, answered (partial score),
    refused, unparsed or truncated; empty if outcomes were not recorded.
    """

    item: str
    before: float
    after: float
    text: str = ""
    before_ended: str = ""
    after_ended: str = ""


class Difference(Struct, frozen=True, kw_only=True):
    """B minus A on the items with scores on both sides.

    ``before`` and ``after`` are the two means on these items. ``p`` is the two-sided p-value of the
    clustered t-test. ``p_holm`` is adjusted for all pairs of this comparison. ``permutation`` is
    None if clusters overlap, because no group of items can then be swapped independently.
    ``resolves`` holds the minimum detectable difference.
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
    """One model of A compared with one of B.

    ``cannot`` lists what could not be compared and why; without ``difference`` nothing was
    compared. ``only_before`` and ``only_after`` count items on one side only. ``renewed`` counts
    items of B that are new versions of items of A. ``unscored`` counts common items without a score
    on both sides. ``won`` and ``lost`` are the items on which B scores higher and lower.
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
    """B minus A in one rate of verified triples; ``p`` is that of the clustered t-test."""

    name: str
    before: Estimate
    after: Estimate
    estimate: Estimate
    p: float


class TriplesCompared(Struct, frozen=True, kw_only=True):
    """F1, precision and recall of two runs whose triples were verified in the same way.

    Both runs are resampled jointly over entities. ``unparsed`` holds for A and B the shares of
    unparsed verdicts for precision and for recall. ``cannot`` explains why there are no rates.
    """

    rates: tuple[RateCompared, ...] = ()
    judges: str = ""
    reference: str = ""
    sampling: str = ""
    entities: int = 0
    unparsed: tuple[tuple[float, float], ...] = ()
    cannot: str = ""


class Compared(Struct, frozen=True, kw_only=True):
    """Comparison of A and B under one measure.

    ``unpaired`` lists models on one side only. ``rescore`` is a note if responses were scored by an
    older scorer version. ``triples`` compares the verified triples of two runs.
    """

    before: SideShown
    after: SideShown
    measure: str
    denominator: str
    population: str
    confidence: float
    pairs: tuple[PairCompared, ...]
    unpaired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rescore: str = ""
    seed: int = 0
    triples: TriplesCompared | None = None

    def __str__(self) -> str:
        return render_compared(self).rstrip("\n")


# A comparison as plain text: factors that differ, differences, items.

_LABEL = 10


_TEXT = 60


def render_compared(compared: Compared, *, most: int = 5, width: int = 100) -> str:
    """Return the comparison as text that ends in a newline.

    At most ``most`` items won and ``most`` lost are listed per pair. Lines other than tables are
    wrapped at ``width`` cells.
    """
    parties = [party for pair in compared.pairs for party in (pair.before, pair.after)]
    lines = [SIMULATED_BANNER] if any(party.simulated for party in parties) else []
    sides = [("A", compared.before, parties[:1]), ("B", compared.after, parties[1:])]
    several = len(compared.pairs) > 1
    lines += labelled(
        [(name, _side(side, None if several else party[0])) for name, side, party in sides], width
    )
    if several:
        lines += ["", *_overview(compared)]
    for pair in compared.pairs:
        if several:
            lines += ["", f"{printable(pair.before.label)}"]
        lines += labelled(_told(compared.measure, pair, several=several), width)
        lines += _items("won", pair.won, most)
        lines += _items("lost", pair.lost, most)
    more = list(_triples(compared.triples)) if compared.triples is not None else []
    more += [("unpaired", text) for text in compared.unpaired]
    more += [("note", text) for text in compared.notes]
    more += [("rescore", compared.rescore)] if compared.rescore else []
    lines += labelled(more, width)
    share = f"{100 * compared.confidence:g}%"
    ends = f"{share} intervals for {compared.population}; paired on common items"
    counts = f"each item counts the same ({compared.denominator})"
    lines += textwrap.wrap(f"{ends}; {counts}", max(width, 40))
    return "".join(f"{line}\n" for line in lines)


def labelled(texts: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Return texts next to their labels, wrapped at words."""
    return [line for label, text in texts for line in labelled_lines(label, text, width, _LABEL)]


def shown_difference(estimate: Estimate) -> str:
    """Return a difference in points with its sign and interval."""
    value = estimate.value
    sign = f"+{points(value)}" if value > 0 else points(value + 0.0)
    return f"{sign} {shown_interval(estimate.low, estimate.high)}"


def shown_item(moved: Moved) -> str:
    """Return an item as commands accept it, if it is one of the workspace."""
    return f"item:{moved.item[:8]}" if is_item_id(moved.item) else moved.item


def is_item_id(text: str) -> bool:
    """Return True if ``text`` is an item id rather than a name from a file."""
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def change_sentence(change: Change) -> str:
    """Return a sentence such as ``model: a -> b; the difference is between two models``."""
    return f"{change.factor}: {change.before} -> {change.after}; {change.consequence}"


def _side(side: SideShown, party: Party | None) -> str:
    """Describe a side; ``party`` is its model if there is only one."""
    of = "" if side.name == side.holds else f" on {side.holds}"
    of = f", {side.holds}" if side.holds == FILE else of
    said = f"{side.name}{of}, {counted(side.n_items, 'item')}"
    if side.n_excluded:
        said += f", {side.n_excluded:,} excluded"
    if party is None:
        return said
    if not party.is_complete:
        said += f"; INCOMPLETE, {counted(party.missing, 'response', 'responses')} missing"
    return f"{party.label}; {said}"


def _overview(compared: Compared) -> list[str]:
    """Return a table with one line per pair."""
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


def _told(measure: str, pair: PairCompared, *, several: bool) -> Iterator[tuple[str, str]]:
    """What differs between the two, then by how much, where no overview states it."""
    yield from (("differs", change_sentence(change)) for change in pair.changes)
    if pair.means:
        yield "so", pair.means
    yield from (("cannot", reason) for reason in pair.cannot)
    if pair.unscored:
        noun = counted(pair.unscored, "common item")
        yield "left out", f"{noun} without a score on both sides"
    found = pair.difference
    if found is None or several:
        return
    n = counted(found.estimate.n, "common item")
    scores = f"A {shown_estimate(found.before)}, B {shown_estimate(found.after)}"
    yield "scores", f"{measure} on {n}: {scores}"
    said = "the difference is not significant"
    if found.estimate.low > 0:
        said = "B is significantly better"
    elif found.estimate.high < 0:
        said = "B is significantly worse"
    yield "B - A", f"{shown_difference(found.estimate)} points; {said}"
    yield "tests", _tests(found)
    yield "power", _power(found)
    yield (
        "items",
        f"won {found.rises:,} (B scores higher), lost {found.falls:,}, equal {found.level:,}",
    )


def _triples(found: TriplesCompared) -> Iterator[tuple[str, str]]:
    """Yield what differs in verified triples; entities are resampled for both runs jointly."""
    if found.cannot:
        yield "verified", f"not compared: {found.cannot}"
        return
    n = counted(found.entities, "entity", "entities")
    yield "verified", f"by {found.judges} against {found.reference}, over {n}; {found.sampling}"
    for each in found.rates:
        yield (
            each.name,
            f"A {shown_estimate(each.before)}, B {shown_estimate(each.after)}; B - A "
            f"{shown_difference(each.estimate)} points, p {p_value(each.p)}",
        )
    shares = [
        f"{name} {100 * precision:.1f}% of precision, {100 * recall:.1f}% of recall"
        for name, (precision, recall) in zip("AB", found.unparsed, strict=True)
    ]
    yield "unparsed", "; ".join(shares)


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


def _power(found: Difference) -> str:
    if math.isnan(found.resolves.difference):
        return "unknown: fewer than two independent groups of items"
    power = f"{100 * found.resolves.power:g}%"
    if found.resolves.standard_error == 0.0:
        return "unknown: the difference is the same on every item"
    if found.resolves.difference >= 1.0:
        return f"{power} for no difference: too few independent groups of items"
    return f"{power} for a true difference of {points(found.resolves.difference)} points"


def _items(word: str, items: Sequence[Moved], most: int) -> Iterator[str]:
    if not items or not most:
        return
    rows = []
    for moved in items[:most]:
        before = f"A {moved.before:.3g} {moved.before_ended}".rstrip()
        after = f"B {moved.after:.3g} {moved.after_ended}".rstrip()
        text = printable(moved.text)
        text = text if len(text) <= _TEXT else text[: _TEXT - 1] + "\u2026"
        rows.append(["", shown_item(moved), f"{before}  {after}", text])
    rows[0][0] = f"{word:<{_LABEL - 2}}"
    yield from aligned(rows, left=[0, 1, 2, 3])
    if len(items) > most:
        yield f"{'':<{_LABEL}}and {len(items) - most:,} more (-n {len(items)}, or -o FILE for all)"


def p_value(p: float) -> str:
    """Return a p-value with two significant digits; very small ones as a bound."""
    if math.isnan(p):
        return MISSING
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


# One side of a comparison, and its items in common with the other.


@dataclass(frozen=True)
class Side:
    """Scores under a measure; ``parties`` (parallel to the table's models) hold their origins.

    ``method`` is empty for a file. ``former`` maps each item to the item that it is a new version
    of.
    """

    shown: SideShown
    table: ScoreTable
    measure: Measure
    parties: tuple[Party, ...]
    method: str = ""
    former: dict[str, str] | None = None

    @cached_property
    def sheet(self) -> Sheet:
        """Return the scores under the measure."""
        return Sheet.of(self.table, self.measure)

    @cached_property
    def places(self) -> dict[tuple[str, int], int]:
        """Map item name and number within the item to the index of the unit."""
        seen: dict[str, int] = {}
        found = {}
        for place, name in enumerate(self.item_names):
            number = seen.get(name, 0)
            found[name, number] = place
            seen[name] = number + 1
        return found

    @cached_property
    def item_names(self) -> tuple[str, ...]:
        """Return each unit's item: the name in a file, or the id in hexadecimal."""
        return self.table.item_names or tuple(item.hex() for item in self.table.items)

    @cached_property
    def rows(self) -> dict[tuple[int, int], list[int]]:
        """Map unit and model to row indices of the table."""
        found: dict[tuple[int, int], list[int]] = {}
        pairs = zip(self.table.unit.tolist(), self.table.respondent.tolist(), strict=True)
        for row, pair in enumerate(pairs):
            found.setdefault(pair, []).append(row)
        return found

    def ended(self, unit: int, respondent: int) -> str:
        """Return the outcomes of a model's responses on a unit, with counts if they differ.

        Empty if outcomes were not recorded.
        """
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


@dataclass(frozen=True)
class Common:
    """Units on both sides: their indices on each side (parallel), in B's order.

    Also the numbers of units on one side only, and of B's units that are new versions of items of
    A.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    only_before: int
    only_after: int
    renewed: int
    keys: SharedKeys


def common_items(before: Side, after: Side) -> Common:
    """Match the units of the same items; clusters come from the side that records more of them."""
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


# Factors that differ between two models, and their consequences for the difference.
#
# Separate factors allow a difference to be attributed: to the model, the items, the prompting
# method, the settings, the scorer, the judge, or overrides.

FACTORS: tuple[Factor, ...] = get_args(Factor)


NOT_KNOWN = "not known"


_METHODS = "the method's for "  # prefix of a template that is not custom


_CONSEQUENCES: Mapping[Factor, str] = {
    "model": "the difference is between two models",
    "reported": "another model answered under the name that was asked for",
    "endpoint": "the same name at another address may be another model or another serving of it",
    "prompt_method": "another prompting method, with its prompt, is part of the difference",
    "context": "asked with nothing a score measures memory, with the evidence reading",
    "template": "another prompt text, or other few-shot examples, are part of the difference",
    "settings": "the effect of the settings on responses is part of the difference",
    "samples": "both are means over their own samples: no bias, but unequal precision",
    "replicate": "the same questions were asked again: random variation of responses is part of it",
    "scorer": "the same response may get another score: score the old responses again (--rescore)",
    "judge": "another judge may score the same response differently; verdicts are not comparable",
    "corrections": "one has more overridden responses (--ignore-corrections compares without them)",
    "measure": "other outcomes count, so the two numbers do not mean the same",
    "source": "a file does not record how its scores were made: other factors may differ as well",
}


_READ_OTHERWISE = (
    "answers are extracted from the responses in another format; the questions are the same"
)


_ALSO_READ = "answers are also read from them in another format"


# These change the items or the precision; they are not a cause of the difference.
_NEUTRAL = frozenset({"items", "samples"})


# Where the first factor differs because of the second, only the second is listed.
_FOLLOWS: Mapping[Factor, Factor] = {"reported": "model", "endpoint": "model"}


_WORDS: Mapping[Factor, str] = {
    "reported": "model that answered", "prompt_method": "prompting method",
    "context": "context", "template": "prompt",
    "replicate": "asking itself", "corrections": "overrides", "source": "source",
}  # fmt: skip


def moves_scores(changes: tuple[Change, ...]) -> tuple[Factor, ...]:
    """Return the factors that may change scores on the same items."""
    return tuple(change.factor for change in changes if change.factor not in _NEUTRAL)


def attribute(pairing: Pairing) -> str:
    """Return a sentence on the possible causes of the difference."""
    moving = moves_scores(pairing.changes)
    words = [_WORDS.get(factor, factor) for factor in moving]
    if not moving and pairing.is_one_run:
        return "Both are the same run under the same scorer: no difference is possible."
    if "source" in moving:
        return (
            "A file does not record how its scores were made, so the difference cannot be "
            "attributed to one cause."
        )
    if moving == ("context",):
        return _memory_and_reading(*(each.made.get("context", "") for each in pairing.parties))
    if moving == ("replicate",):
        return "Only the requests were repeated: the difference is random variation of responses."
    if len(moving) < 2:
        only = f"A and B differ only in the {words[0]}." if words else ""
        return only or "Nothing that makes a score differs between the two."
    named = joined(words)
    return f"The {named} differ at once, so the difference cannot be attributed to one of them."


# What the prompts of a context hold; the first name that a context begins with counts.
_HELD = {
    "document and retrieved": "the whole documents and retrieved passages",
    "document": "the whole documents",
    "retrieved": "retrieved passages",
    "evidence": "the source passages of the questions",
    "none": "",
}


def _memory_and_reading(*contexts: str) -> str:
    kinds = [next(name for name in _HELD if context.startswith(name)) for context in contexts]
    if kinds[0] == kinds[1]:
        if "retrieved" in kinds[0]:
            return "Only the retrieved passages or the searched sources differ."
        shown = "documents" if kinds[0] == "document" else "evidence"
        return f"Only the limit on shown {shown} differs; both measure reading."
    one, other = ("A", "B") if kinds[0] == "retrieved" else ("B", "A")
    if set(kinds) == {"retrieved", "evidence"}:
        return (
            f"Only the context differs: {one} had retrieved passages, {other} the source "
            "passages of the questions; the difference is what retrieval missed or added."
        )
    if set(kinds) == {"retrieved", "none"}:
        return (
            f"Only the context differs: {one} had retrieved passages, {other} measures memory; "
            "the difference is what searching is worth."
        )
    if "none" not in kinds:
        first, second = (_HELD[kind] for kind in kinds)
        return f"Only the context differs: A had {first}, B {second}."
    one, other = ("A", "B") if kinds[0] == "none" else ("B", "A")
    shown = next(kind for kind in kinds if kind != "none")
    having = "the passages" if shown == "evidence" else _HELD[shown]
    return (
        f"Only the context differs: {one} measures memory, {other} reading; the difference is the "
        f"effect of having {having}."
    )


def changes_between(before: Party, after: Party, common: Common) -> Iterator[Change]:
    """Yield every factor that differs, in the order of ``FACTORS``."""
    told: set[str] = set()
    is_file = "source" in before.made or "source" in after.made
    has_own_prompt = any(
        _METHODS not in each.made.get("template", _METHODS) for each in (before, after)
    )
    for factor in FACTORS:
        if factor == "items":
            yield from _changes_items(before, after, common)
            continue
        old, new = before.made.get(factor, ""), after.made.get(factor, "")
        if is_file and factor not in ("source", "judge") and not (old and new):
            continue  # a file does not tell it, which is said once
        if factor == "template" and told & {"prompt_method", "context"} and not has_own_prompt:
            continue
        consequence = _CONSEQUENCES[factor]
        if factor == "settings":
            names = sorted({*before.asked, *after.asked})
            names = [name for name in names if before.asked.get(name) != after.asked.get(name)]
            old, new = (
                " ".join(f"{name}={party.asked.get(name, 'none')}" for name in names)
                for party in (before, after)
            )
            if ANSWER_FORMAT in names:
                alone = len(names) == 1
                consequence = _READ_OTHERWISE if alone else f"{consequence}; {_ALSO_READ}"
        if old != new and _FOLLOWS.get(factor) not in told:
            told.add(factor)
            none = _NONE.get(factor, NOT_KNOWN)
            yield Change(
                factor=factor, before=old or none, after=new or none, consequence=consequence
            )


# Text for an empty value with a known meaning.
_NONE: Mapping[Factor, str] = {"replicate": "the first asking", "source": "this workspace"}


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
    """Two columns of values on the common units with both scores, with clusters.

    ``places`` are the indices of these units among the common ones.
    """

    first: Floats
    second: Floats
    keys: SharedKeys
    places: NDArray[np.int64]


@dataclass(frozen=True)
class Pairing:
    """Model ``a`` of A and ``b`` of B on the units of both sides."""

    before: Side
    after: Side
    common: Common
    a: int = 0
    b: int = 0

    @property
    def parties(self) -> tuple[Party, Party]:
        """Return both models."""
        return self.before.parties[self.a], self.after.parties[self.b]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Return the factors that differ."""
        return tuple(changes_between(*self.parties, self.common))

    @property
    def is_one_run(self) -> bool:
        """Return True if both are the same runs, regardless of scoring."""
        first, second = self.parties
        return bool(first.runs) and first.runs == second.runs

    @property
    def is_same_run(self) -> bool:
        """Return True if both are the same runs with the same scoring."""
        return self.is_one_run and not moves_scores(self.changes)

    @property
    def scales(self) -> tuple[str, str]:
        """Return the kind of each model's values; empty for the items' own scale."""
        one, other = self.before.table.respondents[self.a], self.after.table.respondents[self.b]
        return values_kind(one.scale), values_kind(other.scale)

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """Return both models' values on all common units, NaN without a score."""
        common = self.common
        return (
            self.before.sheet.values[common.before, self.a],
            self.after.sheet.values[common.after, self.b],
        )

    @cached_property
    def paired(self) -> Paired:
        """Return the values of both models where both have a score."""
        first, second = self.values
        kept = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
        return Paired(first[kept], second[kept], self.common.keys.among(kept), kept)


def compare_sides(before: Side, after: Side, ask: Ask) -> Compared:
    """Compare matching models: the only one of each side, or those with equal name and settings.

    Raises BadUsage if no models match, or all matching ones are the same runs.
    """
    common = common_items(before, after)
    places, alone = _pairs(before, after)
    pairings = [Pairing(before, after, common, a, b) for a, b in places]
    if all(pairing.is_same_run for pairing in pairings):
        raise BadUsage(
            f"A and B are the same: {after.shown.name}; no difference is possible",
            hint="name another run, form or bank as one of the two",
        )
    return Compared(
        before=before.shown,
        after=after.shown,
        measure=after.measure.name,
        denominator=after.measure.denominator,
        population=population_name(ask.population),
        confidence=ask.confidence,
        pairs=tuple(_corrected([_compared(pairing, ask) for pairing in pairings])),
        unpaired=alone,
        seed=ask.seed,
    )


def _pairs(before: Side, after: Side) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    if len(before.parties) == len(after.parties) == 1:
        return [(0, 0)], ()
    places: dict[tuple[str, str, str], list[int]] = {}
    for at, party in enumerate(before.parties):
        places.setdefault((party.name, party.prompt_method, party.settings), []).append(at)
    keys = [(p.name, p.prompt_method, p.settings) for p in after.parties]
    found = [
        (_of_one_judge(before, places[key], after.parties[at]), at)
        for at, key in enumerate(keys)
        if key in places
    ]
    if not found:
        raise BadUsage(
            "no model is on both sides, so there are no pairs",
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
    """Return the place of the same model with the same judge, otherwise the first."""
    judge = party.made.get("judge", "")
    same = [at for at in places if before.parties[at].made.get("judge", "") == judge]
    return (same or places)[0]


def _listed(name: str, side: Side) -> str:
    labels = ", ".join(party.label for party in side.parties[:4])
    more = f" and {len(side.parties) - 4} more" if len(side.parties) > 4 else ""
    return f"{name} has {labels}{more}"


def _compared(pairing: Pairing, ask: Ask) -> PairCompared:
    common, paired = pairing.common, pairing.paired
    no_meaning = tuple(_no_meaning(pairing))
    first, second = pairing.parties
    pair = PairCompared(
        before=first,
        after=second,
        changes=pairing.changes,
        means=attribute(pairing),
        cannot=(*no_meaning, *_not_whole(pairing)),
        n_common=len(common.after),
        only_before=common.only_before,
        only_after=common.only_after,
        renewed=common.renewed,
        unscored=len(common.after) - len(paired.first),
    )
    if no_meaning or not len(paired.first):
        return structs.replace(pair, means="")
    if pairing.is_same_run:
        return structs.replace(pair, means="", cannot=(pair.means, *pair.cannot))
    won, lost = _moved(pairing)
    return structs.replace(pair, difference=_difference(paired, ask), won=won, lost=lost)


def _no_meaning(pairing: Pairing) -> Iterator[str]:
    """Yield the reasons why the two scores are not comparable.

    For the same runs, the judges are compared on the same responses.
    """
    methods = pairing.before.method, pairing.after.method
    scales, judges = pairing.scales, [each.made.get("judge", "") for each in pairing.parties]
    if all(methods) and methods[0] != methods[1]:
        yield f"A was scored by {methods[0]}, B by {methods[1]}: their scores do not compare."
    elif scales[0] != scales[1]:
        names = [scale or "the items' own scale" for scale in scales]
        yield (
            f"Their scores are on different scales (A: {names[0]}; B: {names[1]}), so a difference "
            "has no meaning."
        )
    if all(judges) and judges[0] != judges[1] and not pairing.is_one_run:
        yield (
            f"Different judges graded them (A: {judges[0]}; B: {judges[1]}). Their verdicts are "
            "not comparable, so a difference in scores has no meaning: grade both with the same "
            "judge."
        )


def _not_whole(pairing: Pairing) -> Iterator[str]:
    """Yield what is missing on either side."""
    if not len(pairing.common.after):
        yield "They have no item in common, so nothing can be paired."
    elif not len(pairing.paired.first):
        yield "No item that both have has a score on both sides."
    for name, party in zip("AB", pairing.parties, strict=True):
        if not party.is_complete:
            short = counted(party.missing, "response", "responses")
            yield (
                f"{name} is incomplete, {short} short: what is missing may be the hard part, so "
                "the difference holds only for the items that have scores."
            )


def _difference(paired: Paired, ask: Ask) -> Difference:
    both = np.column_stack([paired.first, paired.second])
    weights, keys = equal_weights(len(both)), paired.keys
    how: dict[str, Any] = {"population": ask.population, "confidence": ask.confidence}
    found = compare_pair(paired.first, paired.second, keys, **how)
    before, after = mean_estimates(both, weights, keys, **how)
    spread = measure_spread(both, weights, keys, ask.population)
    clusters, is_apart = None, True
    if ask.population != "bank" and len(keys.unit):
        clusters = disjoint_clusters(keys)
        is_apart = clusters is not None
    return Difference(
        before=before,
        after=after,
        estimate=found.estimate,
        p=found.p,
        p_holm=found.p,
        mcnemar=mcnemar(paired.second, paired.first),
        permutation=sign_flip(paired.second, paired.first, clusters, seed=ask.seed)
        if is_apart
        else None,
        resolves=resolution_after(spread, confidence=ask.confidence),
        rises=found.rises,
        falls=found.falls,
        level=found.level,
    )


def _moved(pairing: Pairing) -> tuple[tuple[Moved, ...], tuple[Moved, ...]]:
    """Return the units that rose and those that fell, largest changes first, then in B's order."""
    paired, common = pairing.paired, pairing.common
    rise = paired.second - paired.first
    moved: dict[bool, list[Moved]] = {True: [], False: []}
    for at in np.argsort(-np.abs(rise), kind="stable").tolist():
        if rise[at] == 0:
            continue
        place = paired.places[at]
        was, now = int(common.before[place]), int(common.after[place])
        moved[bool(rise[at] > 0)].append(
            Moved(
                item=pairing.after.item_names[now],
                before=float(paired.first[at]),
                after=float(paired.second[at]),
                before_ended=pairing.before.ended(was, pairing.a),
                after_ended=pairing.after.ended(now, pairing.b),
            )
        )
    return tuple(moved[True]), tuple(moved[False])


def _corrected(pairs: Sequence[PairCompared]) -> Iterator[PairCompared]:
    """Yield the pairs with p-values adjusted for all pairs with a difference (Holm)."""
    p = np.array([pair.difference.p for pair in pairs if pair.difference is not None])
    adjusted = iter(holm(p).tolist() if len(p) else [])
    for pair in pairs:
        if pair.difference is None:
            yield pair
            continue
        p_holm = next(adjusted, math.nan)
        yield structs.replace(pair, difference=structs.replace(pair.difference, p_holm=p_holm))


# Items won and lost as rows for a file.


def moved_rows(compared: Compared) -> Iterator[dict[str, Any]]:
    """Yield one row per item and pair with both scores: items won, then items lost."""
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
