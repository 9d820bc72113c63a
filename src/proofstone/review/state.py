"""Where the review of a bank or form stands: who read how much, what is decided, how far reviewers
agree, and how often a check of its truth found it wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from proofstone.build.plan import builder_of
from proofstone.correct.edit import fields_of
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import Method, Reviewing, find_method
from proofstone.page.numbers import shown_estimate
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import (
    ANSWER_STATES,
    CHECK_TASKS,
    AnswerState,
    CheckedRate,
    Review,
    ReviewDecision,
    ReviewFunnel,
    ReviewOutcome,
    ReviewPolicy,
    ReviewTask,
    ReviewText,
    policy_words,
)
from proofstone.records.runs import Estimate
from proofstone.review.agreed import Ratings, rate, shared_targets
from proofstone.review.assign import found_otherwise
from proofstone.review.decide import latest
from proofstone.review.review_answers import are_private, checked_answers, decided_of, usual_policy
from proofstone.review.sheets import TASKS, SheetRow
from proofstone.store.lookup import Found
from proofstone.store.store import Store

# What of a bank or form people review: its facts in force, and what reviewers are shown.


@dataclass(frozen=True, slots=True)
class HeldFacts:
    """The facts of a bank or form that can be read, and how many more lost their text when a
    source was purged."""

    facts: Sequence[Fact]
    n_purged: int


def reviewing(store: Store, found: Found) -> Reviewing:
    """The method of a bank or form, which must say what a reviewer is shown. Raises BadUsage."""
    method = method_of(store, found)
    if method.reviewing is None:
        raise BadUsage(f"{method.name} has no sheets for reviewers")
    return method.reviewing


def method_of(store: Store, found: Found) -> Method:
    """The method of a bank or form."""
    of = store.knowledge.bank(found.id) if found.kind == "bank" else store.items.item_set(found.id)
    return find_method(of.method)


def facts_held(store: Store, found: Found) -> HeldFacts:
    """All facts of a bank, also those that a review took out; of a form those that its items rest
    on, each once, but for retired ones. Raises BadUsage for a form that rests on none."""
    if found.kind == "bank":
        bank = store.knowledge.bank(found.id)
        facts = bank.readable_facts()
        return HeldFacts(facts, bank.n_facts() - len(facts))
    own, n_purged = store.knowledge.readable_facts_of_set(found.id)
    if not own and not n_purged:
        raise BadUsage(
            f"form {found.name} was made elsewhere and rests on no statements",
            hint="review its bank, or take its items' reviews in: review import reviews.jsonl",
        )
    return HeldFacts(_in_force(store, own), n_purged)


def facts_under_review(store: Store, found: Found) -> Sequence[Fact]:
    """The facts of a bank or form that people read: neither retired nor purged. Raises as
    ``facts_held``."""
    return _in_force(store, facts_held(store, found).facts)


def _in_force(store: Store, facts: Sequence[Fact]) -> Sequence[Fact]:
    retired = set(store.corrections.retired_facts(fact.id for fact in facts))
    return [fact for fact in facts if fact.id not in retired]


def reviewed_texts(method: Reviewing, facts: Iterable[Fact]) -> dict[bytes, ReviewText]:
    """What reviewers are shown of facts, by id."""
    return {fact.id: method.review_text(fact) for fact in facts}


def shown_rows(
    store: Store, facts: Sequence[Fact], texts: Mapping[bytes, ReviewText]
) -> dict[bytes, SheetRow]:
    """What stands in a sheet beside each fact: its passage, page and source, where it has them."""
    passages = store.knowledge.passages({fact.passage for fact in facts if fact.passage})
    sources = store.knowledge.sources({fact.source for fact in facts if fact.source})
    rows: dict[bytes, SheetRow] = {}
    for fact in facts:
        passage = passages.get(fact.passage or b"")
        source = sources.get(fact.source or b"")
        page = fact.page or (str(passage.page) if passage and passage.page is not None else "")
        rows[fact.id] = SheetRow(
            text=texts[fact.id].text,
            because=texts[fact.id].because,
            passage=passage.text if passage else "",
            page=page,
            source=fact.stratum.book or (source.title if source else ""),
        )
    return rows


def versions_of(store: Store, found: Found) -> list[bytes]:
    """A bank or form, and those that it corrects: what was given out of them is of it too."""
    if found.kind == "bank":
        return store.knowledge.versions_of_bank(found.id)
    versions = [found.id]
    while (former := store.items.item_set(versions[-1]).corrects) is not None:
        versions.append(former)
    return versions


def source_of(fact: Fact) -> str:
    """What a fact was taken from: its book, else its document, else nothing but itself."""
    return fact.stratum.book or (fact.source or fact.id).hex()


def reviews_of(store: Store, facts: Iterable[Fact]) -> tuple[list[Review], dict[bytes, bytes]]:
    """All reviews of facts and of the versions that they correct, and for each version the fact
    that stands for it now."""
    now = {fact.id: fact.id for fact in facts}
    behind = {fact.corrects: fact.id for fact in facts if fact.corrects is not None}
    while behind:
        now |= {former: current for former, current in behind.items() if former not in now}
        older = store.knowledge.facts_by_id(behind, readable=True)
        behind = {
            fact.corrects: behind[fact.id]
            for fact in older.values()
            if fact.corrects is not None and fact.corrects not in now
        }
    return store.reviews.of_facts(now), now


def carried(
    store: Store,
    method: Reviewing,
    facts: Sequence[Fact],
    reviews: Sequence[Review],
    now: Mapping[bytes, bytes],
) -> list[Review]:
    """The reviews, those of former versions taken as of the version that stands ``now`` where it
    reads the same: it was made anew because of something else (a falsified statement with its true
    one), and what was said of it is still to be done."""
    former = {one.target for one in reviews if now[one.target] != one.target}
    current = {fact.id: fact for fact in facts}
    same = {
        old.id: now[old.id]
        for old in store.knowledge.facts_by_id(former, readable=True).values()
        if method.review_text(old) == method.review_text(current[now[old.id]])
    }
    return [
        structs.replace(one, target=same[one.target]) if one.target in same else one
        for one in reviews
    ]


def named(store: Store, who: bytes | str) -> str:
    """A reviewer as people know them: a name, else digits of the actor id; a judge's name."""
    if isinstance(who, str):
        return who
    person = store.people.person(who)
    return person.name if person is not None and person.name else f"actor {short(who)}"


