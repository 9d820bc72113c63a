"""What an import says it took is what the method calls it, not what the command knows of one."""

from __future__ import annotations

import pytest

from proofstone.method import find_method, name_facts


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


@pytest.mark.parametrize(
    ("kinds", "name"),
    [
        (["kina.statement"], "statements"),
        (["kina.question"], "questions"),
        (["kina.question", "kina.statement"], "facts"),
        (["encyclo_k.statement"], "statements"),
        (["chinese_simpleqa.pair", "chinese_simpleqa.question"], "questions"),
        (["bequ.reference"], "triples"),
        (["bequ.entity"], "entities"),
        ([], "facts"),
    ],
)
def test_facts_are_named_by_their_kinds(kinds: list[str], name: str) -> None:
    assert name_facts(kinds) == name
