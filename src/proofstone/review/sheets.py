"""Export review spreadsheets: random assignment of statements to reviewers, one file each."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, UnsetType, structs

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import collapsed
from proofstone.files.xlsx import WORKBOOK_SUFFIXES, read_grids, write_workbook
from proofstone.method import Answers, Reviewing
from proofstone.records.ids import Draws, short
from proofstone.records.knowledge import Fact, source_of
from proofstone.records.reviews import (
    CheckedAnswer,
    ReviewPlace,
    ReviewPolicy,
    ReviewSheet,
    ReviewTask,
    ReviewText,
    SheetWithdrawal,
    review_sheet_id,
)
from proofstone.review.request import SheetsAsked
from proofstone.review.sheet_answers import sheets_named
from proofstone.review.state import ReviewState, checked_answers, reviewer_name
from proofstone.review.workbook import SheetRow, make_workbook
from proofstone.session.session import Session, Target, acting, acting_person
from proofstone.store.store import Store
from proofstone.wording.messages import language


class GivenSheet(Struct, frozen=True, kw_only=True):
    """Hold a written spreadsheet: the file, its reviewer, and its number of rows."""

    sheet: str
    file: str
    reviewer: str
    n_rows: int
    n_statements: int


class GivenOut(Struct, frozen=True, kw_only=True):
    """Hold all spreadsheets of one export.

    Counts statements with several reviewers, statements left over because of maximum sizes
    (``n_left``), and statements that all named people had reviewed before (``n_barred``).
    """

    target: str
    sheets: tuple[GivenSheet, ...]
    n_statements: int
    n_shared: int
    what: Literal["statements", "questions"] = "statements"
    n_left: int = 0
    n_barred: int = 0
    round: int = 1


def give_out(session: Session, target: Target, asked: SheetsAsked, to: Path | str) -> GivenOut:
    """Write a spreadsheet for each reviewer (``sheet-anna.xlsx`` next to ``to``; ``to`` itself for
    one).

    Stores the assignment. The same command gives the same spreadsheets. Raises BadUsage for invalid
    shares, and if there is nothing to review; BadInput for existing files, which may contain
    decisions.
    """
    store, clock = session.store, session.clock
    state = ReviewState.of(store, target)
    _check(asked, Path(to))
    asked = _completed(state, asked)
    read = _chosen(state, asked)
    given = _questions_given(state.among(read.facts), asked, asked.policy or state.policy)
    shares = _shares(read, asked)
    kept = [n for n, rows in enumerate(shares.rows) if rows]
    if not kept:
        raise BadUsage(
            f"nothing to assign to {', '.join(asked.reviewers)}: they reviewed all of the "
            f"{len(read.facts):,} open statements of {state.found.name}",
            hint="name a new reviewer: --people",
        )
    files = _files(asked.reviewers, Path(to))
    there = [Problem(str(files[n]), "is there already") for n in kept if files[n].exists()]
    if there:
        raise BadInput(
            "existing spreadsheets may contain decisions; nothing was written",
            there,
            hint="choose another file with --to, or remove these",
        )
    recipe = _recipe(asked) | ({"documents": "private"} if given and given.is_private else {})
    sheets = {}
    for n in kept:
        reviewer = acting_person(store, asked.reviewers[n], clock).actor
        facts = [read.facts[place] for place in shares.rows[n]]
        sheet = ReviewSheet(
            kind="bank" if state.found.kind == "bank" else "form", target=state.found.id,
            reviewer=reviewer, round=read.round, recipe=recipe,
            places=tuple(given.places(facts) if given else _places(facts, read, asked)),
            at=clock.now(),
        )  # fmt: skip
        sheets[n] = structs.replace(sheet, id=review_sheet_id(sheet))
    store.reviews.add_sheets(list(sheets.values()))
    rows = dict(given.rows if given else shown_rows(store, read.facts, read.texts))
    rows |= {one: structs.replace(rows[one], reworded=text) for one, text in read.wordings.items()}
    for n, sheet in sheets.items():
        # Share of false statements in a format review.
        read_so = (place.target for place in sheet.places if place.task == "format")
        claims = [read.texts[target].claim for target in read_so]
        book = make_workbook(
            sheet, [rows[place.target] for place in sheet.places], name=state.found.name,
            reviewer=asked.reviewers[n],
            false_share=claims.count("false") / len(claims) if claims else 0.0,
        )  # fmt: skip
        write_workbook(files[n], book)
        store.written.add(files[n], state.found.kind, [state.found.id], clock.now())
    return GivenOut(
        target=state.found.name,
        sheets=tuple(
            GivenSheet(
                sheet=short(sheet.id, 16),
                file=str(files[n]),
                reviewer=asked.reviewers[n],
                n_rows=len(sheet.places),
                n_statements=len({place.target for place in sheet.places}),
            )
            for n, sheet in sheets.items()
        ),
        n_statements=len(read.facts),
        n_shared=len(shares.shared),
        what="questions" if given else "statements",
        n_left=len(shares.left),
        n_barred=len(shares.barred),
        round=read.round,
    )


class _Read(Struct, frozen=True, kw_only=True):
    """Hold the facts to review with their texts, excluded reviewers, the round number, and new
    wordings.

    New wordings are reviewed instead of the facts' own.
    """

    facts: Sequence[Fact]
    texts: Mapping[bytes, ReviewText]
    barred: Mapping[bytes, set[str]] = {}
    round: int = 1
    wordings: Mapping[bytes, str] = {}


def _shares(read: _Read, asked: SheetsAsked) -> Assignment:
    """Assign facts to reviewers; an open one needs one more reviewer."""
    apart = {
        place: frozenset(
            n for n, name in enumerate(asked.reviewers) if name in read.barred.get(fact.id, ())
        )
        for place, fact in enumerate(read.facts)
    }
    one_more = asked.undecided and asked.reviewers_each is None
    return assign(
        len(read.facts), len(asked.reviewers),
        overlap=1.0 if asked.undecided else asked.overlap or 0.0,
        readers=1 if one_more else asked.reviewers_each,
        most=asked.most, seed=asked.seed, barred=apart,
    )  # fmt: skip


def _chosen(state: ReviewState, asked: SheetsAsked) -> _Read:
    facts = state.facts_under_review
    texts = state.texts(facts)
    kept = [fact for fact in facts if asked.only in ("", texts[fact.id].claim)]
    if not kept:
        raise BadUsage(f"{state.found.name} has nothing to review", hint="remove --answer-key")
    if asked.undecided:
        return _undecided(state.among(kept), texts, asked.policy or state.policy)
    if asked.fact_check is not None or asked.half_width is not None:
        size = asked.fact_check or size_for(asked.half_width or 0.0, len(kept))
        strata = [
            "|".join((texts[fact.id].claim, fact.stratum.discipline, source_of(fact)))
            for fact in kept
        ]
        kept = [kept[n] for n in draw_by_stratum(strata, size, asked.seed)]
    return _Read(facts=kept, texts=texts)


def _undecided(
    state: ReviewState, texts: Mapping[bytes, ReviewText], policy: ReviewPolicy
) -> _Read:
    decided = state.decided(policy)
    is_open = {one.target for one in decided if one.outcome == "open"}
    chosen = [fact for fact in state.facts if fact.id in is_open]
    name = state.found.name
    if not state.reviews:
        raise BadUsage(
            f"no statement of {name} was reviewed yet, so no review of it is open",
            hint="export all of it first: without --undecided",
        )
    if not chosen:
        raise BadUsage(f"no review of {name} is open", hint=f"proofstone review status {name}")
    names = {person.actor: person.name for person in state.store.people.every()}
    read: dict[bytes, set[str]] = {}
    for one in state.carried_over:
        if one.target in is_open and one.reviewer in names:
            read.setdefault(one.target, set()).add(names[one.reviewer])
    return _Read(
        facts=chosen, texts=texts, barred=read,
        round=max(one.round for one in state.reviews) + 1,
        wordings={one.target: one.wording for one in decided
                  if one.wording and one.target in is_open},
    )  # fmt: skip


# ---------------------------------------------------------- spreadsheets and files


def _places(facts: Sequence[Fact], read: _Read, asked: SheetsAsked) -> list[ReviewPlace]:
    """Return what a spreadsheet asks about these facts, by tab."""
    is_truth = asked.fact_check is not None or asked.half_width is not None
    first: ReviewTask = "truth" if is_truth else "format"
    known = read.wordings
    places = [ReviewPlace(first, "fact", fact.id) for fact in facts if fact.id not in known]
    places += [ReviewPlace("wording", "fact", fact.id) for fact in facts if fact.id in known]
    if is_truth:
        reasoned = (fact for fact in facts if read.texts[fact.id].because)
        places += [ReviewPlace("reason", "fact", fact.id) for fact in reasoned]
    return places


def _recipe(asked: SheetsAsked) -> dict[str, str | int | float | bool]:
    """Return how the rows were chosen, as plain values, without the other reviewers."""
    known = {
        "people": len(asked.reviewers), "overlap": asked.overlap,
        "reviewers_each": asked.reviewers_each,
        "most": asked.most, "fact_check": asked.fact_check, "half_width": asked.half_width,
        "only": asked.only, "undecided": asked.undecided, "seed": asked.seed,
        "language": language(),
    }  # fmt: skip
    return {name: value for name, value in known.items() if value not in (None, "", False)}


def _check(asked: SheetsAsked, to: Path) -> None:
    if to.suffix.lower() != ".xlsx":
        others = ", ".join(WORKBOOK_SUFFIXES)
        raise BadUsage(
            f"{to.name}: spreadsheets are written as .xlsx",
            hint=f"import reads {others} as they come back",
        )
    if not to.parent.is_dir():
        raise BadUsage(f"{to}: folder {to.parent} not found", hint="make it, or name another")
    spelled: dict[str, list[str]] = {}
    for name in asked.reviewers:
        spelled.setdefault(name.casefold(), []).append(name)
    twice = [" and ".join(names) for names in spelled.values() if len(names) > 1]
    if twice:
        raise BadUsage(
            f"duplicate reviewer: {', '.join(twice)}",
            hint="names must differ in more than case, like their files",
        )
    if not asked.reviewers:
        raise BadUsage("no reviewer is named", hint="--people Anna,Ben, or --per-person 6")
    if asked.reviewers_each is not None and not 1 <= asked.reviewers_each <= len(asked.reviewers):
        raise BadUsage(
            f"{asked.reviewers_each} reviewers each, but only {len(asked.reviewers)} are named",
            hint=f"--reviewers-each 1 to {len(asked.reviewers)}",
        )


def _files(people: Sequence[str], to: Path) -> list[Path]:
    """Return a file for each reviewer, named by them; ``to`` for one reviewer."""
    if len(people) == 1:
        return [to]
    stems = [re.sub(r"[^\w.-]+", "-", name).strip("-.").lower() or "reader" for name in people]
    files = []
    for n, stem in enumerate(stems):
        again = f"-{n + 1}" if stem in stems[:n] else ""
        files.append(to.with_name(f"{to.stem}-{stem}{again}{to.suffix}"))
    return files


class WithdrawnSheet(Struct, frozen=True, kw_only=True):
    """Hold a withdrawn spreadsheet: its reviewer, and the number of its withdrawn decisions."""

    sheet: str
    reviewer: str
    n_rows: int
    n_decisions: int


def withdraw_sheet(
    session: Session, sheet: str, *, reason: str = "", by: str = ""
) -> WithdrawnSheet:
    """Withdraw a spreadsheet, given by the first digits of its id or by its file.

    Its decisions no longer count, its rows are unassigned, and it can no longer be imported. Raises
    BadUsage if it is not a spreadsheet of this workspace.
    """
    store, path = session.store, Path(sheet)
    is_file = path.suffix.lower() in WORKBOOK_SUFFIXES
    names = sheets_named(read_grids(path)) if is_file else [sheet.removeprefix("sheet:")]
    digits = names[0] if len(names) == 1 and re.fullmatch("[0-9a-f]{4,64}", names[0]) else ""
    found = store.reviews.sheet(digits) if digits else None
    if found is None:
        raise BadUsage(
            f"spreadsheet {sheet!r} not found",
            hint="give the exported file, or the digits that 'review export' printed",
        )
    who = acting(session, by).actor
    store.reviews.withdraw(
        SheetWithdrawal(sheet=found.id, actor=who, reason=reason, at=session.clock.now())
    )
    return WithdrawnSheet(
        sheet=short(found.id, 16), reviewer=reviewer_name(store, found.reviewer),
        n_rows=len(found.places), n_decisions=store.reviews.n_decisions(found.id),
    )  # fmt: skip


# Spreadsheets for answers to questions: two people each, a third if they differ, and a comparison
# with the model's answer.

_IN_ORDER: tuple[ReviewTask, ...] = ("answer", "third", "same")


_OVERLAP = 0.2


class QuestionsGiven(Struct, frozen=True):
    """Hold questions to assign: their tasks, and what is shown."""

    tasks: Mapping[bytes, ReviewTask]
    rows: Mapping[bytes, SheetRow]
    is_private: bool = False

    def places(self, facts: Sequence[Fact]) -> list[ReviewPlace]:
        """Return what a spreadsheet asks about these, by tab."""
        places = [ReviewPlace(self.tasks[fact.id], "fact", fact.id) for fact in facts]
        return sorted(places, key=lambda place: _IN_ORDER.index(place.task))


def _completed(state: ReviewState, asked: SheetsAsked) -> SheetsAsked:
    """Return the request with defaults. Raises BadUsage for options that do not apply to
    questions."""
    if state.reviewing.answers is None:
        return asked if asked.overlap is not None else structs.replace(asked, overlap=_OVERLAP)
    named = {
        "--fact-check": asked.fact_check, "--half-width": asked.half_width,
        "--answer-key": asked.only or None,
        "--shared": asked.overlap, "--reviewers-each": asked.reviewers_each,
    }  # fmt: skip
    refused = [name for name, value in named.items() if value is not None]
    if refused:
        raise BadUsage(
            f"{', '.join(refused)}: questions are answered by two people each, and by a third if "
            "they differ",
            hint="leave it out; --undecided exports the steps after the first two answers",
        )
    readers = None if asked.undecided else min(2, len(asked.reviewers))
    return structs.replace(asked, overlap=1.0, reviewers_each=readers)


def _questions_given(
    chosen: ReviewState, asked: SheetsAsked, policy: ReviewPolicy
) -> QuestionsGiven | None:
    """Return the questions to assign; None for statements.

    The first export has all of them to answer; later ones have the next step of open ones.
    """
    if chosen.answers is None:
        return None
    facts, method = chosen.facts, chosen.reviewing
    states = checked_answers(chosen.answers, facts, chosen.carried_over, policy)
    waiting = {one.target: _WAITING[one.state] for one in states if one.is_waiting}
    tasks = waiting if asked.undecided else {}
    is_private = not isinstance(policy.answers, UnsetType) and not policy.answers.urls
    grounds = shown_rows(chosen.store, facts, chosen.texts()) if is_private else {}
    return QuestionsGiven(
        {fact.id: tasks.get(fact.id, "answer") for fact in facts},
        _answer_rows(method, chosen.answers, facts, states, grounds),
        is_private,
    )


_WAITING: Mapping[str, ReviewTask] = {
    "waits for a first answer": "answer",
    "waits for a second answer": "answer",
    "waits for a third person": "third",
    "waits for a comparison": "same",
}


def _answer_rows(
    method: Reviewing,
    answers: Answers,
    facts: Iterable[Fact],
    found: Iterable[CheckedAnswer],
    grounds: Mapping[bytes, SheetRow],
) -> dict[bytes, SheetRow]:
    """Return the columns of questions in spreadsheets.

    The task decides whether ``found`` and ``model`` are shown: people who answer see neither.
    Authors of answers are not shown. ``grounds`` are the passages for questions about private
    documents.
    """

    rows, checked = {}, {one.target: one for one in found}
    for fact in facts:
        shown, one = method.review_text(fact), checked[fact.id]
        apart = ("\n".join((collapsed(answer), *urls)) for answer, urls in one.answers)
        rows[fact.id] = structs.replace(
            grounds.get(fact.id, SheetRow(text="")),
            text=shown.text,
            valid_at=shown.valid_at,
            found=collapsed(one.answer) if one.answer else "\n\n".join(apart),
            model="\n".join(map(collapsed, answers.model_answers(fact))),
        )
    return rows


def shown_rows(
    store: Store, facts: Sequence[Fact], texts: Mapping[bytes, ReviewText]
) -> dict[bytes, SheetRow]:
    """Return additional columns of each fact: its passage, page and source, if any."""
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


# Assignment: random, in even shares, with an overlap.

_FACT_CHECK_SAMPLE = "fact-check sample"


_Z = 1.959963984540054  # the normal quantile for 95%


def draw_by_stratum(strata: Sequence[str], size: int, seed: int) -> list[int]:
    """Return ``size`` sampled places, ascending, in proportion to strata.

    Shares are rounded by largest remainders, ties in random order. Raises BadUsage for more than
    there are.
    """
    if not 0 < size <= len(strata):
        raise BadUsage(
            f"cannot sample {size:,} of {len(strata):,}",
            hint=f"use 1 to {len(strata):,}",
        )
    members: dict[str, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    draws = Draws(seed, 0, _FACT_CHECK_SAMPLE)
    exact = {name: size * len(places) / len(strata) for name, places in members.items()}
    quotas = {name: math.floor(share) for name, share in exact.items()}
    order = draws.shuffled(sorted(members))
    order.sort(key=lambda name: quotas[name] - exact[name])
    for name in order[: size - sum(quotas.values())]:
        quotas[name] += 1
    return sorted(
        place
        for number, name in enumerate(sorted(members))
        for place in Draws(seed, number + 1, _FACT_CHECK_SAMPLE).sample(members[name], quotas[name])
    )


def size_for(half_width: float, population: int, expected: float = 0.05) -> int:
    """Return the sample size of ``population`` for a 95% CI with ``half_width`` at rate
    ``expected``.

    Normal approximation, with the correction for a finite population (Cochran 1977, 4.4).
    """
    if not 0.0 < half_width < 1.0 or not 0.0 < expected < 1.0:
        raise BadUsage("a half width and an expected rate must be between 0 and 1, such as 0.02")
    endless = _Z**2 * expected * (1.0 - expected) / half_width**2
    return min(population, math.ceil(endless / (1.0 + (endless - 1.0) / population)))


_ASSIGNMENT = "review assignment"


class Assignment(Struct, frozen=True, kw_only=True):
    """Hold the places (from 0) assigned to each reviewer, in reading order.

    ``shared`` places have several reviewers. ``barred`` ones were reviewed by all named people
    before; ``left`` ones exceed the maximum size.
    """

    rows: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]
    barred: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


def assign(
    n: int,
    people: int,
    *,
    overlap: float,
    readers: int | None = None,
    most: int | None = None,
    seed: int = 0,
    barred: Mapping[int, frozenset[int]] | None = None,
) -> Assignment:
    """Assign ``n`` things to ``people`` reviewers.

    A random ``round(overlap * n)`` of them go to ``readers`` people each (None: all), the others to
    one. Each goes to reviewers with the fewest so far, and among these to the least frequent pairs.
    ``most`` is the maximum per reviewer. ``barred`` gives, by place, excluded reviewers.
    """
    draws = Draws(seed, 0, _ASSIGNMENT)
    order = draws.shuffled(range(n))
    order = order[: _fitting(n, people, overlap, readers or people, most)]
    kept_apart = barred or {}
    n_shared = round(overlap * len(order)) if people > 1 else 0
    sharing = _Sharing(people, draws.shuffled(range(people)))
    shared, nobody = [], []
    for number, place in enumerate(order):
        wanted = min(readers or people, people) if number < n_shared else 1
        given = sharing.give(place, wanted, kept_apart.get(place, frozenset()))
        if not given:
            nobody.append(place)
        elif given > 1:
            shared.append(place)
    rows = [
        tuple(Draws(seed, reader + 1, _ASSIGNMENT).shuffled(sorted(held)))
        for reader, held in enumerate(sharing.held)
    ]
    given_out = {place for held in sharing.held for place in held} | set(nobody)
    return Assignment(
        rows=tuple(rows),
        shared=tuple(sorted(shared)),
        barred=tuple(sorted(nobody)),
        left=tuple(place for place in range(n) if place not in given_out),
    )


class _Sharing:
    """Track the reviewers' assignments, and how often each pair shares one."""

    def __init__(self, people: int, order: Sequence[int]) -> None:
        self.held: list[list[int]] = [[] for _ in range(people)]
        self._order = order
        self._met: Counter[tuple[int, int]] = Counter()

    def give(self, place: int, wanted: int, barred: frozenset[int]) -> int:
        """Assign a thing to ``wanted`` reviewers, or as many as are eligible; returns their
        number."""
        able = [reader for reader in self._order if reader not in barred]
        chosen: list[int] = []
        for _ in range(min(wanted, len(able))):
            reader = min(
                (one for one in able if one not in chosen),
                key=lambda one: (len(self.held[one]), sum(self._met[one, c] for c in chosen)),
            )
            for other in chosen:
                self._met[reader, other] += 1
                self._met[other, reader] += 1
            chosen.append(reader)
        for reader in chosen:
            self.held[reader].append(place)
        return len(chosen)


def _fitting(n: int, people: int, overlap: float, readers: int, most: int | None) -> int:
    """Return how many of ``n`` things fit with at most ``most`` per reviewer."""

    def is_too_much(fits: int) -> bool:
        shared = round(overlap * fits)
        copies = shared * min(readers, people) + fits - shared
        return most is not None and -(-copies // people) > most

    return next((fits for fits in range(n, 0, -1) if not is_too_much(fits)), 0)
