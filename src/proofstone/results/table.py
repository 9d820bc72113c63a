"""From a target to its score table: which runs belong together, and what they are short of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage, NotFound, TextPurged
from proofstone.method import Method, Reviewing, find_method
from proofstone.models.config import ModelConfig, card_of
from proofstone.models.names import parse_model_name
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import (
    CONTEXT_CHUNKS,
    CONTEXT_INDEX,
    CONTEXT_SETTINGS,
    CONTEXT_TOKENS,
    LEFT_OUT,
    PROMPT,
    PROMPT_NAME,
    ContextName,
    ItemSet,
    LoadedItem,
    context_label,
    context_of,
    left_out_of,
    own_prompt_of,
    shown_name,
)
from proofstone.records.models import Card, CardSnapshot, family_of
from proofstone.records.reviews import Review, Upkeep
from proofstone.records.runs import FormPart, Measure, Run, Scale
from proofstone.records.scores import Documents, HeldRole, Respondent, ScoreTable
from proofstone.results.board import LeftOut
from proofstone.results.cards import Condition, card_value, matches
from proofstone.results.corrections import TableOverride, apply_overrides, leave_out
from proofstone.results.fact_check import checked_rates, purged_among
from proofstone.results.request import CURRENT, View
from proofstone.run.evidence import left_out_again
from proofstone.run.forms import Selection
from proofstone.run.run_facts import reported_models, shares_of
from proofstone.run.self_preference import self_evaluation
from proofstone.session.terminal import minute
from proofstone.store.provenance import DocumentRow
from proofstone.store.reviews import Excluded
from proofstone.store.scores import ScoringInfo, load_table
from proofstone.store.store import Store
from proofstone.wording.messages import noted, say, word

# The scores of a selection as people corrected them, or as the scorer left them.

FIRST = "first"


def chosen_scorings(
    store: Store, runs: Sequence[tuple[int, Run]], view: View
) -> dict[int, ScoringInfo]:
    """The scoring to read of each run that has one, by the run's key.

    Raises NotFound for digits that are no whole scoring of these runs, BadUsage where they fit
    several.
    """
    known = {
        key: [
            each
            for each in store.scores.of_run(key)  # whole, oldest first
            if view.until is None or (each.completed_at and each.completed_at <= view.until)
        ]
        for key, _run in runs
    }
    if view.scorings == (FIRST,):
        return {key: scorings[0] for key, scorings in known.items() if scorings}
    chosen = {
        key: max(scorings, key=lambda each: (each.completed_at or 0.0, each.key))
        for key, scorings in known.items()
        if scorings
    }
    every = [scoring for scorings in known.values() for scoring in scorings]
    keys = {run.id: key for key, run in runs}
    for text in view.scorings:
        digits = text.removeprefix("scoring:")
        found = [scoring for scoring in every if digits and scoring.id.hex().startswith(digits)]
        if not found:
            listed = ", ".join(f"{short(s.id)} ({minute(s.created_at)})" for s in every[:8])
            raise NotFound(f"no scoring of these runs is {text!r}", hint=f"there is: {listed}")
        if len(found) > 1:
            raise BadUsage(f"{text!r} names {len(found)} scorings", hint="give more digits")
        chosen[keys[found[0].run]] = found[0]
    return chosen


def headline(method: Method) -> Measure:
    """The measure that a leaderboard of the method ranks by."""
    return next(measure for measure in method.measures if measure.name == method.headline)


@dataclass(frozen=True)
class _Read:
    """The runs of a selection, and what of their scores ``view`` wants."""

    store: Store
    selection: Selection
    view: View

    @cached_property
    def keys(self) -> Mapping[bytes, int]:
        """The runs' keys by their ids."""
        return {run.id: key for key, run in self.selection.runs}

    @cached_property
    def sets(self) -> Mapping[bytes, str]:
        """What the item sets are called, by their ids."""
        return {each.id: shown_name(each) for each in self.selection.item_sets}

    @cached_property
    def chosen(self) -> Mapping[bytes, ScoringInfo]:
        """The scoring to read of each run that has one, by the run's id."""
        found = chosen_scorings(self.store, self.selection.runs, self.view)
        return {scoring.run: scoring for scoring in found.values()}

    @cached_property
    def excluded(self) -> Excluded:
        """The items that are left out."""
        if self.view.ignore_corrections:
            return Excluded()
        return self.store.corrections.excluded(list(self.sets), self.view.until)

    def scorings(self, respondents: Sequence[Respondent]) -> dict[int, int]:
        """The scorings that are read, each with its respondent's place."""
        return {
            self.chosen[run].key: place
            for place, who in enumerate(respondents)
            for run in who.runs
            if run in self.chosen
        }

    def table(
        self,
        respondents: Sequence[Respondent],
        measure: Measure,
        expected: Sequence[int],
        failed: Sequence[int] | None = None,
    ) -> ScoreTable:
        """The scores that ``measure`` is of, with retired items left out and rulings applied: these
        are over whole replies, and hold for each part of one that is scored by itself."""
        table = load_table(
            self.store.database,
            respondents=respondents,
            scorings=self.scorings(respondents),
            item_sets=self.sets,
            expected=expected,
            failed=failed,
            measure=measure.of,
            kind=measure.unit,
        )
        if self.view.ignore_corrections:
            return table
        excluded = self.excluded.ids
        place = {self.keys[run]: at for at, who in enumerate(respondents) for run in who.runs}
        overrides = [
            TableOverride(
                place[found.run], found.override.item, found.sample, found.override.verdict
            )
            for found in self.store.overrides.in_force(list(place), self.view.until)
            if found.override.item not in excluded
        ]
        kept = replace(leave_out(table, excluded), n_excluded=len(excluded))
        return apply_overrides(kept, overrides, measure)


