"""Check pairs by criteria, search evidence, known questions, a panel of models, and harm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from proofstone.choices.outcomes import TEXT, ask_for, object_of_all, object_of_texts
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import missing_file
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.judging.difficulty import DifficultyRule, PanelFilter, panel_step
from proofstone.judging.panel import JudgeSlots, judged_step, why_undecided
from proofstone.methods.chinese_simpleqa.ask import STEPS, messages, oracle, prepare
from proofstone.methods.chinese_simpleqa.build.pairs import (
    CRITERIA,
    PAIR_SCHEMA,
    PROMPTS,
    PUBLIC,
    QUESTIONS,
    Draft,
    Ground,
    Scope,
    Written,
    block,
    category_of,
    criteria_digest,
    criteria_in,
    questions_for,
    with_names,
)
from proofstone.methods.chinese_simpleqa.payloads import ANSWER_TYPES, AnswerType
from proofstone.methods.chinese_simpleqa.questions import ANSWER, QUESTION
from proofstone.methods.chinese_simpleqa.sameness import GRADED, as_number, plain_answer
from proofstone.methods.chinese_simpleqa.score import SCORER_VERSION, score
from proofstone.records.builds import BatchRows, BatchStep, Drop, Kept, Step, StepContext
from proofstone.records.calls import FoundText, Message, Searcher
from proofstone.records.ids import canonical_json, digest
from proofstone.records.items import Item, ItemSet, LoadedItem, Unit, identified_item
from proofstone.records.knowledge import Fact
from proofstone.records.runs import Response, Score
from proofstone.records.tables import Row
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelVerdict
from proofstone.search.near_duplicates import near_duplicates
from proofstone.texts.templates import Patterns

# Sensitive pairs: a separate judge, if one is set.


def sensitive_step(judges: JudgeSlots, scope: Scope) -> Step:
    """Drop pairs that the judges find sensitive, or do not decide."""
    return judged_step(
        judges,
        questions_for(scope),
        "sensitive",
        lambda row: ("sensitive", pair_question(row, "sensitive", scope)),
        name="sensitive",
        takes=Draft,
        drops={"sensitive": "sensitive content"},
        found=lambda row: row.question,
    )


def pair_question(
    row: Draft,
    name: str,
    scope: Scope = PUBLIC,
    more: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> JudgeQuestion:
    """Return the judge question of this name about a pair, with ``more`` texts."""
    texts = {"question": row.question, "answer": row.answer, **(more or {})}
    return questions_for(scope).question(name, row.language, texts, values)


# Aliases written by a model; judges must confirm that they mean the same answer.
#
# A response equal to an alias is graded correct by rule, so a wrong alias is a wrong grade.


def alias_step(judges: JudgeSlots) -> Step:
    """Return each pair with its confirmed aliases; drops none.

    An undecided alias is removed. Aliases of users' pairs, and parts of a name with its original,
    are not judged.
    """

    async def check(row: Draft, context: StepContext) -> Kept:
        certain = with_names(row.answer, ())
        if not row.by_author or set(row.aliases) <= set(certain):
            return row

        async def holds(alias: str) -> bool:
            question = pair_question(row, "alias", more={"alias": alias})
            return (await QUESTIONS.ask(judges, context, "alias", question)).label == "same"

        kept = [alias for alias in row.aliases if alias in certain or await holds(alias)]
        return structs.replace(row, aliases=tuple(kept))

    return Step(
        name="aliases",
        version=1,
        takes=Draft,
        work=check,
        config=QUESTIONS.config(judges, "alias"),
        asks=judges.asks,
    )


# Pairs against their criteria: another model names violations, and the author revises.

_UNCHECKED, _MISSED, _GIVEN_UP = "not checked", "criteria not met", "given up by its author"


_REASKS = 2


class _Checked(Struct, frozen=True, forbid_unknown_fields=True):
    label: Literal["met", "missed"]
    suggestion: str = ""


# One entry per criterion; a response that omits one is invalid.
_Review = msgspec.defstruct(
    "_Review", [(name, _Checked) for name in CRITERIA], frozen=True, forbid_unknown_fields=True
)


_REVIEW = object_of_all(
    dict.fromkeys(
        CRITERIA,
        object_of_all({"label": {**TEXT, "enum": ["met", "missed"]}, "suggestion": TEXT}),
    ),
    title="review",
)


def check_step(scope: Scope, rounds: int) -> Step:
    """Drop pairs that still violate a criterion after ``rounds`` revisions, or whose checks are
    unparsed.
    """

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
            "prompts": [PROMPTS.key("check"), PROMPTS.key("revise")],
        },
        asks=("checker", *(("author",) if rounds else ())),
    )


def check_prompt(draft: Draft, scope: Scope) -> str:
    """Return the checker's prompt; for a private document it includes the passage."""
    criteria = criteria_in(draft.language, scope, draft.asked().validity)
    return _pair_prompt("check", draft, scope, criteria=tuple(criteria.items()))


