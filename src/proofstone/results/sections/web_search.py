"""The same questions with the provider's own web search and without, and how much it searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import (
    Table,
    column,
    shown_interval,
    shown_share,
    signed_points,
    table_of,
)
from proofstone.records.runs import BLOCKED_HOSTS, TOOLS, WEB_SEARCH, Estimate
from proofstone.results.answer_paths import Sampled
from proofstone.results.search_use import Searched
from proofstone.results.sections.items import item_name
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    count_resolved,
    left_out,
    make_analysis,
    mark_of,
    median_points,
    pair_change,
    same_request,
)
from proofstone.wording.messages import noted, paragraph, say, say_of, word

_OF_TOOLS = (TOOLS, BLOCKED_HOSTS)

# Numbers of searches that are counted together: the least and the most.
_GROUPS = ((0, 0), (1, 1), (2, 3), (4, 7), (8, None))


_MOST_LISTED = 40


class _Response(Struct, frozen=True):
    """A scored response with web search: its unit, value (NaN outside the measure), searches."""

    unit: int
    at: Sampled
    value: float
    searched: Searched | None


@dataclass(frozen=True)
class _Pair:
    """A model without web search and with it, by their labels. Each pair has its own ``name``."""

    part: Part
    name: str
    without: str
    searching: str

    @property
    def has_hosts(self) -> bool:
        """Return True if hosts were blocked."""
        return bool(self.part.asked[self.part.complete[self.searching]].settings.get(BLOCKED_HOSTS))

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Return the units scored in both."""
        return self.part.block([self.without, self.searching])[0]

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """Return the accuracy without web search and with it."""
        labels = [self.without, self.searching]
        return self.part.means(labels, *self.part.block(labels))

    @cached_property
    def change(self) -> Estimate:
        """Return the paired difference."""
        return self._change(self.units)

    @cached_property
    def change_elsewhere(self) -> Estimate | None:
        """Return the difference without questions whose responses cite a blocked host.

        None if there are none, or if no other questions are left.
        """
        flagged = {at.item for at in self.hits}
        items = self.part.table.items
        left = [unit for unit in self.units.tolist() if items[unit] not in flagged]
        return self._change(np.array(left)) if flagged and left else None

    def _change(self, units: NDArray[np.int64]) -> Estimate:
        places = [self.part.complete[label] for label in (self.without, self.searching)]
        values = self.part.sheet.block(units, places)
        return pair_change(values[:, 0], values[:, 1], self.part.sheet.keys.among(units), self.part)

    @cached_property
    def responses(self) -> list[_Response]:
        """Return the scored responses with web search to units scored in both."""
        part, place = self.part, self.part.complete[self.searching]
        searched = part.searched[place]
        table = part.table
        own = (table.respondent == place) & np.isin(table.unit, self.units)
        found = []
        for row in np.flatnonzero(own).tolist():
            unit = int(table.unit[row])
            at = Sampled(table.items[unit], int(table.sample[row]))
            value = float(part.sheet.counted[row])
            found.append(_Response(unit, at, value, searched.get(at)))
        return found

    @cached_property
    def counts(self) -> dict[Sampled, int]:
        """Map each response whose searches are reported to their number."""
        return {
            each.at: each.searched.searches
            for each in self.responses
            if each.searched is not None and each.searched.searches is not None
        }

    @property
    def searches(self) -> float | None:
        """Return the mean number of searches per response."""
        return float(np.mean(list(self.counts.values()))) if self.counts else None

    @property
    def share(self) -> Estimate | None:
        """Return the share of responses with a search or more."""
        known = [each for each in self.responses if each.at in self.counts]
        searched = [float(self.counts[each.at] > 0) for each in known]
        return self.part.response_mean([each.unit for each in known], searched)

    @cached_property
    def hits(self) -> dict[Sampled, _Response]:
        """Return the responses that cite a blocked host, each once."""
        return {
            each.at: each
            for each in self.responses
            if each.searched is not None and each.searched.cited
        }

    @property
    def n_hits(self) -> int | None:
        """Return how many responses cite a blocked host; None if none was blocked."""
        return len(self.hits) if self.has_hosts else None

    @property
    def n_unread(self) -> int:
        """Return how many responses cite something that names no host."""
        return len({each.at for each in self.responses if each.searched and each.searched.unread})


