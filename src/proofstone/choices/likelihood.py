"""Option likelihood: the option of a question that a model finds most probable.

Nothing is generated. After the question prompt the whole text of each option is scored token by
token (``option-likelihood``), or the letter of each option (``letter-likelihood``). The graded
answer is the option with the highest mean log-probability per token (length-normalized); the
option with the highest sum (raw) is also recorded. The confidence is the softmax over the
graded values. See Brown et al. (2020), section 2.4 (arXiv:2005.14165), on both scores.

Any method with options can offer it: merge ``PROMPT_METHODS``, ``MEASURES`` and ``SCALES`` into
its own, ask with ``ask_options``, and score with ``likelihood_scores``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from proofstone.records.calls import Call, Message
from proofstone.records.items import Oracle, PromptMethod
from proofstone.records.runs import (
    STATED_CONFIDENCE,
    Measure,
    Outcome,
    Response,
    Scale,
    Score,
    Worth,
)
from proofstone.wording.messages import noted

OPTION, LETTER = "option-likelihood", "letter-likelihood"


PROMPT_METHODS = {
    OPTION: "no generation: each option's text is scored token by token after the question; the "
    "highest mean log-probability per token is the answer",
    LETTER: "no generation: each option's letter is scored after the question and its options",
}


VARIANTS: Mapping[str, Literal["text", "letter"]] = {OPTION: "text", LETTER: "letter"}


NOT_READ = "no response is generated"


# The step of the last request of an item, and the head of those before it.
STEP = "likelihood"


def settings(name: str) -> dict[str, Any]:
    """Return the settings of a likelihood prompting method. One token is the least that endpoints
    generate; it is never read."""
    return {"likelihood": VARIANTS[name], "max_tokens": 1, "temperature": 0.0}


def is_unfinished(question: str) -> bool:
    """Return True if a question breaks off in a sentence, so that its options continue it."""
    end = question.rstrip()[-1:]
    return end.isalnum() or end in "'’,，、-–—"


def open_block(asked: str, *, is_text: bool, chinese: bool) -> str:
    """Return a question as a text that an option continues.

    If the options' texts are scored (``is_text``) and the question breaks off in a sentence, it is
    unchanged. Otherwise it is put in a block of question and answer.
    """
    if is_text and is_unfinished(asked):
        return asked.rstrip()
    return f"问题：{asked}\n答案：" if chinese else f"Question: {asked}\nAnswer:"


def as_continuation(option: str, *, chinese: bool) -> str:
    """Return an option as it follows ``open_block``."""
    return option if chinese else f" {option}"


async def ask_options(
    prompt_method: PromptMethod,
    call: Call,
    messages: Sequence[Message],
    continuations: Sequence[str],
    oracle: Oracle,
) -> None:
    """Ask for the log-probabilities of an item's options, in their order.

    ``prompt_method.as_text``: one request scores one of the ``continuations`` behind the messages,
    as the assistant's. Otherwise one request asks for the most probable next tokens.
    ``oracle.choices`` are the labels of the options.
    """
    if not prompt_method.as_text:
        await call(STEP, messages, oracle=oracle)
        return
    steps = _steps(len(continuations))
    for step, text, label in zip(steps, continuations, oracle.choices, strict=True):
        scored = structs.replace(oracle, scored=label)
        await call(step, [*messages, Message("assistant", text)], oracle=scored)


def _steps(n: int) -> list[str]:
    """The steps of ``n`` options; the last one finishes the item."""
    return [*(f"{STEP} {place}" for place in range(1, n)), STEP]


class OptionScores(Struct, frozen=True):
    """The log-probabilities (natural logarithm) of an item's options: per option the ``sums`` over
    its tokens and the ``means`` per token; -inf for a letter that is not among the tokens listed.
    """

    sums: tuple[float, ...]
    means: tuple[float, ...]

    @property
    def chosen(self) -> int:
        """The place of the graded answer: the highest mean; the first one of a tie."""
        return _highest(self.means)

    @property
    def chosen_by_sum(self) -> int:
        """The place of the highest sum; the first one of a tie."""
        return _highest(self.sums)

    @property
    def confidence(self) -> float:
        """The softmax over the means, at the graded answer."""
        return 1.0 / math.fsum(math.exp(mean - max(self.means)) for mean in self.means)


def read_option_scores(
    responses: Mapping[str, Response], labels: Sequence[str]
) -> OptionScores | None:
    """Return the scores of the options in an item's responses (by step); None where the next tokens
    listed hold no label at all, or where an option has no response."""
    last = responses[STEP]
    if not last.token_logprobs:
        found = tuple(_label_logprob(last, label) for label in labels)
        return OptionScores(found, found) if max(found) > -math.inf else None
    steps = _steps(len(labels))
    tokens = [responses[step].token_logprobs if step in responses else () for step in steps]
    if not all(tokens):
        return None
    return OptionScores(
        sums=tuple(math.fsum(each) for each in tokens),
        means=tuple(math.fsum(each) / len(each) for each in tokens),
    )


def likelihood_scores(
    place: int, responses: Mapping[str, Response], labels: Sequence[str], right: str, measure: str
) -> list[Score]:
    """Return the scores of the unit at ``place``: ``measure`` (1 if the answer is the label
    ``right``), the same by the sum where whole texts were scored, and the confidence. Without a
    listed label the response is unparsed, and has none of the others."""
    found = read_option_scores(responses, labels)
    if found is None:
        refused = responses[STEP].finish == "content_filter"
        outcome: Outcome = "refused" if refused else "unparsed"
        return [Score(unit=place, measure=measure, outcome=outcome, value=None)]
    chosen, by_sum = labels[found.chosen], labels[found.chosen_by_sum]
    is_text = bool(responses[STEP].token_logprobs)

    def score(name: str, value: float, answer: str = "", basis: str = "") -> Score:
        return Score(
            unit=place, measure=name, outcome="answered", value=value, answer=answer, basis=basis
        )

    scores = [score(measure, float(chosen == right), chosen, _BASIS[is_text])]
    if is_text:
        scores.append(score(BY_SUM, float(by_sum == right), by_sum, "sum of log-probabilities"))
    return [*scores, score(STATED_CONFIDENCE, found.confidence)]


_BASIS = {True: "mean log-probability per token", False: "log-probability of the letter"}


def _highest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _label_logprob(response: Response, label: str) -> float:
    """The log-probability that the next token is this label, with white space or without."""
    known = [logprob for token, logprob in response.next_tokens if token.strip() == label]
    if not known:
        return -math.inf
    most = max(known)
    return most + math.log(math.fsum(math.exp(each - most) for each in known))


# What is counted of it, and why it is ranked apart.

BY_SUM = "by_sum"


_ANSWERED: Mapping[Outcome, Worth] = {
    "answered": "value",
    "refused": None,
    "unparsed": None,
    "truncated": None,
}


MEASURES = (
    Measure(
        name=BY_SUM,
        of=BY_SUM,
        counts=_ANSWERED,
        denominator=noted("all questions with scored options"),
        label=noted("by sum"),
    ),
    Measure(
        name=STATED_CONFIDENCE,
        of=STATED_CONFIDENCE,
        counts=_ANSWERED,
        denominator=noted("all responses with a confidence"),
    ),
)


SCALES: Mapping[str, Scale] = {
    OPTION: Scale(
        name=noted("Option likelihood"),
        what=noted(
            "no text is generated; the answer is the option whose text has the highest mean "
            "log-probability per token"
        ),
        chance=None,
        values_as="",
    ),
    LETTER: Scale(
        name=noted("Letter likelihood"),
        what=noted(
            "no text is generated; the answer is the option whose letter has the highest "
            "log-probability"
        ),
        chance=None,
        values_as="",
    ),
}
