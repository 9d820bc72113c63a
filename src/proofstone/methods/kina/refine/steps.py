"""Change a question by its issues, and keep a version that breaks no rule and is not easier."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import structs

from proofstone.choices.outcomes import TEXT, list_of, object_of_all
from proofstone.errors import CallFailed
from proofstone.judging.difficulty import DifficultyRule, ask_members, decide_difficulty
from proofstone.judging.question import fence
from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.jury.judgments import PROMPTS, ask_checked
from proofstone.methods.kina.panel import CONFIG, asked_of, rate
from proofstone.methods.kina.refine.changes import Revision, applied, revision_fault
from proofstone.methods.kina.refine.diagnosis import fully_shown
from proofstone.methods.kina.refine.versions import Refining, Version
from proofstone.methods.kina.rules import RULES, findings
from proofstone.records.builds import Kept, Step, StepContext
from proofstone.records.ids import content_id
from proofstone.texts.languages import is_chinese

_SCHEMA = object_of_all(
    {
        "changes": {"type": "object"},
        "confirmed": list_of(TEXT),
        "strategies": list_of(TEXT),
        "new_fact": {"type": "boolean"},
        "new_sources": list_of(TEXT),
    },
    title="revision",
)


def refinement_step(number: int) -> Step:
    """Return the step that changes what the diagnosis of this round found."""

    async def refine(row: Refining, context: StepContext) -> Kept:
        if row.is_clean:
            return row
        language = row.candidate.language
        defects = "\n".join(
            f"- {each.type}: {each.reasoning} -> {each.directive}"
            + "".join(f' "{cited.quote}"' for cited in each.citations)
            for each in row.issues
        )
        prompt = PROMPTS.render(
            "refinement", language, question=fully_shown(row),
            defects=fence("缺陷" if is_chinese(language) else "defects", defects, language),
            earlier="; ".join(
                f"{each.result} ({each.found})"
                for each in row.versions
                if each.result != "accepted"
            ),
        )  # fmt: skip
        said = await ask_checked(
            context.call, "refinement", prompt, Revision, _SCHEMA, language=language,
            check=lambda revision: revision_fault(row.question, revision, row.issues),
        )  # fmt: skip
        version = Version(round=number, issues=row.issues, question=None, response=said.text)
        if said.value is None:
            version = structs.replace(version, result="unusable changes", found=said.problem)
        else:
            version = _ruled(row, structs.replace(
                version,
                question=applied(row.question, said.value),
                strategies=said.value.strategies,
                new_sources=said.value.new_sources,
            ))  # fmt: skip
        return structs.replace(row, versions=(*row.versions, version))

    return Step(
        name=f"refinement {number}",
        version=1,
        takes=Refining,
        work=refine,
        config={
            "prompt": [PROMPTS.key("refinement"), PROMPTS.key("again")],
            "lists": content_id("kina.lists", RULES.lists).hex(),
        },
        asks=("author",),
    )


def _ruled(row: Refining, version: Version) -> Version:
    """Return a version, rejected if it breaks a rule that the one before does not."""
    if version.question is None:
        return version
    language, stratum = row.candidate.language, row.candidate.stratum
    before = {each.rule for each in findings(row.question, language, stratum, RULES.lists)}
    now = findings(version.question, language, stratum, RULES.lists)
    new = [each for each in now if each.rule not in before]
    if not new:
        return version
    found = "; ".join(f"{each.rule}, {each.where}: {each.found}" for each in new)
    return structs.replace(version, result="breaks a rule", found=found)


def entry_step(panel: Mapping[str, str]) -> Step:
    """Return the step that counts how many members answer the question as it enters."""

    async def enter(row: Candidate, context: StepContext) -> Kept:
        right = await _n_right(row, panel, context)
        return Refining(
            candidate=row, question=row.question, right=right, n=len(panel), first_right=right
        )

    return Step(
        name="panel", version=1, takes=Candidate, work=enter, config=CONFIG, asks=tuple(panel)
    )


def panel_step(number: int, panel: Mapping[str, str]) -> Step:
    """Return the step that accepts a version unless more members answer it correctly."""

    async def answer(row: Refining, context: StepContext) -> Kept:
        version = row.tried
        if version is None or version.question is None:
            return row
        tried = structs.replace(row.candidate, question=version.question)
        right = await _n_right(tried, panel, context)
        if right > row.right:
            found = f"{right} of {row.n} correct, {row.right} before"
            return row.closed(structs.replace(version, result="easier", right=right, found=found))
        return row.closed(structs.replace(version, result="accepted", right=right))

    return Step(
        name=f"panel {number}", version=1, takes=Refining, work=answer, config=CONFIG,
        asks=tuple(panel),
    )  # fmt: skip


async def _n_right(row: Candidate, panel: Mapping[str, str], context: StepContext) -> int:
    """Return how many members are correct. Raises CallFailed if one gave no response."""
    messages, oracle = asked_of(row)
    calls = {
        model: partial(context.calls[slot], "panel", messages, oracle=oracle)
        for slot, model in panel.items()
    }
    answers = await ask_members(calls, lambda response: rate(row, response, context))
    decision = decide_difficulty(answers, DifficultyRule(len(panel), 1))
    if decision.missing:
        failed = next(each for each in answers if each.state == "failed")
        raise CallFailed(failed.trouble, f"panel member {failed.member} gave no answer")
    return decision.right