# By which policy reviews of a bank or form are decided where none is named.


def policy_with(store: Store, found: Found, sources: Path | None) -> ReviewPolicy:
    """The policy in force, with a person's own list of authoritative ``sources`` over the carried
    one. Raises BadUsage for statements, BadInput for a list that cannot be read."""
    policy = policy_in_force(store, found)
    if sources is None:
        return policy
    method = method_of(store, found).reviewing
    if method is None or method.answers is None:
        raise BadUsage(
            f"--sources: {found.name} holds statements, and no pages stand behind reviews of them",
            hint="it is for questions that people answer",
        )
    rule = method.answers.answer_policy(_lines(sources), sources.name)
    return structs.replace(policy, answers=rule)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise BadInput(
            f"{path} cannot be read as a list of sites", [Problem(path.name, str(cause))],
            hint="a text file in UTF-8, with a site a line, as wikipedia.org",
        ) from None  # fmt: skip


def policy_in_force(store: Store, found: Found) -> ReviewPolicy:
    """The policy of the newest decision on a bank or form, or on one that it corrects; of a form
    without any that of its bank; else the usual one of its method."""
    made = store.decided.behind(found.id)
    if not made and found.kind == "form":
        bank = store.items.item_set(found.id).bank
        made = [] if bank is None else store.decided.behind(bank)
    if made:
        return made[-1].policy
    method = method_of(store, found).reviewing
    answers = None if method is None else method.answers
    return usual_policy(answers, is_private=answers is not None and _is_private(store, found))