class _Group(Struct, frozen=True):
    """Responses of a model by their number of searches.

    ``without`` is the accuracy of the same questions without web search.
    """

    model: str
    searches: str
    n: int
    accuracy: Estimate | None
    without: Estimate | None


def analyze_tools(parts: Sequence[Part]) -> Analysis:
    """Compare models with their provider's web search and without it, on the same questions.

    Other settings are equal. Also: searches per response, accuracy by number of searches
    (observational), and responses that cite a blocked host. Raises BadUsage if no model has both,
    and if no question is scored in both.
    """
    (part,) = parts
    pairs = _pairs(part)
    measure = next(iter(part.sheets))
    n_hits = [pair.n_hits for pair in pairs if pair.n_hits is not None]
    return make_analysis(
        "tools",
        say("Accuracy with web search and without"),
        paragraph(_finding(pairs, measure), _searched(pairs), _hits_found(n_hits)),
        columns=(
            column("model", word("model"), "name"),
            column("n", "n", "change.n", digits=0),
            column("without", say("without"), "estimates.0", unit="points"),
            column("with", say("with"), "estimates.1", unit="points"),
            column("difference", say("difference"), "change", unit="change"),
            column("searches", say("searches per response"), digits=1),
            column("searched", say("responses with a search"), "share", unit="points"),
            column("blocked", say("cite a blocked host"), "n_hits", digits=0,
                   help=say("number of responses; a dash if no host was blocked")),
            column("elsewhere", say("difference without them"), "change_elsewhere", unit="change",
                   help=say("without the questions of these responses")),
        ),
        rows=pairs,
        axes=("model", measure),
        marks=(
            mark_of(series, pair.name, estimate)
            for pair in pairs
            for series, estimate in zip((noted("without web search"), noted("with web search")),
                                        pair.estimates, strict=True)
        ),
        notes=(
            *_notes(pairs),
            *left_out(parts, [label for pair in pairs for label in (pair.without, pair.searching)]),
        ),
        more=tuple(_more(pairs, measure)),
    )  # fmt: skip


def _pairs(part: Part) -> list[_Pair]:
    """Return complete models with web search, each with the same without. Raises BadUsage."""
    without: dict[tuple[bytes, str], str] = {}
    searching: list[tuple[tuple[bytes, str], str]] = []
    for label, place in part.complete.items():
        asked = part.asked[place]
        key = (same_request(asked, _OF_TOOLS), asked.prompt)
        if asked.settings.get(TOOLS) == WEB_SEARCH:
            searching.append((key, label))
        else:
            without[key] = label
    times = Counter(key for key, _label in searching)
    pairs = [
        _Pair(part, label if times[key] > 1 else without[key], without[key], label)
        for key, label in searching
        if key in without
    ]
    if not pairs:
        raise BadUsage(
            "no model here is complete both with web search and without, with otherwise equal "
            "settings",
            hint="proofstone run TARGET -m inspect/PROVIDER/MODEL, then again with --tools "
            "web-search; status lists what is not complete",
        )
    shared = [pair for pair in pairs if len(pair.units)]
    if not shared:
        raise BadUsage(
            "the runs with web search and those without have no question in common",
            hint="run both on one form: proofstone run FORM -m MODEL --tools web-search",
        )
    return shared


def _finding(pairs: Sequence[_Pair], measure: str) -> str:
    changes = [pair.change for pair in pairs]
    if len(pairs) == 1:
        (change,) = changes
        return say(
            "With web search, {measure} changes by {points} points {interval} on {n:,} questions "
            "for {model}.",
            measure=word(measure),
            points=signed_points(change.value),
            interval=shown_interval(change.low, change.high),
            n=change.n,
            model=pairs[0].name,
        )
    return say(
        "With web search, {measure} changes by {points:+z.1f} points in the median of {n} models. "
        "The interval excludes 0 for {rises} that rise and {falls} that fall.",
        measure=word(measure),
        points=median_points(changes),
        n=len(changes),
        **count_resolved(changes),
    )


