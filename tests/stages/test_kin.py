"""Who is kin to whom: judges and those whose work they judge."""

from __future__ import annotations

from proofstone.records.models import family_of
from proofstone.run.self_preference import (
    SelfEvaluation,
    SelfEvaluationPart,
    held_by_builders,
    self_evaluation_of,
)


def test_a_judge_is_named_once_with_all_whose_work_it_would_judge() -> None:
    """The very model behind another provider, a sibling by name, and one by its card."""
    stated = {"acme/large": "Qwen3"}
    found = self_evaluation_of(
        ["openai/gpt-5", "acme/large", "mistral/medium"],
        [
            ("writer", "other/gpt-5"),
            ("perturber", "openai/o3-mini"),
            ("editor", "qwen/qwen3-8b"),
            ("artist", "acme/small"),
        ],
        lambda name: family_of(name, stated.get(name, "")),
    )
    assert found == (
        SelfEvaluation(
            model="openai/gpt-5",
            family="gpt",
            parts=(
                SelfEvaluationPart("writer", "other/gpt-5", is_same=True),
                SelfEvaluationPart("perturber", "openai/o3-mini", is_same=False),
            ),
        ),
        SelfEvaluation(
            model="acme/large",
            family="qwen",
            parts=(SelfEvaluationPart("editor", "qwen/qwen3-8b", is_same=False),),
        ),
    )


def test_those_who_judge_are_told_from_those_who_make() -> None:
    judges, makers = held_by_builders(
        {"writer": "a/x", "judge": "a/y", "panel 1": "a/z"},
        {"writer": "build", "judge": "judge", "panel 1": "ask"}.__getitem__,
    )
    assert (judges, makers) == (["a/y"], [("writer", "a/x")])
