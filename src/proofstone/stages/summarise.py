"""From a target to its score table: which runs belong together, and what they are short of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.store import Found, Retired, Store, load_table
from proofstone.engines.store.scores import ScoringInfo
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json, short
from proofstone.ports import Method, Verifies
from proofstone.records import (
    CONTEXT_CHUNKS,
    CONTEXT_INDEX,
    CONTEXT_SETTINGS,
    CONTEXT_TOKENS,
    LEFT_OUT,
    PROMPT,
    PROMPT_NAME,
    FormPart,
    ItemSet,
    Measure,
    Respondent,
    Run,
    Scale,
    ScoreTable,
    context_label,
    context_of,
    left_out_of,
    own_prompt_of,
)
from proofstone.records.against import read_against
from proofstone.records.families import family_of
from proofstone.stages.corrected import CURRENT, View, chosen_scorings, corrected, not_run
from proofstone.stages.evidence import left_out_again
from proofstone.stages.hands import with_hands
from proofstone.stages.reading_scale import reading_scale
from proofstone.stages.served import served_models, shares_of

__all__ = [
    "Selection",
    "headline",
    "ranked_settings",
    "read_more_scores",
    "read_scores",
    "respondents_of",
    "select_runs",
    "shown_name",
    "with_shared_part",
]


class Selection(Struct, frozen=True, kw_only=True):
    """The item sets that a target means, and the runs on them with their keys."""

    item_sets: tuple[ItemSet, ...]
    runs: tuple[tuple[int, Run], ...]

    @property
    def method(self) -> str:
        """The name of the method that all of them share."""
        return self.item_sets[0].method


def shown_name(item_set: ItemSet) -> str:
    """An item set's name with the digits that tell it from others of that name."""
    return f"{item_set.name}-{short(item_set.id, 4)}"


def select_runs(store: Store, targets: Sequence[Found]) -> Selection:
    """The runs that ``targets`` mean: runs, forms, or banks (all forms of one recipe).

    Raises BadUsage where they cannot stand in one table, NotFound where nothing was run.
    """
    chosen: dict[bytes, tuple[int, Run]] = {}
    sets: dict[bytes, ItemSet] = {}
    for target in targets:
        if target.kind == "run":
            key, run = store.runs.run(target.id)
            chosen[run.id] = (key, run)
            sets[run.item_set] = store.items.item_set(run.item_set)
            continue
        found = [target.id] if target.kind == "form" else _forms_of_bank(store, target)
        sets |= {identity: store.items.item_set(identity) for identity in found}
        chosen |= {run.id: (key, run) for key, run in store.runs.of_sets(found)}
    if len({item_set.method for item_set in sets.values()}) > 1:
        raise BadUsage("these targets belong to different methods; name those of one")
    _refuse_several_recipes(list(sets.values()))
    if not chosen:
        raise not_run(store, targets, sets)
    return Selection(item_sets=tuple(sets.values()), runs=tuple(chosen.values()))


def _forms_of_bank(store: Store, bank: Found) -> list[bytes]:
    forms = [store.items.item_set(identity) for identity in store.items.sets_of_bank(bank.id)]
    asked = {run.item_set for _key, run in store.runs.of_sets([form.id for form in forms])}
    forms = [form for form in forms if form.id in asked] or forms
    superseded = store.items.superseded([form.id for form in forms])
    forms = [form for form in forms if form.id not in superseded]
    return [form.id for form in forms]


def _refuse_several_recipes(forms: Sequence[ItemSet]) -> None:
    """What a bank is asked by one recipe says nothing of what it is asked by another: numbers of
    choices, ways of posing, facts retired in between."""
    by_bank: dict[bytes, list[ItemSet]] = {}
    for form in forms:
        if form.bank is not None:
            by_bank.setdefault(form.bank, []).append(form)
    for of_bank in by_bank.values():
        recipes = {canonical_json(form.recipe) for form in of_bank}
        if len(recipes) > 1:
            names = ", ".join(shown_name(form) for form in of_bank[:10])
            raise BadUsage(
                f"these forms of one bank are of {len(recipes)} recipes, which do not add up",
                hint=f"name those of one: {names}",
            )