def read_scores(
    store: Store,
    method: Method,
    selection: Selection,
    *,
    family: Callable[[str], str] = family_of,
    view: View = CURRENT,
) -> ScoreTable:
    """The scores of the selection's runs, as ``view`` wants them, as one table.

    Runs that differ only in their form are one respondent. A run never scored has no rows and its
    full number expected, so that it shows as incomplete. ``family`` gives the family of a model,
    by which contestants that had a hand in the items are known.
    """
    read = _Read(store, selection, view)
    runs = {run.id: run for _key, run in selection.runs}
    n_items = sum(each.n_items for each in selection.item_sets) - read.excluded.n_places
    unasked = {run.id: _unasked(store, key, run, read.excluded) for key, run in selection.runs}
    beyond = _beyond_limits(store, selection, read.excluded)
    respondents, expected, failed = [], [], []
    for who in _on_their_scales(method, selection):
        n = n_items - sum(unasked[run] for run in who.runs)
        samples = int(runs[who.runs[0]].settings.get("samples", 1))
        expected.append(n * samples)
        failed.append(
            sum(
                failure.item not in read.excluded.keys
                for run in who.runs
                for failure in store.runs.failures(read.keys[run], runs[run].last_step)
            )
        )
        part = None
        if out := sum(beyond.get(run, 0) for run in who.runs):
            part = FormPart(n_asked=n - out, n_items=n, unasked=out * samples)
        told = _with_calls(store, selection, who)
        respondents.append(replace(told, part=part, judge=_judges(who, read.chosen)))
    table = read.table(respondents, headline(method), expected, failed)
    labels = store.items.labels_of_sets(list(read.sets))
    called = {item: label.name for item, label in labels.items() if label.name}
    return replace(with_hands(store, table, list(read.sets), family), called=called)


def _judges(who: Respondent, chosen: Mapping[bytes, ScoringInfo]) -> str:
    """The judges of the scorings that are read of a respondent's runs. Who verified triples against
    a reference has no part in how much was said, which a table of items ranks by."""
    scorings = [chosen[run] for run in who.runs if run in chosen]
    return ", ".join(dict.fromkeys(one.judge for one in scorings if one.judge and not one.settings))


