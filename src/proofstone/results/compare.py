"""Two sides become a comparison, pair by pair on common items: one pure function."""

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

# What a comparison of two sets of results holds: terminal, JSON and files all show the same.

Factor = Literal[
    "model", "reported", "endpoint", "items", "prompt_method", "context", "template", "settings",
    "samples",
    "replicate", "scorer", "judge", "corrections", "measure", "source",
]  # fmt: skip


# What a side holds that is no row of a workspace.
FILE = "a file of results"


class Party(Struct, frozen=True, kw_only=True):
    """One respondent of one side, and what ``made`` its scores, as text by factor; what is not
    known has no entry. ``asked`` are the settings that it was asked with."""

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
        """The respondent as a sentence names it."""
        return " ".join(part for part in (self.name, self.prompt_method, self.settings) if part)

    @property
    def is_complete(self) -> bool:
        """Whether every reply that was expected came."""
        return not self.missing and bool(self.n_responses)


class SideShown(Struct, frozen=True, kw_only=True):
    """One side as it was named, what it is, and how many items it has."""

    name: str
    holds: str
    n_items: int
    n_excluded: int = 0


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


# A comparison as plain text: what differs first, then by how much, then the items.

_LABEL = 10


_TEXT = 60


def render_compared(compared: Compared, *, most: int = 5, width: int = 100) -> str:
    """All of it as text that ends in a newline. At most ``most`` items won, and as many lost, are
    listed a pair. Lines are broken at ``width`` cells, those of tables excepted."""
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
    """Texts beside their labels, broken at words."""
    return [line for label, text in texts for line in labelled_lines(label, text, width, _LABEL)]


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
    """``prompt_method: direct -> cot; another prompt_method of asking ...``."""
    return f"{change.factor}: {change.before} -> {change.after}; {change.consequence}"


def _side(side: SideShown, party: Party | None) -> str:
    """What a side is; with its one respondent where it has no more."""
    of = "" if side.name == side.holds else f" on {side.holds}"
    of = f", {side.holds}" if side.holds == FILE else of
    said = f"{side.name}{of}, {counted(side.n_items, 'item')}"
    if side.n_excluded:
        said += f", {side.n_excluded:,} retired left out"
    if party is None:
        return said
    if not party.is_complete:
        said += f"; INCOMPLETE, {counted(party.missing, 'response', 'responses')} missing"
    return f"{party.label}; {said}"


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


def _told(measure: str, pair: PairCompared, *, several: bool) -> Iterator[tuple[str, str]]:
    """What differs between the two, then by how much, where no overview says so."""
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
    yield "resolves", _resolves(found)
    yield (
        "items",
        f"won {found.rises:,} (B scores higher), lost {found.falls:,}, level {found.level:,}",
    )


def _triples(found: TriplesCompared) -> Iterator[tuple[str, str]]:
    """What of verified triples differs; entities are drawn for both runs at once."""
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
    "reported": "another model answered under the name that was asked for",
    "endpoint": "the same name at another address may be another model or another serving of it",
    "prompt_method": "another way of asking, with its prompt, is part of the difference",
    "context": "asked with nothing a score measures memory, with the evidence reading",
    "template": "another prompt text, or other worked examples, are part of the difference",
    "settings": "what the settings do to replies is part of the difference",
    "samples": "both are means over their own samples: no bias, but unequal precision",
    "replicate": "the same questions asked afresh: what chance in the replies does is part of it",
    "scorer": "the same reply may be worth another score: score the old replies again (--rescore)",
    "judge": "another judge may score the same reply differently; its verdicts are not comparable",
    "corrections": "one has more overridden responses (--ignore-corrections compares without them)",
    "measure": "other outcomes count, so the two numbers do not mean the same",
    "source": "what made the scores of a file is not told by it: anything may differ besides",
}


_READ_OTHERWISE = "answers are read from the replies in another format; the same is asked"


_ALSO_READ = "answers are also read from them in another format"


# These two change what is compared on, or how precisely; the difference itself is not theirs.
_NEUTRAL = frozenset({"items", "samples"})


# Where the first differs because the second does, only the second is told.
_FOLLOWS: Mapping[Factor, Factor] = {"reported": "model", "endpoint": "model"}


_WORDS: Mapping[Factor, str] = {
    "reported": "model that answered", "prompt_method": "way of asking",
    "context": "context", "template": "prompt",
    "replicate": "asking itself", "corrections": "overrides", "source": "source",
}  # fmt: skip