def headline(method: Method) -> Measure:
    """The measure that a leaderboard of the method ranks by."""
    return next(measure for measure in method.measures if measure.name == method.headline)


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
    sizes = {item_set.id: item_set.n_items for item_set in selection.item_sets}
    keys = {run.id: key for key, run in selection.runs}
    samples = {run.id: int(run.settings.get("samples", 1)) for _key, run in selection.runs}
    respondents = _on_their_scales(method, selection)
    chosen = chosen_scorings(store, selection.runs, view)
    retired = Retired() if view.as_scored else store.corrections.retired(list(sizes), view.until)
    n_items = sum(sizes.values()) - retired.n_places
    unasked = {run.id: _unasked(store, key, run, retired) for key, run in selection.runs}
    whole = [n_items - sum(unasked[run] for run in who.runs) for who in respondents]
    beyond = _beyond_limits(store, selection, retired)
    respondents = [
        _limited(who, n, sum(beyond.get(run, 0) for run in who.runs), samples[who.runs[0]])
        for who, n in zip(respondents, whole, strict=True)
    ]
    expected = [n * samples[who.runs[0]] for who, n in zip(respondents, whole, strict=True)]
    last_step = {run.id: run.last_step for _key, run in selection.runs}
    failed = [
        sum(
            failure.item not in retired.keys
            for run in who.runs
            for failure in store.runs.failures(keys[run], last_step[run])
        )
        for who in respondents
    ]
    table = load_table(
        store.database,
        respondents=[
            replace(_with_calls(store, selection, who), judge=_judges(who, keys, chosen))
            for who in respondents
        ],
        scorings=_scorings(selection, respondents, chosen),
        item_sets={item_set.id: shown_name(item_set) for item_set in selection.item_sets},
        expected=expected,
        failed=failed,
        measure=headline(method).of,
        kind=headline(method).unit,
    )
    if not view.as_scored:
        table = corrected(store, table, keys, retired, headline(method), view.until)
    labels = store.items.labels_of_sets(list(sizes))
    called = {item: label.name for item, label in labels.items() if label.name}
    return replace(with_hands(store, table, list(sizes), family), called=called)


def _judges(who: Respondent, keys: Mapping[bytes, int], chosen: Mapping[int, ScoringInfo]) -> str:
    """The judges of the scorings that are read of a respondent's runs. Who verified triples against
    a reference has no part in how much was said, which a table of items ranks by."""
    scorings = [chosen[keys[run]] for run in who.runs if keys[run] in chosen]
    judges = [each.judge for each in scorings if each.judge and read_against(each.judge) is None]
    return ", ".join(dict.fromkeys(judges))


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


def _beyond_limits(store: Store, selection: Selection, retired: Retired) -> dict[bytes, int]:
    """How many items, not counting retired ones, lie beyond the limit of each run that has one.
    Of a run that leaves items out for their evidence it is not told."""
    limits = store.runs.limits([key for key, _run in selection.runs])
    sizes = {item_set.id: item_set.n_items for item_set in selection.item_sets}
    found = {}
    for key, run in selection.runs:
        first, size = limits.get(key, sizes[run.item_set]), sizes[run.item_set]
        if first < size and not left_out_of(run.settings):
            rest = store.items.places(run.item_set, first - 1, size - first)
            found[run.id] = sum(item not in retired.keys for _position, item in rest)
    return found


def _limited(who: Respondent, n_items: int, beyond: int, samples: int) -> Respondent:
    if not beyond:
        return who
    part = FormPart(n_asked=n_items - beyond, n_items=n_items, unasked=beyond * samples)
    return replace(who, part=part)


def _unasked(store: Store, key: int, run: Run, retired: Retired) -> int:
    """How many items of its set, not counting retired ones, a run leaves out."""
    n = left_out_of(run.settings)
    if not n or not retired.n_places:
        return n
    return n - left_out_again(store, key, run, retired.keys)


def read_more_scores(
    store: Store, method: Method, selection: Selection, table: ScoreTable, view: View = CURRENT
) -> dict[str, ScoreTable]:
    """The scores that the method's other measures are of, by their name, where there are any: for
    the respondents of ``table``, in its order, corrected as it is. None of the tables is complete
    or incomplete."""
    chosen = chosen_scorings(store, selection.runs, view)
    scorings = _scorings(selection, table.respondents, chosen)
    sets = {item_set.id: shown_name(item_set) for item_set in selection.item_sets}
    retired = Retired() if view.as_scored else store.corrections.retired(list(sets), view.until)
    keys = {run.id: key for key, run in selection.runs}
    measures = {measure.of: measure for measure in reversed(method.measures)}
    del measures[headline(method).of]
    found = {
        of: load_table(
            store.database,
            respondents=table.respondents,
            scorings=scorings,
            item_sets=sets,
            expected=[0] * len(table.respondents),
            measure=of,
            kind=measure.unit,
        )
        for of, measure in measures.items()
        if store.scores.has_any(list(scorings), of)
    }
    if view.as_scored:
        return found
    return {
        of: corrected(store, more, keys, retired, measures[of], view.until)
        for of, more in found.items()
    }