def with_shared_part(table: ScoreTable) -> ScoreTable:
    """The table as one of a part of the form, where limits left the same of it unasked for all:
    then nothing of the rest is expected of any."""
    parts = {who.part for who in table.respondents}
    if len(parts) != 1 or None in parts:
        return table
    whole = [
        replace(who, part=who.part and structs.replace(who.part, unasked=0))
        for who in table.respondents
    ]
    return replace(table.of_parts(), respondents=tuple(whole))


def _beyond_limits(store: Store, selection: Selection, excluded: Excluded) -> dict[bytes, int]:
    """How many items, not counting retired ones, lie beyond the limit of each run that has one.
    Of a run that leaves items out for their evidence it is not told."""
    limits = store.runs.limits([key for key, _run in selection.runs])
    sizes = {item_set.id: item_set.n_items for item_set in selection.item_sets}
    found = {}
    for key, run in selection.runs:
        first, size = limits.get(key, sizes[run.item_set]), sizes[run.item_set]
        if first < size and not left_out_of(run.settings):
            rest = store.items.places(run.item_set, first - 1, size - first)
            found[run.id] = sum(item not in excluded.keys for _position, item in rest)
    return found


def _unasked(store: Store, key: int, run: Run, excluded: Excluded) -> int:
    """How many items of its set, not counting retired ones, a run leaves out."""
    n = left_out_of(run.settings)
    if not n or not excluded.n_places:
        return n
    return n - left_out_again(store, key, run, excluded.keys)


def read_more_scores(
    store: Store, method: Method, selection: Selection, table: ScoreTable, view: View = CURRENT
) -> dict[str, ScoreTable]:
    """The scores that the method's other measures are of, by their name, where there are any: for
    the respondents of ``table``, in its order, corrected as it is. None of the tables is complete
    or incomplete."""
    read, who = _Read(store, selection, view), table.respondents
    measures = {measure.of: measure for measure in reversed(method.measures)}
    del measures[headline(method).of]
    scorings = list(read.scorings(who))
    return {
        of: read.table(who, measure, [0] * len(who))
        for of, measure in measures.items()
        if store.scores.has_any(scorings, [of])
    }


def _on_their_scales(method: Method, selection: Selection) -> list[Respondent]:
    """The respondents, with the scale of their way where it has one of its own, and of those that
    were asked with their evidence one that sets them apart; of triples one of a model is ranked."""
    runs = {run.id: run for _key, run in selection.runs}
    respondents = respondents_of(selection)
    first = [runs[who.runs[0]] for who in respondents]
    everyone = frozenset(range(len(first)))
    ranked = everyone if method.verifying is None else method.verifying.ranked(first)
    return [
        replace(who, scale=_scale(method, run), experiment=place not in ranked)
        for place, (who, run) in enumerate(zip(respondents, first, strict=True))
    ]


def _scale(method: Method, run: Run) -> Scale | None:
    own = method.scales.get(run.prompt_method)
    context = context_of(run.settings)
    return own if context == "none" else reading_scale(own, context)


def _with_calls(store: Store, selection: Selection, who: Respondent) -> Respondent:
    """The respondent with the models that answered in any of its runs, and what that took."""
    runs = [(key, run) for key, run in selection.runs if run.id in who.runs]
    shares = [share for key, run in runs for share in shares_of(store, key, run)]
    reported = tuple(reported_models(shares).items())
    if who.simulated:
        return replace(who, reported=reported)
    keys = [key for key, _run in runs]
    return replace(
        who, reported=reported, spent=store.spent.of_runs(keys), pace=store.paces.of_runs(keys)
    )


def respondents_of(selection: Selection) -> list[Respondent]:
    """The rows of a leaderboard: runs that differ only in their form are one respondent."""
    groups: dict[bytes, list[Run]] = {}
    for _key, run in selection.runs:
        groups.setdefault(_respondent_key(run), []).append(run)
    names = {item_set.id: shown_name(item_set) for item_set in selection.item_sets}
    return [_respondent(runs, list(groups.values()), names) for runs in groups.values()]


