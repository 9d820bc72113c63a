"""Read the verified triples of stored runs one by one, for leaderboards, analyses and pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, get_args

import msgspec
from msgspec import structs

from proofstone.errors import BadUsage, NotFound, TextPurged
from proofstone.method import Method, find_method
from proofstone.methods.bequ.entities import KnownTriple, entity_of
from proofstone.methods.bequ.records import (
    DIRECTIONS,
    Against,
    Elicited,
    EntityFacts,
    Group,
    TripleText,
    Verdict,
    VerdictLabel,
    Verified,
    VerifiedRuns,
    family_of,
    read_against,
)
from proofstone.methods.bequ.verification.measures import verdict_rows
from proofstone.records.ids import content_id, short
from proofstone.records.items import LoadedItem, own_prompt_of
from proofstone.records.runs import Run, run_label
from proofstone.records.verdicts import Passage
from proofstone.results.report import selection_of
from proofstone.results.request import CURRENT, View
from proofstone.results.table import chosen_scorings, respondents_of
from proofstone.results.trace import PURGED
from proofstone.run.forms import Selection
from proofstone.run.judges import verdict_lines
from proofstone.session.session import Session, response_name
from proofstone.store.lookup import Found
from proofstone.store.reviews import Excluded
from proofstone.store.scores import ScoredUnit, ScoreTally, ScoringInfo
from proofstone.store.store import Store

_PAGE = 500


NONEXISTENT = "nonexistent"


_LABELS = frozenset(get_args(VerdictLabel))


_ByLabel = dict[str, ScoringInfo]


def against_of(scoring: ScoringInfo) -> Against | None:
    """Return the verification settings of a scoring; None if it has no verified triples."""
    return read_against(scoring.settings)


def verified_scorings(
    store: Store, runs: Sequence[tuple[int, Run]], view: View = CURRENT
) -> dict[int, ScoringInfo]:
    """Return the scoring of each run whose verdicts are read, by the run's key.

    The scoring has the settings of the one that ``view`` names, otherwise the most frequent
    settings; the newest wins. Runs verified only with other settings have none.

    Raises NotFound if no run is verified, BadUsage if no settings are the most frequent.
    """
    known = {key: found for key, _run in runs if (found := _by_label(store, key, view.until))}
    if not known:
        raise NotFound("no triples of these runs are verified yet", hint=how_to_verify(runs))
    named = _named(store, runs, view)
    n_runs = Counter(label for found in known.values() for label in found)
    labels = {each.judge for each in named.values()}
    if not labels:
        most = max(n_runs.values())
        labels = {label for label, n in n_runs.items() if n == most}
        if most == len(known):
            labels = {max(labels, key=lambda label: _newest(known, label))}
    if len(labels) > 1:
        raise _different(runs, known)
    (label,) = labels
    return {
        key: named[key] if key in named else found[label]
        for key, found in known.items()
        if key in named or label in found
    }


def read_verified(
    store: Store, method: Method, selection: Selection, view: View = CURRENT
) -> VerifiedRuns:
    """Yield the verified triples of a selection's runs, with groups as leaderboard rows.

    Runs that are not verified have none. Raises as ``verified_scorings``.
    """
    chosen = verified_scorings(store, selection.runs, view)
    against = next(filter(None, map(against_of, chosen.values())))
    excluded = Excluded()
    if not view.ignore_corrections:
        excluded = store.corrections.excluded([each.id for each in selection.item_sets], view.until)
    respondents = respondents_of(selection)
    by_run = {run.id: (key, run) for key, run in selection.runs}
    asked = {
        stored.key: (entity_facts(stored.loaded), stored.loaded.item.id)
        for item_set in selection.item_sets
        for page in store.items.pages(item_set.id, _PAGE)
        for stored in page
        if stored.key not in excluded.keys
    }
    keys = sorted(asked, key=lambda key: (asked[key][0].name, asked[key][0].identity))
    entities, items = [asked[key][0] for key in keys], [asked[key][1] for key in keys]
    places = {key: place for place, key in enumerate(keys)}

    def read() -> Iterator[Verified]:
        for group, who in enumerate(respondents):
            for key, run in (by_run[each] for each in who.runs if by_run[each][0] in chosen):
                pages = store.scores.unit_pages(chosen[key].key, DIRECTIONS)
                for row in chain.from_iterable(pages):
                    if (place := places.get(row.item)) is not None:
                        text = text_of(store, row, entities[place].name)
                        yield _verified(row, run, text, group, place, items[place])

    return VerifiedRuns(
        groups=tuple(
            Group(who.name, f"{who.prompt_method} {who.settings}".strip()) for who in respondents
        ),
        runs=tuple(who.runs for who in respondents),
        elicited=tuple(
            _elicited(store, method, [by_run[run][0] for run in who.runs], chosen)
            for who in respondents
        ),
        entities=tuple(entities),
        judges=against.judges,
        reference=against.reference,
        sampling=against.drawn,
        read=read,
        items=tuple(items),
    )


# --------------------------------------------------------- selection of scorings


def _by_label(store: Store, run: int, until: float | None) -> _ByLabel:
    """Return the newest complete scoring of a run for each label that names a reference."""
    return {
        scoring.judge: scoring
        for scoring in store.scores.of_run(run)
        if against_of(scoring) is not None
        and (until is None or (scoring.completed_at or 0.0) <= until)
    }


def _newest(known: Mapping[int, _ByLabel], label: str) -> float:
    return max(found[label].completed_at or 0.0 for found in known.values() if label in found)


def _named(store: Store, runs: Sequence[tuple[int, Run]], view: View) -> dict[int, ScoringInfo]:
    """Return the scorings that the view names and that hold verdicts, by the run's key."""
    if not view.scorings:
        return {}
    texts = [text.removeprefix("scoring:") for text in view.scorings]
    return {
        key: scoring
        for key, scoring in chosen_scorings(store, runs, view).items()
        if against_of(scoring) is not None
        and any(scoring.id.hex().startswith(text) for text in texts)
    }