def _is_private(store: Store, found: Found) -> bool:
    """Whether the questions of a bank or form are about private documents: as their build was told,
    else by the licenses of the documents."""
    bank = found.id if found.kind == "bank" else store.items.item_set(found.id).bank
    builds = [] if bank is None else store.builds.of_bank(bank)
    for _key, build in reversed(builds):
        name = builder_of(find_method(build.method), build.kind).documents
        if name and name in build.params:
            return bool(build.params[name] == "private")
    return are_private(store, facts_held(store, found).facts)


_CONFIDENCE = 0.95


RATE_NAMES = {
    "true": "true statements that are false",
    "false": "falsified ones that are true",
    "reason": "reasons that do not fit",
}


class ReaderProgress(Struct, frozen=True, kw_only=True):
    """Of the statements that one reviewer was given for a task, those that can be read still, how
    many have a decision; what was decided."""

    reviewer: str
    task: ReviewTask
    given: int
    done: int
    verdicts: Mapping[str, int]


class Standing(Struct, frozen=True, kw_only=True):
    """The review of a bank or form: how many of its statements ``n_people`` read for their format,
    and what came of them under ``policy``; ``readers`` are those of every task. ``carried_out``
    counts decisions to drop or fix that were followed. Of ``purged`` ones nothing is left to read:
    they stand in no other number but ``n``. ``states`` counts questions that people answer by where
    they stand; empty for statements."""

    target: str
    n: int
    n_read: int
    n_people: int
    policy: ReviewPolicy
    outcomes: Mapping[ReviewOutcome, int]
    carried_out: int
    readers: tuple[ReaderProgress, ...]
    rates: tuple[CheckedRate, ...] = ()
    purged: int = 0
    states: Mapping[AnswerState, int] = {}


class Differing(Struct, frozen=True, kw_only=True):
    """A statement that reviewers judged differently."""

    target: str
    text: str
    said: tuple[tuple[str, str, str], ...]
    """Reviewer, verdict, and the new wording or reason."""


class EditedStatement(Struct, frozen=True, kw_only=True):
    """A statement for which a reviewer asked for another wording: what it said, what it is meant to
    be (``key``), the new wording, who wrote it, and what readers said of the wording's truth, by
    name; ``outcome`` is what all of it came to."""

    target: str
    text: str
    key: str
    new: str
    reviewer: str
    said: Mapping[str, str]
    outcome: ReviewOutcome
    why: str = ""


class Agreed(Struct, frozen=True, kw_only=True):
    """How far reviewers agree on what several of them read, for one task."""

    task: ReviewTask
    n_shared: int
    n_differ: int
    reviewers: tuple[str, ...]
    measures: Mapping[str, Estimate]
    differing: tuple[Differing, ...]


def is_fixed(store: Store, decision: ReviewDecision, current: bytes) -> bool:
    """Whether a fix was followed: the version that stands now reads otherwise than the one that was
    reviewed, or has the changes."""
    if current != decision.target:
        return True
    found = store.lookup.find(f"fact:{current.hex()}")
    fields = fields_of(store, found) if decision.changes else {}
    return bool(fields) and all(fields.get(k) == v for k, v in decision.changes.items())


def standing(store: Store, found: Found, policy: ReviewPolicy) -> Standing:
    """Where the review of a bank or form stands."""
    held = facts_held(store, found)
    facts = held.facts
    method = reviewing(store, found)
    reviews, now = reviews_of(store, facts)
    here = carried(store, method, facts, reviews, now)
    decisions = decided_of(method, facts, here, policy)
    retired = set(store.corrections.retired_facts(fact.id for fact in facts))
    outcomes: dict[ReviewOutcome, int] = {"keep": 0, "fix": 0, "drop": 0, "open": 0}
    done = 0
    for one in decisions:
        outcomes[one.outcome] += 1
        current = now[one.target]
        done += one.outcome == "drop" and current in retired
        done += one.outcome == "fix" and is_fixed(store, one, current)
    people = {one.reviewer for one in reviews if one.reviewer and one.task not in CHECK_TASKS}
    return Standing(
        target=found.name, n=len(facts) + held.n_purged,
        n_read=len({now[d.target] for d in decisions}),
        n_people=len(people), policy=policy, outcomes=outcomes, carried_out=done,
        readers=tuple(_progress(store, found, reviews, now)),
        rates=checked_rates(store, method, reviews), purged=held.n_purged,
        states=_states(method, facts, here, policy),
    )  # fmt: skip


