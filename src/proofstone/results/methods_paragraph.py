"""Methods text for a paper, from the runs of a workspace or from result files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.page.section import told_making
from proofstone.records.runs import FLAGS
from proofstone.results.board import BoardRow, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.page_parts import AskedAs, FormShown, Manifest, PageData, RecordedRole
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, say_of, word

# Computation: intervals, comparisons, resampling, preregistration, software version.

# Sections whose computation a paper should describe even if it shows the ranking only.
_TOLD = {
    "pairs": noted("Pairwise differences: {how}"),
    "stability": noted("Ranking stability: {how}"),
}


_MOST_PROMPT_METHODS = 3


_UNITS = {"items": noted("the item"), "clusters": noted("the cluster of items")}


def computing_sentences(data: PageData) -> Iterator[str]:
    """Yield sentences on target population, intervals, multiplicity, resampling, seed, plan,
    version."""
    board = data.board
    for group in board.standings:
        if group.experiment:
            yield say(
                "{rows} of experiments with other settings are not ranked.",
                rows=counted(len(group.ranked) + len(group.incomplete), "configuration"),
            )
        elif group.ranked:
            yield from _intervals(board, group)
    for section in data.sections:
        if section.name in _TOLD and section.how:
            yield say(_TOLD[section.name], how=section.how)
    if data.seed is not None:
        yield say("Random seed of all resampling: {seed}.", seed=data.seed)
    yield from _plan(data)
    yield say("Computed with proofstone {version}.", version=data.provenance.version)


def _intervals(board: Leaderboard, group: Standings) -> Iterator[str]:
    made = list(dict.fromkeys(row.estimate.made_by for row in group.ranked if row.estimate.made_by))
    drawn = list(dict.fromkeys(row.estimate.resampled for row in group.ranked))
    shown = [told_making(each) for each in made[:_MOST_PROMPT_METHODS]]
    shown += (
        [counted(len(made) - _MOST_PROMPT_METHODS, "other")]
        if len(made) > _MOST_PROMPT_METHODS
        else []
    )
    who = counted(
        len(group.ranked), "simulated configuration" if group.simulated else "configuration"
    )
    if made:
        yield say(
            "Ranked: {who}, on {items}. The {confidence:g}% confidence intervals ({made}) refer to "
            "{population}; the sampling unit is {drawn}.",
            who=who,
            items=counted(group.n_items, "item"),
            confidence=100 * board.confidence,
            population=word(board.population),
            made=joined(shown),
            drawn=joined([word(_UNITS.get(each, each)) for each in drawn if each]) or say("none"),
        )
    else:
        yield say("Ranked: {who}. There are no confidence intervals.", who=who)
    if board.level == "sample":
        yield say("Every item has equal weight.")
    else:
        yield say("Every {level} has equal weight.", level=word(board.level))
    if group.is_paired and group.has_ranks and len(group.compared) > 1:
        yield say(
            "Ranks come from paired comparisons on the same items, Holm-adjusted for all {n:,} "
            "pairs.",
            n=len(group.compared),
        )
    if group.incomplete:
        yield say_of(
            len(group.incomplete),
            "{n} without scores on some items is not ranked.",
            "{n} without scores on some items are not ranked.",
            n=counted(len(group.incomplete), "configuration"),
        )


def _plan(data: PageData) -> Iterator[str]:
    for mark in data.board.plans:
        if mark.n_after == mark.n_runs:
            yield say(
                "The analysis plan {id} was registered at {at}, after the first response; all "
                "of the analysis is exploratory.",
                id=mark.id,
                at=mark.made_at,
            )
        else:
            yield say(
                "The analysis plan {id} was registered at {at}, before the first response: "
                "{measure}, {pairs}, {items}. Everything else is exploratory.",
                id=mark.id,
                at=mark.made_at,
                measure=word(mark.measure),
                pairs=counted(len(mark.comparisons), "comparison"),
                items=counted(mark.n_items, "item"),
            )
    if not data.board.plans and data.manifest is not None:
        yield say("The analysis was not preregistered; all of it is exploratory.")


# Parsing and scoring of responses, and the denominator.


def scoring_sentences(data: PageData) -> Iterator[str]:
    """Yield sentences on the scorer, the measure, the value of each outcome, and overrides."""
    board = data.board
    if data.manifest is not None and data.manifest.scorers:
        yield _scorer(data.manifest)
    yield say(
        "The measure is {measure}. Its denominator is {denominator}.",
        measure=word(board.measure),
        denominator=word(board.denominator),
    )
    rows = board.rows
    if any(row.rates for row in rows):
        counts = [
            say("{outcome}: {worth}", outcome=word(outcome), worth=word(worth))
            for outcome, worth in board.counts
            if outcome != "failed"
        ]
        yield say("Score of each outcome: {counts}.", counts=listed(counts))
        yield _endings(rows)
    yield from _corrected(board, rows)


def _scorer(manifest: Manifest) -> str:
    versions = joined([str(version) for version in manifest.scorers])
    if manifest.judges:
        return say(
            "Responses were parsed and scored by version {version} of the method's scorer and "
            "graded by {judges}.",
            version=versions,
            judges=joined(manifest.judges),
        )
    return say(
        "Responses were parsed and scored by version {version} of the method's scorer, without "
        "a judge.",
        version=versions,
    )


def _endings(rows: Sequence[BoardRow]) -> str:
    """Return a sentence that counts truncated, unparsed, refused and failed responses."""
    n = sum(row.n_responses for row in rows)
    ended = [
        say(
            "{n:g} {outcome}",
            n=sum(row.rate(outcome).count for row in rows),
            outcome=word(outcome),
        )
        for outcome in ("truncated", "unparsed", "refused")
        if any(row.rate(outcome).n for row in rows)
    ]
    failed = sum(row.failed for row in rows)
    told = (
        say(
            "Of {responses}: {ended}.",
            responses=counted(n, "response", "responses"),
            ended=joined(ended),
        )
        if n and ended
        else ""
    )
    lost = say("Calls without a response: {n}. They are not scored.", n=failed) if failed else ""
    return paragraph(told, lost)


def _corrected(board: Leaderboard, rows: Sequence[BoardRow]) -> Iterator[str]:
    n = sum(row.corrections.total for row in rows)
    if board.ignore_corrections:
        yield say("Human score overrides and item exclusions are not applied.")
    elif n:
        yield say(
            "Human score overrides are applied to {responses}.",
            responses=counted(n, "response", "responses"),
        )


_MOST_NAMED = 8


_LONGEST = 40


def item_sentences(data: PageData, manifest: Manifest) -> Iterator[str]:
    """Yield sentences on the item sets, their construction, self-evaluation and excluded items."""
    yield _sets(data)
    yield from _composition(data.forms, manifest)
    yield _recorded_roles(manifest.roles_held)
    if data.board.n_excluded:
        yield say(
            "{items} excluded by reviewers are not scored.",
            items=counted(data.board.n_excluded, "item"),
        )


def file_sentences(data: PageData) -> Iterator[str]:
    """Yield sentences on the files, their contents and the roles of their columns."""
    yield say(
        "The scores were read from {files} of results.",
        files=counted(len(data.files), "file"),
    )
    for file in data.files[:_MOST_NAMED]:
        yield say(
            "{name} ({kind}) holds {holds}.", name=file.name, kind=file.kind, holds=file.holds
        )
        if file.columns:
            yield say("Its columns were read as: {columns}.", columns=file.columns)
    more = len(data.files) - _MOST_NAMED
    if more > 0:
        yield say("The other {files} are listed in the results.", files=counted(more, "file"))


def _sets(data: PageData) -> str:
    n = counted(data.board.n_items or sum(form.n_items for form in data.forms), "item")
    named = [say("{name} (id {id})", name=form.name, id=form.id[:16]) for form in data.forms]
    if len(named) == 1:
        return say("The evaluation used {items} of {form}.", items=n, form=named[0])
    return say(
        "The evaluation used {items} of {forms}: {names}.",
        items=n,
        forms=counted(len(named), "form"),
        names=joined(named),
    )


def _composition(forms: Sequence[FormShown], manifest: Manifest) -> Iterator[str]:
    """Yield a sentence on sampling for each recipe of forms."""
    made: dict[tuple[tuple[str, str], ...], list[FormShown]] = {}
    for form in forms:
        if form.seed is not None:
            made.setdefault(form.recipe, []).append(form)
    banks = joined(
        [
            say("{name} ({facts})", name=bank.name, facts=counted(bank.n_facts, "fact"))
            for bank in manifest.banks
        ]
    )
    for recipe, drawn in made.items():
        names = "" if len(made) == 1 else joined([form.name for form in drawn])
        yield _drawn(names, manifest.method, banks, drawn)
        told = [f"{name} {_short(value)}" for name, value in recipe]
        yield say("Parameters: {recipe}.", recipe=listed(told))
    imported = [form.name for form in forms if form.seed is None]
    if imported:
        yield say("{names}: imported.", names=joined(imported))


def _short(value: str) -> str:
    """Return a parameter's value, shortened if it is a long list of ids."""
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _drawn(names: str, method: str, banks: str, forms: Sequence[FormShown]) -> str:
    seeds = joined([str(form.seed) for form in forms])
    told = {"names": names, "method": method.partition(":")[0], "banks": banks, "seeds": seeds}
    if names:
        return say_of(
            len(forms),
            "{names}: composed by the {method} method from the bank {banks} with seed {seeds}.",
            "{names}: composed by the {method} method from the bank {banks} with seeds {seeds}.",
            **told,
        )
    return say_of(
        len(forms),
        "They were composed by the {method} method from the bank {banks} with seed {seeds}.",
        "They were composed by the {method} method from the bank {banks} with seeds {seeds}.",
        **told,
    )


