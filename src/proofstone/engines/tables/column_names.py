"""The names by which columns are known, in the order in which they are taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["NAMES", "first_named", "is_named", "plain"]

# A column has a role where its plain name is one of these; the first that occurs is taken.
NAMES: Mapping[str, tuple[str, ...]] = {
    "item": (
        "item", "item_id", "qid", "question_id", "questionid", "doc_hash", "problem_id",
        "task_id", "prompt_id", "doc_id", "uid", "uuid", "id", "idx", "index", "question_no",
        "item_no", "nr", "no", "question", "problem",
    ),
    "model": (
        "model", "model_name", "model_id", "respondent", "system", "llm", "engine", "solver",
        "contestant", "participant",
    ),
    "way": ("way", "setting", "settings", "condition", "prompt_name", "mode", "ask"),
    "score": (
        "score", "correct", "is_correct", "iscorrect", "value", "right", "passed", "pass",
        "exact_match", "em", "acc", "accuracy", "grade", "reward", "result", "points",
    ),
    "sample": (
        "sample", "epoch", "sample_no", "sample_number", "sample_idx", "repeat", "repetition",
        "replicate", "trial", "attempt", "rollout", "iteration", "run", "seed",
    ),
    "outcome": ("outcome",),
    "answer": (
        "answer", "predicted", "prediction", "pred", "extracted", "extracted_answer", "choice",
        "model_answer", "parsed_answer",
    ),
    "gold": (
        "gold", "gold_answer", "correct_answer", "answer_key", "key", "target", "label",
        "reference_answer",
    ),
    "options": ("n_options", "num_options", "options", "n_choices", "num_choices", "choices"),
    "simulated": ("simulated",),
    "parameters": (
        "params", "parameters", "params_b", "parameters_b", "params_m", "n_params", "num_params",
        "total_params", "total_parameters", "total_params_b", "total_parameters_b", "model_size",
        "size_b", "params_billions", "parameters_billions",
    ),
    "active": (
        "active_params", "active_parameters", "active_params_b", "active_parameters_b",
        "activated_params",
    ),
    "family": ("family", "model_family", "series", "model_series"),
    "count": ("n", "items", "n_items", "count", "questions", "n_questions", "size"),
    "overall": ("all", "overall", "average", "avg", "avg_", "mean", "total", "micro_avg"),
    "strata": (
        "discipline", "field", "subfield", "domain", "subdomain", "category", "subcategory",
        "primary_category", "secondary_category", "subject", "topic", "area", "section", "task",
        "subtask", "subset", "dataset", "benchmark", "language", "lang", "level", "difficulty",
        "stratum", "group", "type", "question_type", "skill", "form",
    ),
    "certainty": ("confidence", "stated_confidence", "self_confidence", "certainty"),
    "tokens": ("completion_tokens", "output_tokens", "reply_tokens", "tokens", "n_tokens"),
    "measured": (
        "latency", "time", "seconds", "duration", "cost", "price", "tokens", "prompt_tokens",
        "completion_tokens", "output_tokens", "reasoning_tokens", "length", "words", "characters",
        "perplexity", "loss", "logprob", "confidence", "probability", "prob", "temperature",
    ),
    "clusters": (
        "cluster", "clusters", "book", "source", "document", "doc", "passage", "paper", "article",
        "entity", "fact", "facts", "statement", "statements", "chapter", "context", "context_id",
        "template", "author",
    ),
}  # fmt: skip


def plain(name: str) -> str:
    """A column's name in small letters, words joined by underscores: ``Question ID`` as
    ``question_id``."""
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")


def is_named(name: str, role: str) -> bool:
    """Whether this is a known name of a column of that role."""
    return plain(name) in NAMES[role]


def first_named(names: Iterable[str], role: str) -> str:
    """The column whose name comes first among those known of a role; empty where there is none."""
    found = {plain(name): name for name in reversed(list(names))}
    return next((found[known] for known in NAMES[role] if known in found), "")
