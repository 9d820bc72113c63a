"""What a question tests: features by three judges, and the level of each axis that two give.

Section 4 names the four axes, and section E.6 the features.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

from proofstone.choices.outcomes import TEXT, list_of, object_of_all
from proofstone.judging.difficulty import MemberAnswer
from proofstone.judging.question import fence
from proofstone.judging.verdicts import decide
from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.jury.judgments import PROMPTS, Judgment, ask_checked
from proofstone.methods.kina.payloads import letters_of
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.verdicts import JudgeVote, PanelRules, RowVerdict
from proofstone.texts.languages import is_chinese

N_JUDGES = 3
RULES = PanelRules(quorum=2, majority="half")

Level = Literal["low", "medium", "high"]
LEVELS: tuple[Level, ...] = get_args(Level)
QuestionType = Literal["case_based", "applied_reasoning", "conceptual", "factual_recall"]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
AXES = {
    "coverage": "knowledge coverage",
    "uniqueness": "disciplinary uniqueness",
    "impact": "socio-economic impact",
    "value": "practical value",
}
UNJUDGED = "fewer than two judges"


class Features(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The features of a question as one judge names them."""

    knowledge_point: Annotated[str, Meta(min_length=1)]
    question_type: QuestionType
    key_topics: Annotated[tuple[str, ...], Meta(min_length=2, max_length=4)]
    coverage: Level
    uniqueness: Level
    impact: Level
    value: Level


class Answered(Struct, frozen=True, kw_only=True):
    """A question with the answers of the panel's members."""

    candidate: Candidate
    answers: tuple[MemberAnswer, ...]


class Featured(Struct, frozen=True, kw_only=True):
    """A question with its features: one judgment per judge, in the order of ``judges``.

    ``prompt`` is the key of the prompt. ``levels`` has the level of each axis that two judges gave;
    an axis without one is left out.
    """

    candidate: Candidate
    answers: tuple[MemberAnswer, ...]
    judges: tuple[str, ...]
    prompt: str
    features: tuple[Judgment[Features], ...]
    levels: dict[str, Level]

    @property
    def known(self) -> list[Features]:
        """Return the features of the judges whose judgments can be used."""
        return [judgment.value for judgment in self.features if judgment.value is not None]

    @property
    def knowledge_point(self) -> str:
        """Return the knowledge point of the first judge who named one."""
        return " ".join(self.known[0].knowledge_point.split())

    @property
    def question_type(self) -> str:
        """Return the type that two judges gave, or ``""``."""
        kind, n = Counter(each.question_type for each in self.known).most_common(1)[0]
        return kind if n > 1 else ""

    @property
    def topics(self) -> list[str]:
        """Return the topics that judges named, each once."""
        found = (" ".join(topic.split()) for each in self.known for topic in each.key_topics)
        return list({topic.casefold(): topic for topic in found}.values())


_SCHEMA = object_of_all(
    {
        "knowledge_point": TEXT,
        "question_type": {"type": "string", "enum": list(TYPES)},
        "key_topics": list_of(TEXT),
        **{axis: {"type": "string", "enum": list(LEVELS)} for axis in AXES},
    },
    title="features",
)


def features_step(judges: dict[str, str]) -> Step:
    """Return the step in which each judge, by slot, names the features of a question.

    A response that cannot be used is an error of its judge and no vote. A question with fewer than
    two usable responses is dropped.
    """

    async def name(row: Answered, context: StepContext) -> Kept:
        prompt = PROMPTS.render(
            "features", row.candidate.language, question=question_text(row.candidate),
            field=row.candidate.stratum.field or row.candidate.stratum.discipline,
        )  # fmt: skip
        judgments = await asyncio.gather(
            *(
                ask_checked(
                    context.calls[slot], "features", prompt, Features, _SCHEMA,
                    language=row.candidate.language,
                )
                for slot in judges
            )
        )  # fmt: skip
        levels: dict[str, Level] = {}
        for axis, shown in AXES.items():
            given = [
                vote_of(judge, judgment, getattr(judgment.value, axis, ""))
                for judge, judgment in zip(judges.values(), judgments, strict=True)
            ]
            verdict = decide(given, RULES)
            context.verdicts.append(RowVerdict(question=shown, verdict=verdict))
            if verdict.state == "decided":
                levels[axis] = verdict.label  # type: ignore[assignment]
        if sum(judgment.value is not None for judgment in judgments) < RULES.quorum:
            return Drop(UNJUDGED, problems_of(judges.values(), judgments))
        return Featured(
            candidate=row.candidate,
            answers=row.answers,
            judges=tuple(judges.values()),
            prompt=PROMPTS.key("features"),
            features=tuple(judgments),
            levels=levels,
        )

    return Step(
        name="features",
        version=1,
        takes=Answered,
        work=name,
        reasons=(UNJUDGED,),
        config={"prompt": [PROMPTS.key("features"), PROMPTS.key("again")]},
        asks=tuple(judges),
    )


def vote_of(judge: str, judgment: Judgment[Any], label: str) -> JudgeVote:
    """Return a judge's vote by its judgment; without a usable one it does not count."""
    if judgment.value is None:
        return JudgeVote(judge=judge, state="unparsed", trouble=judgment.problem)
    return JudgeVote(judge=judge, state="voted", label=label)


def problems_of(judges: Iterable[str], judgments: Sequence[Judgment[Features]]) -> str:
    """Return the judges whose judgments cannot be used, each with its problem."""
    return "; ".join(
        f"{judge}: {judgment.problem}"
        for judge, judgment in zip(judges, judgments, strict=True)
        if judgment.problem
    )


def question_text(row: Candidate) -> str:
    """Return a question with its options and the correct one, fenced for a prompt."""
    asked, letters = row.question, letters_of(row.question)
    lines = [
        asked.stem,
        *(f"{number}. {each}" for number, each in enumerate(asked.statements, 1)),
        *(f"{letter}. {each}" for letter, each in zip(letters, asked.options, strict=True)),
    ]
    chinese = is_chinese(row.language)
    lines.append(f"{'正确选项' if chinese else 'Correct option'}: {letters[asked.answer_key]}")
    return fence("题目" if chinese else "question", "\n".join(lines), row.language)
