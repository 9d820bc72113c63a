"""From a target to its score table: runs that belong together, and missing responses."""

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
from proofstone.method import Method, People, Reviewing, find_method
from proofstone.models.config import ModelConfig, card_of
from proofstone.models.names import parse_model_name
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import (
    CONTEXT_CHUNK_TOKENS,
    CONTEXT_CHUNKS,
    CONTEXT_INDEX,
    CONTEXT_PAGE_TOKENS,
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

# Scores of a selection with corrections applied or ignored.

FIRST = "first"


def chosen_scorings(
    store: Store, runs: Sequence[tuple[int, Run]], view: View
) -> dict[int, ScoringInfo]:
    """Return the scoring to read for each run that has one, by the run's key.

    Raises NotFound for an id that is not a complete scoring of these runs, BadUsage for an
    ambiguous one.
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
    """Return the measure that a leaderboard of the method ranks by."""
    return next(measure for measure in method.measures if measure.name == method.headline)


@dataclass(frozen=True)
class _Read:
    """The runs of a selection, with the scores that ``view`` selects."""

    store: Store
    selection: Selection
    view: View

    @cached_property
    def keys(self) -> Mapping[bytes, int]:
        """Map ids of runs to keys."""
        return {run.id: key for key, run in self.selection.runs}

    @cached_property
    def sets(self) -> Mapping[bytes, str]:
        """Map ids of item sets to names."""
        return {each.id: shown_name(each) for each in self.selection.item_sets}

    @cached_property
    def chosen(self) -> Mapping[bytes, ScoringInfo]:
        """Map ids of runs to the scoring to read."""
        found = chosen_scorings(self.store, self.selection.runs, self.view)
        return {scoring.run: scoring for scoring in found.values()}

    @cached_property
    def excluded(self) -> Excluded:
        """Return the excluded items."""
        if self.view.ignore_corrections:
            return Excluded()
        return self.store.corrections.excluded(list(self.sets), self.view.until)

    def scorings(self, respondents: Sequence[Respondent]) -> dict[int, int]:
        """Map each scoring to the index of its model."""
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
        """Return the scores of ``measure`` without excluded items and with overrides.

        An override concerns a whole response and applies to each separately scored part.
        """
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
    """Return the scores of the selection's runs as one table.

    Runs that differ only in their form belong to one model. A run without scores has no rows and
    its full expected number, so it is incomplete. ``family`` returns the family of a model, by
    which self-evaluation is detected.
    """
    read = _Read(store, selection, view)
    runs = {run.id: run for _key, run in selection.runs}
    sizes = [each.n_items for each in selection.item_sets]
    whole = store.items.count_items(list(read.sets)) if len(sizes) > 1 else sum(sizes)
    n_items = whole - len(read.excluded.ids)
    unasked = {run.id: _unasked(store, key, run, read.excluded) for key, run in selection.runs}
    beyond = _beyond_limits(store, selection, read.excluded)
    measure = headline(method)
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
        not_asked = 0
        if len(sizes) > 1:
            own = list({runs[run].item_set for run in who.runs})
            not_asked = (whole - store.items.count_items(own)) * samples
        stored = sum(store.runs.count_done(read.keys[run], runs[run].last_step) for run in who.runs)
        part = None
        if out := sum(beyond.get(run, 0) for run in who.runs):
            part = FormPart(n_asked=n - out, n_items=n, unasked=out * samples)
        told = _with_calls(store, selection, who)
        respondents.append(
            replace(
                told,
                part=part,
                judge=_judges(who, read.chosen),
                received=stored if measure.unit == "item" else 0,
                not_asked=not_asked,
            )
        )
    table = read.table(respondents, measure, expected, failed)
    if measure.unit == "item":
        table = replace(table, n_asked=n_items, asked_forms=tuple(read.sets.values()))
    labels = store.items.labels_of_sets(list(read.sets))
    called = {item: label.name for item, label in labels.items() if label.name}
    return replace(with_hands(store, table, list(read.sets), family), called=called)


def _judges(who: Respondent, chosen: Mapping[bytes, ScoringInfo]) -> str:
    """Return the judges of the scorings of a model's runs.

    Judges that verify triples against a reference are omitted: a table of items ranks by the number
    of elicited triples.
    """
    scorings = [chosen[run] for run in who.runs if run in chosen]
    return ", ".join(dict.fromkeys(one.judge for one in scorings if one.judge and not one.settings))


def with_shared_part(table: ScoreTable) -> ScoreTable:
    """Return the table for part of the form, if limits excluded the same part for all models.

    The rest is then not expected of any model.
    """
    parts = {who.part for who in table.respondents}
    if len(parts) != 1 or None in parts:
        return table
    whole = [
        replace(who, part=who.part and structs.replace(who.part, unasked=0))
        for who in table.respondents
    ]
    return replace(table.of_parts(), respondents=tuple(whole))


def _beyond_limits(store: Store, selection: Selection, excluded: Excluded) -> dict[bytes, int]:
    """Count the items beyond the limit of each run that has one, without excluded items.

    Runs that omit items because of their evidence are not included.
    """
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
    """Count the items of its set that a run omits, without excluded items."""
    n = left_out_of(run.settings)
    if not n or not excluded.n_places:
        return n
    return n - left_out_again(store, key, run, excluded.keys)


def read_more_scores(
    store: Store, method: Method, selection: Selection, table: ScoreTable, view: View = CURRENT
) -> dict[str, ScoreTable]:
    """Return the scores of the method's other measures by name.

    They are for the models of ``table`` in its order, with the same corrections. Completeness does
    not apply to these tables.
    """
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
    """Return the models with their scales.

    A prompting method may have its own scale, and open-book models have a separate one. For
    triples, one run per model is ranked.
    """
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
    return own if context == method.usual_context else reading_scale(own, context)


def _with_calls(store: Store, selection: Selection, who: Respondent) -> Respondent:
    """Return the model with its reported models, usage and speed over all of its runs."""
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
    """Return the rows of a leaderboard: runs that differ only in their form are one row."""
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
    """Return the settings of retrieval that differ between runs with the same context.

    They are the amount of context and the version of the index.
    """
    label = context_label(own.settings)
    others = [run.settings for run in alike if context_label(run.settings) == label]
    amounts = (CONTEXT_TOKENS, CONTEXT_CHUNKS, CONTEXT_CHUNK_TOKENS, CONTEXT_PAGE_TOKENS)
    names = (*amounts, CONTEXT_INDEX) if label else ()
    return {
        name: own.settings[name]
        for name in names
        if name in own.settings and len({str(other.get(name)) for other in others}) > 1
    }


def _summarise_differing(
    settings: Sequence[Mapping[str, Any]], own: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings that differ between runs with the same model and prompting method."""
    names = {name for other in settings for name in other}
    names -= {"shots", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS}
    return {
        name: own.get(name)
        for name in sorted(names)
        if len({canonical_json(other.get(name)) for other in settings}) > 1
    }


# Model cards of a leaderboard, and filtering by them.
#
# The newest stored card of a model is in force, so editing a file does not rewrite history.
# If the runs used another card, a note lists the differences. A model without a stored card has
# that of the current configuration, if given, and a note states this.


class CardBook(Struct, frozen=True, kw_only=True):
    """The card in force of each model; notes on cards and excluded models as sentences."""

    cards: Mapping[str, Card] = {}
    notes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def open_book(store: Store, selection: Selection, config: ModelConfig | None = None) -> CardBook:
    """Return the cards of the selection's models; ``config`` supplies missing ones."""
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
    """Return the runs whose model's card meets ``conditions``, and the excluded models with
    reasons.

    Raises NotFound if no model is left.
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
    """Return the table with each model's card."""
    respondents = tuple(replace(who, card=book.cards.get(who.name)) for who in table.respondents)
    return replace(table, respondents=respondents)


def _today(name: str, config: ModelConfig) -> Card:
    try:
        return card_of(parse_model_name(name), config)
    except BadUsage:  # another kind of respondent, such as people or an imported file
        return Card()


def _changes(
    store: Store, runs: Sequence[tuple[int, Run]], kept: Mapping[str, CardSnapshot]
) -> Iterable[str]:
    """Yield a note for each model with a run that used another card than the one in force."""
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
    """Return ``kind chat -> hybrid``: the fields in which the newer card differs."""
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
        if check is not None and check.state == "unavailable":
            yield (
                f"{name} is unavailable: {check.endpoint} no longer served it on "
                f"{_day(check.checked_at)}; its results stay"
            )


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


# Records on the items and scores of runs.


def upkeep_of(store: Store, selection: Selection, table: ScoreTable, view: View) -> Upkeep:
    """Return the records on reviews, corrections and judges for the runs of ``table``."""
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
    """Return the fact checks of the banks behind the selection, and the reviewing method.

    None and an empty list without fact checks.
    """
    banks = {one.bank: one.method for one in selection.item_sets if one.bank is not None}
    reviews = {one.id: one for bank in banks for one in store.reviews.checks_of_bank(bank)}
    for name in banks.values():  # all of one method: a leaderboard has one
        method = find_method(name).reviewing
        if reviews and method is not None:
            return method, list(reviews.values())
    return None, []


# Groups of items in addition to a table's strata.

_PAGE = 256


_MOST_GROUPS = 50  # a column with more values identifies items rather than groups


def with_groups(
    store: Store, method: Method, item_sets: Sequence[ItemSet], table: ScoreTable
) -> ScoreTable:
    """Return ``table`` with names of strata, groups of items and their documents.

    Groups come from items or from columns of an imported file. A permanently deleted item is in no
    group.
    """
    if not table.items:
        return table
    table = replace(table, documents=_documents(store, item_sets, table.items))
    groups, group_names = _of_columns(store, item_sets, table)
    if method.grouping is None:
        return replace(table, groups=groups, group_names=group_names)
    items = list(readable_items(store, item_sets))
    named = {item.item.id: method.grouping.groups_of(item) for item in items}
    if method.people is not None:
        table = _with_people(method.people, items, table)
    for name in method.grouping.names:
        texts = [named.get(item, {}).get(name, "") for item in table.items]
        groups[name], group_names[name] = _coded(texts)
    return replace(
        table, groups=groups, group_names=group_names, level_names=dict(method.grouping.level_names)
    )


def _with_people(people: People, items: Iterable[LoadedItem], table: ScoreTable) -> ScoreTable:
    """Return ``table`` with the results of people that its items record."""
    recorded = {item.item.id: people.results(item) for item in items}
    values = {
        name: np.array([recorded.get(item, {}).get(name, np.nan) for item in table.items])
        for name in people.names
    }
    known = {name: each for name, each in values.items() if not np.isnan(each).all()}
    return replace(table, people=known, people_note=people.note if known else "")


def _documents(
    store: Store, item_sets: Sequence[ItemSet], items: Sequence[bytes]
) -> Documents | None:
    """Return the documents of items; a document with an ambiguous title is named with its id."""
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
    """Return groups from additional columns of imported files whose values repeat."""
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
    """Return the text of a column's value; a list as its texts."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else canonical_json(value).decode()


def _coded(texts: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    names = tuple(sorted(set(texts)))
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[text] for text in texts], dtype=np.int32), names


def readable_items(store: Store, item_sets: Sequence[ItemSet]) -> Iterator[LoadedItem]:
    """Read the items of the sets in order, without permanently deleted ones."""
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


# Additional context in the prompt: name of the scale, alone and after that of a prompting method,
# and what its scores show.
_READING: Mapping[ContextName, tuple[str, str, str]] = {
    "evidence": (
        noted("With the evidence"),
        noted("{scale}, with the evidence"),
        noted(
            "the prompt contained a question's source passages, so scores show reading, not memory"
        ),
    ),
    "retrieved": (
        noted("With what a search found"),
        noted("{scale}, with what a search found"),
        noted(
            "the prompt contained retrieved passages, so scores show memory and retrieval together"
        ),
    ),
    "document": (
        noted("With the document"),
        noted("{scale}, with the document"),
        noted("the prompt contained the whole document, so scores show reading, not memory"),
    ),
    "document+retrieved": (
        noted("With the document and search results"),
        noted("{scale}, with the document and search results"),
        noted(
            "the prompt contained the whole document and retrieved passages, so scores show "
            "reading, not memory"
        ),
    ),
    "none": (
        noted("Without the document"),
        noted("{scale}, without the document"),
        noted("the prompt contained no document, so scores show memory and guessing"),
    ),
}


def reading_scale(own: Scale | None, context: ContextName = "evidence") -> Scale:
    """Return the scale of open-book or retrieval scores in the current language.

    ``own`` is the scale of the prompting method (None: that of the items). Values stay on that
    scale, so they are comparable by item.
    """
    alone, behind, what = _READING[context]
    if own is None:
        return Scale(name=alone, what=what, chance=None, values_as="")
    return Scale(
        name=say(behind, scale=word(own.name)),
        what=say("{what}; {more}", what=word(own.what), more=word(what)),
        chance=own.chance,
        values_as=own.name,
    )


# Self-evaluation: models that helped produce items, matched by name and family.


def with_hands(
    store: Store, table: ScoreTable, item_sets: Sequence[bytes], family: Callable[[str], str]
) -> ScoreTable:
    """Return ``table`` with the roles of models in its items, and each model's part in them.

    ``family`` returns the family of a model's name. Roles of models without a family member in the
    table are included, because they are part of the provenance.
    """
    found = store.roles.of_items(item_sets)
    if not found:
        return table
    roles = []
    for role, items in found.items():
        units = [place for place, identity in enumerate(table.items) if identity in items]
        roles.append(HeldRole(role.role, role.model, np.array(units, dtype=np.int32)))
    return with_roles_of(replace(table, roles=tuple(roles)), family)


def with_roles_of(table: ScoreTable, family: Callable[[str], str]) -> ScoreTable:
    """Return ``table`` with each model's part in its roles, as the model itself or its family."""
    roles = table.roles
    if not roles:
        return table
    known = cache(family)
    respondents = []
    for who in table.respondents:
        roles_held = tuple(
            (place, is_same)
            for place, held in enumerate(roles)
            if (is_same := self_evaluation(who.name, held.model, known)) is not None
        )
        respondents.append(replace(who, roles_held=roles_held))
    return replace(table, respondents=tuple(respondents))
