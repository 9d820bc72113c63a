"""Draw wrong responses of each model by seed, and let judges label the main reason of each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from proofstone.method import ErrorLabels, Method, ShownOptions
from proofstone.models.responses import read_response
from proofstone.records.calls import Judge
from proofstone.records.ids import digest, short
from proofstone.records.runs import OUTCOMES, Response, Run
from proofstone.records.scores import ScoreTable
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelVerdict
from proofstone.results.answer_paths import AnswerPath, path_of
from proofstone.results.sections.parts import Part
from proofstone.run.context_texts import shown_to
from proofstone.run.evidence import with_own_evidence
from proofstone.run.forms import Selection
from proofstone.store.items import StoredItem
from proofstone.store.store import Store
from proofstone.texts.languages import guess_language
from proofstone.wording.messages import word

# Characters of a text that a judge reads; a longer one loses its middle, where a mark says so.
MOST_READ = 12_000
_CUT = "\n[... {n} characters left out ...]\n"


class WrongResponse(Struct, frozen=True, kw_only=True):
    """A wrong response with what a judge reads of it.

    ``model`` is its label on the leaderboard; ``run``, ``item`` and ``sample`` name it. ``asked``
    is its prompting method with its context. ``read_as`` is the answer as it was read.
    """

    model: str
    asked: str
    run: str
    item: str
    sample: int
    question: str
    options: tuple[str, ...]
    correct: str
    read_as: str
    response: str
    reasoning: str
    passages: tuple[str, ...]
    evidence: tuple[str, ...]
    path: AnswerPath

    @property
    def key(self) -> tuple[str, str, int]:
        """Its run, item and sample."""
        return self.run, self.item, self.sample


class LabeledResponse(Struct, frozen=True, kw_only=True):
    """A wrong response with the label of a judge.

    ``state``: "labeled", "unparsed" (no label in the judge's response, or a tie of judges) or
    "failed" (no response). ``offered`` are the labels that it could get.
    """

    wrong: WrongResponse
    label: str
    state: str
    reason: str
    offered: tuple[str, ...]


class Drawn(Struct, frozen=True, kw_only=True):
    """The wrong responses drawn of each model, and how many it has in all (by label)."""

    responses: tuple[WrongResponse, ...]
    n_wrong: Mapping[str, int]


def draw_wrong(
    store: Store, method: Method, selection: Selection, part: Part, *, n: int, seed: int
) -> Drawn:
    """Return up to ``n`` wrong, finished responses of each model with all its responses.

    The order of a draw depends on seed, item and sample alone: models with the same wrong answers
    get the same ones, and none depends on another model. Empty without options to choose from.
    """
    runs = {run.id: (key, run) for key, run in selection.runs}
    found: list[WrongResponse] = []
    counts: dict[str, int] = {}
    for label, place in part.complete.items():
        chosen = _chosen(part, place, seed)
        counts[label] = len(chosen)
        wanted = {(item, sample): read_as for item, sample, read_as in chosen[:n]}
        for identity in part.table.respondents[place].runs:
            key, run = runs[identity]
            found += _responses(store, method, key, run, label, wanted)
    return Drawn(responses=tuple(found), n_wrong=counts)


def _chosen(part: Part, place: int, seed: int) -> list[tuple[bytes, int, str]]:
    """Wrong and unparsed responses of one model as item, sample and answer, in the order drawn."""
    table = part.table
    own = table.respondent == place
    answered = own & (table.outcome == OUTCOMES.index("answered")) & (table.value == 0.0)
    unread = own & (table.outcome == OUTCOMES.index("unparsed"))
    rows = np.flatnonzero(answered | unread).tolist()
    named = [
        (table.items[int(table.unit[row])], int(table.sample[row]), _read_as(table, row))
        for row in rows
    ]
    return sorted(set(named), key=lambda each: digest(b"%d\0%s\0%d" % (seed, each[0], each[1])))


def _read_as(table: ScoreTable, row: int) -> str:
    code = int(table.answer[row])
    return table.answers[code] if code >= 0 else ""


def _responses(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    label: str,
    wanted: Mapping[tuple[bytes, int], str],
) -> Iterator[WrongResponse]:
    if method.options_shown is None:
        return
    for page in store.runs.response_pages(key, run.item_set):
        for each in page:
            item = each.item.loaded.item.id
            shown = method.options_shown(each.item.loaded)
            for (sample, step), stored in each.responses.items():
                if shown is None or step != run.last_step or not stored.raw:
                    continue
                if (item, sample) in wanted:
                    response = read_response(stored.wire, stored.raw)
                    yield _wrong(
                        store, method, key, run, each.item, shown, response, label=label,
                        sample=sample, read_as=wanted[item, sample],
                    )  # fmt: skip


def _wrong(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    stored: StoredItem,
    shown: ShownOptions,
    response: Response,
    *,
    label: str,
    sample: int,
    read_as: str,
) -> WrongResponse:
    (with_evidence,) = with_own_evidence(store, [stored])
    question = method.query(stored.loaded) if method.query is not None else ""
    return WrongResponse(
        model=label,
        asked=run.prompt_method,
        run=short(run.id),
        item=short(stored.loaded.item.id),
        sample=sample,
        question=question,
        options=tuple(f"{_letter(at)}. {text}" for at, text in enumerate(shown.options)),
        correct=", ".join(_letter(at) for at in shown.right),
        read_as=read_as,
        response=response.text,
        reasoning=response.reasoning,
        passages=tuple(_passages_shown(store, key, stored, sample)),
        evidence=tuple(passage.text for passage in with_evidence.loaded.passages),
        path=path_of(response, shown),
    )


def _letter(at: int) -> str:
    return chr(ord("A") + at) if at < 26 else str(at + 1)


def _passages_shown(store: Store, key: int, stored: StoredItem, sample: int) -> Iterator[str]:
    """Yield the passages of a search in the prompt of a response."""
    calls = store.runs.calls_of_items(key, [stored.key]).get(stored.key, ())
    prompts = [call.prompt for of, _step, call in calls if of == sample and call.prompt]
    for each in shown_to(prompts[-1]) if prompts else ():
        named = store.lookup.find(each.passage, ("passage",)).id
        passage = store.knowledge.passages([named]).get(named)
        if passage is not None:
            yield passage.text[each.start : each.end]


def judge_question(wrong: WrongResponse, labels: ErrorLabels) -> JudgeQuestion:
    """Return the question to judges: the labels that fit the response, and its texts."""
    language = guess_language([wrong.question])
    offered = offered_labels(wrong, labels)
    exhibits = [
        Exhibit("question", "\n".join((wrong.question, *wrong.options))),
        Exhibit("correct options", wrong.correct),
        Exhibit("answer as it was read", wrong.read_as or "none"),
        Exhibit("response", cut_middle(wrong.response)),
    ]
    more = {
        "reasoning": (wrong.reasoning,) if wrong.reasoning else (),
        "quotes that decide it": wrong.evidence,
        "passages found": wrong.passages,
    }
    exhibits += [
        Exhibit(name, cut_middle("\n\n".join(texts))) for name, texts in more.items() if texts
    ]
    return JudgeQuestion(
        task=labels.task[language],
        labels=tuple(
            Label(each.name, each.meanings[language])
            for each in labels.labels
            if each.name in offered
        ),
        exhibits=tuple(exhibits),
        language=language,
    )


def offered_labels(wrong: WrongResponse, labels: ErrorLabels) -> tuple[str, ...]:
    """Return the labels that can be read from a response: by its reasoning and its passages."""
    has = {"": True, "reasoning": wrong.path.seen == "observed", "passages": bool(wrong.passages)}
    return tuple(each.name for each in labels.labels if has[each.needs])


def cut_middle(text: str) -> str:
    """Return a text of at most ``MOST_READ`` characters and a mark for those left out."""
    if len(text) <= MOST_READ:
        return text
    half = MOST_READ // 2
    return f"{text[:half]}{_CUT.format(n=len(text) - 2 * half)}{text[-half:]}"


async def label_responses(
    responses: Sequence[WrongResponse], labels: ErrorLabels, judge: Judge
) -> list[LabeledResponse]:
    """Return the responses with their labels, in order. A judge that fails leaves one open."""

    async def one(wrong: WrongResponse) -> LabeledResponse:
        verdict = await judge(judge_question(wrong, labels))
        return LabeledResponse(
            wrong=wrong,
            label=verdict.label,
            state=_state(verdict),
            reason=verdict.reason,
            offered=offered_labels(wrong, labels),
        )

    return list(await asyncio.gather(*map(one, responses)))


def _state(verdict: PanelVerdict) -> str:
    if verdict.label:
        return "labeled"
    failed = all(vote.state == "failed" for vote in verdict.judge_votes)
    return "failed" if failed else "unparsed"


SHEET = (
    "run", "item", "sample", "model", "asked", "question", "options", "correct", "read_as",
    "reasoning", "response", "passages", "evidence", "label",
)  # fmt: skip


def sheet_rows(responses: Sequence[WrongResponse]) -> Iterator[dict[str, object]]:
    """Yield rows for people to label: all that a judge reads, and an empty label."""
    for wrong in responses:
        texts = {name: "\n\n".join(getattr(wrong, name)) for name in ("passages", "evidence")}
        plain = {name: getattr(wrong, name, "") for name in SHEET}
        yield plain | texts | {"options": "\n".join(wrong.options), "label": ""}


def labeled_rows(labeled: Sequence[LabeledResponse]) -> Iterator[dict[str, object]]:
    """Yield the same rows with the judge's label, its reason, and what was observed."""
    for each, row in zip(labeled, sheet_rows([one.wrong for one in labeled]), strict=True):
        path = each.wrong.path
        yield {
            **row,
            "label": each.label,
            "state": each.state,
            "reason": each.reason,
            "reasoning_seen": word(path.seen),
            "held_correct_before": path.seen == "observed" and "right" in path.held,
        }
