"""Why a panel failed: types of errors by three judges; numbers are computed from its answers.

Section E.6 has the seven types and four levels of difficulty. There a judge also states the
dominant wrong answer. Here it is counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from proofstone.choices.outcomes import TEXT, list_of, object_of_all
from proofstone.judging.difficulty import MemberAnswer
from proofstone.judging.verdicts import decide
from proofstone.methods.kina.jury.features import RULES, Featured, question_text, vote_of
from proofstone.methods.kina.jury.judgments import PROMPTS, Judgment, ask_checked
from proofstone.records.builds import Kept, Step, StepContext
from proofstone.records.verdicts import RowVerdict
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import bundled_text

ERROR_TYPES: Mapping[str, Mapping[str, str]] = msgspec.toml.decode(
    bundled_text("proofstone.methods.kina", "error_types.toml"), type=dict[str, dict[str, str]]
)

Difficulty = Literal["easy", "medium", "hard", "very hard"]


class MemberError(Struct, frozen=True, forbid_unknown_fields=True):
    """The type of a member's error as one judge names it, and what it supposes."""

    member: str
    type: str
    hypothesis: str


class Errors(Struct, frozen=True, forbid_unknown_fields=True):
    """The errors of all members that were wrong."""

    errors: tuple[MemberError, ...]
    summary: str


class Failed(Struct, frozen=True, kw_only=True):
    """A question with its features and the panel's failures.

    ``types`` are the types of errors that two judges gave, by member; ``dominant`` the most common
    wrong answer with its count (see ``dominant_wrong``). ``difficulty`` is by the share of correct
    members.
    """

    featured: Featured
    prompt: str
    failures: tuple[Judgment[Errors], ...]
    types: dict[str, str]
    dominant: str
    difficulty: Difficulty

    @property
    def summary(self) -> str:
        """Return the summary of the first judge with a usable response, or ``""``."""
        return next((each.value.summary for each in self.failures if each.value is not None), "")


def wrong_members(answers: Sequence[MemberAnswer]) -> dict[str, MemberAnswer]:
    """Return the members that did not answer correctly, under neutral names."""
    return {
        f"M{number}": answer for number, answer in enumerate(answers, 1) if answer.state != "right"
    }


def dominant_wrong(answers: Sequence[MemberAnswer]) -> str:
    """Return the most common wrong answer as ``B 3/5``, of all members.

    ``varied`` if no wrong answer was given twice or two were given most often; empty without any.
    """
    given = Counter(each.answer for each in answers if each.state == "wrong" and each.answer)
    if not given:
        return ""
    (answer, most), *others = given.most_common(2)
    tied = bool(others) and others[0][1] == most
    return "varied" if most < 2 or tied else f"{answer} {most}/{len(answers)}"


def difficulty_of(answers: Sequence[MemberAnswer]) -> Difficulty:
    """Return the level by the share of correct members.

    Section E.6: above 80% easy, 50 to 80% medium, 20 to below 50% hard, below 20% very hard.
    """
    n, right = len(answers), sum(each.state == "right" for each in answers)
    if 5 * right > 4 * n:
        return "easy"
    if 2 * right >= n:
        return "medium"
    return "hard" if 5 * right >= n else "very hard"


_SCHEMA = object_of_all(
    {
        "errors": list_of(
            object_of_all(
                {
                    "member": TEXT,
                    "type": {"type": "string", "enum": list(ERROR_TYPES)},
                    "hypothesis": TEXT,
                }
            )
        ),
        "summary": TEXT,
    },
    title="failures",
)


def failures_step(judges: dict[str, str]) -> Step:
    """Return the step in which each judge names the type of each member's error.

    A response that cannot be used is an error of its judge and no vote. Members have neutral names.
    """

    async def explain(row: Featured, context: StepContext) -> Kept:
        wrong = wrong_members(row.answers)
        judgments = await asyncio.gather(
            *(
                ask_checked(
                    context.calls[slot], "failures", _prompt(row, wrong), Errors, _SCHEMA,
                    language=row.candidate.language, check=lambda said: _fault(said, set(wrong)),
                )
                for slot in judges
            )
        )  # fmt: skip
        types: dict[str, str] = {}
        for name, answer in wrong.items():
            given = []
            for judge, judgment in zip(judges.values(), judgments, strict=True):
                said = {e.member: e.type for e in judgment.value.errors} if judgment.value else {}
                given.append(vote_of(judge, judgment, said.get(name, "")))
            verdict = decide(given, RULES)
            question = f"error of {answer.member}"
            context.verdicts.append(RowVerdict(question=question, verdict=verdict))
            if verdict.state == "decided":
                types[answer.member] = verdict.label
        return Failed(
            featured=row,
            prompt=PROMPTS.key("failures"),
            failures=tuple(judgments),
            types=types,
            dominant=dominant_wrong(row.answers),
            difficulty=difficulty_of(row.answers),
        )

    return Step(
        name="failures",
        version=1,
        takes=Featured,
        work=explain,
        config={
            "prompt": [PROMPTS.key("failures"), PROMPTS.key("again")],
            "types": ERROR_TYPES,
        },
        asks=tuple(judges),
    )


def _fault(said: Errors, wrong: set[str]) -> str:
    """Return what is wrong with a judgment, empty if nothing is."""
    named = [each.member for each in said.errors]
    unknown = sorted({each.type for each in said.errors} - set(ERROR_TYPES))
    if unknown:
        return f"unknown type: {', '.join(unknown)}"
    if sorted(named) != sorted(wrong):
        return (
            f"errors of {', '.join(named) or 'no member'}; expected one each of "
            f"{', '.join(sorted(wrong))}"
        )
    return ""


def _prompt(row: Featured, wrong: Mapping[str, MemberAnswer]) -> str:
    language = row.candidate.language
    code, none = ("zh", "没有作答") if is_chinese(language) else ("en", "no answer")
    return PROMPTS.render(
        "failures",
        language,
        question=question_text(row.candidate),
        types={name: said[code] for name, said in ERROR_TYPES.items()},
        wrong={name: each.answer or none for name, each in wrong.items()},
        n=len(row.answers),
    )