def _recorded_roles(held: Sequence[RecordedRole]) -> str:
    if not held:
        return say("No model is recorded as having helped write or filter the items.")
    told = [
        say(
            "{model} {role} {items}",
            model=role.model,
            role=word(role.role),
            items=counted(role.n_items, "item"),
        )
        for role in held[:_MOST_NAMED]
    ]
    more = len(held) - len(told)
    told += [counted(more, "other")] if more else []
    return say("Models that helped write or filter the items: {models}.", models=listed(told))


# Unknown facts that a reader must know about.

# Settings that shape answers and that the endpoint chooses if they are not sent.
_SHAPING = ("temperature", "top_p", "max_tokens")


def unknown_sentences(data: PageData) -> Iterator[str]:
    """Yield a sentence for each unknown; the last one, on training data, is always present."""
    if data.manifest is None:
        yield say(
            "Not recorded: prompts, settings, dates, how responses were parsed and scored, "
            "whether the answer keys are correct, and whether the analysis was preregistered."
        )
    else:
        yield from _of_runs(data.manifest)
    flags = {
        flag
        for group in data.board.standings
        for row in group.ranked
        for flag in row.estimate.flags
    }
    for flag, text in FLAGS.items():
        if flag in flags:
            yield say("For some intervals, {flag}.", flag=word(text))
    yield say("It is not known whether these items were in the models' training data.")