def how_to_verify(runs: Sequence[tuple[int, Run]]) -> str:
    """Return the command that verifies runs; of many, those listed first."""
    named = " ".join(f"run:{short(run.id)}" for _key, run in runs[:4])
    more = " ..." if len(runs) > 4 else ""
    return f"proofstone grade {named}{more} --judge PROVIDER/NAME --reference BANK"


def _different(runs: Sequence[tuple[int, Run]], known: Mapping[int, _ByLabel]) -> BadUsage:
    """Return the error for runs without common verification settings, with the settings found."""
    lines = [
        f"{run_label(run)}: scoring:{short(scoring.id)} by {label}"
        for key, run in runs
        if key in known
        for label, scoring in known[key].items()
    ]
    more = f"; and {len(lines) - 8} more" if len(lines) > 8 else ""
    return BadUsage(
        "these runs were verified by different judges, against different references or in "
        f"different samples: {'; '.join(lines[:8])}{more}",
        hint=(
            "verify all of them with the same settings: proofstone grade RUN RUN --judge ... "
            "--reference ...; or choose one scoring per run with --scoring ID"
        ),
    )


# ------------------------------------------------------------ reading verdicts


def _verified(
    row: ScoredUnit, run: Run, text: TripleText, group: int, place: int, item: bytes
) -> Verified:
    verdict, drawn = verdict_of(row), row.flags.removeprefix("drawn ")
    key = [row.measure, run.id, item, row.sample, text.predicate, text.object, text.subject]
    return Verified(
        id=content_id("verified-triple", key).hex()[:16],
        direction=row.measure,  # type: ignore[arg-type] # asked for by it
        group=group,
        entity=place,
        drawn=int(drawn) if drawn.isdecimal() else 0,
        subject=text.subject,
        predicate=text.predicate,
        object=text.object,
        family=text.family,
        source=text.passage.source or verdict.passage.source,
        verdict=verdict,
        response=f"response:{response_name(run.id, item, row.sample)}",
        known=text.passage,
    )


def text_of(store: Store, row: ScoredUnit, entity: str) -> TripleText:
    """Return the text of a verified triple about this entity, unless it was purged."""
    try:
        payload = store.payloads.decode(row.kind, row.version, row.payload)
    except TextPurged:
        return TripleText(entity, PURGED, PURGED, "", Passage(""))
    return triple_text(entity, payload)


