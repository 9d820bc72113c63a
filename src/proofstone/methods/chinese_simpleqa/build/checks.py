"""Pairs against what searches of the workspace's sources, or of the web, find for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from proofstone.choices.outcomes import ask_for
from proofstone.judging.difficulty import DifficultyRule, PanelDecision, PanelFilter, panel_step
from proofstone.judging.panel import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.ask import STEPS, messages, oracle, prepare
from proofstone.methods.chinese_simpleqa.build.examples import (
    CRITERIA,
    Scope,
    criteria_digest,
    criteria_in,
)
from proofstone.methods.chinese_simpleqa.build.pairs import (
    PAIR_SCHEMA,
    QUESTIONS,
    block,
    category_of,
    prompt_digest,
    questions_for,
    render,
)
from proofstone.methods.chinese_simpleqa.build.rows import Draft, Ground, Written, with_names
from proofstone.methods.chinese_simpleqa.payloads import ANSWER_TYPES, AnswerType
from proofstone.methods.chinese_simpleqa.sameness import GRADED, as_number, plain_answer
from proofstone.methods.chinese_simpleqa.score import SCORER_VERSION, score
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.calls import FoundText, Message, Searcher
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, Unit, item_id
from proofstone.records.runs import Reply, Score
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelVerdict

# Pairs that would do harm if they were published: by a judge of its own, where one is named.

_SENSITIVE = "sensitive content"


def sensitive_step(judges: SeatedJudges, scope: Scope) -> Step:
    """Drops what the judges find sensitive, and what they do not decide."""
    questions = questions_for(scope)

    async def check(row: Draft, context: StepContext) -> Kept:
        texts = {"question": row.question, "answer": row.answer}
        question = questions.question("sensitive", row.language, texts)
        verdict = await questions.ask(judges, context, "sensitive", question)
        if verdict.label == "harmless":
            return row
        return Drop(_SENSITIVE if verdict.label else why_undecided(verdict), row.question)

    return Step(
        name="sensitive",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SENSITIVE, *judges.silent),
        config=questions.config(judges, "sensitive"),
        asks=judges.asks,
    )


# Aliases that a model wrote, each kept only where judges find that it says the very answer.
#
# A rule grades a reply right that is an alias and nothing else, so a wrong alias is a wrong grade.


def alias_step(judges: SeatedJudges) -> Step:
    """Each pair with the aliases that hold; drops none. One on which judges come to nothing does
    not hold. Those of people's own pairs, and the parts of a name with its original, are not asked
    about."""

    async def check(row: Draft, context: StepContext) -> Kept:
        certain = with_names(row.answer, ())
        if not row.by_author or set(row.aliases) <= set(certain):
            return row
        held = [alias in certain or await _holds(judges, row, alias, context)
                for alias in row.aliases]  # fmt: skip
        kept = tuple(alias for alias, is_held in zip(row.aliases, held, strict=True) if is_held)
        return structs.replace(row, aliases=kept)

    return Step(
        name="aliases",
        version=1,
        takes=Draft,
        work=check,
        config=QUESTIONS.config(judges, "alias"),
        asks=judges.asks,
    )


async def _holds(judges: SeatedJudges, row: Draft, alias: str, context: StepContext) -> bool:
    texts = {"question": row.question, "answer": row.answer, "alias": alias}
    question = QUESTIONS.question("alias", row.language, texts)
    return (await QUESTIONS.ask(judges, context, "alias", question)).label == "same"


# Pairs against their criteria: another model says what each misses, and the author revises.

_UNCHECKED, _MISSED, _GIVEN_UP = "not checked", "criteria not met", "given up by its author"


_REASKS = 2


class _Checked(Struct, frozen=True, forbid_unknown_fields=True):
    label: Literal["met", "missed"]
    suggestion: str = ""


# One entry a criterion, all of them there: a reply that leaves one out is none.
_Review = msgspec.defstruct(
    "_Review", [(name, _Checked) for name in CRITERIA], frozen=True, forbid_unknown_fields=True
)


_ENTRY: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "enum": ["met", "missed"]},
        "suggestion": {"type": "string"},
    },
    "required": ["label", "suggestion"],
    "additionalProperties": False,
}


_SCHEMA: Mapping[str, Any] = {
    "title": "review",
    "type": "object",
    "properties": dict.fromkeys(CRITERIA, _ENTRY),
    "required": list(CRITERIA),
    "additionalProperties": False,
}


def check_step(scope: Scope, rounds: int) -> Step:
    """Drops pairs that miss a criterion still after ``rounds`` revisions, and those that no check
    could be read of."""

    async def check(row: Draft, context: StepContext) -> Kept:
        draft, left = row, rounds
        while missed := await _missed(draft, scope, context, rounds - left):
            if isinstance(missed, Drop):
                return missed
            if not left:
                return Drop(_MISSED, f"{', '.join(missed)}: {draft.question}")
            new = await _revised(draft, missed, scope, context, rounds - left)
            if isinstance(new, Drop):
                return new
            draft, left = new, left - 1
        return draft

    return Step(
        name="criteria",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_UNCHECKED, _MISSED, _GIVEN_UP),
        config={
            "scope": scope,
            "rounds": rounds,
            "reasks": _REASKS,
            "criteria": criteria_digest(scope),
            "prompts": [prompt_digest("check"), prompt_digest("revise")],
        },
        asks=("checker", *(("author",) if rounds else ())),
    )


def check_prompt(draft: Draft, scope: Scope) -> str:
    """What the checker is sent; of a private document the passage too."""
    text = draft.ground.text if scope.is_private else ""
    return render(
        "check",
        draft.language,
        private=scope.is_private,
        criteria=tuple(criteria_in(draft.language, scope, draft.asked().validity).items()),
        question=block("question", draft.question, draft.language),
        answer=block("answer", draft.answer, draft.language),
        passage=block("passage", text, draft.language) if text else "",
    )


def revise_prompt(draft: Draft, missed: Mapping[str, str], scope: Scope) -> str:
    """What the author is sent of a pair that misses criteria."""
    language, text = draft.language, draft.ground.text
    criteria = criteria_in(language, scope, draft.asked().validity)
    return render(
        "revise",
        language,
        private=scope.is_private,
        missed=[(criteria[name], suggestion) for name, suggestion in missed.items()],
        question=block("question", draft.question, language),
        answer=block("answer", draft.answer, language),
        passage=block("passage", text, language) if text else "",
    )


async def _missed(
    draft: Draft, scope: Scope, context: StepContext, number: int
) -> dict[str, str] | Drop:
    """The criteria that are missed, each with a suggestion; a drop where no reply could be read."""
    found: Any = await ask_for(
        context.calls["checker"],
        f"check {number + 1}",
        [Message("user", check_prompt(draft, scope))],
        _Review,
        _SCHEMA,
        reasks=_REASKS,
    )
    if isinstance(found, str):
        return Drop(_UNCHECKED, draft.question)
    entries = {name: getattr(found, name) for name in CRITERIA}
    return {
        name: " ".join(entry.suggestion.split())
        for name, entry in entries.items()
        if entry.label == "missed"
    }


async def _revised(
    draft: Draft, missed: Mapping[str, str], scope: Scope, context: StepContext, number: int
) -> Draft | Drop:
    """The pair as its author writes it now; a drop where there is none, or still the same."""
    prompt = revise_prompt(draft, missed, scope)
    call = context.calls["author"]
    name = f"revise {number + 1}"
    new = await ask_for(call, name, [Message("user", prompt)], Written, PAIR_SCHEMA)
    if isinstance(new, str):
        return Drop(_GIVEN_UP, new)
    revised = draft.with_pair(new)
    if not revised.question or not plain_answer(revised.answer):
        return Drop(_GIVEN_UP, draft.question)
    if (revised.question, revised.answer) == (draft.question, draft.answer):
        return Drop(_MISSED, f"{', '.join(missed)}: {draft.question}")
    return revised


# The type of each answer: by rule where that is certain, else by the judges.

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)


_DAY = r"\d{1,2}(?:st|nd|rd|th)?"


_DATE = re.compile(
    r"\A(?:\d{4}-\d{2}(?:-\d{2})?"
    rf"|(?:{_DAY} )?{_MONTH},? \d{{3,4}}|{_MONTH} {_DAY},? \d{{3,4}}"
    r"|(?:公元前?)?\d{1,4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?)\Z",
    re.IGNORECASE,
)


_YEAR = re.compile(r"\A\d{3,4}\Z")


_ASKS_YEAR = re.compile(r"\b(?:(?:which|what) year|when)\b|哪一?年|何年|什么时候", re.IGNORECASE)


_ASKS_NUMBER = re.compile(r"\bhow (?:many|much)\b|多少|几[个种条座次名位]", re.IGNORECASE)


def kind_step(judges: SeatedJudges) -> Step:
    """Each pair with the type of its answer; those that have one keep it, and one on which judges
    come to nothing has none."""

    async def name(row: Draft, context: StepContext) -> Kept:
        if row.answer_type:
            return row
        ruled = type_by_rule(row.question, row.answer)
        if ruled:
            return structs.replace(row, answer_type=ruled)
        texts = {"question": row.question, "answer": row.answer}
        question = QUESTIONS.question("type", row.language, texts)
        verdict = await QUESTIONS.ask(judges, context, "type", question)
        return structs.replace(row, answer_type=_known(verdict.label))

    return Step(
        name="answer type",
        version=1,
        takes=Draft,
        work=name,
        config={**QUESTIONS.config(judges, "type"), "rules": 1},
        asks=judges.asks,
    )


def type_by_rule(question: str, answer: str) -> AnswerType:
    """``date`` or ``number`` where both question and answer leave nothing else; else empty."""
    plain = plain_answer(answer)
    if _DATE.match(plain):
        return "date"
    if _YEAR.match(plain) and _ASKS_YEAR.search(question) and not _ASKS_NUMBER.search(question):
        return "date"
    if as_number(plain) is not None and _ASKS_NUMBER.search(question):
        return "number"
    return ""


def _known(label: str) -> AnswerType:
    return next((known for known in ANSWER_TYPES if known == label), "")


# A panel of models answers each pair's question: what all of them know is too easy.

_WAY = prepare("direct", 0, ItemSet(name="", kind="form", method="chinese_simpleqa"), None)


def difficulty_step(judges: SeatedJudges, seats: Mapping[str, str], least_wrong: int) -> Step:
    """Drops pairs that fewer than ``least_wrong`` members get wrong. Raises BadUsage where the
    panel has not so many."""
    panel = PanelFilter(
        seats=dict(seats),
        rule=DifficultyRule(len(seats), least_wrong),
        messages=_messages,
        rate=partial(_rate, judges),
        kept=_kept,
        oracle=_oracle,
    )
    return panel_step(
        "difficulty",
        panel,
        version=1,
        takes=Draft,
        config={
            "scorer": SCORER_VERSION,
            "prompt": _WAY.prompt_hash.hex(),
            **judges.config(),
        },
        judges=judges.asks,
    )


def _item(row: Draft) -> LoadedItem:
    item = Item(
        kind="chinese_simpleqa.question",
        payload=row.asked(),
        language=row.language,
        stratum=row.stratum,
    )
    return LoadedItem(structs.replace(item, id=item_id(item)), ())


def _messages(row: Draft) -> list[Message]:
    return messages(_item(row), _WAY)


def _oracle(row: Draft) -> Oracle:
    return oracle(_item(row), _WAY.name)


async def _rate(
    judges: SeatedJudges, row: Draft, reply: Reply, context: StepContext
) -> Score | None:
    """The grade of one reply by the method's own scorer; the judges of the build decide what no
    rule settles."""

    async def judge(question: JudgeQuestion) -> PanelVerdict:
        return await judges.ask(context, "grade", question, kept_by_tie=QUESTIONS.keeps["grade"])

    unit = Unit(item=_item(row), sample=0, replies={STEPS[_WAY.name]: reply}, clusters=())
    scores = await score([unit], judge)
    return next((each for each in scores if each.measure == GRADED), None)


def _kept(row: Draft, decision: PanelDecision) -> Draft:
    return structs.replace(row, wrong=decision.wrong)


# A second look at each pair, which deletes and does not revise.

_MISSES, _STRAYS = "criteria not met", "of another category"


def delete_step(judges: SeatedJudges, scope: Scope) -> Step:
    """Drops pairs that miss a criterion, or are not of the category that they have."""
    questions = questions_for(scope)

    async def check(row: Draft, context: StepContext) -> Kept:
        name, question = deletion_question(row, scope)
        verdict = await questions.ask(judges, context, name, question)
        if verdict.label == "meets":
            return row
        reason = {"misses": _MISSES, "strays": _STRAYS}.get(verdict.label)
        return Drop(reason or why_undecided(verdict), row.question)

    return Step(
        name="second look",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_MISSES, _STRAYS, *judges.silent),
        config={
            **questions.config(judges, "criteria"),
            "scope": scope,
            "criteria": criteria_digest(scope),
        },
        asks=judges.asks,
    )


def deletion_question(row: Draft, scope: Scope) -> tuple[str, JudgeQuestion]:
    """What judges are asked of a pair, with the name of the question: of its category too where it
    has one, and with its passage where that is private."""
    criteria = criteria_in(row.language, scope, row.asked().validity)
    listed = "\n".join(f"- {each}" for each in criteria.values())
    texts = {"question": row.question, "answer": row.answer}
    if scope.is_private and row.ground.text:
        texts["passage"] = row.ground.text
    category = category_of(row.stratum)
    name = "category" if category else "criteria"
    if category:
        texts["category"] = category
    return name, questions_for(scope).question(name, row.language, texts, {"criteria": listed})


_REASONS = {
    "contradicted": "contradicted by evidence",
    "several": "several answers by evidence",
    "changes": "changes with time by evidence",
    "insufficient": "not enough evidence",
}


_SAID = "text"


def evidence_step(judges: SeatedJudges, n: int, searches: Sequence[str], scope: Scope) -> Step:
    """Drops pairs that the ``n`` texts each search finds for them do not bear out. Of the others
    the text that says it is kept as their support; the address of one of the web stands among the
    pair's pages, and beside a passage that the pair was written from it is no more than that. The
    evidence of a private document is its passage and what is found of the same document."""
    questions = questions_for(scope)

    async def check(row: Draft, context: StepContext) -> Kept:
        found = await _found(row, context.search, n)
        texts = _texts(row, found, n, scope)
        if not texts:
            return Drop(_REASONS["insufficient"], row.question)
        question = evidence_question(row, texts, scope)
        verdict = await questions.ask(judges, context, "evidence", question, votes=judges.votes)
        if verdict.label != "supported":
            reason = _REASONS.get(verdict.label) or why_undecided(verdict)
            return Drop(reason, row.question)
        support = _by_rule(row, texts) or await _by_judges(row, texts, judges, context)
        if support is None:
            return Drop(_REASONS["insufficient"], row.question)
        address = next((each.address for each in found if _is_of_web(each, support)), "")
        if not address:
            return structs.replace(row, support=support)
        urls = tuple(dict.fromkeys([*row.urls, address]))
        return structs.replace(row, urls=urls, support=Ground() if row.ground.passage else support)

    return Step(
        name="evidence",
        version=1,
        takes=Draft,
        work=check,
        reasons=(*_REASONS.values(), *judges.silent),
        config={**questions.config(judges, "evidence", judges.votes), "texts": n},
        asks=judges.asks,
        reads=tuple(f"search:{name}" for name in searches),
    )


def evidence_question(row: Draft, texts: Sequence[Ground], scope: Scope) -> JudgeQuestion:
    """What judges are asked of a pair and the texts that were found."""
    asked = questions_for(scope).question(
        "evidence", row.language, {"question": row.question, "answer": row.answer, "text": ""}
    )
    *pair, shown = asked.exhibits
    found = [
        Exhibit(f"{shown.name} {number}", each.text) for number, each in enumerate(texts, start=1)
    ]
    return structs.replace(asked, exhibits=(*pair, *found))


def source_question(row: Draft, texts: Sequence[Ground]) -> JudgeQuestion:
    """Which of the texts says it: ``text 1``, ``text 2``, ... or none."""
    asked = QUESTIONS.question(
        "source", row.language, {"question": row.question, "answer": row.answer}
    )
    says, none = asked.labels
    exhibits = [Exhibit(f"{says.name} {n}", each.text) for n, each in enumerate(texts, start=1)]
    labels = [Label(each.name, says.meaning) for each in exhibits]
    return structs.replace(asked, labels=(*labels, none), exhibits=(*asked.exhibits, *exhibits))


async def _found(row: Draft, search: Searcher | None, n: int) -> Sequence[FoundText]:
    """What the searches find, best first."""
    made_from = (row.ground.source,) if row.ground.source else ()
    return () if search is None else await search(row.question, n, made_from=made_from)


def _texts(row: Draft, found: Sequence[FoundText], n: int, scope: Scope) -> list[Ground]:
    """What was found; before it the text that a ready pair came with. Of a private document: its
    passage, and what else of it was found."""
    if scope.is_private and row.ground.text:
        others = [each for each in found if each.passage != row.ground.passage]
        same = [each for each in others if each.source == row.ground.source]
        return [row.ground, *(_ground(each, row.ground) for each in same[: n - 1])]
    own = [row.ground] if row.ground.text and not row.ground.passage else []
    return [*own, *(_ground(each, row.ground) for each in found)]


def _is_of_web(found: FoundText, support: Ground) -> bool:
    return found.is_web and found.source == support.source


def _ground(found: FoundText, own: Ground) -> Ground:
    """A text as what a pair rests on, with its page where it is of the pair's own passage."""
    page = own.page if found.passage == own.passage else ""
    return Ground(found.text, found.title, "", page, found.passage, found.source)


def _by_rule(row: Draft, texts: Sequence[Ground]) -> Ground | None:
    """The one text with the answer in it, whole; of several that of the pair's own passage."""
    said = [
        each
        for each in texts
        if any(_evidence_holds(each.text, text) for text in row.asked().answers)
    ]
    own = [each for each in said if each.passage and each.passage == row.ground.passage]
    if own:
        return own[0]
    return said[0] if len(said) == 1 else None


async def _by_judges(
    row: Draft, texts: Sequence[Ground], judges: SeatedJudges, context: StepContext
) -> Ground | None:
    verdict = await QUESTIONS.ask(judges, context, "source", source_question(row, texts))
    number = verdict.label.removeprefix(f"{_SAID} ")
    return texts[int(number) - 1] if number.isdigit() else None


def _evidence_holds(text: str, answer: str) -> bool:
    """Whether an answer stands in a text: not as a part of a longer word or number."""
    pattern = re.escape(answer.strip())
    before = r"(?<![A-Za-z0-9])" if answer.strip()[:1].isascii() else ""
    after = r"(?![A-Za-z0-9])" if answer.strip()[-1:].isascii() else ""
    return re.search(before + pattern + after, text, re.IGNORECASE) is not None