def _scorings(
    selection: Selection, respondents: Sequence[Respondent], chosen: Mapping[int, ScoringInfo]
) -> dict[int, int]:
    """The scorings that are read, each with its respondent's place; ``chosen`` is by run's key."""
    keys = {run.id: key for key, run in selection.runs}
    return {
        chosen[keys[run]].key: place
        for place, who in enumerate(respondents)
        for run in who.runs
        if keys[run] in chosen
    }


def _on_their_scales(method: Method, selection: Selection) -> list[Respondent]:
    """The respondents, with the scale of their way where it has one of its own, and of those that
    were asked with their evidence one that sets them apart; of triples one of a model is ranked."""
    runs = {run.id: run for _key, run in selection.runs}
    respondents = respondents_of(selection)
    first = [runs[who.runs[0]] for who in respondents]
    if isinstance(method, Verifies):
        ranked = ranked_settings(method, first)
    else:
        ranked = frozenset(range(len(first)))
    return [
        replace(who, scale=_scale(method, run), experiment=place not in ranked)
        for place, (who, run) in enumerate(zip(respondents, first, strict=True))
    ]


def ranked_settings(method: Method, runs: Sequence[Run]) -> frozenset[int]:
    """The places of the ``runs`` (one a setting of a model) that a leaderboard of triples ranks, at
    most one a model: those asked in the preset's prompts and range, or, where none was, in those
    that most models were asked in. Of one model's several the one with the preset's effort of
    reasoning, else with none set."""
    ways: dict[str, set[str]] = {}
    for run in runs:
        ways.setdefault(run.way, set()).add(run.respondent)
    preset = method.presets["random"].values("run") if "random" in method.presets else {}
    usual = preset.get("ask", "")
    if usual not in ways:
        usual = max(ways, key=lambda way: len(ways[way]), default="")
    chosen: dict[str, int] = {}
    for place in sorted(
        (place for place, run in enumerate(runs) if run.way == usual),
        key=lambda place: _differs(runs[place], preset),
    ):
        chosen.setdefault(runs[place].respondent, place)
    return frozenset(chosen.values())


def _differs(run: Run, preset: Mapping[str, Any]) -> tuple[bool, ...]:
    """In what a run differs from a preset, what weighs most first; equal ones stay in order."""
    effort = run.settings.get("reasoning_effort")
    return (
        bool(own_prompt_of(run.settings)),
        bool(run.replicate),
        effort != preset.get("reasoning_effort"),
        effort is not None,
        run.settings.get("temperature") != preset.get("temperature"),
    )


def _scale(method: Method, run: Run) -> Scale | None:
    own = method.scales.get(run.way)
    context = context_of(run.settings)
    return own if context == "none" else reading_scale(own, context)


def _with_calls(store: Store, selection: Selection, who: Respondent) -> Respondent:
    """The respondent with the models that answered in any of its runs, and what that took."""
    runs = [(key, run) for key, run in selection.runs if run.id in who.runs]
    shares = [share for key, run in runs for share in shares_of(store, key, run)]
    served = tuple(served_models(shares).items())
    if who.simulated:
        return replace(who, served=served)
    keys = [key for key, _run in runs]
    return replace(
        who, served=served, spent=store.spent.of_runs(keys), pace=store.paces.of_runs(keys)
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
    return canonical_json([run.respondent, run.way, settings, run.replicate])


def _respondent(
    runs: Sequence[Run], groups: Sequence[Sequence[Run]], forms: Mapping[bytes, str]
) -> Respondent:
    run = runs[0]
    alike = [
        group[0]
        for group in groups
        if (group[0].respondent, group[0].way) == (run.respondent, run.way)
    ]
    way = run.way
    if run.settings.get("shots"):
        way += f" {run.settings['shots']}-shot"
    differing = _differing([other.settings for other in alike], run.settings)
    own = own_prompt_of(run.settings)
    shown = [f"own prompt: {own}"] if own else []
    shown += [label] if (label := context_label(run.settings)) else []
    shown += [f"{name}={value}" for name, value in differing.items()]
    shown += [f"{name}={value}" for name, value in _searched_differently(alike, run).items()]
    if run.replicate:
        shown.append(f"replicate={run.replicate}")
    return Respondent(
        name=run.respondent,
        way=way,
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


def _differing(settings: Sequence[Mapping[str, Any]], own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in which runs of one model and way differ: what a leaderboard must show."""
    names = {name for other in settings for name in other}
    names -= {"shots", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS}
    return {
        name: own.get(name)
        for name in sorted(names)
        if len({canonical_json(other.get(name)) for other in settings}) > 1
    }