def _respondent_key(run: Run) -> bytes:
    said_only = (PROMPT_NAME, LEFT_OUT)
    settings = {name: value for name, value in run.settings.items() if name not in said_only}
    return canonical_json([run.respondent, run.prompt_method, settings, run.replicate])


def _respondent(
    runs: Sequence[Run], groups: Sequence[Sequence[Run]], forms: Mapping[bytes, str]
) -> Respondent:
    run = runs[0]
    alike = [
        group[0]
        for group in groups
        if (group[0].respondent, group[0].prompt_method) == (run.respondent, run.prompt_method)
    ]
    prompt_method = run.prompt_method
    if run.settings.get("shots"):
        prompt_method += f" {run.settings['shots']}-shot"
    differing = _summarise_differing([other.settings for other in alike], run.settings)
    own = own_prompt_of(run.settings)
    shown = [f"own prompt: {own}"] if own else []
    shown += [label] if (label := context_label(run.settings)) else []
    shown += [f"{name}={value}" for name, value in differing.items()]
    shown += [f"{name}={value}" for name, value in _searched_differently(alike, run).items()]
    if run.replicate:
        shown.append(f"replicate={run.replicate}")
    return Respondent(
        name=run.respondent,
        prompt_method=prompt_method,
        settings=" ".join(shown),
        simulated=run.simulated,
        runs=tuple(other.id for other in runs),
        forms=tuple(forms[other.item_set] for other in runs),
    )


def _searched_differently(alike: Sequence[Run], own: Run) -> dict[str, Any]:
    """In what runs that were asked with one context differ besides: how much of it, and as of which
    state of the sources."""
    label = context_label(own.settings)
    others = [run.settings for run in alike if context_label(run.settings) == label]
    names = (CONTEXT_TOKENS, CONTEXT_CHUNKS, CONTEXT_INDEX) if label else ()
    return {
        name: own.settings[name]
        for name in names
        if name in own.settings and len({str(other.get(name)) for other in others}) > 1
    }


