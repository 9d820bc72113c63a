"""Build a bank of screened questions: ``build screened-questions`` (stage 1 of Table 2).

Rules first, which cost nothing; then a panel of models answers what is left. A question is kept if
at least three of five answer incorrectly. Near duplicates need all questions and their embeddings:
``check BANK --rules --embeddings`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.tables import read_rows
from proofstone.judging.difficulty import (
    DifficultyRule,
    PanelFilter,
    filtered_roles,
    panel_step,
)
from proofstone.method import read_asked
from proofstone.methods.kina.ask import STEP, messages, oracle_of, prepare
from proofstone.methods.kina.payloads import Asked, Question
from proofstone.methods.kina.questions import read_facts
from proofstone.methods.kina.rules import NEAR, RULES, findings
from proofstone.methods.kina.score import SCORER_VERSION, score
from proofstone.records.builds import (
    Drop,
    Kept,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    slots_of,
)
from proofstone.records.ids import content_id
from proofstone.records.items import Item, ItemSet, LoadedItem, Unit, identified_item
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, fact_id
from proofstone.records.runs import Response, Score

_PANEL = prepare("cot", 0, ItemSet(name="", kind="form", method="kina"), None)


_PUBLISHED = 5  # members of the paper's panel


class Candidate(Struct, frozen=True, kw_only=True):
    """A question that enters the screening."""

    question: Question
    language: str
    stratum: Stratum

    def fact(self) -> Fact:
        """Return the question as a fact with its id."""
        fact = Fact(
            kind="kina.question",
            payload=self.question,
            language=self.language,
            stratum=self.stratum,
        )
        return structs.replace(fact, id=fact_id(fact))


def candidates(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield the questions of files, or of exported banks, each once.

    Raises BadInput with every problem of a file, and for statements.
    """
    seen: set[bytes] = set()
    for path in inputs:
        rows = list(read_rows(path))
        facts = [built.fact for built in read_facts(rows)]
        problems = [
            Problem(row.place, "is a statement; expected a question")
            for row, fact in zip(rows, facts, strict=True)
            if not isinstance(fact.payload, Question)
        ]
        if problems:
            raise BadInput(f"cannot screen {path}", problems, hint="compose questions of it first")
        for fact in facts:
            if fact.id not in seen:
                seen.add(fact.id)
                yield Candidate(question=fact.payload, language=fact.language, stratum=fact.stratum)


def rules_step() -> Step:
    """Return the step that drops a question at the first rule that it breaks."""

    def check(row: Candidate, _context: StepContext) -> Kept:
        found = findings(row.question, row.language, row.stratum, RULES.lists)
        if not found:
            return row
        first = found[0]
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return Drop(first.rule, f"{first.where}: {first.found}{more}")

    return Step(
        name="rules",
        version=1,
        takes=Candidate,
        work=check,
        reasons=tuple(name for name in RULES.rules if name != NEAR),
        config={"lists": content_id("kina.lists", RULES.lists).hex()},
    )


def difficulty_step(models: Mapping[str, str], least_wrong: int) -> Step:
    """Return the step that drops what fewer than ``least_wrong`` of the panel answer incorrectly.

    Raises BadUsage for an impossible number.
    """
    slots = slots_of("panel", models)
    panel = PanelFilter(
        slots=slots,
        rule=DifficultyRule(len(slots), least_wrong),
        messages=lambda row, _context: messages(_item(row), _PANEL),
        rate=_rate,
        oracle=lambda row: oracle_of(_item(row)),
    )
    config = {"prompt": _PANEL.prompt_hash.hex(), "scorer": SCORER_VERSION}
    return panel_step("difficulty", panel, version=1, takes=Candidate, config=config)


def _item(row: Candidate) -> LoadedItem:
    fact = row.fact()
    item = Item(
        kind="kina.asked",
        payload=Asked(order=tuple(range(len(row.question.options)))),
        facts=(fact.id,),
        language=row.language,
        stratum=row.stratum,
    )
    return LoadedItem(identified_item(item), (fact,))


async def _rate(row: Candidate, response: Response, _context: StepContext) -> Score | None:
    (found,) = await score([Unit(item=_item(row), responses={STEP: response})], None)
    return found


# The command.

_ASKED = read_asked(__package__, "screened_questions")


def screened(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps: rules and, with a panel, difficulty. Raises BadUsage."""
    n = len(slots_of("panel", models))
    steps, notes = [rules_step()], []
    if n:
        steps.append(difficulty_step(models, params["least_wrong"]))
        if n != _PUBLISHED:
            notes.append(f"the panel has {n} models; the paper's has {_PUBLISHED}")
    else:
        notes.append("no panel is set (--panel): the difficulty of questions is not tried")
    return Pipeline(
        steps=tuple(steps), gives=Candidate, facts=_facts_by(models), notes=tuple(notes)
    )


def _facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Candidate]], Iterator[BuiltFact]]:
    roles = filtered_roles(slots_of("panel", models))

    def facts(rows: Iterable[Candidate]) -> Iterator[BuiltFact]:
        for row in rows:
            yield BuiltFact(row.fact(), roles=roles)

    return facts


PIPELINES = {
    "screened-questions": StepBuilder(
        make=screened,
        roles=_ASKED.roles,
        parameters=_ASKED.parameters,
        rows=candidates,
        lists=True,
        suffix="-screened",
        help="Questions that break no rule and that a panel of models does not find easy. An INPUT "
        "is a file of questions, or a bank of them. Each dropped question keeps its reason.",
        example="questions.jsonl --panel a/one,b/two,c/three,d/four,e/five",
    ),
}