def _searched(pairs: Sequence[_Pair]) -> str:
    counts = [n for pair in pairs for n in pair.counts.values()]
    if not counts:
        return say("No provider here reports its searches.")
    used = sum(n > 0 for n in counts)
    if not used:
        return say("No response used a search.")
    return say(
        "{k:,} of {n:,} responses ({share}) used a search.",
        k=used,
        n=len(counts),
        share=shown_share(used / len(counts)),
    )


def _hits_found(n_hits: Sequence[int]) -> str:
    if not n_hits:
        return ""
    if not sum(n_hits):
        return say("No response cites a blocked host.")
    return say_of(
        sum(n_hits),
        "{n} response cites a blocked host.",
        "{n} responses cite a blocked host.",
        n=sum(n_hits),
    )


def _notes(pairs: Sequence[_Pair]) -> Iterator[str]:
    yield say(
        "difference: with web search minus without, on the same questions, with its interval. "
        "Other settings are equal."
    )
    if any(pair.has_hosts for pair in pairs):
        yield say(
            "Cited addresses are compared with the blocked hosts, also where the provider's search "
            "blocks them. Pages that were read and not cited are not seen."
        )
    if n := sum(pair.n_unread for pair in pairs if pair.has_hosts):
        yield say_of(
            n,
            "{n} response cites a title without a host, which cannot be compared.",
            "{n} responses cite titles without a host, which cannot be compared.",
            n=n,
        )
    if n := sum(len({each.at for each in pair.responses}) - len(pair.counts) for pair in pairs):
        yield say_of(
            n,
            "The searches of {n} response are unknown.",
            "The searches of {n} responses are unknown.",
            n=n,
        )


def _more(pairs: Sequence[_Pair], measure: str) -> Iterator[Table]:
    if groups := [group for pair in pairs for group in _groups(pair)]:
        yield table_of(
            say("By number of searches"),
            groups,
            column("model", word("model")),
            column("searches", say("searches")),
            column("n", say("responses"), digits=0),
            column("accuracy", word(measure), unit="points"),
            column("without", say("the same questions without"), unit="points"),
            note=say(
                "Observational: the model decides when to search, and may search more where a "
                "question is hard. Accuracy by number of searches is not the effect of a search."
            ),
            sorts=False,
        )
    if hits := [(pair, each) for pair in pairs for each in pair.hits.values()]:
        cut = say("the first {n} of {all}", n=_MOST_LISTED, all=len(hits))
        yield table_of(
            say("Responses that cite a blocked host"),
            hits[:_MOST_LISTED],
            column("model", word("model"), "0.name"),
            column(
                "question", say("question"), lambda hit: item_name(hit[0].part.table, hit[1].unit)
            ),
            column("sample", say("sample"), "1.at.sample", digits=0),
            column("value", word(measure), "1.value", unit="points"),
            column("cited", say("cited"), lambda hit: ", ".join(hit[1].searched.cited)),
            note=cut if len(hits) > _MOST_LISTED else "",
            sorts=False,
        )


def _groups(pair: _Pair) -> Iterator[_Group]:
    known = [each for each in pair.responses if each.at in pair.counts]
    for least, most in _GROUPS:
        own = [
            each for each in known
            if least <= pair.counts[each.at] and (most is None or pair.counts[each.at] <= most)
        ]  # fmt: skip
        if own:
            scored = [each for each in own if not np.isnan(each.value)]
            units = np.unique([each.unit for each in own])
            values = pair.part.sheet.block(units, [pair.part.complete[pair.without]])
            yield _Group(
                pair.name,
                f"{least}+" if most is None else f"{least}" if least == most else f"{least}–{most}",
                len({each.at for each in own}),
                pair.part.response_mean(
                    [each.unit for each in scored], [each.value for each in scored]
                ),
                pair.part.means([pair.without], units, values)[0],
            )
