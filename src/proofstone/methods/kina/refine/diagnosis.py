"""Find defects of a question, with counter-evidence from a search (section E.7, diagnosis).

A citation counts if its quote is in the named text. An issue that needs one and has none, or has
one that is not there, is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from proofstone.choices.outcomes import TEXT, list_of, object_of_all, object_of_texts
from proofstone.judging.question import fence
from proofstone.methods.kina.jury.features import question_text
from proofstone.methods.kina.jury.judgments import PROMPTS, ask_checked
from proofstone.methods.kina.payloads import letters_of
from proofstone.methods.kina.refine.versions import ISSUE_TYPES, SEARCHED, Issue, Refining
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.calls import FoundText
from proofstone.texts.languages import is_chinese
from proofstone.texts.quotes import PageTexts

UNREADABLE = "unparsed response"
_SHORTEST = 12  # characters of a quote; fewer are found in any text


class _Queries(Struct, frozen=True, forbid_unknown_fields=True):
    confidence: str
    uniqueness: str


class _Diagnosis(Struct, frozen=True, forbid_unknown_fields=True):
    issues: tuple[Issue, ...]


_QUERIES = object_of_texts("confidence", "uniqueness", title="queries")
_DIAGNOSIS = object_of_all(
    {
        "issues": list_of(
            object_of_all(
                {
                    "type": {"type": "string", "enum": list(ISSUE_TYPES)},
                    "reasoning": TEXT,
                    "directive": TEXT,
                    "citations": list_of(object_of_texts("text", "quote")),
                }
            )
        )
    },
    title="diagnosis",
)


def diagnosis_step(number: int, search: str, n_texts: int) -> Step:
    """Return the step that looks for defects of the current version, in this round."""

    async def diagnose(row: Refining, context: StepContext) -> Kept:
        if row.is_clean:
            return row
        if context.search is None:
            raise ValueError("the step reads no search")
        language = row.candidate.language
        shown = fully_shown(row)
        asked = await ask_checked(
            context.call, "queries", PROMPTS.render("counter_queries", language, question=shown),
            _Queries, _QUERIES, language=language,
        )  # fmt: skip
        if asked.value is None:
            return Drop(UNREADABLE, asked.problem)
        queries = [" ".join(each.split()) for each in structs.astuple(asked.value)]
        texts: dict[bytes, FoundText] = {}
        for query in filter(None, queries):
            for each in await context.search(query, n_texts):
                texts.setdefault(each.passage, each)
        named = {f"T{place}": each for place, each in enumerate(texts.values(), 1)}
        prompt = PROMPTS.render(
            "diagnosis", language, question=shown, texts=_shown_texts(named, language)
        )
        said = await ask_checked(
            context.call, "diagnosis", prompt, _Diagnosis, _DIAGNOSIS, language=language
        )
        if said.value is None:
            return Drop(UNREADABLE, said.problem)
        sound = [each for each in said.value.issues if is_founded(each, named)]
        unfounded = [each for each in said.value.issues if not is_founded(each, named)]
        known = {*row.unfounded}
        return structs.replace(
            row,
            issues=tuple(sound),
            unfounded=(*row.unfounded, *(each for each in unfounded if each not in known)),
            queries=(*row.queries, *queries),
            addresses=tuple(
                dict.fromkeys([*row.addresses, *(t.address or t.title for t in texts.values())])
            ),
            diagnoses=(*row.diagnoses, said.text),
            is_clean=not sound,
        )

    return Step(
        name=f"diagnosis {number}",
        version=1,
        takes=Refining,
        work=diagnose,
        reasons=(UNREADABLE,),
        config={
            "prompt": [PROMPTS.key(name) for name in ("counter_queries", "diagnosis", "again")],
            "texts": n_texts,
        },
        asks=("auditor",),
        reads=(f"search:{search}",),
    )


def is_founded(issue: Issue, texts: Mapping[str, FoundText]) -> bool:
    """Return True if all quotes of an issue are in their texts, and one is where one is needed."""
    if issue.type in SEARCHED and not issue.citations:
        return False
    return all(
        each.text in texts
        and len(each.quote.strip()) >= _SHORTEST
        and bool(PageTexts({None: texts[each.text].text}).find(each.quote).spans)
        for each in issue.citations
    )


def fully_shown(row: Refining) -> str:
    """Return the current version with its explanations and sources, for a prompt."""
    current = row.current()
    asked, chinese = current.question, is_chinese(row.candidate.language)
    name = "解析" if chinese else "explanations and sources"
    lines = [
        f"{letter}. {note.explanation} [{note.source}, {note.page}]"
        for letter, note in zip(letters_of(asked), asked.notes, strict=False)
    ]
    lines.append(f"{'题目来源' if chinese else 'Source of the question'}: {asked.source}")
    return "\n".join([question_text(current), fence(name, "\n".join(lines), current.language)])


def _shown_texts(texts: Mapping[str, FoundText], language: str) -> Sequence[str]:
    return [fence(f"{name} ({each.title})", each.text, language) for name, each in texts.items()]