def _states(
    method: Reviewing, facts: Sequence[Fact], reviews: Sequence[Review], policy: ReviewPolicy
) -> dict[AnswerState, int]:
    if method.answers is None:
        return {}
    counts = Counter(one.state for one in checked_answers(method.answers, facts, reviews, policy))
    return {state: counts[state] for state in ANSWER_STATES}


def _progress(
    store: Store, found: Found, reviews: Sequence[Review], now: Mapping[bytes, bytes]
) -> list[ReaderProgress]:
    """One line a reviewer and task, in the order in which sheets were given out, also of versions
    that this one corrects; of several versions of a statement the newest counts."""
    given: dict[tuple[bytes | str, ReviewTask], set[bytes]] = {}
    sheets = [s for each in versions_of(store, found) for s in store.reviews.sheets_of(each)]
    for sheet in sorted(sheets, key=lambda sheet: sheet.at):
        for place in sheet.places:
            if place.target in now:
                given.setdefault((sheet.reviewer, place.task), set()).add(now[place.target])
    said: dict[tuple[bytes | str, ReviewTask], dict[bytes, str]] = {}
    for one in latest(reviews):
        said.setdefault((one.who, one.task), {})[now[one.target]] = one.verdict
    lines = []
    for who, task in dict.fromkeys([*given, *said]):
        own = said.get((who, task), {})
        counts = Counter(own.values())
        lines.append(ReaderProgress(
            reviewer=named(store, who), task=task, done=len(own),
            given=len(given.get((who, task), set()) | own.keys()),
            verdicts={name: counts[name] for name in TASKS[task].verdicts if counts[name]},
        ))  # fmt: skip
    return lines


def review_funnel(store: Store, bank: Found) -> ReviewFunnel | None:
    """What review made of a bank's statements; None where nobody reviewed their format."""
    if not _is_reviewed(store, bank):
        return None
    now = standing(store, bank, policy_in_force(store, bank))
    if not now.n_read:
        return None
    shared = next((one for one in agreed(store, bank) if one.task == "format"), None)
    return ReviewFunnel(
        bank=bank.name, statements=now.n, read=now.n_read, people=now.n_people,
        outcomes=now.outcomes, carried_out=now.carried_out, purged=now.purged, policy=now.policy,
        shared=shared.n_shared if shared else 0, measures=shared.measures if shared else {},
    )  # fmt: skip


def _is_reviewed(store: Store, bank: Found) -> bool:
    """Whether there is any review of a bank's facts, and its method says what reviewers see."""
    method = find_method(store.knowledge.bank(bank.id).method)
    return method.reviewing is not None and store.reviews.are_of_bank(bank.id)


def review_lines(store: Store, found: Found) -> list[tuple[str, str]]:
    """What a bank's card says of its review: what was read and decided, and the rates of a check of
    its truth. Nothing where nobody reviewed it, or its method has no sheets."""
    if not _is_reviewed(store, found):
        return []
    now = standing(store, found, policy_in_force(store, found))
    lines = []
    if now.n_read:
        decided = ", ".join(f"{n:,} {outcome}" for outcome, n in now.outcomes.items() if n)
        by = f"{now.n_people} {'person' if now.n_people == 1 else 'people'}"
        told = f"{now.n_read:,} of {now.n:,} read by {by}: {decided} ({policy_words(now.policy)})"
        lines.append(("review", told))
    lines += [("checked", _rate_sentence(one)) for one in now.rates]
    return lines


def _rate_sentence(checked: CheckedRate) -> str:
    """``true statements that are false: 2 of 100, 2.0 [0.6, 7.0] %``."""
    told = f"{RATE_NAMES[checked.name]}: {checked.wrong:,} of {checked.rate.n:,}"
    unsure = f"; {checked.unsure:,} nobody could tell" if checked.unsure else ""
    return f"{told}, {shown_estimate(checked.rate)} %{unsure}"


# ---------------------------------------------------------------- truth