def moves_scores(changes: tuple[Change, ...]) -> tuple[Factor, ...]:
    """Those factors that may make a difference between the scores of the same items."""
    return tuple(change.factor for change in changes if change.factor not in _NEUTRAL)


def attribute(pairing: Pairing) -> str:
    """To what the difference may be put down, in a sentence."""
    moving = moves_scores(pairing.changes)
    words = [_WORDS.get(factor, factor) for factor in moving]
    if not moving and pairing.is_one_run:
        return "Both are the same run under the same scorer: no difference is possible."
    if "source" in moving:
        return (
            "What made a file's scores is not known: the difference cannot be put down to one "
            "cause."
        )
    if moving == ("context",):
        return _memory_and_reading(*(each.made.get("context", "") for each in pairing.parties))
    if moving == ("replicate",):
        return "Only the asking itself was repeated: the difference is chance in the replies."
    if len(moving) < 2:
        only = f"A and B differ only in the {words[0]}." if words else ""
        return only or "Nothing that makes a score differs between the two."
    return f"The {joined(words)} differ at once: the difference cannot be put down to one of them."


def _memory_and_reading(*contexts: str) -> str:
    searched = [context.startswith("retrieved") for context in contexts]
    one, other = ("A", "B") if searched[0] else ("B", "A")
    if "none" not in contexts:
        if all(searched):
            return "Only what a search put before the questions differs, or where it searched."
        if any(searched):
            return (
                f"Only the context differs: {one} had what a search found, {other} the passages "
                "that the questions rest on; the difference is what the search missed or added."
            )
        return "Only the most that is shown of the evidence differs; both measure reading."
    if any(searched):
        return (
            f"Only the context differs: {one} had what a search found, {other} measures memory; "
            "the difference is what searching is worth."
        )
    one, other = ("B", "A") if contexts[1] == "none" else ("A", "B")
    return (
        f"Only the context differs: {one} measures memory, {other} reading; the difference is what "
        "having the passages before one is worth."
    )


def changes_between(before: Party, after: Party, common: Common) -> Iterator[Change]:
    """Every factor in which the two differ, in the order of ``FACTORS``."""
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


# What stands for nothing, where that is known.
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
    """The two columns of values on the common units that both have scores of, what these units
    share, and their places among the common ones."""

    first: Floats
    second: Floats
    keys: SharedKeys
    places: NDArray[np.int64]


@dataclass(frozen=True)
class Pairing:
    """Respondent ``a`` of A against ``b`` of B, on the units that both sides have."""

    before: Side
    after: Side
    common: Common
    a: int = 0
    b: int = 0

    @property
    def parties(self) -> tuple[Party, Party]:
        """The two."""
        return self.before.parties[self.a], self.after.parties[self.b]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What differs between them."""
        return tuple(changes_between(*self.parties, self.common))

    @property
    def is_one_run(self) -> bool:
        """Whether both are the same runs, however these were scored."""
        first, second = self.parties
        return bool(first.runs) and first.runs == second.runs

    @property
    def is_same_run(self) -> bool:
        """Whether both are the same runs, and nothing differs in how these were scored."""
        return self.is_one_run and not moves_scores(self.changes)

    @property
    def scales(self) -> tuple[str, str]:
        """What the values of each are; empty for the items' own scale."""
        one, other = self.before.table.respondents[self.a], self.after.table.respondents[self.b]
        return values_kind(one.scale), values_kind(other.scale)

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """Their values on all common units, NaN where there is no score."""
        common = self.common
        return (
            self.before.sheet.values[common.before, self.a],
            self.after.sheet.values[common.after, self.b],
        )

    @cached_property
    def paired(self) -> Paired:
        """The values of both where both have a score."""
        first, second = self.values
        kept = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
        return Paired(first[kept], second[kept], self.common.keys.among(kept), kept)


def compare_sides(before: Side, after: Side, ask: Ask) -> Compared:
    """Every pair of respondents that belong together: the only one of each side, else those of one
    name, way and settings.

    Raises BadUsage where no two belong together, or all that do are the same runs.
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
    """Why a difference between the two has no meaning; of the same runs it is the judges that are
    compared, on the same responses."""
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
    """What is missing on either side."""
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
    """The units that rose and those that fell, the largest moves first, then in B's order."""
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
