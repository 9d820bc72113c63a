"""What an import says it took is what the method calls it, not what the command knows of one."""

from __future__ import annotations

import pytest

from proofstone.method import find_method


@pytest.mark.parametrize(
    ("name", "facts", "items"),
    [
        ("encyclo_k", "statements", "questions"),
        ("chinese_simpleqa", "questions", "questions"),
        ("bequ", "triples", "entities"),
    ],
)
def test_each_method_names_its_own(name: str, facts: str, items: str) -> None:
    method = find_method(name)
    assert (method.facts_called, method.items_called) == (facts, items)
