"""Pairs that ask what is asked already, in the bank, in others or in public sets: worded anew once,
and dropped where they are still too like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from proofstone.choices.outcomes import ask_for
from proofstone.judging.panel import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.build.known import KnownPair, KnownSets
from proofstone.methods.chinese_simpleqa.build.pairs import QUESTIONS, block, prompt_digest, render
from proofstone.methods.chinese_simpleqa.build.rows import Draft
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.builds import BatchRows, BatchStep, Drop, Kept, Step, StepContext
from proofstone.records.calls import Message
from proofstone.search.near_duplicates import near_duplicates

_SAME, _UNSOUND = "same as another", "not well worded anew"


_SCHEMA = {
    "title": "question",
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


class _Reworded(Struct, frozen=True):
    question: str


def near_step(least: float, known: KnownSets) -> BatchStep:
    """Marks each pair that is too like one before it, or like a known one, with its question."""

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


def rewrite_step(judges: SeatedJudges) -> Step:
    """Has its author word each marked pair anew, the answer as it was; the judges say whether the
    new question asks for the same fact. What is not marked goes by."""

    async def rewrite(row: Draft, context: StepContext) -> Kept:
        if not row.like:
            return row
        prompt = [Message("user", rewrite_prompt(row))]
        new = await ask_for(context.calls["author"], "rewrite", prompt, _Reworded, _SCHEMA)
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
        name="worded anew",
        version=1,
        takes=Draft,
        work=rewrite,
        reasons=(_SAME, _UNSOUND, *judges.silent),
        config={**QUESTIONS.config(judges, "rewritten"), "prompt": prompt_digest("rewrite")},
        asks=("author", *judges.asks),
    )


def left_step(least: float, known: KnownSets) -> BatchStep:
    """Drops what is too like another still; takes from the others each alias that is the answer of
    a question which does not take theirs."""

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
    """What the author is sent of a pair that is too like another."""
    language = row.language
    return render(
        "rewrite",
        language,
        question=block("question", row.question, language),
        answer=block("answer", row.answer, language),
        known=block("known question", row.like, language),
    )


def _alike(drafts: Sequence[Draft], known: Sequence[KnownPair], least: float) -> dict[int, str]:
    """The places of pairs that are too like an earlier one that stays, and its question: the same
    question, or one in nearly the same words with the same answer (or one whose answer is not
    told). In one wording two things are often asked for: those are two questions."""
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
    """The pairs that lose an alias; as files of questions are refused that have such."""
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
