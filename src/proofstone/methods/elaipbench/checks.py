"""Check candidates by answering them, with strict scoring, and define ``build document-qa``.

A judge answers with the evidence, which must suffice. The same judge, with the one passage that
BM25 ranks first for the question, must fail. A panel must fail without the document, by majority.
Last, every member must fail with it (section 3.2.1, Automatic Review): that is the only check by
models that the paper has, with three of them.

A failed call decides nothing: the candidate is pending, and checked by the next run of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proofstone.documents.passages import BETWEEN
from proofstone.errors import BadUsage
from proofstone.judging.difficulty import (
    NO_ANSWER,
    DifficultyRule,
    MemberAnswer,
    PanelFilter,
    member_answer,
    panel_step,
)
from proofstone.method import read_asked
from proofstone.methods.elaipbench.ask import STEP, messages, oracle_of, prepare
from proofstone.methods.elaipbench.candidates import (
    MOST_OPTIONS,
    Candidate,
    facts_by,
    question_step,
    quotes_step,
)
from proofstone.methods.elaipbench.passages import PassageRule, cut_document, passages_step
from proofstone.methods.elaipbench.payloads import AskedQuestion, evidence
from proofstone.methods.elaipbench.score import HEADLINE, SCORER_VERSION, score
from proofstone.records.builds import (
    Drop,
    Kept,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    slots_of,
)
from proofstone.records.calls import Message
from proofstone.records.items import Item, ItemSet, LoadedItem, Unit, identified_item
from proofstone.records.knowledge import Passage, WholeDocument
from proofstone.records.runs import Response, Score
from proofstone.run.context_texts import (
    document_prompt,
    evidence_prompt,
    with_documents,
    with_passages,
)
from proofstone.search.bm25 import Bm25, Postings, terms_of

_ITEMS = ItemSet(name="", kind="form", method="elaipbench")

_JUDGE, _PANEL = prepare("cot", 0, _ITEMS, None), prepare("direct", 0, _ITEMS, None)

_PUBLISHED = 3  # members of the paper's panel

_SEES = {"evidence": "evidence", "document": "evidence and document"}

_INCORRECT, _LATE = "answered incorrectly", "answered too late"

_REASKS = 2


def _item(row: Candidate) -> LoadedItem:
    """Return a candidate as an item, its options in their order."""
    fact = row.fact()
    item = Item(
        kind="elaipbench.asked",
        payload=AskedQuestion(order=tuple(range(len(row.question.options)))),
        facts=(fact.id,),
        language=row.language,
        stratum=fact.stratum,
    )
    return LoadedItem(identified_item(item), (fact,))


async def _rate(row: Candidate, response: Response, _context: StepContext) -> Score | None:
    """Return the strict score of a response."""
    unit = Unit(item=_item(row), sample=0, responses={STEP: response}, clusters=())
    scores = await score([unit], None)
    return next(each for each in scores if each.measure == HEADLINE)


def _document(row: Candidate, context: StepContext) -> WholeDocument:
    if context.document is None:
        raise ValueError("the step reads no documents")
    return context.document(row.source.id)


def _with_document(
    asked: Sequence[Message], row: Candidate, context: StepContext, *, is_alone: bool
) -> list[Message]:
    pages = _document(row, context).pages
    text = BETWEEN.join(page for _number, page in pages)
    whole = Passage(source=row.source.id, start=0, end=len(text), text=text)
    return with_documents(asked, [whole], row.language, is_alone=is_alone)


# The evidence must suffice.


def evidence_step(sees: str, time_limit: float) -> Step:
    """Return the step in which the judge answers with the evidence, in ``time_limit`` seconds.

    With ``sees`` "document" the whole document is shown as well, and the step is named so. The
    time is that of the request which was answered, without waiting for a free connection.
    """

    async def check(row: Candidate, context: StepContext) -> Kept:
        response, answer = await _answered(row, evidence_messages(row, context, sees), context)
        if answer.state == "unparsed":
            return Drop(NO_ANSWER, response.text[:200])
        if answer.state != "right":
            return Drop(_INCORRECT, f"{answer.answer or 'refused'}: {row.question.question}")
        if response.latency_s > time_limit:
            return Drop(_LATE, f"{response.latency_s:,.0f} s: {row.question.question}")
        return row

    return Step(
        name=_SEES[sees],
        version=1,
        takes=Candidate,
        work=check,
        reasons=(_INCORRECT, _LATE, NO_ANSWER),
        config={"time_limit": time_limit, **_config(_JUDGE.prompt_hash, evidence_prompt(), sees)},
        asks=("judge",),
        reads=("documents",),
    )


async def _answered(
    row: Candidate, asked: Sequence[Message], context: StepContext
) -> tuple[Response, MemberAnswer]:
    """Return the judge's response and answer, asked again while no answer can be parsed."""
    reask = 0
    while True:
        oracle = oracle_of(_item(row))
        response = await context.call("answer", asked, reask=reask, oracle=oracle)
        answer = member_answer("judge", await _rate(row, response, context))
        if answer.state != "unparsed" or reask == _REASKS:
            return response, answer
        reask += 1


def evidence_messages(row: Candidate, context: StepContext, sees: str) -> list[Message]:
    """Return the judge's prompt with the evidence, and with the document if ``sees`` is
    "document"."""
    shown = [
        Passage(
            source=row.source.id, page=span.page, start=span.start, end=span.end, text=span.text
        )
        for span in evidence(row.fact())
    ]
    asked = with_passages(messages(_item(row), _JUDGE), shown, row.language)
    return _with_document(asked, row, context, is_alone=False) if sees == "document" else asked