def _of_runs(manifest: Manifest) -> Iterator[str]:
    real = [each for each in manifest.asked if not each.simulated]
    silent = [each.name for each in real if not each.reported]
    if silent:
        yield say(
            "The endpoint did not report the model version of {names}.",
            names=joined(list(dict.fromkeys(silent))),
        )
    unsent = [
        name
        for name in _SHAPING
        if any(name not in dict(each.settings) or name in each.dropped for each in real)
    ]
    if unsent:
        yield say(
            "Where {names} was not sent or not accepted, the endpoint's default applied, which "
            "is not known.",
            names=listed([word(name) for name in unsent]),
        )
    if not manifest.scorers:
        yield say("No response has all its scores yet.")


# All paragraphs, in the order of a paper.


def methods_text(data: PageData) -> tuple[str, ...]:
    """Return the paragraphs for a paper: items and models, scoring, computation, unknown facts.

    All statements come from the page's own data. Empty if no model was scored.
    """
    if not data.board.standings:
        return ()
    if data.manifest is None:
        asked = paragraph(*file_sentences(data))
    else:
        asked = paragraph(
            *item_sentences(data, data.manifest), *respondent_sentences(data.manifest)
        )
    told = (
        asked,
        paragraph(*scoring_sentences(data)),
        paragraph(*computing_sentences(data)),
        paragraph(*unknown_sentences(data)),
    )
    return tuple(filter(None, told))


def respondent_sentences(manifest: Manifest) -> Iterator[str]:
    """Yield prompting methods, settings and samples by group; reported models; dates."""
    groups: dict[tuple[object, ...], list[AskedAs]] = {}
    for each in manifest.asked:
        key = (
            each.prompt_method,
            each.shots,
            each.samples,
            each.own_prompt,
            each.settings,
            each.dropped,
        )
        groups.setdefault(key, []).append(each)
    for alike in groups.values():
        yield from _asked(alike)
    yield from _simulated(manifest.asked)
    yield from _reported(manifest.asked)
    yield from _dates(manifest.asked)


def _asked(alike: Sequence[AskedAs]) -> Iterator[str]:
    first = alike[0]
    prompt_method = word(first.prompt_method)
    if first.shots:
        prompt_method = say(
            "{prompt_method} with {shots} examples in the prompt",
            prompt_method=prompt_method,
            shots=first.shots,
        )
    yield say_of(
        first.samples,
        "Prompting method {prompt_method}, one response per item: {names}.",
        "Prompting method {prompt_method}, {n} responses per item: {names}.",
        names=joined([each.name for each in alike]),
        prompt_method=prompt_method,
        n=first.samples,
    )
    if first.own_prompt:
        yield say("The prompt template is custom ({name}).", name=first.own_prompt)
    if not first.simulated:
        sent = [f"{name} {value}" for name, value in first.settings]
        yield say("Settings: {settings}.", settings=listed(sent) or say("none"))
        if first.dropped:
            yield say("Not accepted by the endpoint: {names}.", names=listed(first.dropped))


def _simulated(asked: Sequence[AskedAs]) -> Iterator[str]:
    made_up = [each.name for each in asked if each.simulated]
    if made_up:
        yield say(
            "Simulated (a program generated the responses; no model was called): {names}.",
            names=joined(list(dict.fromkeys(made_up))),
        )


def _reported(asked: Sequence[AskedAs]) -> Iterator[str]:
    told = dict.fromkeys(
        say("{name} as {reported}", name=each.name, reported=joined(each.reported))
        for each in asked
        if each.reported and not each.simulated
    )
    if told:
        yield say("Model versions reported by the endpoints: {told}.", told=listed(list(told)))


def _dates(asked: Sequence[AskedAs]) -> Iterator[str]:
    """Yield the time span of the responses; a cached response counts from its request."""
    first = min((each.first for each in asked if each.first), default="")
    last = max((each.last for each in asked if each.last), default="")
    if first and first == last:
        yield say("Responses were collected at {first}.", first=first)
    elif first:
        yield say("Responses were collected from {first} to {last}.", first=first, last=last)
