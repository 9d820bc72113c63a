"""Reviewing: sheets given out and taken in, what they come to, as a part of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.records.reviews import CheckedQuestion, DecidedReviews, ReviewPolicy
from proofstone.session.people import acting_name, acting_person
from proofstone.session.session import Session
from proofstone.session.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.review.review_decided import LastDecision
    from proofstone.review.review_import import ImportedReviews
    from proofstone.review.review_sheets import GivenOut, WithdrawnSheet
    from proofstone.review.review_work import Decided
    from proofstone.review.sheets import SheetsAsked
    from proofstone.review.state import Agreed, EditedStatement, Standing


_KINDS = ("bank", "form")


def give_out_sheets(
    session: Session, target: Target, asked: SheetsAsked, to: Path | str
) -> GivenOut:
    """Writes a sheet for each reader beside ``to``; see ``stages.review_sheets.give_out``."""
    from proofstone.review.review_sheets import give_out  # noqa: PLC0415

    found = find_target(session.store, target, _KINDS)
    given = give_out(session.store, found, asked, Path(to), clock=session.clock)
    for sheet in given.sheets:
        session.store.written.add(Path(sheet.file), found.kind, [found.id], session.clock.now())
    return given


def take_back_sheet(
    session: Session, sheet: str, *, reason: str = "", by: str = ""
) -> WithdrawnSheet:
    """Withdraws a sheet, by its file or the first digits of its id: none of its decisions
    counts any more."""
    from proofstone.review.review_sheets import withdraw_sheet  # noqa: PLC0415

    who = partial(acting_person, session.store, acting_name(by), session.clock)
    return withdraw_sheet(session.store, sheet, who=who, reason=reason, clock=session.clock)


def take_in_reviews(
    session: Session, paths: Iterable[Path | str], *, encoding: str = ""
) -> ImportedReviews:
    """Takes in sheets and rows of reviews, all or nothing; what is here already is passed
    over."""
    from proofstone.review.review_import import import_reviews  # noqa: PLC0415

    files = [Path(path) for path in paths]
    return import_reviews(session.store, files, clock=session.clock, encoding=encoding)


def export_reviews(session: Session, target: Target, path: Path | str) -> int:
    """Writes all reviews of a bank's or form's facts as rows; returns how many."""
    from proofstone.files.write import write_rows  # noqa: PLC0415
    from proofstone.review.sheet_answers import write_review  # noqa: PLC0415
    from proofstone.review.state import facts_held, reviews_of  # noqa: PLC0415

    held = facts_held(session.store, find_target(session.store, target, _KINDS))
    reviews, _now = reviews_of(session.store, held.facts)
    return write_rows(Path(path), [write_review(one) for one in reviews])


def review_standing(
    session: Session, target: Target, policy: ReviewPolicy | None = None
) -> Standing:
    """Who read how much of a bank or form, and what came of it by ``policy``, else by that in
    force."""
    from proofstone.review.state import standing  # noqa: PLC0415

    found = find_target(session.store, target, _KINDS)
    return standing(session.store, found, policy or review_policy(session, found))


def review_policy(
    session: Session, target: Target, sources: Path | str | None = None
) -> ReviewPolicy:
    """The policy by which a bank or form was decided last, else the usual one; for questions
    that people answer, the file ``sources`` says which sites are authoritative."""
    from proofstone.review.state import policy_with  # noqa: PLC0415

    found = find_target(session.store, target, _KINDS)
    return policy_with(session.store, found, None if sources is None else Path(sources))


def decision_before(session: Session, target: Target) -> LastDecision | None:
    """The newest decision on a bank or form, and whether it stands; None without one."""
    from proofstone.review.review_decided import last_decision  # noqa: PLC0415

    return last_decision(session.store, find_target(session.store, target, _KINDS))


def review_agreement(session: Session, target: Target) -> Sequence[Agreed]:
    """How far reviewers agree on what several of them read."""
    from proofstone.review.state import agreed  # noqa: PLC0415

    return agreed(session.store, find_target(session.store, target, _KINDS))


def statements_edited(session: Session, target: Target) -> Sequence[EditedStatement]:
    """The new wordings that reviewers asked for, and whether readers find them true."""
    from proofstone.review.state import edited_statements  # noqa: PLC0415

    return edited_statements(session.store, find_target(session.store, target, _KINDS))


def judges_checked(session: Session, target: Target) -> Sequence[CheckedQuestion]:
    """How far the judges of its builds agree with people on the same statements."""
    from proofstone.review.agreement import check_judges  # noqa: PLC0415

    return check_judges(session.store, find_target(session.store, target, _KINDS))


def review_decisions(
    session: Session, target: Target, policy: ReviewPolicy | None = None
) -> Decided:
    """What a policy (else the one in force) makes of all reviews, with the work list of what is
    to be done. Nothing is stored."""
    from proofstone.review.review_work import decide_target  # noqa: PLC0415

    found = find_target(session.store, target, _KINDS)
    return decide_target(session.store, found, policy or review_policy(session, found))


def record_decision(
    session: Session, target: Target, decided: Decided, *, by: str = ""
) -> DecidedReviews:
    """Stores what was decided: the policy, the reviews, what they came to, and who decided."""
    from proofstone.review.review_decided import keep_decision  # noqa: PLC0415

    found = find_target(session.store, target, _KINDS)
    who = partial(acting_person, session.store, acting_name(by), session.clock)
    return keep_decision(session.store, found, decided, who=who, clock=session.clock)


def decide_reviews(path: Path | str, policy: ReviewPolicy | None = None) -> Decided:
    """What a policy makes of the reviews in a file, without a workspace."""
    from proofstone.review.review_work import decide_file  # noqa: PLC0415

    return decide_file(Path(path), policy or ReviewPolicy())