def _config(*parts: bytes | str) -> Mapping[str, Any]:
    prompts = [part if isinstance(part, str) else part.hex() for part in parts]
    return {"prompts": prompts, "scorer": SCORER_VERSION}


# One passage, no document, and the whole document must not.


def keyword_step(models: Mapping[str, str], tokens: int) -> Step:
    """Return the step in which the judge must fail with BM25's first passage for the question."""

    def asked(row: Candidate, context: StepContext) -> list[Message]:
        top = first_passage(_document(row, context), row.question.question, tokens)
        shown = [Passage(source=row.source.id, start=0, end=len(top), text=top)] if top else []
        own = messages(_item(row), _JUDGE)
        return with_passages(own, shown, row.language) if shown else own

    config = {"tokens": tokens, **_config(_JUDGE.prompt_hash, evidence_prompt())}
    judge = slots_of("judge", models)
    return _failing("keyword match", "answered by keyword match", judge, 1, asked, config)


def first_passage(document: WholeDocument, question: str, tokens: int) -> str:
    """Return the passage that BM25 ranks first; empty if none has a word of the question."""
    texts = [passage.text for passage in cut_document(document, tokens)]
    index = Bm25(Postings.of(terms_of(text) for text in texts))
    hits = index.search(terms_of(question), 1)
    return texts[hits[0].place] if hits else ""


def closed_book_step(models: Mapping[str, str]) -> Step:
    """Return the step that drops what more than half of the panel answers without the document.

    Guessing alone rarely gets there: with three members and one of four options, in 16% of cases.
    """
    panel = slots_of("panel", models)
    return _failing(
        "closed book", "answered without the document", panel, len(panel) - len(panel) // 2,
        lambda row, _context: messages(_item(row), _PANEL), _config(_PANEL.prompt_hash),
    )  # fmt: skip


def document_step(models: Mapping[str, str], least_wrong: int) -> Step:
    """Return the step that drops what fewer than ``least_wrong`` of the panel (0: all) fail with
    the whole document."""
    panel = slots_of("panel", models)
    return _failing(
        "whole document", "answered with the document", panel, least_wrong or len(panel),
        lambda row, context: _with_document(
            messages(_item(row), _PANEL), row, context, is_alone=True
        ),
        _config(_PANEL.prompt_hash, document_prompt()),
    )  # fmt: skip


def _failing(
    name: str,
    reason: str,
    slots: Mapping[str, str],
    least_wrong: int,
    asked: Callable[[Candidate, StepContext], Sequence[Message]],
    config: Mapping[str, Any],
) -> Step:
    """Return a step that keeps a candidate if enough of its models answer incorrectly."""
    panel = PanelFilter(
        slots=slots,
        rule=DifficultyRule(len(slots), least_wrong),
        messages=asked,
        rate=_rate,
        oracle=lambda row: oracle_of(_item(row)),
        reason=reason,
        needs_answers=True,
    )
    return panel_step(name, panel, version=1, takes=Candidate, config=config, reads=("documents",))


# The command.

_ASKED = read_asked(__package__, "candidates")


def from_documents(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps from documents to questions. Raises BadUsage for invalid parameters."""
    panel = slots_of("panel", models)
    _check(params, len(panel))
    low, _, high = params["passages"].partition("-")
    rule = PassageRule(
        most=params["questions"],
        sizes=tuple(range(int(low), int(high or low) + 1)),
        tokens=params["passage_tokens"],
        apart=params["apart"],
        several=params["several"],
        longest=params["document_tokens"],
    )
    steps = [
        passages_step(rule),
        question_step(params["n_options"]),
        quotes_step(),
        evidence_step(params["judge_sees"], params["time_limit"]),
        keyword_step(models, params["passage_tokens"]),
    ]
    notes = []
    if panel:
        steps += [closed_book_step(models), document_step(models, params["least_wrong"])]
        if len(panel) != _PUBLISHED:
            notes.append(f"the panel has {len(panel)} models; the paper's has {_PUBLISHED}")
    else:
        notes.append(
            "no panel is set (--panel): questions are not tried without the document, nor with it"
        )
    return Pipeline(steps=tuple(steps), gives=Candidate, facts=facts_by(models), notes=tuple(notes))


def _check(params: Mapping[str, Any], n_panel: int) -> None:
    """Raise BadUsage for invalid numbers."""
    for name, least in (
        ("questions", 1), ("passage_tokens", 64), ("apart", 0), ("document_tokens", 0),
    ):  # fmt: skip
        if params[name] < least:
            option = name.replace("_", "-")
            raise BadUsage(f"--{option} must be {least} or more, got {params[name]}")
    if not 4 <= params["n_options"] <= MOST_OPTIONS:
        raise BadUsage(f"--n-options must be 4 to {MOST_OPTIONS}, got {params['n_options']}")
    if not 0 <= params["several"] <= 1:
        raise BadUsage(f"--several must be a share from 0 to 1, got {params['several']}")
    if not params["time_limit"] > 0:
        raise BadUsage(f"--time-limit must be above 0 seconds, got {params['time_limit']}")
    if params["least_wrong"] and not n_panel:
        raise BadUsage("--least-wrong is for a panel, and none is named", hint="--panel A,B,C")
    if params["least_wrong"] < 0:
        raise BadUsage(f"--least-wrong must be 0 or more, got {params['least_wrong']}")


PIPELINES = {
    "document-qa": StepBuilder(
        make=from_documents,
        roles=_ASKED.roles,
        parameters=_ASKED.parameters,
        enters="documents",
        suffix="-questions",
        help="Multiple-choice questions on whole documents, written from linked passages far "
        "apart. Quotes are found verbatim; models answer each question with and without its texts.",
        example="paper -m openai/gpt-5.1 --judge other/model --panel a/one,b/two,c/three",
    ),
}
