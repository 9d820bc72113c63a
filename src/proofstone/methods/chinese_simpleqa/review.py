"""Decide questions and model answers by people's own answers (section 3.3 of the paper).

Two people answer a question by their own searches, without seeing the model's answer or each
other's. If one of them finds that the question violates the criteria, it is discarded. Each answer
must cite pages, some of an authoritative source. If the two differ, a third person, who sees both,
decides. Their final answer must equal the model's: by the rule of ``sameness``, or by a further
person's comparison. Substring search is never used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import collapsed
from proofstone.method import Answers, Reviewing
from proofstone.methods.chinese_simpleqa.payloads import Pair, ShortAnswer
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import (
    AnswerPolicy,
    AnswerState,
    CheckedAnswer,
    Review,
    ReviewText,
    latest,
)
from proofstone.review.sheet_answers import NoAddress, is_of_site, pages_of, read_site

# Authoritative sites: the bundled ones, and changes by a user's list.


@cache
def bundled_sites() -> tuple[str, ...]:
    """Return the sites of ``authoritative.txt``, sorted."""
    text = files(__package__).joinpath("authoritative.txt").read_text(encoding="utf-8")
    return authoritative_sites(text.splitlines(), "authoritative.txt", ())


def authoritative_sites(lines: Iterable[str], name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Apply a list of changes to the ``known`` sites.

    ``SITE`` adds one, ``-SITE`` removes one, ``-*`` removes all; ``#`` starts a comment. Raises
    BadInput with every other line, and if no site is left.
    """
    sites = set(known)
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        said = line.partition("#")[0].strip()
        if said == "-*":
            sites.clear()
        elif said:
            try:
                site = read_site(said.removeprefix("-"))
            except NoAddress as cause:
                problems.append(Problem(f"{name}, line {number}", str(cause)))
                continue
            if said.startswith("-"):
                sites.discard(site)
            else:
                sites.add(site)
    if not sites and not problems:
        problems.append(Problem(name, "leaves no site, so that no answer could be accepted"))
    if problems:
        raise BadInput("The list of authoritative sources cannot be read.", problems)
    return tuple(sorted(sites))


def is_answer_of(text: str, asked: ShortAnswer) -> bool:
    """Return True if a text is exactly the model's answer or one of its aliases."""
    said = plain_answer(text)
    return bool(said) and said in {plain_answer(answer) for answer in asked.answers}


def is_same_answer(first: str, second: str, asked: ShortAnswer) -> bool:
    """Return True if two answers are the same after normalization, or both listed for the
    question."""
    said = plain_answer(first)
    if said and said == plain_answer(second):
        return True
    return is_answer_of(first, asked) and is_answer_of(second, asked)


def check_answer(
    target: bytes, asked: ShortAnswer, reviews: Iterable[Review], policy: AnswerPolicy
) -> CheckedAnswer:
    """Decide a question from all its reviews, regardless of their order and repetitions.

    The newest decision of each person on each task counts; decisions of models never do. A third
    person or a comparison counts only if that person did not work on the question before. If more
    than two people answered, all must agree. Of several third opinions, and of several comparisons
    of the same two texts, the newest decides.
    """
    of = _Reviews(latest(one for one in reviews if one.reviewer and one.target == target))
    unfit = [one for one in (*of.answers, *of.thirds) if one.verdict == "unfit"]
    if unfit:
        return of.told(target, "not compliant", why=_reasons(unfit))
    for one in of.answers:
        if lacking := _lacking(one.urls, policy):
            return of.told(target, *lacking)
    if len(of.answers) < 2:
        waits: AnswerState = (
            "waits for a second answer" if of.answers else "waits for a first answer"
        )
        return of.told(target, waits, why=f"{len(of.answers)} of 2 answers given")
    first = of.answers[0]
    if all(is_same_answer(first.answer, one.answer, asked) for one in of.answers):
        return _compared(target, asked, of, first.answer)
    return _by_third(target, asked, of, policy)


class _Reviews(Struct):
    """Hold the reviews of one question by task.

    ``answers`` are ordered by text, so their order of arrival is irrelevant. Third opinions and
    comparisons are those of people new to the question, the newest last.
    """

    newest: Sequence[Review]

    @property
    def answers(self) -> list[Review]:
        """Return the independent answers."""
        own = [one for one in self.newest if one.task == "answer"]
        return sorted(own, key=lambda one: (one.answer.casefold(), one.answer, one.urls))

    @property
    def thirds(self) -> list[Review]:
        """Return the decisions of people who saw the answers, and gave none before."""
        return self._by_others("third", {one.reviewer for one in self.answers})

    @property
    def comparisons(self) -> list[Review]:
        """Return comparisons with the model's answer, by people who gave no answer."""
        return self._by_others("same", {one.reviewer for one in (*self.answers, *self.thirds)})

    def _by_others(self, task: str, known: set[bytes]) -> list[Review]:
        found = [one for one in self.newest if one.task == task and one.reviewer not in known]
        return sorted(found, key=lambda one: (one.at, one.id, one.reviewer))

    def told(
        self, target: bytes, state: AnswerState, why: str = "", answer: str = ""
    ) -> CheckedAnswer:
        """Return the state of the question, with everyone involved."""
        tasks = [one for one in self.newest if one.task in ("answer", "third", "same")]
        counted = len(self.answers) + len(self.thirds) + len(self.comparisons)
        return CheckedAnswer(
            target=target, state=state, answer=answer, why=why,
            answers=tuple((one.answer, one.urls) for one in self.answers),
            people=frozenset(one.reviewer for one in tasks), uncounted=len(tasks) - counted,
        )  # fmt: skip


