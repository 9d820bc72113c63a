"""Giving sheets out: who reads which statements, drawn by seed, and a file for each reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, UnsetType, structs

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.xlsx import WORKBOOK_SUFFIXES, read_grids, write_workbook
from proofstone.method import Reviewing
from proofstone.records.calls import Clock
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import (
    Person,
    ReviewPlace,
    ReviewPolicy,
    ReviewSheet,
    ReviewTask,
    ReviewText,
    SheetWithdrawal,
    review_sheet_id,
)
from proofstone.review.assign import Assignment, assign, draw_by_stratum, size_for
from proofstone.review.review_answers import answer_rows, answer_tasks, checked_answers, decided_of
from proofstone.review.sheet_answers import sheets_named
from proofstone.review.sheets import SheetRow, SheetsAsked, make_workbook
from proofstone.review.state import (
    carried,
    facts_under_review,
    named,
    policy_in_force,
    reviewed_texts,
    reviewing,
    reviews_of,
    shown_rows,
    source_of,
)
from proofstone.session.people import Who, acting_person
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import language

# Sheets in which questions are answered: two people each, a third where they differ, and somebody
# who compares with the model's answer.

_IN_ORDER: tuple[ReviewTask, ...] = ("answer", "third", "same")


_OVERLAP = 0.2


class QuestionsGiven(Struct, frozen=True):
    """Of questions that people answer: what each is asked about, and what is shown of it."""

    tasks: Mapping[bytes, ReviewTask]
    rows: Mapping[bytes, SheetRow]
    is_private: bool = False

    def places(self, facts: Sequence[Fact]) -> list[ReviewPlace]:
        """What a sheet asks about these, tab by tab."""
        places = [ReviewPlace(self.tasks[fact.id], "fact", fact.id) for fact in facts]
        return sorted(places, key=lambda place: _IN_ORDER.index(place.task))


def completed(method: Reviewing, asked: SheetsAsked) -> SheetsAsked:
    """With what was not named. Raises BadUsage for what questions leave no choice of."""
    if method.answers is None:
        return asked if asked.overlap is not None else structs.replace(asked, overlap=_OVERLAP)
    named = {
        "--truth": asked.truth, "--half-width": asked.half_width, "--only": asked.only or None,
        "--overlap": asked.overlap, "--readers": asked.readers,
    }  # fmt: skip
    refused = [name for name, value in named.items() if value is not None]
    if refused:
        raise BadUsage(
            f"{', '.join(refused)}: questions are answered by two people each, and by a third "
            "where they differ",
            hint="leave it out; --undecided gives out what comes after the first two",
        )
    readers = None if asked.undecided else min(2, len(asked.reviewers))
    return structs.replace(asked, overlap=1.0, readers=readers)


def questions_given(
    store: Store, found: Found, method: Reviewing, chosen: Sequence[Fact], asked: SheetsAsked
) -> QuestionsGiven | None:
    """None for statements. At first all are to be answered; what is open, as far as it came."""
    if method.answers is None:
        return None
    reviews, now = reviews_of(store, chosen)
    policy = asked.policy or policy_in_force(store, found)
    reviews = carried(store, method, chosen, reviews, now)
    states = checked_answers(method.answers, chosen, reviews, policy)
    tasks = answer_tasks(states) if asked.undecided else {}
    is_private = not isinstance(policy.answers, UnsetType) and not policy.answers.urls
    grounds = shown_rows(store, chosen, reviewed_texts(method, chosen)) if is_private else {}
    return QuestionsGiven(
        {fact.id: tasks.get(fact.id, "answer") for fact in chosen},
        answer_rows(method, method.answers, chosen, states, grounds),
        is_private,
    )


class GivenSheet(Struct, frozen=True, kw_only=True):
    """A sheet as it was written: the file, whose it is, and how many rows it holds."""

    sheet: str
    file: str
    reviewer: str
    n_rows: int
    n_statements: int


class GivenOut(Struct, frozen=True, kw_only=True):
    """All sheets of one command; how many statements several read, how many nobody was given for
    none may have more (``n_left``), and how many everybody named had read before (``n_barred``)."""

    target: str
    sheets: tuple[GivenSheet, ...]
    n_statements: int
    n_shared: int
    what: Literal["statements", "questions"] = "statements"
    n_left: int = 0
    n_barred: int = 0
    round: int = 1


class WithdrawnSheet(Struct, frozen=True, kw_only=True):
    """A sheet that counts no longer: whose it was, and how many of its decisions with it."""

    sheet: str
    reviewer: str
    n_rows: int
    n_decisions: int


def withdraw_sheet(
    store: Store, sheet: str, *, who: Who, reason: str, clock: Clock
) -> WithdrawnSheet:
    """Withdraws a sheet, named by the first digits of its id or by its file: its decisions count no
    longer, its rows count as given to nobody, and it is not taken in any more. Raises BadUsage for
    what names no sheet of this workspace."""
    path = Path(sheet)
    is_file = path.suffix.lower() in WORKBOOK_SUFFIXES
    names = sheets_named(read_grids(path)) if is_file else [sheet.removeprefix("sheet:")]
    digits = names[0] if len(names) == 1 and re.fullmatch("[0-9a-f]{4,64}", names[0]) else ""
    found = store.reviews.sheet(digits) if digits else None
    if found is None:
        raise BadUsage(
            f"sheet {sheet!r} not found",
            hint="give the file that was sent out, or the digits that 'review export' printed",
        )
    store.reviews.withdraw(
        SheetWithdrawal(sheet=found.id, actor=who().actor, reason=reason, at=clock.now())
    )
    return WithdrawnSheet(
        sheet=short(found.id, 16), reviewer=named(store, found.reviewer),
        n_rows=len(found.places), n_decisions=store.reviews.n_decisions(found.id),
    )  # fmt: skip


def give_out(store: Store, found: Found, asked: SheetsAsked, to: Path, *, clock: Clock) -> GivenOut:
    """Writes a sheet for each reviewer beside ``to`` (``sheet-anna.xlsx``; ``to`` itself for one),
    and stores who was given what. The same command gives the same sheets.

    Raises BadUsage for shares that cannot be, and where there is nothing to review; BadInput for
    files that are there already, which may hold somebody's decisions.
    """
    _check(asked, to)
    method = reviewing(store, found)
    asked = completed(method, asked)
    facts = facts_under_review(store, found)
    texts = reviewed_texts(method, facts)
    chosen, barred, number, wordings = _chosen(store, found, facts, texts, asked)
    given = questions_given(store, found, method, chosen, asked)
    shares = _shares(chosen, barred, asked)
    kept = [n for n, rows in enumerate(shares.rows) if rows]
    if not kept:
        raise BadUsage(
            f"there is nothing to give to {', '.join(asked.reviewers)}: all have read each of the "
            f"{len(chosen):,} open statements of {found.name}",
            hint="name somebody who has not: --people",
        )
    files = _files(asked.reviewers, to)
    _refuse_written([files[n] for n in kept])
    sheets = {
        n: _sheet(
            found, asked, acting_person(store, asked.reviewers[n], clock),
            _places([chosen[place] for place in shares.rows[n]], texts, asked, given, wordings),
            number, clock, is_private=given is not None and given.is_private,
        )
        for n in kept
    }  # fmt: skip
    store.reviews.add_sheets(list(sheets.values()))
    rows = dict(given.rows if given else shown_rows(store, chosen, texts))
    rows |= {one: structs.replace(rows[one], reworded=text) for one, text in wordings.items()}
    for n in kept:
        shown = [rows[place.target] for place in sheets[n].places]
        book = make_workbook(
            sheets[n], shown, name=found.name, reviewer=asked.reviewers[n],
            false_share=_false_share(sheets[n], texts),
        )  # fmt: skip
        write_workbook(files[n], book)
    return GivenOut(
        target=found.name,
        sheets=tuple(_given(sheets[n], files[n], asked.reviewers[n]) for n in kept),
        n_statements=len(chosen),
        n_shared=len(shares.shared),
        what="questions" if given else "statements",
        n_left=len(shares.left),
        n_barred=len(shares.barred),
        round=number,
    )


def _false_share(sheet: ReviewSheet, texts: Mapping[bytes, ReviewText]) -> float:
    """How much of what a sheet has read for its format is false on purpose."""
    claims = [texts[place.target].claim for place in sheet.places if place.task == "format"]
    return claims.count("false") / len(claims) if claims else 0.0


# ---------------------------------------------------------------- what is reviewed


def _shares(
    chosen: Sequence[Fact], barred: Mapping[bytes, set[str]], asked: SheetsAsked
) -> Assignment:
    """Who reads what; of what is open one more reader each suffices."""
    apart = {
        place: frozenset(
            n for n, name in enumerate(asked.reviewers) if name in barred.get(fact.id, ())
        )
        for place, fact in enumerate(chosen)
    }
    one_more = asked.undecided and asked.readers is None
    return assign(
        len(chosen), len(asked.reviewers),
        overlap=1.0 if asked.undecided else asked.overlap or 0.0,
        readers=1 if one_more else asked.readers,
        most=asked.most, seed=asked.seed, barred=apart,
    )  # fmt: skip


def _chosen(
    store: Store,
    found: Found,
    facts: Sequence[Fact],
    texts: Mapping[bytes, ReviewText],
    asked: SheetsAsked,
) -> tuple[list[Fact], dict[bytes, set[str]], int, dict[bytes, str]]:
    """The facts to be read, who must not read which of them, the number of the round, and new
    wordings that are to be checked in place of what they say."""
    kept = [fact for fact in facts if asked.only in ("", texts[fact.id].claim)]
    if not kept:
        raise BadUsage(f"{found.name} holds nothing to review", hint="leave --only out")
    if asked.undecided:
        return _undecided(store, found, kept, asked.policy or policy_in_force(store, found))
    if asked.truth is not None or asked.half_width is not None:
        size = asked.truth or size_for(asked.half_width or 0.0, len(kept))
        strata = [
            "|".join((texts[fact.id].claim, fact.stratum.discipline, source_of(fact)))
            for fact in kept
        ]
        return [kept[n] for n in draw_by_stratum(strata, size, asked.seed)], {}, 1, {}
    return kept, {}, 1, {}


def _undecided(
    store: Store, found: Found, facts: Sequence[Fact], policy: ReviewPolicy
) -> tuple[list[Fact], dict[bytes, set[str]], int, dict[bytes, str]]:
    reviews, now = reviews_of(store, facts)
    method = reviewing(store, found)
    reviews = carried(store, method, facts, reviews, now)
    decided = decided_of(method, facts, reviews, policy)
    is_open = {one.target for one in decided if one.outcome == "open"}
    chosen = [fact for fact in facts if fact.id in is_open]
    if not reviews:
        raise BadUsage(
            f"nobody has read any of {found.name} yet, so no review of it is open",
            hint="give all of it out first: without --undecided",
        )
    if not chosen:
        raise BadUsage(
            f"no review of {found.name} is open",
            hint=f"proofstone review status {found.name}",
        )
    names = {person.actor: person.name for person in store.people.every()}
    read: dict[bytes, set[str]] = {}
    for one in reviews:
        if one.target in is_open and one.reviewer in names:
            read.setdefault(one.target, set()).add(names[one.reviewer])
    wordings = {one.target: one.wording for one in decided if one.wording and one.target in is_open}
    return chosen, read, max(one.round for one in reviews) + 1, wordings


# ---------------------------------------------------------------- sheets and files


def _sheet(
    found: Found,
    asked: SheetsAsked,
    person: Person,
    places: Sequence[ReviewPlace],
    number: int,
    clock: Clock,
    *,
    is_private: bool,
) -> ReviewSheet:
    recipe = _recipe(asked) | ({"documents": "private"} if is_private else {})
    sheet = ReviewSheet(
        kind="bank" if found.kind == "bank" else "form", target=found.id, reviewer=person.actor,
        round=number, recipe=recipe, places=tuple(places), at=clock.now(),
    )  # fmt: skip
    return structs.replace(sheet, id=review_sheet_id(sheet))


def _places(
    facts: Sequence[Fact],
    texts: Mapping[bytes, ReviewText],
    asked: SheetsAsked,
    given: QuestionsGiven | None,
    wordings: Mapping[bytes, str],
) -> list[ReviewPlace]:
    """What a sheet asks about these facts, tab by tab."""
    if given is not None:
        return given.places(facts)
    is_truth = asked.truth is not None or asked.half_width is not None
    first: ReviewTask = "truth" if is_truth else "format"
    places = [ReviewPlace(first, "fact", fact.id) for fact in facts if fact.id not in wordings]
    places += [ReviewPlace("wording", "fact", fact.id) for fact in facts if fact.id in wordings]
    if is_truth:
        reasoned = (fact for fact in facts if texts[fact.id].because)
        places += [ReviewPlace("reason", "fact", fact.id) for fact in reasoned]
    return places


def _recipe(asked: SheetsAsked) -> dict[str, str | int | float | bool]:
    """How the rows were chosen, as plain values; who else was asked stays out of it."""
    known = {
        "people": len(asked.reviewers), "overlap": asked.overlap, "readers": asked.readers,
        "most": asked.most, "truth": asked.truth, "half_width": asked.half_width,
        "only": asked.only, "undecided": asked.undecided, "seed": asked.seed,
        "language": language(),
    }  # fmt: skip
    return {name: value for name, value in known.items() if value not in (None, "", False)}


def _given(sheet: ReviewSheet, file: Path, reviewer: str) -> GivenSheet:
    return GivenSheet(
        sheet=short(sheet.id, 16), file=str(file), reviewer=reviewer, n_rows=len(sheet.places),
        n_statements=len({place.target for place in sheet.places}),
    )  # fmt: skip


def _check(asked: SheetsAsked, to: Path) -> None:
    if to.suffix.lower() != ".xlsx":
        others = ", ".join(WORKBOOK_SUFFIXES)
        raise BadUsage(
            f"{to.name}: sheets are written as .xlsx",
            hint=f"import reads {others} as they come back",
        )
    if not to.parent.is_dir():
        raise BadUsage(f"{to}: there is no folder {to.parent}", hint="make it, or name another")
    spelled: dict[str, list[str]] = {}
    for name in asked.reviewers:
        spelled.setdefault(name.casefold(), []).append(name)
    twice = [" and ".join(names) for names in spelled.values() if len(names) > 1]
    if twice:
        raise BadUsage(
            f"the same reader is named twice: {', '.join(twice)}",
            hint="names are told apart by more than capitals, as their files are",
        )
    if not asked.reviewers:
        raise BadUsage("nobody is named", hint="--people Anna,Ben, or --per-person 6")
    if asked.readers is not None and not 1 <= asked.readers <= len(asked.reviewers):
        raise BadUsage(
            f"{asked.readers} readers of a statement cannot be found among {len(asked.reviewers)}",
            hint=f"--readers 1 to {len(asked.reviewers)}",
        )


def _files(people: Sequence[str], to: Path) -> list[Path]:
    """A file for each, named by its reader; ``to`` for one reader."""
    if len(people) == 1:
        return [to]
    stems = [re.sub(r"[^\w.-]+", "-", name).strip("-.").lower() or "reader" for name in people]
    files = []
    for n, stem in enumerate(stems):
        again = f"-{n + 1}" if stem in stems[:n] else ""
        files.append(to.with_name(f"{to.stem}-{stem}{again}{to.suffix}"))
    return files


def _refuse_written(files: Sequence[Path]) -> None:
    """Raises BadInput for files that are there already."""
    there = [Problem(str(file), "is there already") for file in files if file.exists()]
    if there:
        raise BadInput(
            "a sheet that is there may hold somebody's decisions; nothing was written",
            there,
            hint="name another file with --to, or take these away",
        )