def _summarise_differing(
    settings: Sequence[Mapping[str, Any]], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings in which runs of one model and way differ: what a leaderboard must show."""
    names = {name for other in settings for name in other}
    names -= {"shots", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS}
    return {
        name: own.get(name)
        for name in sorted(names)
        if len({canonical_json(other.get(name)) for other in settings}) > 1
    }


# Which card stands for each respondent of a leaderboard, and which respondents are left out.
#
# The newest card that was kept of a model is in force, so that editing a file rewrites no history;
# where the runs saw another one, a note says in what. A model of which no card was kept has the one
# of today's configuration, where that is given, and a note says so.


class CardBook(Struct, frozen=True, kw_only=True):
    """The card in force of each model that has one; what a reader should know of the cards, and
    which models are retired, each as a sentence."""

    cards: Mapping[str, Card] = {}
    notes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def open_book(store: Store, selection: Selection, config: ModelConfig | None = None) -> CardBook:
    """The cards of the selection's models; those without one take it from ``config``."""
    models = sorted({run.respondent for _key, run in selection.runs if not run.simulated})
    kept = store.models.cards(models)
    cards = {name: snapshot.card for name, snapshot in kept.items()}
    notes = list(_changes(store, selection.runs, kept))
    if config is not None:
        today = {name: _today(name, config) for name in models}
        borrowed = [n for n in models if n not in cards and not today[n].is_empty]
        cards |= {name: today[name] for name in borrowed}
        if borrowed:
            notes.append(
                f"card of today, for none was kept with the runs: {', '.join(borrowed)} "
                "(proofstone models check NAME keeps it)"
            )
        notes += [
            f"{name}: its card is another one today ({difference}); the one kept with the runs is "
            "used until it is run or checked again"
            for name in models
            if name in kept and (difference := _difference(cards[name], today[name]))
        ]
    excluded = tuple(_excluded(store, models))
    return CardBook(cards=cards, notes=tuple(notes), excluded=excluded)


def narrowed(
    selection: Selection, book: CardBook, conditions: Sequence[Condition]
) -> tuple[Selection, tuple[LeftOut, ...]]:
    """The runs whose model's card meets ``conditions``, and who is left out and why.

    Raises NotFound where nobody is left.
    """
    if not conditions:
        return selection, ()
    kept = [
        (key, run)
        for key, run in selection.runs
        if matches(book.cards.get(run.respondent), conditions)
    ]
    names = dict.fromkeys(run.respondent for _key, run in selection.runs)
    stay = {run.respondent for _key, run in kept}
    left_out = tuple(
        LeftOut(name=name, why=_why(book.cards.get(name), conditions))
        for name in names
        if name not in stay
    )
    if not kept:
        said = "; ".join(f"{entry.name} ({entry.why})" for entry in left_out)
        raise NotFound(
            f"no model here meets --where: {said}",
            hint='write a card where one is missing: [models."provider/name".card], '
            "as docs/how-to/models.md shows",
        )
    return structs.replace(selection, runs=tuple(kept)), left_out


def carded(table: ScoreTable, book: CardBook) -> ScoreTable:
    """The table with each respondent's card."""
    respondents = tuple(replace(who, card=book.cards.get(who.name)) for who in table.respondents)
    return replace(table, respondents=respondents)


def _today(name: str, config: ModelConfig) -> Card:
    try:
        return card_of(parse_model_name(name), config)
    except BadUsage:  # a respondent of another kind, such as people or an imported file
        return Card()


def _changes(
    store: Store, runs: Sequence[tuple[int, Run]], kept: Mapping[str, CardSnapshot]
) -> Iterable[str]:
    """A note for each model of which some run saw another card than the one in force."""
    seen = store.models.cards_of_runs([key for key, _run in runs])
    told: dict[str, None] = {}
    for key, run in runs:
        before, now = seen.get(key), kept.get(run.respondent)
        if before is None or now is None or before.recorded_at == now.recorded_at:
            continue
        difference = _difference(before.card, now.card)
        if difference:
            day = _day(now.recorded_at)
            told[f"{run.respondent}: its card changed after its runs ({difference}; {day})"] = None
    return told


def _difference(before: Card, now: Card) -> str:
    """``kind chat -> hybrid``: the facts in which two cards differ, where the newer one has any."""
    if now.is_empty:
        return ""
    old, new = structs.asdict(before), structs.asdict(now)
    return ", ".join(
        f"{name} {_said(old[name])} -> {_said(new[name])}" for name in new if old[name] != new[name]
    )


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(str(part) for part in value) or "unknown"
    return "unknown" if value in ("", None) else str(value)


def _why(card: Card | None, conditions: Sequence[Condition]) -> str:
    failed = [c.field for c in conditions if not matches(card, [c])]
    shown = {"language": "languages"}
    return ", ".join(f"{name} {card_value(card, shown.get(name, name))}" for name in failed)


def _excluded(store: Store, models: Sequence[str]) -> Iterable[str]:
    checks = store.models.last_checks()
    for name in models:
        check = checks.get(name)
        if check is not None and check.state == "excluded":
            yield (
                f"{name} is retired: {check.endpoint} no longer served it on "
                f"{_day(check.checked_at)}; its results stay"
            )


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


# What a workspace knows of the items and scores of runs, beyond the scores themselves.


def upkeep_of(store: Store, selection: Selection, table: ScoreTable, view: View) -> Upkeep:
    """Of the selection's runs, whose scores ``table`` holds as ``view`` wants them."""
    overrides = store.overrides.in_force([key for key, _run in selection.runs], view.until)
    newer = set(store.corrections.former_items())
    scorings = chosen_scorings(store, selection.runs, view).values()
    read = store.reviews.read_items([item_set.id for item_set in selection.item_sets])
    method, checks = _checks(store, selection)
    return Upkeep(
        n_overridden=len({found.override.item for found in overrides}),
        n_corrected=len(newer.intersection(table.items)),
        judges=tuple(sorted({scoring.judge for scoring in scorings if scoring.judge})),
        n_read=len(read.whole.intersection(table.items)),
        n_partly_read=len(read.partly.intersection(table.items)),
        n_readers=read.n_people,
        checked=checked_rates(store, method, checks) if method else (),
        n_purged=purged_among(store, checks),
    )


def _checks(store: Store, selection: Selection) -> tuple[Reviewing | None, list[Review]]:
    """What people said of the truth of the banks behind the selection, and the method that says
    what they were shown; None and nothing where nobody checked it."""
    banks = {one.bank: one.method for one in selection.item_sets if one.bank is not None}
    reviews = {one.id: one for bank in banks for one in store.reviews.checks_of_bank(bank)}
    for name in banks.values():  # all of one method: a leaderboard has one
        method = find_method(name).reviewing
        if reviews and method is not None:
            return method, list(reviews.values())
    return None, []


# Groups of items that their method names, beside a table's strata: scores are shown by them.

_PAGE = 256


_MOST_GROUPS = 50  # a column of more values names items rather than groups


def with_groups(
    store: Store, method: Method, item_sets: Sequence[ItemSet], table: ScoreTable
) -> ScoreTable:
    """``table`` with the method's names of its strata, the groups that items say themselves or that
    a column of their file makes, and the documents of its items. An item whose text was purged is
    in no group."""
    if not table.items:
        return table
    table = replace(table, documents=_documents(store, item_sets, table.items))
    groups, group_names = _of_columns(store, item_sets, table)
    if method.grouping is None:
        return replace(table, groups=groups, group_names=group_names)
    named = {
        item.item.id: method.grouping.groups_of(item) for item in readable_items(store, item_sets)
    }
    for name in method.grouping.names:
        texts = [named.get(item, {}).get(name, "") for item in table.items]
        groups[name], group_names[name] = _coded(texts)
    return replace(
        table, groups=groups, group_names=group_names, level_names=dict(method.grouping.level_names)
    )


def _documents(
    store: Store, item_sets: Sequence[ItemSet], items: Sequence[bytes]
) -> Documents | None:
    """The documents that items rest on; one of a title that another has is named with its id."""
    rows = [row for each in item_sets for row in store.origins.documents_of_set(each.id)]
    shared_rows = [row for each in item_sets for row in store.origins.documents_of_shared(each.id)]
    titles = {row.source: row.title for row in [*rows, *shared_rows]}
    shared = Counter(titles.values())
    names = {
        source: title if title and shared[title] == 1 else f"{title} (source:{short(source)})"
        for source, title in titles.items()
    }
    order = sorted(names, key=lambda source: (names[source], source))
    places = {source: place for place, source in enumerate(order)}
    by_item: dict[bytes, dict[DocumentRow, None]] = {}
    for row in rows:
        by_item.setdefault(row.of, {})[row] = None
    edges = [(unit, row) for unit, item in enumerate(items) for row in by_item.get(item, ())]
    if not edges:
        return None
    keys: dict[str, tuple[tuple[int, str], ...]] = {}
    for row in dict.fromkeys(shared_rows):
        name = f"fact:{short(row.of)}"
        keys[name] = (*keys.get(name, ()), (places[row.source], row.page))
    return Documents(
        unit=np.array([unit for unit, _row in edges], dtype=np.int32),
        document=np.array([places[row.source] for _unit, row in edges], dtype=np.int32),
        pages=tuple(row.page for _unit, row in edges),
        names=tuple(names[source].strip() for source in order),
        keys=keys,
    )


def _of_columns(
    store: Store, item_sets: Sequence[ItemSet], table: ScoreTable
) -> tuple[dict[str, NDArray[np.int32]], dict[str, tuple[str, ...]]]:
    """Groups by the columns that a file of questions has besides: those whose values repeat."""
    labels = store.items.labels_of_sets([item_set.id for item_set in item_sets])
    columns = sorted({name for label in labels.values() for name in label.metadata})
    groups, group_names = {}, {}
    for name in columns:
        values = [
            labels[item].metadata.get(name) if item in labels else None for item in table.items
        ]
        texts = ["" if value is None else _text(value) for value in values]
        n_given, n_different = sum(map(bool, texts)), len(set(filter(None, texts)))
        if 2 <= n_different <= _MOST_GROUPS and 2 * n_different <= n_given:
            groups[name], group_names[name] = _coded(texts)
    return groups, group_names


def _text(value: Any) -> str:
    """A value of a column as it is shown; a list as its texts."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else canonical_json(value).decode()


def _coded(texts: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    names = tuple(sorted(set(texts)))
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[text] for text in texts], dtype=np.int32), names


def readable_items(store: Store, item_sets: Sequence[ItemSet]) -> Iterator[LoadedItem]:
    """Read the items of the sets in order, without those whose text was purged."""
    for item_set in item_sets:
        after = -1
        while places := store.items.places(item_set.id, after, _PAGE):
            yield from _page(store, item_set, after, places)
            after = places[-1][0]


def _page(
    store: Store, item_set: ItemSet, after: int, places: Sequence[tuple[int, int]]
) -> Iterator[LoadedItem]:
    try:
        for stored in store.items.page(item_set.id, after, _PAGE):
            yield stored.loaded
    except TextPurged:
        for _position, key in places:
            try:
                yield store.items.one(key)
            except TextPurged:
                continue


# What stood in the prompt besides: the scale's name, alone and behind that of a way of asking, and
# what its scores show.
_READING: Mapping[ContextName, tuple[str, str, str]] = {
    "evidence": (
        noted("With the evidence"),
        noted("{scale}, with the evidence"),
        noted(
            "the passages that a question rests on stood in the prompt, so the scores show "
            "reading, not memory"
        ),
    ),
    "retrieved": (
        noted("With what a search found"),
        noted("{scale}, with what a search found"),
        noted(
            "what a search of the sources found stood in the prompt, so the scores show memory "
            "and search together"
        ),
    ),
}


def reading_scale(own: Scale | None, context: ContextName = "evidence") -> Scale:
    """The scale of respondents that were asked with evidence, or with what was retrieved, in a way
    whose scale is ``own`` (None: the items'), named in the language in force. The values are on
    that scale still, so they compare item by item."""
    alone, behind, what = _READING[context]
    if own is None:
        return Scale(name=alone, what=what, chance=None, values_as="")
    return Scale(
        name=say(behind, scale=word(own.name)),
        what=say("{what}; {more}", what=word(own.what), more=word(what)),
        chance=own.chance,
        values_as=own.name,
    )


# Contestants that had a hand in the material: found by name and by family.


def with_hands(
    store: Store, table: ScoreTable, item_sets: Sequence[bytes], family: Callable[[str], str]
) -> ScoreTable:
    """``table`` with the roles that models had in its items, and each respondent's part in them.

    ``family`` gives the family of a model's name. Roles of models that nobody here is kin to are
    named too: they are part of how the material was made.
    """
    found = store.roles.of_items(item_sets)
    if not found:
        return table
    roles = []
    for role, items in found.items():
        units = [place for place, identity in enumerate(table.items) if identity in items]
        roles.append(HeldRole(role.role, role.model, np.array(units, dtype=np.int32)))
    return with_hands_of(replace(table, roles=tuple(roles)), family)


def with_hands_of(table: ScoreTable, family: Callable[[str], str]) -> ScoreTable:
    """``table`` with each respondent's part in its roles: as the model itself, or as one of the
    family of the model that held it."""
    roles = table.roles
    if not roles:
        return table
    known = cache(family)
    respondents = []
    for who in table.respondents:
        hands = tuple(
            (place, is_same)
            for place, held in enumerate(roles)
            if (is_same := self_evaluation(who.name, held.model, known)) is not None
        )
        respondents.append(replace(who, hands=hands))
    return replace(table, respondents=tuple(respondents))