def checked_rates(
    store: Store, method: Reviewing, reviews: Sequence[Review]
) -> tuple[CheckedRate, ...]:
    """The rates of a truth check, those of which nothing was checked left out; each version as it
    was checked, also where it was corrected since. What was purged since stands in none: it says
    no longer what it was meant to be (``purged_among`` counts it)."""
    if not any(one.task in CHECK_TASKS for one in reviews):
        return ()
    checked = store.knowledge.facts_by_id(_targets_checked(reviews), readable=True)
    texts = reviewed_texts(method, checked.values())
    source = {identity: source_of(fact) for identity, fact in checked.items()}
    meant = {identity: shown.claim for identity, shown in texts.items() if shown.claim}
    truth = found_otherwise(reviews, meant, "truth")
    groups = {
        "true": [one for one in truth if meant[one.target] == "true"],
        "false": [one for one in truth if meant[one.target] == "false"],
        "reason": found_otherwise(reviews, dict.fromkeys(texts, "fits"), "reason"),
    }
    names: tuple[Literal["true", "false", "reason"], ...] = ("true", "false", "reason")
    rates = []
    for name in names:
        states = [(one.state, source[one.target]) for one in groups[name]]
        told = [(state == "otherwise", where) for state, where in states if state != "unsure"]
        if states:
            rates.append(CheckedRate(
                name=name, rate=_rate(told), wrong=sum(wrong for wrong, _where in told),
                unsure=len(states) - len(told),
            ))  # fmt: skip
    return tuple(rates)


def purged_among(store: Store, reviews: Sequence[Review]) -> int:
    """How many statements that a truth check was about were purged since."""
    targets = _targets_checked(reviews)
    return len(targets) - len(store.knowledge.facts_by_id(targets, readable=True))


def _targets_checked(reviews: Sequence[Review]) -> set[bytes]:
    return {one.target for one in reviews if one.task in CHECK_TASKS}


def _rate(told: Sequence[tuple[bool, str]]) -> Estimate:
    """The share that is wrong, with Wilson's interval at the size that statements of the same
    sources amount to."""
    import numpy as np  # noqa: PLC0415 - only here is anything computed

    from proofstone.stats.clusters import SharedKeys  # noqa: PLC0415
    from proofstone.stats.estimates import mean_estimates  # noqa: PLC0415
    from proofstone.stats.intervals import equal_weights  # noqa: PLC0415

    values = np.array([[float(wrong)] for wrong, _where in told]).reshape(len(told), 1)
    codes: dict[str, int] = {}
    key = np.array([codes.setdefault(where, len(codes)) for _wrong, where in told], dtype=np.int64)
    keys = SharedKeys(len(told), np.arange(len(told), dtype=np.int64), key)
    # With one source nothing says how sources vary: then of this bank alone.
    several = len(codes) > 1
    (estimate,) = mean_estimates(
        values, equal_weights(len(told)), keys if several else SharedKeys.none(len(told)),
        estimand="knowledge" if several else "bank", confidence=_CONFIDENCE,
    )  # fmt: skip
    return estimate


# ---------------------------------------------------------------- new wordings


def edited_statements(store: Store, found: Found) -> tuple[EditedStatement, ...]:
    """Each new wording that a reviewer of a bank or form asked for, one a reviewer, also of
    statements that were edited since: what it changes, and whether readers find it true."""
    facts = facts_held(store, found).facts
    method = reviewing(store, found)
    reviews, now = reviews_of(store, facts)
    here = carried(store, method, facts, reviews, now)
    policy = policy_in_force(store, found)
    decided = {one.target: one for one in decided_of(method, facts, here, policy)}
    asked = [one for one in latest(here) if one.task == "format" and one.verdict == "fix"]
    targets = store.knowledge.facts_by_id({one.target for one in asked}, readable=True)
    texts = reviewed_texts(method, targets.values())
    checks = [one for one in latest(here) if one.task == "wording"]
    return tuple(
        _edited(store, one, texts[one.target], decided[one.target], checks)
        for one in asked
        if one.target in texts and texts[one.target].field in one.changes
    )