def verdict_of(row: ScoredUnit) -> Verdict:
    """Return the verdict of a score, with its reason and its evidence."""
    said = row.verdict
    rests_on = None if said is None else said.rests_on
    return Verdict(
        label=row.answer if row.answer in _LABELS else "",  # type: ignore[arg-type]
        basis=row.basis,  # type: ignore[arg-type] # written from one
        reason="" if said is None else said.reason,
        passage=rests_on if isinstance(rests_on, Passage) else Passage(""),
        trouble="" if said is None else said.trouble,
    )


# ------------------------------------------------------------- elicited triples


def _elicited(
    store: Store, method: Method, runs: Sequence[int], chosen: Mapping[int, ScoringInfo]
) -> Elicited:
    """Count the elicited triples of a group's runs, from scores that need no judge."""
    tallies: list[ScoreTally] = []
    for key in runs:
        scoring = chosen.get(key) or store.scores.current(key)
        tallies += [] if scoring is None else store.scores.tallies(scoring.key)
    of_triples = next(measure for measure in method.measures if measure.unit != "item").of
    real = said_by([each for each in tallies if each.answer_key != NONEXISTENT], of_triples)
    made_up = said_by([each for each in tallies if each.answer_key == NONEXISTENT], of_triples)
    return structs.replace(
        real,
        nonexistent=made_up.entities,
        nonexistent_given=made_up.given,
        nonexistent_triples=made_up.triples,
    )


def said_by(tallies: Sequence[ScoreTally], of_triples: str) -> Elicited:
    """Count entities and triples by measure from these scores, all entities taken as real."""
    of_items = [each for each in tallies if each.kind == "item"]
    answered = [each for each in of_items if each.outcome == "answered"]
    n, n_answered = (sum(each.n for each in some) for some in (of_items, answered))
    given = round(sum(each.total for each in answered))
    refused = sum(each.n for each in of_items if each.outcome == "refused")
    return Elicited(
        entities=n,
        given=given,
        abstained=n_answered - given + refused,
        unread=n - n_answered - refused,
        triples=sum(each.n for each in tallies if each.measure == of_triples),
    )


# Verified triples for display: those of one response with evidence, those of a run as counts.

_SHOWN = 400  # characters of a passage; the export has the full text


_OVERRIDDEN = {
    "no object": "nothing is said",
    "no reference": "no reference triples of the entity",
    "nothing elicited": "no elicited triples of the entity",
    "same words": "in the same words",
}


def verified_of_response(store: Store, run: int, item: int, sample: int) -> Iterator[str]:
    """Return the verified triples of a response in each complete scoring, newest first.

    Elicited triples come first, then the reference triples checked against it.
    """
    try:
        name = entity_facts(store.items.one(item)).name
    except TextPurged:
        name = PURGED
    for scoring in reversed(store.scores.of_run(run)):
        against = against_of(scoring)
        if against is None:
            continue
        rows = [
            row
            for page in store.scores.unit_pages(scoring.key, DIRECTIONS, [item])
            for row in page
            if row.sample == sample
        ]
        if rows:
            by = f"by {against.judges}, against {against.reference}"
            lines = [f"--- verified in scoring:{short(scoring.id)} {by}"]
            for row in sorted(rows, key=lambda row: DIRECTIONS.index(row.measure)):
                text, verdict = text_of(store, row, name), verdict_of(row)
                said = f"{text.subject} | {text.predicate} | {text.object}"
                lines.append(f"{row.measure}, {verdict.label or verdict.basis}: {said}")
                lines += (f"    {line}" for line in _evidence(row, verdict, text.passage))
            yield "\n".join(lines)