def _lacking(urls: Sequence[str], policy: AnswerPolicy) -> tuple[AnswerState, str] | None:
    """Return what the pages of an answer lack, if anything; texts without a page do not count."""
    pages = pages_of(urls)
    if len(pages) < policy.urls:
        return "too few pages", f"{len(pages)} of {policy.urls} pages for an answer"
    trusted = sum(any(is_of_site(page.host, site) for site in policy.sources) for page in pages)
    if trusted < policy.authoritative:
        hosts = ", ".join(sorted({page.host for page in pages}))
        return "no authoritative source", f"on no list: {hosts}"
    return None


def _by_third(
    target: bytes, asked: ShortAnswer, of: _Reviews, policy: AnswerPolicy
) -> CheckedAnswer:
    """Resolve differing answers by a third person's decision, including the chosen answer's
    pages."""
    if not of.thirds:
        said = " / ".join(one.answer for one in of.answers)
        return of.told(target, "waits for a third person", why=f"they differ: {said}")
    third = of.thirds[-1]
    taken = [one for one in of.answers if is_same_answer(one.answer, third.answer, asked)]
    urls = [url for one in (third, *taken) for url in one.urls]
    if lacking := _lacking(urls, policy):
        return of.told(target, *lacking)
    return _compared(target, asked, of, third.answer)


def _compared(target: bytes, asked: ShortAnswer, of: _Reviews, answer: str) -> CheckedAnswer:
    """Compare people's answer with the model's: by rule, or by a person's comparison of these
    texts.
    """
    if is_answer_of(answer, asked):
        return of.told(target, "kept", answer=answer)
    found = [one for one in of.comparisons if _is_about(one, answer, asked)]
    if not found:
        why = f"people: {answer}; the model: {asked.answer}"
        return of.told(target, "waits for a comparison", why, answer)
    if found[-1].verdict == "same":
        return of.told(
            target, "kept", why=("the same, by a further person's decision"), answer=answer
        )
    why = f"people: {answer}; the model: {asked.answer}"
    return of.told(target, "differs from the model", why, answer)


def _is_about(one: Review, answer: str, asked: ShortAnswer) -> bool:
    """Return True if a comparison was of these two texts, or names none."""
    model = str(one.rubric.get("model", "")) or asked.answer
    texts = ((one.answer or answer, answer), (model, asked.answer))
    return all(plain_answer(collapsed(seen)) == plain_answer(collapsed(now)) for seen, now in texts)


def _reasons(reviews: Sequence[Review]) -> str:
    return "; ".join(sorted({one.reason for one in reviews if one.reason}))


# Review texts of a bank of questions, and decisions from the answers.


def review_text(fact: Fact) -> ReviewText:
    """Return the question and its date, without answer, pages or source."""
    pair: Pair = fact.payload
    return ReviewText(text=pair.question, valid_at=pair.validity)


def model_answers(fact: Fact) -> tuple[str, ...]:
    """Return the model's answer, and its aliases."""
    pair: Pair = fact.payload
    return pair.answers


def same_answer(fact: Fact, first: str, second: str) -> bool:
    """See ``people_check.is_same_answer``."""
    return is_same_answer(first, second, fact.payload)


def answer_policy(lines: Iterable[str] = (), name: str = "") -> AnswerPolicy:
    """Return the paper's evidence requirements: two pages each, with the list of authoritative
    sources.

    The list is the bundled one with a user's changes. Raises BadInput for a list that cannot be
    read.
    """
    return AnswerPolicy(sources=authoritative_sites(lines, name, bundled_sites()))


def check_answers(
    facts: Sequence[Fact], reviews: Iterable[Review], policy: AnswerPolicy
) -> Sequence[CheckedAnswer]:
    """Return the state of each question, in order; see ``people_check.check_answer``."""
    of: dict[bytes, list[Review]] = {}
    for one in reviews:
        of.setdefault(one.target, []).append(one)
    return [check_answer(fact.id, fact.payload, of.get(fact.id, ()), policy) for fact in facts]


REVIEWING = Reviewing(
    review_text=review_text,
    answers=Answers(
        model_answers=model_answers,
        same_answer=same_answer,
        answer_policy=answer_policy,
        check_answers=check_answers,
    ),
)