def revise_prompt(draft: Draft, missed: Mapping[str, str], scope: Scope) -> str:
    """Return the author's prompt for a pair that violates criteria."""
    criteria = criteria_in(draft.language, scope, draft.asked().validity)
    listed = [(criteria[name], suggestion) for name, suggestion in missed.items()]
    return _pair_prompt("revise", draft, scope, missed=listed)


def _pair_prompt(name: str, draft: Draft, scope: Scope, **values: Any) -> str:
    language = draft.language
    text = draft.ground.text if scope.is_private or name == "revise" else ""
    return PROMPTS.render(
        name,
        language,
        private=scope.is_private,
        question=block("question", draft.question, language),
        answer=block("answer", draft.answer, language),
        passage=block("passage", text, language) if text else "",
        **values,
    )


async def _missed(
    draft: Draft, scope: Scope, context: StepContext, number: int
) -> dict[str, str] | Drop:
    """Return the violated criteria with suggestions, or a drop for unparsed responses."""
    found: Any = await ask_for(
        context.calls["checker"],
        f"check {number + 1}",
        [Message("user", check_prompt(draft, scope))],
        _Review,
        _REVIEW,
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
    """Return the revised pair, or a drop if there is none, or no change."""
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


# The type of each answer: by rule if that is certain, otherwise by the judges.


_PATTERNS = Patterns(__package__)


_DATE = _PATTERNS.one("date", re.IGNORECASE)


_YEAR = re.compile(r"\A\d{3,4}\Z")


_ASKS_YEAR = re.compile(r"\b(?:(?:which|what) year|when)\b|哪一?年|何年|什么时候", re.IGNORECASE)


_ASKS_NUMBER = re.compile(r"\bhow (?:many|much)\b|多少|几[个种条座次名位]", re.IGNORECASE)


def kind_step(judges: JudgeSlots) -> Step:
    """Add the answer type to each pair without one; none if the judges do not decide."""

    async def name(row: Draft, context: StepContext) -> Kept:
        if row.answer_type:
            return row
        overridden = type_by_rule(row.question, row.answer)
        if overridden:
            return structs.replace(row, answer_type=overridden)
        verdict = await QUESTIONS.ask(judges, context, "type", pair_question(row, "type"))
        known = next((known for known in ANSWER_TYPES if known == verdict.label), "")
        return structs.replace(row, answer_type=known)

    return Step(
        name="answer type",
        version=1,
        takes=Draft,
        work=name,
        config={**QUESTIONS.config(judges, "type"), "rules": 1},
        asks=judges.asks,
    )


def type_by_rule(question: str, answer: str) -> AnswerType:
    """Return ``date`` or ``number`` if question and answer are unambiguous, otherwise ""."""
    plain = plain_answer(answer)
    if _DATE.match(plain):
        return "date"
    if _YEAR.match(plain) and _ASKS_YEAR.search(question) and not _ASKS_NUMBER.search(question):
        return "date"
    if as_number(plain) is not None and _ASKS_NUMBER.search(question):
        return "number"
    return ""


# A panel of models answers each question: what all of them know is too easy.

_PROMPT_METHOD = prepare(
    "direct", 0, ItemSet(name="", kind="form", method="chinese_simpleqa"), None
)


def difficulty_step(judges: JudgeSlots, slots: Mapping[str, str], least_wrong: int) -> Step:
    """Drop pairs that fewer than ``least_wrong`` members answer incorrectly.

    Raises BadUsage if the panel is smaller than that.
    """

    async def rate(row: Draft, response: Response, context: StepContext) -> Score | None:
        """Return the grade of one response by the method's scorer, with the judges of the build."""

        async def judge(question: JudgeQuestion) -> PanelVerdict:
            tie = QUESTIONS.keeps["grade"]
            return await judges.ask(context, "grade", question, kept_by_tie=tie)

        unit = Unit(
            item=_item(row), sample=0, responses={STEPS[_PROMPT_METHOD.name]: response}, clusters=()
        )
        scores = await score([unit], judge)
        return next((each for each in scores if each.measure == GRADED), None)

    panel = PanelFilter(
        slots=dict(slots),
        rule=DifficultyRule(len(slots), least_wrong),
        messages=lambda row, _context: messages(_item(row), _PROMPT_METHOD),
        rate=rate,
        kept=lambda row, decision: structs.replace(row, wrong=decision.wrong),
        oracle=lambda row: oracle(_item(row), _PROMPT_METHOD.name),
    )
    return panel_step(
        "difficulty",
        panel,
        version=1,
        takes=Draft,
        config={
            "scorer": SCORER_VERSION,
            "prompt": _PROMPT_METHOD.prompt_hash.hex(),
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
    return LoadedItem(identified_item(item), ())


# A second check of each pair, which deletes and does not revise.


def delete_step(judges: JudgeSlots, scope: Scope) -> Step:
    """Drop pairs that violate a criterion, or do not fit their category."""
    return judged_step(
        judges,
        questions_for(scope),
        "criteria",
        lambda row: deletion_question(row, scope),
        name="second look",
        takes=Draft,
        drops={"misses": "criteria not met", "strays": "of another category"},
        found=lambda row: row.question,
        config={"scope": scope, "criteria": criteria_digest(scope)},
    )


def deletion_question(row: Draft, scope: Scope) -> tuple[str, JudgeQuestion]:
    """Return the judge question about a pair, and its name.

    It includes the category if there is one, and the passage of a private document.
    """
    criteria = criteria_in(row.language, scope, row.asked().validity)
    listed = "\n".join(f"- {each}" for each in criteria.values())
    more = {"passage": row.ground.text} if scope.is_private and row.ground.text else {}
    category = category_of(row.stratum)
    if category:
        more["category"] = category
    name = "category" if category else "criteria"
    return name, pair_question(row, name, scope, more, {"criteria": listed})


_REASONS = {
    "contradicted": "contradicted by evidence",
    "several": "several answers by evidence",
    "changes": "changes with time by evidence",
    "insufficient": "not enough evidence",
}


_SAID = "text"


def evidence_step(judges: JudgeSlots, n: int, searches: Sequence[str], scope: Scope) -> Step:
    """Drop pairs that the ``n`` texts of each search do not confirm.

    The confirming text is stored as the pair's support, and a web address is added to its pages.
    Next to the pair's source passage, a web text is no more than a page. The evidence of a private
    document is its passage and further texts of the same document.
    """
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
        said_by = (each for each in found if each.is_web and each.source == support.source)
        address = next((each.address for each in said_by), "")
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
    """Return the judge question about a pair and the retrieved texts."""
    asked = pair_question(row, "evidence", scope, {"text": ""})
    *pair, shown = asked.exhibits
    found = [
        Exhibit(f"{shown.name} {number}", each.text) for number, each in enumerate(texts, start=1)
    ]
    return structs.replace(asked, exhibits=(*pair, *found))


def source_question(row: Draft, texts: Sequence[Ground]) -> JudgeQuestion:
    """Return the question which text states the answer: ``text 1``, ``text 2``, ... or none."""
    asked = pair_question(row, "source")
    says, none = asked.labels
    exhibits = [Exhibit(f"{says.name} {n}", each.text) for n, each in enumerate(texts, start=1)]
    labels = [Label(each.name, says.meaning) for each in exhibits]
    return structs.replace(asked, labels=(*labels, none), exhibits=(*asked.exhibits, *exhibits))


async def _found(row: Draft, search: Searcher | None, n: int) -> Sequence[FoundText]:
    """Return the search results, best first."""
    made_from = (row.ground.source,) if row.ground.source else ()
    return () if search is None else await search(row.question, n, made_from=made_from)


def _texts(row: Draft, found: Sequence[FoundText], n: int, scope: Scope) -> list[Ground]:
    """Return the evidence: the text of a ready pair, then the search results.

    For a private document: its passage, and further texts of that document.
    """
    if scope.is_private and row.ground.text:
        others = [each for each in found if each.passage != row.ground.passage]
        same = [each for each in others if each.source == row.ground.source]
        return [row.ground, *(_ground(each, row.ground) for each in same[: n - 1])]
    own = [row.ground] if row.ground.text and not row.ground.passage else []
    return [*own, *(_ground(each, row.ground) for each in found)]


def _ground(found: FoundText, own: Ground) -> Ground:
    """Return a text as a pair's support, with its page if it is from the pair's own passage."""
    page = own.page if found.passage == own.passage else ""
    return Ground(found.text, found.title, "", page, found.passage, found.source)


def _by_rule(row: Draft, texts: Sequence[Ground]) -> Ground | None:
    """Return the one text that contains the answer; of several, that of the pair's own passage."""
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
    row: Draft, texts: Sequence[Ground], judges: JudgeSlots, context: StepContext
) -> Ground | None:
    verdict = await QUESTIONS.ask(judges, context, "source", source_question(row, texts))
    number = verdict.label.removeprefix(f"{_SAID} ")
    return texts[int(number) - 1] if number.isdigit() else None


def _evidence_holds(text: str, answer: str) -> bool:
    """Return True if an answer occurs in a text, not as a part of a longer word or number."""
    pattern = re.escape(answer.strip())
    before = r"(?<![A-Za-z0-9])" if answer.strip()[:1].isascii() else ""
    after = r"(?![A-Za-z0-9])" if answer.strip()[-1:].isascii() else ""
    return re.search(before + pattern + after, text, re.IGNORECASE) is not None


# Near-duplicates of questions in the bank, other banks or public sets: reworded once, dropped if
# still too similar.

_SAME, _UNSOUND = "same as another", "poor rewording"


_REWORDED = object_of_texts("question", title="question")


class _Reworded(Struct, frozen=True):
    question: str


def near_step(least: float, known: KnownSets) -> BatchStep:
    """Mark each pair that is too similar to an earlier or known one, with that question."""

    def mark(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        drafts: Sequence[Draft] = list(rows)
        found = _alike(drafts, known.all(context.banks), least)
        return {at: structs.replace(drafts[at], like=like) for at, like in found.items()}

    return BatchStep(
        name="near-duplicates",
        version=1,
        takes=Draft,
        work=mark,
        config={"least": least, "known": known.key()},
        reads=known.reads,
    )


def rewrite_step(judges: JudgeSlots) -> Step:
    """Reword each marked pair with its author; the answer stays, and other pairs pass unchanged.

    The judges decide whether the new question asks for the same fact.
    """

    async def rewrite(row: Draft, context: StepContext) -> Kept:
        if not row.like:
            return row
        prompt = [Message("user", rewrite_prompt(row))]
        new = await ask_for(context.calls["author"], "rewrite", prompt, _Reworded, _REWORDED)
        question = "" if isinstance(new, str) else " ".join(new.question.split())
        if not question or plain_answer(question) == plain_answer(row.question):
            return Drop(_SAME, row.like)
        texts = {"before": row.question, "after": question, "answer": row.answer}
        asked = QUESTIONS.question("rewritten", row.language, texts)
        verdict = await QUESTIONS.ask(judges, context, "rewritten", asked)
        if verdict.label != "sound":
            return Drop(_UNSOUND if verdict.label else why_undecided(verdict), question)
        return structs.replace(row, question=question, like="", by_author=True)

    return Step(
        name="reworded",
        version=1,
        takes=Draft,
        work=rewrite,
        reasons=(_SAME, _UNSOUND, *judges.silent),
        config={**QUESTIONS.config(judges, "rewritten"), "prompt": PROMPTS.key("rewrite")},
        asks=("author", *judges.asks),
    )


def left_step(least: float, known: KnownSets) -> BatchStep:
    """Drop pairs that are still too similar, and remove conflicting aliases.

    An alias conflicts if it is the answer of a question that does not accept this one's answer.
    """

    def check(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        drafts: Sequence[Draft] = list(rows)
        found = _alike(drafts, known.all(context.banks), least)
        left = {at: draft for at, draft in enumerate(drafts) if at not in found}
        made: dict[int, Kept] = {at: Drop(_SAME, like) for at, like in found.items()}
        return made | _without_aliases(left)

    return BatchStep(
        name="near-duplicates left",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SAME,),
        config={"least": least, "known": known.key()},
        reads=known.reads,
    )


def rewrite_prompt(row: Draft) -> str:
    """Return the author's prompt for a pair that is too similar to another."""
    language = row.language
    return PROMPTS.render(
        "rewrite",
        language,
        question=block("question", row.question, language),
        answer=block("answer", row.answer, language),
        known=block("known question", row.like, language),
    )


def _alike(drafts: Sequence[Draft], known: Sequence[KnownPair], least: float) -> dict[int, str]:
    """Return the places of pairs too similar to an earlier kept one, with its question.

    The question is the same, or nearly the same with the same answer (or an unknown one). Similar
    wording often asks for two different things: those are two questions.
    """
    texts = [*(each.question for each in known), *(each.question for each in drafts)]
    answers = [
        *({plain_answer(each.answer)} - {""} for each in known),
        *({plain_answer(text) for text in each.asked().answers} for each in drafts),
    ]
    plain = [plain_answer(text) for text in texts]

    def fits(one: int, other: int) -> bool:
        if plain[one] == plain[other] or not answers[one]:
            return True
        return not answers[one].isdisjoint(answers[other])

    found = near_duplicates(texts, least, n_known=len(known), fits=fits)
    return {place - len(known): texts[like] for place, like in found.items()}


def _without_aliases(drafts: Mapping[int, Draft]) -> dict[int, Kept]:
    """Return the pairs that lose an alias, since question files with conflicts are rejected."""
    taken: dict[str, list[set[str]]] = {}
    for draft in drafts.values():
        plain = {plain_answer(text) for text in draft.asked().answers}
        taken.setdefault(plain_answer(draft.answer), []).append(plain)
    made: dict[int, Kept] = {}
    for at, draft in drafts.items():
        own = plain_answer(draft.answer)
        kept = tuple(
            alias
            for alias in draft.aliases
            if all(own in plain for plain in taken.get(plain_answer(alias), ()))
        )
        if kept != draft.aliases:
            made[at] = structs.replace(draft, aliases=kept)
    return made


# Known questions: of public sets in files, and of other banks.


class KnownPair(Struct, frozen=True):
    """Hold a known question and its answer, empty if unknown."""

    question: str
    answer: str = ""


class KnownSets(Struct, frozen=True):
    """Hold the questions for comparison: those of files, and ``banks`` by name."""

    pairs: tuple[KnownPair, ...] = ()
    banks: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the banks that a step reads."""
        return tuple(f"bank:{name}" for name in self.banks)

    def key(self) -> str:
        """Return the part of a step's key that depends on the files."""
        return digest(canonical_json(self.pairs)).hex()

    def all(self, banks: Mapping[str, Sequence[Fact]]) -> list[KnownPair]:
        """Return all questions, those of files first. Raises BadUsage for a bank of another
        kind."""
        found = list(self.pairs)
        for name, facts in banks.items():
            for fact in facts:
                question = getattr(fact.payload, "question", None)
                if not isinstance(question, str):
                    raise BadUsage(f"--against {name}: the bank has no questions")
                found.append(KnownPair(question, str(getattr(fact.payload, "answer", ""))))
        return found


def read_known(against: str) -> KnownSets:
    """Parse ``FILE|BANK,...``: names with a file extension are files, others are banks.

    Raises BadInput with every problem of a file, NotFound for a missing file.
    """
    pairs: list[KnownPair] = []
    banks: list[str] = []
    for name in filter(None, map(str.strip, against.split(","))):
        path = Path(name)
        if path.is_file():
            pairs += read_checked(path, _pairs)
        elif path.suffix in {".jsonl", ".csv", ".json", ".parquet", ".tsv"}:
            raise missing_file(name, "--against takes files and banks")
        else:
            banks.append(name)
    return KnownSets(tuple(dict.fromkeys(pairs)), tuple(dict.fromkeys(banks)))


def _pairs(rows: Iterable[Row]) -> list[KnownPair]:
    problems: list[Problem] = []
    found = []
    for row in rows:
        fields = Fields(row, problems)
        found.append(KnownPair(fields.required_text(*QUESTION), fields.label(*ANSWER)))
    if problems:
        raise BadInput("The questions to compare with cannot be read.", problems)
    return found