def export_verdicts(
    session: Session, found: Found, options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield one row per verdict, with evidence and empty columns for annotators.

    Raises as ``verified_scorings``.
    """
    selection = selection_of(session, [found])
    method = find_method(selection.method)
    view = options.get("view", CURRENT)
    return verdict_rows(read_verified(session.store, method, selection, view))


def settings_shown(settings: bytes) -> dict[str, str]:
    """Describe the settings of a scoring in words."""
    found = msgspec.json.decode(settings, type=Against)
    return {"judges": found.judges, "reference": found.reference, "drawn": found.drawn}


def verified_counts(store: Store, scoring: int) -> str:
    """Return the verdict counts of a scoring as one line; empty if nothing was verified.

    For example ``precision: entailment 36, neutral 12; recall: covered 36``.
    """
    counts = counts_of(store, scoring)
    return "; ".join(
        f"{name}: {', '.join(f'{label} {n:,}' for label, n in counts[name].items())}"
        for name in DIRECTIONS
        if name in counts
    )


def counts_of(store: Store, scoring: int) -> dict[str, dict[str, int]]:
    """Count the verified triples of a scoring by measure and label (or unparsed).

    Triples without a reference are counted apart from those that judges found neutral.
    """
    found: dict[str, dict[str, int]] = {}
    for each in store.scores.answer_counts(scoring, DIRECTIONS):
        name = each.basis if each.basis == "no reference" else each.answer or each.outcome
        counts = found.setdefault(each.measure, {})
        counts[name] = counts.get(name, 0) + each.n
    return found


def _evidence(row: ScoredUnit, verdict: Verdict, known: Passage) -> Iterator[str]:
    judge_votes = () if row.verdict is None else row.verdict.judge_votes
    if verdict.basis in _OVERRIDDEN:
        yield f"by rule: {_OVERRIDDEN[verdict.basis]}"
    elif len(judge_votes) == 1 and verdict.label:
        yield f"{judge_votes[0].judge}: {verdict.reason or 'no reason given'}"
    elif row.verdict is not None:
        yield from verdict_lines(row.verdict)
    if verdict.passage.text:
        yield f"based on {_quoted(verdict.passage)}"
    if known.text or known.title or known.url:
        yield f"from reference passage {_quoted(known)}"


def _quoted(passage: Passage) -> str:
    plain = " ".join(passage.text.split())
    text = plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."
    where = ", ".join(filter(None, (passage.title, passage.source, passage.url)))
    return " ".join(filter(None, (f'"{text}"' if text else "", f"({where})" if where else "")))


# Which setting of a model is ranked on the leaderboard.


def ranked_settings(runs: Sequence[Run]) -> frozenset[int]:
    """Return the places of the ``runs`` (one per model setting) that are ranked, one per model.

    Ranked are runs with the preset's prompt template and range; if there are none, those with the
    most frequent ones. Of several settings, the one with the preset's reasoning effort is
    preferred, then the one without.
    """
    prompt_methods: dict[str, set[str]] = {}
    for run in runs:
        prompt_methods.setdefault(run.prompt_method, set()).add(run.respondent)
    preset = find_method("bequ").presets["random"].values("run")
    usual = preset.get("prompt_method", "")
    if usual not in prompt_methods:
        usual = max(
            prompt_methods, key=lambda prompt_method: len(prompt_methods[prompt_method]), default=""
        )
    chosen: dict[str, int] = {}
    for place in sorted(
        (place for place, run in enumerate(runs) if run.prompt_method == usual),
        key=lambda place: _differs(runs[place], preset),
    ):
        chosen.setdefault(runs[place].respondent, place)
    return frozenset(chosen.values())


def _differs(run: Run, preset: Mapping[str, Any]) -> tuple[bool, ...]:
    """Return how a run differs from a preset, the most important first; sortable."""
    effort = run.settings.get("reasoning_effort")
    return (
        bool(own_prompt_of(run.settings)),
        bool(run.replicate),
        effort != preset.get("reasoning_effort"),
        effort is not None,
        run.settings.get("temperature") != preset.get("temperature"),
    )


_WIKIDATA = "https://www.wikidata.org/wiki/"


def triple_text(entity: str, payload: Any) -> TripleText:
    """Return the text of a unit's payload about an entity."""
    if isinstance(payload, KnownTriple):
        passage = Passage(payload.passage, payload.source, payload.title, payload.url)
        subject = entity
    else:
        passage, subject = Passage(""), payload.subject
    family = family_of(payload.predicate)
    return TripleText(subject, payload.predicate, payload.object, family, passage)


def entity_facts(item: LoadedItem) -> EntityFacts:
    """Return data on a prompted entity; its page is on Wikipedia, otherwise on Wikidata."""
    entity, stratum = entity_of(item), item.item.stratum
    page = entity.wikipedia or (f"{_WIKIDATA}{entity.wikidata}" if entity.wikidata else "")
    return EntityFacts(
        name=entity.name,
        identity=entity.wikidata,
        domain=stratum.discipline,
        popularity=stratum.field,
        page=page,
        is_nonexistent=entity.is_nonexistent,
        fiction=entity.fiction or "",
        statements=entity.statements,
    )