def _edited(
    store: Store,
    asked: Review,
    shown: ReviewText,
    decided: ReviewDecision,
    checks: Sequence[Review],
) -> EditedStatement:
    new = str(asked.changes[shown.field])
    own = {named(store, asked.who): str(asked.rubric.get("claim", "") or "not said")}
    others = {
        named(store, one.who): one.verdict
        for one in checks
        if one.target == asked.target and one.answer == new and one.who != asked.who
    }
    return EditedStatement(
        target=f"fact:{short(asked.target)}", text=shown.text, key=shown.claim, new=new,
        reviewer=named(store, asked.who), said=own | others, outcome=decided.outcome,
        why=decided.why,
    )  # fmt: skip


# ---------------------------------------------------------------- agreement


def agreed(store: Store, found: Found) -> tuple[Agreed, ...]:
    """How far reviewers of a bank or form agree, a task each; none where nobody shared anything."""
    facts = facts_held(store, found).facts
    method = reviewing(store, found)
    reviews, now = reviews_of(store, facts)
    reviews = carried(store, method, facts, reviews, now)
    texts = {k: shown.text for k, shown in reviewed_texts(method, facts).items()}
    source = {fact.id: source_of(fact) for fact in facts}
    tasks: tuple[ReviewTask, ...] = ("format", "truth", "reason", "answer")
    rated = [(task, rate(reviews, task)) for task in tasks]
    return tuple(
        _agreed(store, task, ratings, reviews, texts, source)
        for task, ratings in rated
        if len(shared_targets(ratings)[0])
    )


def _agreed(
    store: Store,
    task: ReviewTask,
    ratings: Ratings,
    reviews: Sequence[Review],
    texts: Mapping[bytes, str],
    source: Mapping[bytes, str],
) -> Agreed:
    shared, differ = shared_targets(ratings)
    of = {ratings.targets[place] for place in differ}
    said: dict[bytes, list[tuple[str, str, str]]] = {}
    for one in latest(reviews):
        if one.task == task and one.target in of:
            why = "; ".join([*map(str, one.changes.values()), one.reason]).strip("; ")
            entry = (named(store, one.who), one.verdict, why)
            said.setdefault(one.target, []).append(entry)
    return Agreed(
        task=task, n_shared=len(shared), n_differ=len(differ),
        reviewers=tuple(named(store, who) for who in ratings.reviewers),
        measures=_measures(ratings, shared, source),
        differing=tuple(
            Differing(target=f"fact:{short(target)}", text=texts.get(target, ""), said=tuple(rows))
            for target, rows in said.items()
        ),
    )  # fmt: skip


def _measures(
    ratings: Ratings, shared: Sequence[int], source: Mapping[bytes, str]
) -> dict[str, Estimate]:
    """Agreement beyond chance on what several read, statements of one source taken together."""
    import numpy as np  # noqa: PLC0415

    from proofstone.stats.agreement import (  # noqa: PLC0415
        agreement,
        cohen_kappa,
        krippendorff_alpha,
    )

    codes = ratings.codes[list(shared)]
    codes = codes[:, (codes >= 0).any(axis=0)]
    n_labels = len(ratings.labels)
    names: dict[str, int] = {}
    where = [source.get(ratings.targets[place], "") for place in shared]
    clusters = np.array([names.setdefault(one, len(names)) for one in where], dtype=np.int64)
    by = clusters if 1 < len(names) < len(where) else None
    found: dict[str, Estimate] = {
        "observed agreement": agreement(
            codes, "observed agreement", n_categories=n_labels, clusters=by
        )
    }
    if codes.shape[1] == 2:
        found["Cohen kappa"] = cohen_kappa(
            codes[:, 0], codes[:, 1], n_categories=n_labels, clusters=by
        )
    else:
        found["Fleiss kappa"] = agreement(codes, "Fleiss kappa", n_categories=n_labels, clusters=by)
    found["Gwet AC1"] = agreement(codes, "Gwet AC1", n_categories=n_labels, clusters=by)
    found["Krippendorff alpha"] = krippendorff_alpha(codes, clusters=by)
    return found
